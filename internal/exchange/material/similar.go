package material

import (
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// likeBy lists the facets by which materials are similar, the most significant first.
var likeBy = []string{"disease", "genes", "technique", "tissue", "plasmid_type", "organisms"}

// SimilarFilters returns filters that find materials similar to m, the narrowest first: by its most significant facets,
// by its least significant, and by its category alone.
func SimilarFilters(m Material) []map[string][]string {
	var x exchange.DocumentBuilder
	addMetadata(&x, m, nil)
	addCounted(&x, m)
	values := map[string][]string{}
	for _, line := range x.Facets {
		name, value, _ := strings.Cut(line, "=")
		values[name] = append(values[name], value)
	}
	names := slices.DeleteFunc(slices.Clone(likeBy), func(name string) bool { return len(values[name]) == 0 })
	if len(names) > 2 {
		names = []string{names[0], names[len(names)-1]}
	}
	var list []map[string][]string
	for _, name := range names {
		list = append(list, map[string][]string{"category": {m.Category}, "is_archived": {"false"}, name: values[name]})
	}
	return append(list, map[string][]string{"category": {m.Category}, "is_archived": {"false"}})
}
