package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"

	"rsc.io/qr"
)

// labelPage is what is printed for a parcel.
type labelPage struct {
	Page
	R      app.RequestView
	Path   string
	What   string // parcel, tubes or slip; "": all of it
	Size   string // of the parcel's label: a6, inch or a4
	Tubes  int
	To     []string
	Facts  labelFacts
	Code   qrCode
	Signed exchange.Document // the executed MTA, where there is one
	Agreed bool
}

// labelFacts are what a label tells of a material, beside its title.
type labelFacts struct {
	ID       string // identifier
	Passage  string
	Safety   string
	Form     string // how it is sent
	Storage  string
	Handling []string // what else a receiver needs, as "Growth medium: ..."
}

// mostTubes is how many labels of tubes are made at once: a rack.
const mostTubes = 96

// labelSizes are those of the parcel's label, as the address names them.
var labelSizes = []string{"a6", "inch", "a4"}

// labels shows the labels of a request, for printing.
func (v *visit) labels() (reply, error) {
	id, err := v.id("id")
	if err != nil {
		return reply{}, err
	}
	r, err := v.app.RequestParcel(v.Context(), v.who.Actor, id)
	if err != nil {
		return reply{}, err
	}
	q := v.URL.Query()
	p := &labelPage{R: r, Path: requestPath(id), What: q.Get("what"), Size: q.Get("size"), To: addressLines(r.Address), Facts: factsOf(r.Item.Material)}
	p.Title, p.Section = fmt.Sprintf("Labels for request %d", id), "requests"
	if !slices.Contains([]string{"parcel", "tubes", "slip"}, p.What) {
		p.What = ""
	}
	if !slices.Contains(labelSizes, p.Size) {
		p.Size = labelSizes[0]
	}
	if p.Tubes, err = strconv.Atoi(q.Get("tubes")); err != nil {
		p.Tubes = amount(r.Quantity)
	}
	p.Tubes = min(max(p.Tubes, 1), mostTubes)
	if d := r.Current(exchange.ExecutedMTA); d != nil {
		p.Signed, p.Agreed = *d, true
	}
	if p.Code, err = codeOf(v.app.PublicURL + p.Path + "#next"); err != nil {
		return reply{}, err
	}
	return show("request-labels", p)
}

// Numbers are those of the tubes.
func (p *labelPage) Numbers() []int {
	list := make([]int, p.Tubes)
	for i := range list {
		list[i] = i + 1
	}
	return list
}

// Copies are the labels of parcels on one sheet.
func (p *labelPage) Copies() []int {
	if p.Size == "a4" {
		return []int{1, 2, 3, 4}
	}
	return []int{1}
}

// leading is the number that a quantity begins with.
var leading = regexp.MustCompile(`^\s*(\d{1,3})\b`)

// amount is how many tubes a quantity may mean, as 2 of "2 vials".
func amount(quantity string) int {
	if m := leading.FindStringSubmatch(quantity); m != nil {
		n, _ := strconv.Atoi(m[1]) // they are digits
		return n
	}
	return 1
}

// handled are the fields of materials that tell a receiver how to treat them.
var handled = strings.Fields("storage_medium cryopreservation growth_medium culture_conditions subculturing growth_strain bacterial_resistance growth_temperature growth_instructions housing")

// factsOf reads off a material what its labels tell.
func factsOf(m exchange.Material) labelFacts {
	c, _ := category.Get(m.Category)
	values := map[string]any{}
	_ = json.Unmarshal(m.Metadata, &values) // it is stored as an object
	text := func(key string) string {
		value, known := values[key]
		field, is := c.Field(key)
		if !known || !is || value == nil {
			return ""
		}
		items, many := value.([]any)
		if !many {
			items = []any{value}
		}
		words := make([]string, len(items))
		for i, item := range items {
			words[i] = strings.TrimSpace(fmt.Sprint(item))
			if o, ok := field.Option(words[i]); ok {
				words[i] = o.Label
			}
		}
		return strings.Join(words, ", ")
	}
	f := labelFacts{ID: text("rrid"), Passage: text("passage_number"), Safety: text("biosafety_level"), Form: text("shipping_form"), Storage: text("storage")}
	for _, key := range []string{"addgene_id", "repository_id", "accession_code"} {
		f.ID = cmp.Or(f.ID, text(key))
	}
	f.Form = cmp.Or(f.Form, text("form"))
	if f.ID == "" && m.Reference != nil {
		f.ID = *m.Reference
	}
	for _, key := range handled {
		if words := text(key); words != "" {
			field, _ := c.Field(key)
			f.Handling = append(f.Handling, field.Label+": "+words)
		}
	}
	return f
}

// qrCode is a QR code as a drawing: squares of one unit, with the quiet zone that readers need.
type qrCode struct {
	Address string // that it opens
	Box     string // viewBox
	Path    string
}

const quietZone = 4

func codeOf(text string) (qrCode, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return qrCode{}, err
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			if !code.Black(x, y) {
				continue
			}
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from, y, x-from, x-from)
		}
	}
	side := code.Size + 2*quietZone
	return qrCode{Address: text, Box: fmt.Sprintf("%d %d %d %d", -quietZone, -quietZone, side, side), Path: path.String()}, nil
}
