package material

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/fulltext"
)

func ptr[T any](v T) *T { return &v }

var indexedLine = Material{
	ID: 7, OrganizationID: 12, Category: "CELL_LINE", Title: "HT-29 colorectal line", Reference: ptr("FZ-0012"),
	PubMedID: "13052828",
	URL:      "https://www.cellosaurus.org/CVCL_0320", Organisms: []string{"Homo sapiens", "Mus musculus"},
	NeedsMTA:         true,
	ShippingID:       ptr(int64(3)),
	PublicationTitle: ptr("A line of growth"), PrePrintDOI: ptr("10.1101/2020.01.01.123"), Citation: ptr("Fogh 1975"),
	AdditionalInfo: ptr("Thaw quickly"),
	Metadata: json.RawMessage(`{"cell_line_name":"HT-29","rrid":"RRID:CVCL_0320","disease":" Colon adenocarcinoma ","tissue":"Colon","biosafety_level":"BSL1",
		"line_type":"cancer","organism_ids":["NCBITaxon:9606"],"is_genetically_modified":"yes","growth_medium":"McCoy’s medium","supplier":"ATCC HTB-38",
		"own_key":"Zebra","deep":{"secret":"Quagga"},"number":12}`),
}

func TestSearchDocument_HasEveryTextOfTheMaterial(t *testing.T) {
	t.Parallel()
	d := indexedLine.SearchDocument("Müller lab", []string{"own_key", "deep", "number"}, nil).Doc
	for _, query := range []string{
		"HT29", "colorectal lines", "homo sapiens", "mus", "human cell lines", "mouse", "FZ 0012", "PMID:13052828",
		"cvcl_0320", "https://scicrunch.org/resolver/RRID:CVCL_0320",
		"line of growth", "doi:10.1101/2020.01.01.123", "fogh", "muller", "thawing", "colon adenocarc", "Level 1",
		"NCBITaxon:9606", "mccoy", "htb38", "zebra",
	} {
		if !fulltext.Parse(query).Expr().Match(d) {
			t.Errorf("%q does not find it: %q", query, d.Tokens)
		}
	}
	for _, query := range []string{"quagga", "zeb", "7"} {
		if fulltext.Parse(query).Expr().Match(d) {
			t.Errorf("%q finds it", query)
		}
	}
	if d := indexedLine.SearchDocument("Müller lab", []string{"deep"}, nil).Doc; fulltext.Parse("zebra").Expr().Match(d) {
		t.Error("a key that the lab does not publish finds it")
	}
	if q := fulltext.Parse("HT-29"); q.Score(d.Weights) <= q.Score(titledMaterial("HT-29 colorectal line").SearchDocument("", nil, nil).Doc.Weights) {
		t.Error("a line's own name is no whole name")
	}
}

func titledMaterial(title string) Material {
	return Material{Category: "OTHER", Title: title, Metadata: json.RawMessage("{}")}
}

func TestSearchDocument_HasTheFacetsOfTheMaterial(t *testing.T) {
	t.Parallel()
	x := indexedLine.SearchDocument("Müller lab", nil, nil)
	want := []string{
		"biosafety_level=BSL-1", "category=CELL_LINE", "disease=Colon adenocarcinoma", "has_publication=true",
		"imported=false", "is_archived=false",
		"is_genetically_modified=true", "line_type=cancer", "needs_abstract=false", "needs_irb=false", "needs_mta=true",
		"organisms=Homo sapiens",
		"organisms=Mus musculus", "organization=12", "shipping=true", "tissue=Colon",
	}
	if !slices.Equal(x.Facets, want) {
		t.Errorf("facets are %q", x.Facets)
	}
	for _, facet := range x.Facets {
		name, value, _ := strings.Cut(facet, "=")
		if !(fulltext.Expr{Token: fulltext.Facet(name, value)}).Match(x.Doc) {
			t.Errorf("%s is no token", facet)
		}
		if !slices.ContainsFunc(Facets, func(f exchange.FacetName) bool { return f.Name == name && f.Label != "" }) {
			t.Errorf("%s is not among the facets", name)
		}
	}
	pdx := Material{Category: "PDX", Title: "Tumour", ImportSource: "GEO", Imported: true,
		ImportIdentifier: ptr("GSE2122"),
		Metadata: json.RawMessage(`{"diagnosis":"` + strings.Repeat("ä", 300) +
			`","primary_tissue_of_origin":"Colon","tumor_characterization_technology":["histology","STR","STR"]}`)}
	x = pdx.SearchDocument("", nil, nil)
	for _, facet := range []string{"disease=" + strings.Repeat("ä", 255), "tissue=Colon", "import_source=GEO",
		"imported=true", "has_publication=false"} {
		if !slices.Contains(x.Facets, facet) {
			t.Errorf("%s is not in %q", facet, x.Facets)
		}
	}
	if !fulltext.Parse("https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122").Expr().Match(x.Doc) {
		t.Error("the accession does not find what was imported")
	}
}

// TestFacets_OfACategoryAreNamedOnce checks that the list is built from the categories.
func TestFacets_OfACategoryAreNamedOnce(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for _, f := range Facets {
		count[f.Name]++
		if count[f.Name] > 1 || f.Label == "" {
			t.Errorf("%v", f)
		}
	}
	for _, c := range category.All() {
		for _, f := range c.Fields {
			if name, ok := facet(f); ok && count[name] != 1 || f.Facet && !ok {
				t.Errorf("%s.%s counts under %q", c.Code, f.Key, name)
			}
		}
	}
	for key := range facetOf {
		if !slices.ContainsFunc(category.All(), func(c category.Category) bool { _, ok := c.Field(key); return ok }) {
			t.Errorf("no category has the key %s", key)
		}
	}
}

func BenchmarkIndexed(b *testing.B) {
	for b.Loop() {
		indexedLine.SearchDocument("Müller lab", nil, nil)
	}
}
