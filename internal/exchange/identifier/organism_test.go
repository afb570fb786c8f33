package identifier

import (
	"strings"
	"testing"
)

func TestSuggestOrganisms_FindsThemByEachOfTheirNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"homo": "Homo sapiens", "MUS MUS": "Mus musculus", "mouse": "Mus musculus", "c. elegans": "Caenorhabditis elegans",
		"zebrafish": "Danio rerio", "drosophila": "Drosophila melanogaster", "E. coli": "Escherichia coli",
		"axolotl": "Ambystoma mexicanum", "griseus": "Cricetulus griseus",
	} {
		if list := SuggestOrganisms(text, 8); len(list) == 0 || list[0].Name != want || len(list) > 8 {
			t.Errorf("%q: %v, want %s first", text, list, want)
		}
	}
	for _, text := range []string{"", "  ", "-", "xyzzy", strings.Repeat("a", 10_000)} {
		if list := SuggestOrganisms(text, 8); len(list) != 0 {
			t.Errorf("%.20q: %v", text, list)
		}
	}
}

func TestOrganisms_AreManyAndEachOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range organisms {
		if canonical, err := Taxonomy(o.Taxon); err != nil || canonical != o.Taxon || o.Name == "" || seen[o.Taxon] ||
			seen[o.Name] {
			t.Errorf("%+v: %v", o.Organism, err)
		}
		seen[o.Taxon], seen[o.Name] = true, true
	}
	if len(organisms) < 2250 {
		t.Errorf("%d organisms", len(organisms))
	}
}
