package material

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/datause"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/identifier"
)

// facetOf holds the facet of a field of a category if it is not the field's key: a patient's tumour has a disease and a
// tissue, as a cell line does.
var facetOf = map[string]string{
	"diagnosis":                "disease",
	"primary_tissue_of_origin": "tissue",
}

// firstFacets are the filters that come first, in this order.
var firstFacets = []string{"category", "organization", "organisms", "needs_mta", "needs_irb", "needs_abstract",
	"shipping", "is_archived", "imported", "import_source", "has_publication", "data_use"}

// Facets lists the fields of materials whose values a search counts: those that every material has, followed by those
// of the categories, each with its first label.
var Facets = func() []exchange.FacetName {
	list := []exchange.FacetName{
		{Name: "shipping", Label: "Has shipping requirements", Flag: true},
		{Name: "has_publication", Label: "Has a publication", Flag: true},
		{Name: "data_use", Label: "Terms of data use"},
	}
	for _, d := range Descriptors {
		if d.Facet != "" {
			_, id := d.At(new(Material)).(*int64)
			list = append(list, exchange.FacetName{Name: d.ShownName(), Label: d.Facet, Values: d.Values,
				Flag: d.IsFlag(), IDs: id})
		}
	}
	slices.SortStableFunc(list, func(x, y exchange.FacetName) int {
		return cmp.Compare(uint(slices.Index(firstFacets, x.Name)), uint(slices.Index(firstFacets, y.Name)))
	})
	for _, c := range category.All() {
		for _, f := range c.Fields {
			name, ok := facet(f)
			if ok && !slices.ContainsFunc(list, func(other exchange.FacetName) bool { return other.Name == name }) {
				list = append(list, exchange.FacetName{Name: name, Label: f.Label, Flag: f.Type == category.Boolean})
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

// SearchDocument returns the document of m, which belongs to an organization with that name and those public keys, and
// of which its lab stated terms of data use. It contains only what everybody may see.
func (m Material) SearchDocument(organization string, published []string,
	stated []datause.Term) exchange.SearchDocument {
	var x exchange.DocumentBuilder
	x.Text(fulltext.Title, m.Title)
	for _, organism := range m.Organisms {
		x.Text(fulltext.Name, organism, commonNames[strings.ToLower(organism)])
	}
	if m.Reference != nil {
		x.Text(fulltext.Name, *m.Reference)
		x.Key("", *m.Reference)
	}
	x.Text(fulltext.About, organization)
	addFound(&x, m, func(w fulltext.Weight) bool { return w > fulltext.Body })
	addMetadata(&x, m, published)
	addFound(&x, m, func(w fulltext.Weight) bool { return w == fulltext.Body })

	x.Key("pmid", m.PubMedID)
	x.Key("doi", text(m.PrePrintDOI))
	addImported(&x, m)

	addCounted(&x, m)
	addUses(&x, m, stated)
	slices.Sort(x.Facets)
	return x.Document()
}

// addFound adds the texts of the fields that search looks at and whose weight is one of some.
func addFound(x *exchange.DocumentBuilder, m Material, some func(fulltext.Weight) bool) {
	for _, d := range Descriptors {
		if d.Found != nil && some(*d.Found) {
			x.Text(*d.Found, d.Text(&m))
		}
	}
}

// addCounted adds the facets of m outside of its metadata.
func addCounted(x *exchange.DocumentBuilder, m Material) {
	for _, d := range Descriptors {
		if d.Facet == "" {
			continue
		}
		if list, several := d.At(&m).(*[]string); several {
			for _, text := range *list {
				x.Count(d.ShownName(), text)
			}
			continue
		}
		x.Count(d.ShownName(), d.Text(&m))
	}
	x.Count("shipping", strconv.FormatBool(m.ShippingID != nil))
	x.Count("has_publication", strconv.FormatBool(m.PubMedID != "" || text(m.PublicationTitle) != "" ||
		text(m.PrePrintDOI) != "" || text(m.PrePrintTitle) != ""))
}

// addUses adds the terms of data use: those that the lab stated, and those in the field of a dataset.
func addUses(x *exchange.DocumentBuilder, m Material, stated []datause.Term) {
	var metadata struct {
		Restrictions string `json:"consent_restrictions"`
	}
	_ = json.Unmarshal(m.Metadata, &metadata) // of a dataset; what is no text has no terms
	written, _ := datause.Parse(metadata.Restrictions)
	for _, u := range slices.Concat(written, stated) {
		x.Count("data_use", u.ID)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// addImported adds the identifiers of m outside of its metadata: at its source, and in the address of its record.
func addImported(x *exchange.DocumentBuilder, m Material) {
	if m.ImportIdentifier != nil {
		kind := identifier.Kind("accession")
		if m.ImportSource == SourceProtocols {
			kind = "protocols-doi"
		}
		x.Key(kind, *m.ImportIdentifier)
	}
	for _, id := range fulltext.Identify(m.URL) {
		x.Key(id.Kind, id.Canonical)
	}
}

// addMetadata adds the fields of m's category. Facets, required fields and names have the highest weight; long texts
// and custom fields the lowest.
func addMetadata(x *exchange.DocumentBuilder, m Material, published []string) {
	var values map[string]json.RawMessage
	shown, _ := category.Public(m.Category, m.Metadata, published)
	if json.Unmarshal(shown, &values) != nil {
		return
	}
	c, _ := category.Get(m.Category)
	x.Text(fulltext.About, c.Label)
	for _, f := range c.Fields {
		addField(x, c, f, values[f.Key])
		delete(values, f.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		x.Text(fulltext.Body, category.Items(values[key])...)
	}
}

// addField adds a field of category c.
func addField(x *exchange.DocumentBuilder, c category.Category, f category.Field, value json.RawMessage) {
	if name, ok := facet(f); ok {
		for _, term := range f.Terms(value) {
			if f.Type == category.Boolean {
				term = strconv.FormatBool(strings.EqualFold(term, "true") || strings.EqualFold(term, "yes"))
			}
			x.Count(name, term)
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
			x.Text(fulltext.Body, item)
		case chosen: // nobody types the beginning of "not detected"
			x.Text(fulltext.About, o.Label)
		case named, f.Vocabulary == "" && (f.Facet || f.Section == c.Fields[0].Section):
			x.Text(fulltext.Name, item)
		default: // an identifier is found by its key, however it is written
			x.Text(fulltext.About, item)
		}
		if f.Vocabulary != "" {
			x.Key(f.Vocabulary, item)
		}
		if named {
			x.Wholes = append(x.Wholes, item)
		}
	}
}
