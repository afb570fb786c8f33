package request

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"

	"rsc.io/qr"
)

// labelPage is a page of labels to print.
type labelPage struct {
	ui.Page
	Parcels []parcel
	Path    string  // the address of the page itself
	Left    []int64 // chosen requests that the visitor may not pack
	What    string  // parcel, tubes or slip; "": all
	Size    string  // of the parcels' labels: a6, inch or a4
	Tubes   int     // for each parcel; 0: the number that each request states
	From    string  // address and phone of the sender, as typed
}

// parcel is one request with what its labels show.
type parcel struct {
	transfer.Parcel
	Tubes  int
	To     []string
	Facts  labelFacts
	Code   qrCode
	Signed *document.Document // the executed MTA; nil: there is none
}

// labelFacts is what a label shows of a material in addition to its title.
type labelFacts struct {
	ID       string // identifier
	Passage  string
	Safety   string
	Form     string // how it is sent
	Storage  string
	Handling []string // what else the recipient needs, as "Growth medium: ..."
}

// maxTubes is how many tube labels are made at once: a rack.
const maxTubes = 96

// labelSizes are the sizes of the parcel's label, as the query names them.
var labelSizes = []string{"a6", "inch", "a4"}

// labels shows the labels of a request, for printing.
func (v *pageRequest) labels(id int64) (ui.Response, error) {
	r, err := v.App.Requests.Parcel(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	p := &labelPage{Page: ui.Page{Title: fmt.Sprintf("Labels for request %d", id)}, Path: requestPath(id) + "/labels"}
	return v.showLabels(p, []transfer.Parcel{r})
}

// manyLabels shows the labels of those requests in the query that the visitor may pack.
func (v *pageRequest) manyLabels() (ui.Response, error) {
	ids := ui.ChosenIDs(v.URL.Query())
	if len(ids) == 0 {
		return ui.SeeOther("/requests").Saying("Select requests first, then choose Labels."), nil
	}
	if len(ids) > ui.MaxInBulk {
		return ui.Response{}, exchange.Errorf(exchange.InvalidInput, "Choose at most %d requests at once.",
			ui.MaxInBulk)
	}
	list, left, err := v.App.Requests.Parcels(v.Context(), v.Who.Actor, ids)
	if err != nil {
		return ui.Response{}, err
	}
	if len(list) == 0 {
		return ui.Response{}, exchange.Errorf(exchange.Forbidden,
			"None of these requests is yours to ship, so there are no labels.")
	}
	return v.showLabels(&labelPage{Page: ui.Page{Title: "Labels for " + ui.Plural(len(list), "request")},
		Path: "/requests/labels", Left: left}, list)
}

// showLabels shows the labels of parcels in the form that the query describes.
func (v *pageRequest) showLabels(p *labelPage, list []transfer.Parcel) (ui.Response, error) {
	q := v.URL.Query()
	p.From = v.sender(q)
	p.Section, p.What, p.Size = "requests", q.Get("what"), q.Get("size")
	if !slices.Contains([]string{"parcel", "tubes", "slip"}, p.What) {
		p.What = ""
	}
	if !slices.Contains(labelSizes, p.Size) {
		p.Size = labelSizes[0]
	}
	if n, err := strconv.Atoi(q.Get("tubes")); err == nil {
		p.Tubes = min(max(n, 1), maxTubes)
	}
	for _, r := range list {
		one := parcel{Parcel: r, Tubes: p.Tubes, To: addressLines(r.Address), Facts: factsOf(r.Item),
			Signed: r.Current(document.ExecutedMTA)}
		if one.Tubes == 0 {
			one.Tubes = min(max(amount(r.Quantity), 1), maxTubes)
		}
		var err error
		if one.Code, err = codeOf(v.App.PublicURL + requestPath(r.ID) + "#next"); err != nil {
			return ui.Response{}, err
		}
		p.Parcels = append(p.Parcels, one)
	}
	return ui.Show("request-labels", p)
}

// senderCookie is the cookie with the sender's address and phone, which are typed once on each device.
const (
	senderCookie = "__Host-sender"
	senderLives  = 365 * 24 * time.Hour
	maxSender    = 400 // bytes
)

// sender returns the address and phone of the sender: those in the query, which are kept, or those kept before.
func (v *pageRequest) sender(query url.Values) string {
	if !query.Has("from") {
		kept, _ := url.QueryUnescape(v.CookieValue(senderCookie)) // what cannot be read is typed again
		return kept
	}
	from := strings.TrimSpace(query.Get("from"))
	if len(from) > maxSender {
		from = strings.ToValidUTF8(from[:maxSender], "")
	}
	v.SetCookie(senderCookie, url.QueryEscape(from), senderLives)
	return from
}

// FromLines returns the lines of the sender's address and phone.
func (p *labelPage) FromLines() []string {
	return strings.FieldsFunc(p.From, func(r rune) bool { return r == '\n' || r == '\r' })
}

// Temperature returns how the parcel has to be kept: the conditions of the shipment, else how the material is stored.
func (p parcel) Temperature() string {
	if p.Shipment != nil && p.Shipment.Conditions != "" {
		return p.Shipment.Conditions
	}
	return p.Facts.Storage
}

// dryIce matches conditions with dry ice, which carriers want by its UN number.
var dryIce = regexp.MustCompile(`(?i)\bdry[ -]ice\b`)

// Hazards lists what a carrier and whoever opens the parcel has to know.
func (p parcel) Hazards() string {
	var list []string
	if p.Facts.Safety != "" {
		list = append(list, "biosafety level: "+p.Facts.Safety)
	}
	if at := p.Temperature(); dryIce.MatchString(at) && !strings.Contains(at, "1845") {
		list = append(list, "UN 1845, dry ice")
	}
	return strings.Join(list, "; ")
}

// Addressed returns the parcels that have a recipient: only these have a parcel label and a packing slip.
func (p *labelPage) Addressed() []parcel {
	return slices.DeleteFunc(slices.Clone(p.Parcels), func(one parcel) bool { return len(one.To) == 0 })
}

// Only returns the one request of the page; nil if the requests were chosen in the inbox.
func (p *labelPage) Only() *parcel {
	if p.Path == "/requests/labels" {
		return nil
	}
	return &p.Parcels[0]
}

// Numbers returns the numbers of the tubes.
func (p parcel) Numbers() []int {
	list := make([]int, p.Tubes)
	for i := range list {
		list[i] = i + 1
	}
	return list
}

// Sheets returns the parcels by sheet: an A4 sheet has four labels, all of one parcel.
func (p *labelPage) Sheets() [][]parcel {
	const perSheet = 4
	switch {
	case p.Size != "a4":
		return [][]parcel{p.Addressed()}
	case p.Only() != nil:
		return [][]parcel{slices.Repeat(p.Addressed(), perSheet)}
	}
	return slices.Collect(slices.Chunk(p.Addressed(), perSheet))
}

// pieces matches a quantity that counts tubes: a number alone, or with a vessel.
var pieces = regexp.MustCompile(`(?i)^\s*(\d{1,3})\s*(?:$|[x×]|(?:frozen |cryo)?(?:vial|tube|aliquot|ampoule|straw` +
	`|stab|slant)s?\b)`)

// amount returns how many tubes a quantity needs, as 2 for "2 vials"; "100 mg" fits in one.
func amount(quantity string) int {
	if m := pieces.FindStringSubmatch(quantity); m != nil {
		n, _ := strconv.Atoi(m[1]) // they are digits
		return n
	}
	return 1
}

// handled are the fields of materials that say how to handle them.
var handled = strings.Fields("storage_medium cryopreservation growth_medium culture_conditions subculturing " +
	"growth_strain bacterial_resistance growth_temperature growth_instructions housing")

// factsOf returns what the labels show of a material.
func factsOf(m material.Material) labelFacts {
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
	f := labelFacts{ID: text("rrid"), Passage: text("passage_number"), Safety: text("biosafety_level"),
		Form: text("shipping_form"), Storage: text("storage")}
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
	return qrCode{Address: text, Box: fmt.Sprintf("%d %d %d %d", -quietZone, -quietZone, side, side),
		Path: path.String()}, nil
}
