package exchange

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/identifier"
)

// SearchDocument holds the texts, identifiers and facets by which an object is found.
type SearchDocument struct {
	Doc    fulltext.Doc
	Facets []string // name=value
}

// FacetName is a field whose values a search counts.
type FacetName struct {
	Name   string
	Label  string
	Values []string // all possible values; nil: any text, unless Flag or IDs
	Flag   bool     // the values are false and true
	IDs    bool     // the values are ids
}

// facetOf holds the facet of a field of a category if it is not the field's key: a patient's tumour has a disease and a
// tissue, as a cell line does.
var facetOf = map[string]string{
	"diagnosis":                "disease",
	"primary_tissue_of_origin": "tissue",
}

// firstFacets are the filters that come first, in this order.
var firstFacets = []string{"category", "organization", "organisms", "needs_mta", "needs_irb", "needs_abstract",
	"shipping", "is_archived", "imported", "import_source", "has_publication"}

// Facets lists the fields of materials whose values a search counts: those that every material has, followed by those
// of the categories, each with its first label.
var Facets = func() []FacetName {
	list := []FacetName{
		{Name: "shipping", Label: "Has shipping requirements", Flag: true},
		{Name: "has_publication", Label: "Has a publication", Flag: true},
	}
	for _, d := range MaterialDescriptors {
		if d.Facet != "" {
			list = append(list, d.facet())
		}
	}
	slices.SortStableFunc(list, func(x, y FacetName) int {
		return cmp.Compare(uint(slices.Index(firstFacets, x.Name)), uint(slices.Index(firstFacets, y.Name)))
	})
	for _, c := range category.All() {
		for _, f := range c.Fields {
			name, ok := facet(f)
			if ok && !slices.ContainsFunc(list, func(other FacetName) bool { return other.Name == name }) {
				list = append(list, FacetName{Name: name, Label: f.Label, Flag: f.Type == category.Boolean})
			}
		}
	}
	return list
}()

// facet returns the name of the facet that counts f.
func facet(f category.Field) (string, bool) {
	if name, ok := facetOf[f.Key]; ok {
		return name, true
	}
	// One category shows its level as a facet, so it counts in all.
	return f.Key, (f.Facet || f.Key == "biosafety_level") && !f.Private
}

// commonNames are the common names of the organisms that most materials come from.
var commonNames = map[string]string{
	"homo sapiens":              "human",
	"mus musculus":              "mouse",
	"rattus norvegicus":         "rat",
	"danio rerio":               "zebrafish",
	"drosophila melanogaster":   "fruit fly",
	"caenorhabditis elegans":    "nematode worm",
	"saccharomyces cerevisiae":  "budding yeast",
	"schizosaccharomyces pombe": "fission yeast",
	"arabidopsis thaliana":      "thale cress",
	"xenopus laevis":            "clawed frog",
	"macaca mulatta":            "rhesus macaque monkey",
	"sus scrofa":                "pig",
	"bos taurus":                "cow",
	"canis lupus familiaris":    "dog",
	"felis catus":               "cat",
	"gallus gallus":             "chicken",
	"oryctolagus cuniculus":     "rabbit",
	"ovis aries":                "sheep",
	"cricetulus griseus":        "Chinese hamster",
	"chlorocebus sabaeus":       "green monkey",
}

// documentBuilder collects a SearchDocument.
type documentBuilder struct {
	fields []fulltext.Field
	keys   []identifier.ID
	wholes []string // names that rank higher if they are searched for as a whole
	facets []string // name=value
}

// text adds texts of a weight.
func (x *documentBuilder) text(w fulltext.Weight, texts ...string) {
	for _, text := range texts {
		if text != "" {
			x.fields = append(x.fields, fulltext.Field{Weight: w, Text: text})
		}
	}
}

// key adds an identifier.
func (x *documentBuilder) key(kind identifier.Kind, canonical string) {
	if canonical != "" {
		x.keys = append(x.keys, identifier.ID{Kind: kind, Canonical: canonical})
	}
}

// count adds a value of a facet, cut to lineLength characters.
func (x *documentBuilder) count(name, value string) {
	if r := []rune(value); len(r) > lineLength {
		value = string(r[:lineLength])
	}
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	if line := name + "=" + value; !slices.Contains(x.facets, line) {
		x.facets = append(x.facets, line)
	}
}

// done returns the document.
func (x *documentBuilder) done() SearchDocument {
	return SearchDocument{fulltext.New(x.fields, x.keys, x.wholes, x.facets), x.facets}
}

// SearchDocument returns the document of m, which belongs to an organization with that name and those public keys. It
// contains only what everybody may see.
func (m Material) SearchDocument(organization string, published []string) SearchDocument {
	var x documentBuilder
	x.text(fulltext.Title, m.Title)
	for _, organism := range m.Organisms {
		x.text(fulltext.Name, organism, commonNames[strings.ToLower(organism)])
	}
	if m.Reference != nil {
		x.text(fulltext.Name, *m.Reference)
		x.key("", *m.Reference)
	}
	x.text(fulltext.About, organization)
	x.found(m, func(w fulltext.Weight) bool { return w > fulltext.Body })
	x.metadata(m, published)
	x.found(m, func(w fulltext.Weight) bool { return w == fulltext.Body })

	x.key("pmid", m.PubMedID)
	x.key("doi", text(m.PrePrintDOI))
	x.imported(m)

	x.counted(m)
	return x.done()
}

// found adds the texts of the fields that search looks at and whose weight is one of some.
func (x *documentBuilder) found(m Material, some func(fulltext.Weight) bool) {
	for _, d := range MaterialDescriptors {
		if d.Found != nil && some(*d.Found) {
			x.text(*d.Found, d.Text(&m))
		}
	}
}

// counted adds the facets of m outside of its metadata.
func (x *documentBuilder) counted(m Material) {
	for _, d := range MaterialDescriptors {
		switch list, several := d.values(&m); {
		case d.Facet == "":
		case several:
			for _, text := range list {
				x.count(d.ShownName(), text)
			}
		default:
			x.count(d.ShownName(), d.Text(&m))
		}
	}
	x.count("shipping", strconv.FormatBool(m.ShippingID != nil))
	x.count("has_publication", strconv.FormatBool(m.PubMedID != "" || text(m.PublicationTitle) != "" ||
		text(m.PrePrintDOI) != "" || text(m.PrePrintTitle) != ""))
	slices.Sort(x.facets)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// imported adds the identifiers of m outside of its metadata: at its source, and in the address of its record.
func (x *documentBuilder) imported(m Material) {
	if m.ImportIdentifier != nil {
		kind := identifier.Kind("accession")
		if m.ImportSource == SourceProtocols {
			kind = "protocols-doi"
		}
		x.key(kind, *m.ImportIdentifier)
	}
	for _, id := range fulltext.Identify(m.URL) {
		x.key(id.Kind, id.Canonical)
	}
}

// metadata adds the fields of m's category. Facets, required fields and names have the highest weight; long texts and
// custom fields the lowest.
func (x *documentBuilder) metadata(m Material, published []string) {
	var values map[string]json.RawMessage
	shown, _ := category.Public(m.Category, m.Metadata, published)
	if json.Unmarshal(shown, &values) != nil {
		return
	}
	c, _ := category.Get(m.Category)
	x.text(fulltext.About, c.Label)
	for _, f := range c.Fields {
		x.field(c, f, values[f.Key])
		delete(values, f.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		x.text(fulltext.Body, category.Items(values[key])...)
	}
}

// field adds a field of category c.
func (x *documentBuilder) field(c category.Category, f category.Field, value json.RawMessage) {
	if name, ok := facet(f); ok {
		for _, term := range f.Terms(value) {
			if f.Type == category.Boolean {
				term = strconv.FormatBool(strings.EqualFold(term, "true") || strings.EqualFold(term, "yes"))
			}
			x.count(name, term)
		}
	}
	switch f.Type {
	case category.Boolean, category.Date, category.Integer, category.Number:
		return // nobody searches for them by words
	}
	named := strings.HasSuffix(f.Key, "_name")
	for _, item := range category.Items(value) {
		o, chosen := f.Option(item)
		switch {
		case f.Type == category.Long:
			x.text(fulltext.Body, item)
		case chosen: // nobody types the beginning of "not detected"
			x.text(fulltext.About, o.Label)
		case named, f.Vocabulary == "" && (f.Facet || f.Section == c.Fields[0].Section):
			x.text(fulltext.Name, item)
		default: // an identifier is found by its key, however it is written
			x.text(fulltext.About, item)
		}
		if f.Vocabulary != "" {
			x.key(f.Vocabulary, item)
		}
		if named {
			x.wholes = append(x.wholes, item)
		}
	}
}

// SearchDocument returns the document of o.
func (o Organization) SearchDocument() SearchDocument {
	var x documentBuilder
	x.text(fulltext.Title, o.Name)
	x.text(fulltext.Body, o.Description)
	return x.done()
}

// SearchDocument returns the document of u, which never contains the e-mail address.
func (u User) SearchDocument() SearchDocument {
	var x documentBuilder
	x.text(fulltext.Title, strings.TrimSpace(u.FirstName+" "+u.LastName))
	x.text(fulltext.Name, u.Username)
	x.key("", u.RegistryID)
	return x.done()
}
