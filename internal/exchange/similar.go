package exchange

import (
	"slices"
	"strings"
)

// likeBy are the facets by which materials are alike, those that tell most first.
var likeBy = []string{"disease", "genes", "technique", "tissue", "plasmid_type", "organisms"}

// Likenesses are filters that find materials like m, the closest first; two at most.
func Likenesses(m Material) []map[string][]string {
	values := map[string][]string{}
	for _, line := range m.Indexed("").Facets {
		name, value, _ := strings.Cut(line, "=")
		values[name] = append(values[name], value)
	}
	like := func() map[string][]string {
		return map[string][]string{"category": {m.Category}, "is_archived": {"false"}}
	}
	var list []map[string][]string
	for _, name := range likeBy {
		if len(values[name]) > 0 && len(list) < 2 {
			filters := like()
			filters[name] = slices.Clone(values[name])
			list = append(list, filters)
		}
	}
	if len(list) == 0 {
		list = append(list, like())
	}
	return list
}
