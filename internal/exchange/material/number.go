package material

import (
	"encoding/json"
	"slices"
	"strings"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/identifier"
)

// Number is what people paste to name a material that exists elsewhere: an RRID, an accession, a DOI or the catalogue
// number of a stock centre.
type Number struct {
	Text     string          // as it was pasted, tidy
	Category string          // of what it names; "" if the number does not say
	IDs      []identifier.ID // it in canonical form under all its kinds; none: at most a catalogue number
}

// numberKinds are the kinds of identifiers that people paste, in the order in which they are tried, with the category
// of what they name. Digits alone belong to several kinds, so they are of none.
var numberKinds = []struct {
	kind     identifier.Kind
	category string
}{
	{"cellosaurus", "CELL_LINE"}, {"addgene", "PLASMID"}, {"imsr", "MODEL_ORGANISM"}, {"mgi", "MODEL_ORGANISM"},
	{"mmrrc", "MODEL_ORGANISM"}, {"protocols-doi", "PROTOCOL"}, {"doi", ""}, {"rrid", ""}, {"accession", "DATASET"},
	{"pmid", ""},
}

// strainAuthorities are the authorities of RRIDs that are of animals.
var strainAuthorities = []string{"AGSC", "BDSC", "DGGR", "EZRC", "FlyBase", "NSRRC", "NXR", "RGD", "RRRC", "TSC",
	"WB-STRAIN", "XEP", "ZFIN", "ZIRC"}

// ParseNumber recognises what somebody pasted.
func ParseNumber(text string) Number {
	n := Number{Text: strings.Join(strings.Fields(text), " ")}
	if !strings.ContainsFunc(n.Text, func(r rune) bool { return r < '0' || r > '9' }) {
		return n
	}
	for _, k := range numberKinds {
		canonical, warning, err := identifier.Parse(k.kind, n.Text)
		if err != nil || warning != "" {
			continue
		}
		n.Category, n.IDs = k.category, identifier.Same(identifier.ID{Kind: k.kind, Canonical: canonical})
		authority, _, _ := strings.Cut(strings.TrimPrefix(canonical, "RRID:"), "_")
		if authority, _, _ = strings.Cut(authority, ":"); k.kind == "rrid" &&
			slices.Contains(strainAuthorities, authority) {
			n.Category = "MODEL_ORGANISM"
		}
		return n
	}
	return n
}

// Canonical returns the number as it is stored, or as it was pasted if it is of no known kind.
func (n Number) Canonical() string {
	if len(n.IDs) > 0 {
		return n.IDs[0].Canonical
	}
	return n.Text
}

// AddTo enters the number in m: in the first identifier of its category that accepts it, otherwise among the additional
// information, so that what was pasted is not lost.
func (n Number) AddTo(m *Material) {
	c, _ := category.Get(m.Category)
	values := m.values()
	for _, f := range c.Fields {
		if f.Type != category.Identifier {
			continue
		}
		canonical, warning, err := identifier.Parse(f.Vocabulary, n.Text)
		if err == nil && warning == "" && len(n.IDs) > 0 {
			values[f.Key] = category.Quote(canonical)
			m.Metadata = objectOf(values)
			return
		}
	}
	switch {
	case slices.ContainsFunc(n.IDs, func(id identifier.ID) bool { return id.Kind == "pmid" }):
		m.PubMedID = n.Canonical()
	case slices.ContainsFunc(n.IDs, func(id identifier.ID) bool { return id.Kind == "doi" }):
		id := n.Canonical()
		m.PrePrintDOI = &id
	default:
		text := "Catalogue number: " + n.Text
		m.AdditionalInfo = &text
	}
}

// Described returns a new material with what m says about the material itself, and nothing of the stock that its lab
// has of it: its title, its organisms, and of its category the first section, the required fields and no private ones.
func (m Material) Described() Material {
	c, _ := category.Get(m.Category)
	values, kept := m.values(), map[string]json.RawMessage{}
	for _, f := range c.Fields {
		if value, there := values[f.Key]; there && !f.Private && (f.Section == c.Fields[0].Section || f.Required) {
			kept[f.Key] = value
		}
	}
	return Material{Category: m.Category, Title: m.Title, Organisms: m.Organisms, Metadata: objectOf(kept)}
}
