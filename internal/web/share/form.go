package share

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

// metadataName is the prefix of form fields that are keys of a category.
const metadataName = "additional_metadata."

// formField is one field of a form that a category's file describes.
type formField struct {
	category.Field
	Name    string
	Widget  string // text, long, list, checks, select, picks, date, number
	Value   string
	Chosen  map[string]bool
	Strange string // a value that is not one of the options
	Unknown bool   // "not known" can be ticked
	Ticked  bool   // and is ticked
	Kind    string // the kind of identifier
	Record  string // the address of the identifier's record
	Err     string
	Doubt   string
}

// Describe returns the ids of the elements that describe the field, for screen readers.
func (f formField) Describe() string {
	ids := "f-" + f.Name + "-h"
	if f.Err != "" {
		ids += " f-" + f.Name + "-e"
	}
	return ids
}

// formSection is a section of the form with its fields, and how far it is filled in. It is folded, unless Open.
type formSection struct {
	ID, Name              string
	Fields                []formField
	Filled, Missing, Errs int
	Open                  bool // it has something to correct or to check, or was just worked on
}

// neededSection is the id of the first section, which is never folded: the fields that are required.
const neededSection = "needed"

// Icon returns the icon for how far a section is filled in.
func (s formSection) Icon() string {
	switch {
	case s.Errs > 0 || s.Missing > 0:
		return "alert"
	case s.Filled > 0:
		return "done"
	}
	return "pen-ring"
}

// State returns the state of the section in words.
func (s formSection) State() string {
	switch {
	case s.Errs > 0:
		return ui.Plural(s.Errs, "field") + " to correct"
	case s.Missing > 0:
		return ui.Plural(s.Missing, "field") + " missing"
	case s.Filled > 0:
		return ui.Plural(s.Filled, "field") + " filled in"
	}
	return "nothing yet"
}

// listingPage is the form to list or change a material.
type listingPage struct {
	ui.Page
	Form         url.Values
	Material     *material.Shown // nil: a new one
	Category     category.Category
	Categories   []category.Category
	Options      catalog.MaterialFormOptions
	Needed       formSection   // the required fields of the category
	Sections     []formSection // the other fields of the category
	Common       map[string]*formSection
	Base         string   // the version of the material that the form started from
	Draft        string   // the key of the draft
	Drafted      *ui.When // when the draft was saved, if the form is one
	Preview      listingPreview
	Doubts       map[string][]string
	Own          []material.CustomField // keys that the category does not have
	Carried      url.Values             // values typed for another category
	Conflict     *listingConflict
	Alike        []similarLine // similar materials of the same lab, to be confirmed
	LookupResult string        // the result of a look-up of the publication
	Failed       string        // why nothing was saved, if that is not about a field
	Notes        []string      // what a source left out
	Found        string        // the source by which the form was filled in
}

// publicationFields are the fields that a look-up of a publication fills in.
var publicationFields = []string{"pubmed_id", "publication_title", "pre_print_doi", "pre_print_title", "citation"}

// commonSections are the sections that every category has, with their fields: those that the template places itself,
// and those whose descriptor names the section.
var commonSections = func() []commonSection {
	list := []commonSection{
		{"about", "About it", []string{"title", "organisms", "additional_info", "url", "reference", "organization_id",
			"contact_user_id"}},
		{"publication", "Publication", slices.Clone(publicationFields)},
		{"requirements", "Requirements",
			[]string{"needs_mta", "mta_attachment_id", "mta_file", "needs_irb", "needs_abstract",
				"shipping_requirements_id", "shipping.accepted_payment_details", "shipping.restrictions"}},
		{"release", "Release and funding", []string{"embargo_date", "map_file", "grant"}},
	}
	for i := range list {
		for _, d := range field.In(material.Descriptors, list[i].id) {
			list[i].fields = append(list[i].fields, d.Name)
		}
	}
	return list
}()

type commonSection struct {
	id, name string
	fields   []string
}

// Further returns the fields at the end of a section, which the template does not place itself.
func (p *listingPage) Further(section string) []material.Descriptor {
	return field.In(material.Descriptors, section)
}

// build computes what the template shows from the form.
func (p *listingPage) build() {
	p.Category, _ = category.Get(p.Form.Get("category"))
	if p.Material != nil {
		p.Category, _ = category.Get(p.Material.Category)
	}
	p.Categories = category.All()
	p.Needed, p.Sections, p.Common = formSection{ID: neededSection, Name: "Required"}, nil, map[string]*formSection{}
	for i, s := range p.Category.Sections() {
		section := formSection{ID: fmt.Sprintf("part-%d", i+1), Name: s.Name}
		for _, f := range s.Fields {
			to := &section
			if f.Required {
				to = &p.Needed
			}
			field := p.field(f)
			to.count(field.Name, p, f.Required)
			to.Fields = append(to.Fields, field)
		}
		if len(section.Fields) > 0 {
			p.Sections = append(p.Sections, section)
		}
	}
	for _, c := range commonSections {
		section := formSection{ID: c.id, Name: c.name, Open: c.id == "publication" && p.LookupResult != ""}
		for _, name := range c.fields {
			to, required := &section, name == "title" && !p.Named()
			if required {
				to = &p.Needed
			}
			to.count(name, p, required)
		}
		p.Common[c.id] = &section
	}
	p.carry()
	p.Preview = p.preview()
}

// Parts returns all sections in the order of the form.
func (p *listingPage) Parts() []formSection {
	list := append([]formSection{p.Needed, *p.Common["about"]}, p.Sections...)
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
	s.Open = s.Open || p.Errors[name] != nil || p.Doubts[name] != nil
}

// OwnOpen reports whether the custom fields are unfolded.
func (p *listingPage) OwnOpen() bool { return p.Errors["own"] != nil || p.Get("do") == "own" }

// field returns the form field for a key of the category.
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
	case category.Boolean:
		out.Widget, out.Options = "select",
			[]category.Option{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}}
	case category.Date:
		out.Widget = "date"
		if _, err := time.Parse(time.DateOnly, out.Value); err != nil && out.Value != "" {
			out.Widget = "text" // so that it is shown as it was typed
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
	case "select":
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

// carry keeps the values for other categories, and those that have no field.
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
		_ = json.Unmarshal([]byte(p.Form.Get("additional_metadata")), &own) // invalid JSON shows nothing
	}
	p.Own = material.ShowCustomFields(own)
	for _, l := range material.CustomFields(p.Form) {
		switch i := slices.IndexFunc(p.Own, func(other material.CustomField) bool { return other.Key == l.Key }); {
		case !l.Touched() || l.Key+l.Value == "":
		case i >= 0 && l.Was != "":
			p.Own[i] = l
		default:
			p.Own = append(p.Own, l)
		}
	}
	p.Own = append(p.Own, material.CustomField{}) // an empty one to fill in
}

// Get returns the last value of a field.
func (p *listingPage) Get(name string) string {
	if values := p.Form[name]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// On reports whether a checkbox is ticked.
func (p *listingPage) On(name string) bool { return p.Get(name) == "true" }

// Has reports whether one of several checkboxes of a name is ticked.
func (p *listingPage) Has(name string, value any) bool {
	return slices.Contains(p.Form[name], fmt.Sprint(value))
}

// Action returns the address to which the form is sent.
func (p *listingPage) Action() string {
	if p.Material != nil {
		return fmt.Sprintf("/catalog/%d/edit", p.Material.ID)
	}
	return "/share/new"
}

// Named reports whether the title may be empty, because the category has a name field.
func (p *listingPage) Named() bool {
	return len(p.Category.Fields) > 0 && strings.HasSuffix(p.Category.Fields[0].Key, "_name")
}

// formLabels are the labels of fields that no material has, or has under another name.
var formLabels = map[string]string{"organization_id": "Lab", "shipping.accepted_payment_details": "Payment " +
	"instructions",
	"shipping.restrictions": "Restrictions"}

// worded returns field errors as sentences that begin with the field's label.
func worded(code string, fields map[string][]string) ui.FieldErrors {
	out := ui.FieldErrors{}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		for _, text := range fields[field] {
			label := material.FieldLabel(code, field)
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
