package material

import (
	"encoding/json"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/datause"
)

// Texts returns the title and the other texts that m is found by, to show why it was found.
func (m Material) Texts() []exchange.NamedText {
	list := []exchange.NamedText{{Name: "title", Text: m.Title}}
	add := func(name string, texts ...string) {
		if text := strings.Join(texts, ", "); text != "" {
			list = append(list, exchange.NamedText{Name: name, Text: text})
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
	for _, d := range Descriptors {
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
	if name == "data_use" {
		return datause.Label(value)
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
