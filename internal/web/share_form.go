package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/identifier"
)

// metadataName is how the fields of a form begin that are keys of a category.
const metadataName = "additional_metadata."

// formField is one field of a form that a category's file describes.
type formField struct {
	category.Field
	Name    string
	Widget  string // text, long, list, checks, select, picks, date, number
	Value   string
	Chosen  map[string]bool
	Strange string // a value that is none of the options
	Unknown bool   // "not known" can be ticked
	Ticked  bool   // and is
	Kind    string // what identifiers it takes
	Record  string // where the record of the identifier is
	Err     string
	Doubt   string
}

// Describe names what says more about the field, for screen readers.
func (f formField) Describe() string {
	ids := "f-" + f.Name + "-h"
	if f.Err != "" {
		ids += " f-" + f.Name + "-e"
	}
	return ids
}

// formSection is a heading of the form with its fields, and how far it is filled in.
type formSection struct {
	ID, Name              string
	Fields                []formField
	Filled, Missing, Errs int
}

// Icon tells how far a section is.
func (s formSection) Icon() string {
	switch {
	case s.Errs > 0 || s.Missing > 0:
		return "alert"
	case s.Filled > 0:
		return "done"
	}
	return "pen-ring"
}

// Tells is the same in words.
func (s formSection) Tells() string {
	switch {
	case s.Errs > 0:
		return plural(s.Errs, "field") + " to correct"
	case s.Missing > 0:
		return plural(s.Missing, "field") + " missing"
	case s.Filled > 0:
		return plural(s.Filled, "field") + " filled in"
	}
	return "nothing yet"
}

// listingPage is the form to list or change a material.
type listingPage struct {
	Page
	Form       url.Values
	Material   *exchange.ShownMaterial // nil: a new one
	Category   category.Category
	Categories []category.Category
	Desk       app.MaterialFormOptions
	Sections   []formSection // of the category
	Common     map[string]*formSection
	Base       string // which version of the material the form began with
	Draft      string // its key
	Outside    bool   // who changes it does not see its private fields, which stay as they are
	Drafted    *When  // the form is a draft of then
	Preview    listingPreview
	Doubts     map[string][]string
	Own        []exchange.CustomField // keys that the category does not have
	Carried    url.Values             // what was typed for another category
	Conflict   *listingConflict
	Alike      []similarLine // of the lab itself: to be confirmed
	Looked     string        // what a look-up of the publication said
	Failed     string        // why nothing was saved, where no field is to blame
	Notes      []string      // what a source left out
}

// commonSections are the sections that every category has, with their fields.
var commonSections = []struct {
	id, name string
	fields   []string
}{
	{"about", "About it", []string{"title", "organisms", "additional_info", "url", "reference", "organization_id",
		"contact_user_id"}},
	{"publication", "Publication",
		[]string{"pubmed_id", "publication_title", "pre_print_doi", "pre_print_title", "citation"}},
	{"requirements", "Requirements",
		[]string{"needs_mta", "mta_attachment_id", "mta_file", "needs_irb", "needs_abstract",
			"shipping_requirements_id", "shipping"}},
	{"release", "Release and funding", []string{"embargo_date", "map_file", "grant"}},
}

// build makes of the form what its template shows.
func (p *listingPage) build() {
	p.Category, _ = category.Get(p.Form.Get("category"))
	if p.Material != nil {
		p.Category, _ = category.Get(p.Material.Category)
	}
	p.Categories = category.All()
	p.Sections, p.Common = nil, map[string]*formSection{}
	for i, s := range p.Category.Sections() {
		section := formSection{ID: fmt.Sprintf("part-%d", i+1), Name: s.Name}
		for _, f := range s.Fields {
			if f.Private && p.Outside {
				continue
			}
			field := p.field(f)
			section.count(field.Name, p, f.Required)
			section.Fields = append(section.Fields, field)
		}
		p.Sections = append(p.Sections, section)
	}
	for _, c := range commonSections {
		section := formSection{ID: c.id, Name: c.name}
		for _, name := range c.fields {
			section.count(name, p, name == "title" && !p.Named())
		}
		p.Common[c.id] = &section
	}
	p.carry()
	p.Preview = p.preview()
}

// Parts are all sections in the order of the form.
func (p *listingPage) Parts() []formSection {
	list := append([]formSection{*p.Common["about"]}, p.Sections...)
	return append(list, *p.Common["publication"], *p.Common["requirements"], *p.Common["release"])
}

func (s *formSection) count(name string, p *listingPage, required bool) {
	filled := strings.TrimSpace(strings.Join(p.Form[name], "")) != "" &&
		(!strings.HasPrefix(name, "needs_") || p.On(name))
	key := strings.TrimPrefix(name, metadataName)
	switch {
	case filled || slices.Contains(p.Form["not_known"], key) && key != name:
		s.Filled++
	case required:
		s.Missing++
	}
	if p.Errors[name] != nil {
		s.Errs++
	}
}

// shortChoice is how many options are shown side by side.
const shortChoice = 4

// field is a key of the category as the form asks for it.
func (p *listingPage) field(f category.Field) formField {
	name := metadataName + f.Key
	typed := p.Form[name]
	out := formField{Field: f, Name: name, Widget: "text", Chosen: map[string]bool{}, Err: p.Errors.Of(name),
		Doubt: strings.Join(p.Doubts[name], " ")}
	if len(typed) > 0 {
		out.Value = typed[len(typed)-1]
	}
	switch f.Type {
	case category.Long:
		out.Widget = "long"
	case category.List:
		out.Widget = "list"
		if len(f.Options) > 0 {
			out.Widget = "checks"
		}
	case category.Choice:
		out.Widget = "select"
		if len(f.Options) <= shortChoice &&
			slices.ContainsFunc(f.Options, func(o category.Option) bool { return o.Help != "" }) {
			out.Widget = "picks"
		}
	case category.Boolean:
		out.Widget, out.Options = "select",
			[]category.Option{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}}
	case category.Date:
		out.Widget = "date"
		if _, err := time.Parse(time.DateOnly, out.Value); err != nil && out.Value != "" {
			out.Widget = "text" // so that it comes back as it was typed
		}
	case category.Number, category.Integer:
		out.Widget = "number"
	}
	isOption := func(text string) bool {
		return slices.ContainsFunc(out.Options, func(o category.Option) bool { return o.Value == text })
	}
	switch out.Widget {
	case "checks":
		out.Value = ""
		for _, text := range typed {
			if isOption(text) {
				out.Chosen[text] = true
			} else if strings.TrimSpace(text) != "" {
				out.Value = text
			}
		}
	case "select", "picks":
		if out.Chosen[out.Value] = true; out.Value != "" && !isOption(out.Value) {
			out.Strange = out.Value
		}
	}
	out.Unknown = f.Required && !strings.HasSuffix(f.Key, "_name") &&
		(f.Type == category.Text || f.Type == category.Long)
	out.Ticked = out.Unknown && slices.Contains(p.Form["not_known"], f.Key)
	if f.Vocabulary != "" {
		out.Kind = f.Vocabulary.Label()
		if canonical, _, err := identifier.Parse(f.Vocabulary, out.Value); err == nil && f.Type == category.Identifier {
			out.Record = f.Vocabulary.Address(canonical)
		}
	}
	return out
}

// carry notes what the form has for other categories, and what it has that nobody types.
func (p *listingPage) carry() {
	p.Carried = url.Values{}
	for name, values := range p.Form {
		key, ofCategory := strings.CutPrefix(name, metadataName)
		if _, known := p.Category.Field(key); ofCategory && !known && strings.Join(values, "") != "" {
			p.Carried[name] = values
		}
	}
	for _, name := range []string{"additional_metadata", "imported", "import_source"} {
		if p.Material == nil && p.Form.Get(name) != "" {
			p.Carried[name] = p.Form[name]
		}
	}
	own := map[string]json.RawMessage{}
	if p.Material != nil {
		own = p.Material.CustomValues()
	} else {
		_ = json.Unmarshal([]byte(p.Form.Get("additional_metadata")), &own) // what is none shows nothing
	}
	p.Own = exchange.ShowCustomFields(own)
	for _, l := range exchange.CustomFields(p.Form) {
		switch i := slices.IndexFunc(p.Own, func(other exchange.CustomField) bool { return other.Key == l.Key }); {
		case !l.Touched() || l.Key+l.Value == "":
		case i >= 0 && l.Was != "":
			p.Own[i] = l
		default:
			p.Own = append(p.Own, l)
		}
	}
	p.Own = append(p.Own, exchange.CustomField{}) // to fill in
}

// Get is the last value that the form has for a field.
func (p *listingPage) Get(name string) string {
	if values := p.Form[name]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// On reports whether a box is ticked.
func (p *listingPage) On(name string) bool { return p.Get(name) == "true" }

// Has reports whether one of several boxes of a name is ticked.
func (p *listingPage) Has(name string, value any) bool {
	return slices.Contains(p.Form[name], fmt.Sprint(value))
}

// Action is where the form goes.
func (p *listingPage) Action() string {
	if p.Material != nil {
		return fmt.Sprintf("/catalog/%d/edit", p.Material.ID)
	}
	return "/share/new"
}

// Named says that the title may be left empty: the material has a name of its category.
func (p *listingPage) Named() bool {
	return len(p.Category.Fields) > 0 && strings.HasSuffix(p.Category.Fields[0].Key, "_name")
}

// formLabels are what fields are called that no material has, or has by another name.
var formLabels = map[string]string{"organization_id": "Lab", "shipping.accepted_payment_details": "About payment",
	"shipping.restrictions": "Restrictions"}

// worded are faults in sentences that begin with the label of the field.
func worded(code string, fields map[string][]string) FieldErrors {
	out := FieldErrors{}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		for _, text := range fields[field] {
			label := exchange.FieldLabel(code, field)
			if own := formLabels[field]; own != "" {
				label = own
			}
			if strings.HasPrefix(text, "a ") || strings.HasPrefix(text, "an ") { // a sentence of its own
				label += ":"
			}
			out[field] = append(out[field], label+" "+strings.TrimSuffix(text, ".")+".")
		}
	}
	return out
}
