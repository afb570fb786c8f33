package exchange

import (
	"encoding/json"
	"strings"

	"aliquot/internal/exchange/category"
)

// NamedText is the text of a field, under the field's JSON name.
type NamedText struct{ Name, Text string }

// Texts returns the title and the other texts that m is found by, to show why it was found.
func (m Material) Texts() []NamedText {
	list := []NamedText{{"title", m.Title}}
	add := func(name string, texts ...string) {
		if text := strings.Join(texts, ", "); text != "" {
			list = append(list, NamedText{name, text})
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
	for _, d := range MaterialDescriptors {
		if d.Found != nil {
			add(d.Name, d.Text(&m))
		}
	}
	return list
}

// FacetLabel returns the label of a facet value; "" if that is the value itself, or if only the database has it, like
// the name of an organization.
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

// facetFields holds the fields of categories that count under each facet.
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

// Texts returns the name and the description.
func (o Organization) Texts() []NamedText {
	return []NamedText{{"name", o.Name}, {"description", o.Description}}
}
