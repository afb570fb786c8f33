package exchange

import (
	"encoding/json"
	"strings"

	"aliquot/internal/exchange/category"
)

// NamedText is what a field says, under the name that the field has in JSON.
type NamedText struct{ Name, Text string }

// Texts are the title and then what else m is found by, for those who want to see why it was.
func (m Material) Texts() []NamedText {
	list := []NamedText{{"title", m.Title}}
	add := func(name string, texts ...string) {
		if text := strings.Join(texts, ", "); text != "" {
			list = append(list, NamedText{name, text})
		}
	}
	optional := func(name string, text *string) {
		if text != nil {
			add(name, *text)
		}
	}
	add("organisms", m.Organisms...)
	var values map[string]json.RawMessage
	_ = json.Unmarshal(m.Metadata, &values) // it is stored as an object
	if c, known := category.Get(m.Category); known {
		for _, f := range c.Fields {
			add("additional_metadata."+f.Key, category.Items(values[f.Key])...)
		}
	}
	optional("publication_title", m.PublicationTitle)
	optional("pre_print_title", m.PrePrintTitle)
	optional("citation", m.Citation)
	optional("additional_info", m.AdditionalInfo)
	return list
}

// FacetLabel is what people call a value of a facet, "" where that is the value itself or where only
// the house knows it: the name of an organization.
func FacetLabel(name, value string) string {
	if name == "category" {
		c, _ := category.Get(value)
		return c.Label
	}
	for _, f := range facetFields[name] {
		if o, ok := f.Option(value); ok && o.Label != value {
			return o.Label
		}
	}
	return ""
}

// facetFields are the fields of categories that count under a facet.
var facetFields = func() map[string][]category.Field {
	fields := map[string][]category.Field{}
	for _, c := range category.All() {
		for _, f := range c.Fields {
			if name, ok := facet(f); ok {
				fields[name] = append(fields[name], f)
			}
		}
	}
	return fields
}()

// Texts are the name and the description.
func (o Organization) Texts() []NamedText {
	return []NamedText{{"name", o.Name}, {"description", o.Description}}
}
