package identifier

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
)

// One line per organism, as the head of the file says.
//
//go:embed organisms.tsv
var organismsTSV string

// Organism is an organism of the NCBI Taxonomy.
type Organism struct {
	Taxon  string // such as NCBITaxon:10090
	Name   string // such as Mus musculus
	Common string // such as house mouse, "" if it has none
}

// namedOrganism is an organism with the names by which it is found, as plain returns them.
type namedOrganism struct {
	Organism
	names []string // scientific, abbreviated as C. elegans, common
}

var organisms = func() (all []namedOrganism) {
	for line := range strings.Lines(organismsTSV) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 3 { // the head of the file
			continue
		}
		o := namedOrganism{Organism: Organism{"NCBITaxon:" + cells[0], cells[1], cells[2]}}
		genus, species, _ := strings.Cut(o.Name, " ")
		o.names = []string{plain(o.Name), plain(genus[:1] + " " + species), plain(o.Common)}
		all = append(all, o)
	}
	return all
}()

// SuggestOrganisms returns up to most organisms of which a name, or a word of one, begins with text, without regard to
// case; those whose whole name begins with it come first.
func SuggestOrganisms(text string, most int) []Organism {
	text = plain(text)
	if strings.TrimSpace(text) == "" || len(text) > longest {
		return nil
	}
	type match struct {
		Organism
		rank int
	}
	var found []match
	for _, o := range organisms {
		rank := 0
		for _, name := range o.names {
			switch {
			case name == text:
				rank = max(rank, 3)
			case strings.HasPrefix(name, text):
				rank = max(rank, 2)
			case strings.Contains(name, " "+text):
				rank = max(rank, 1)
			}
		}
		if rank > 0 {
			found = append(found, match{o.Organism, rank})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(b.rank, a.rank) })
	var list []Organism
	for _, m := range found[:min(len(found), most)] {
		list = append(list, m.Organism)
	}
	return list
}
