package catalog

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

// facetGroup is a heading of the filters, with its checkboxes.
type facetGroup struct {
	ID      string
	Label   string
	Open    bool
	Options []facetOption
	More    int // number of values that are not shown
}

type facetOption struct {
	ID          string // by which htmx recognises it
	Name, Value string // of the field
	Label       string
	Count       string
	About       bool // the count is an estimate
	Chosen      bool
	Italic      bool // a species
}

// maxOptions is how many values of a facet are shown, and maxGroups how many facets of categories.
const (
	maxOptions = 8
	maxGroups  = 8
)

// said are the labels of facet values that need no heading: as a checkbox, and as a chip.
var said = map[string]string{
	"needs_mta=false": "No MTA", "needs_irb=false": "No IRB approval", "needs_abstract=false": "No abstract",
	"shipping=false": "Nothing to ship",
	"needs_mta=true": "Needs an MTA", "needs_irb=true": "Needs IRB approval",
	"needs_abstract=true": "Needs an abstract", "shipping=true": "Needs shipping",
	"is_archived=false": "Available", "is_archived=true": "Archived", "has_publication=true": "Has a publication",
	"has_publication=false": "No publication",
	"imported=true":         "Imported", "imported=false": "Added by the lab",
	"import_source=PROTOCOLS_REPOSITORY": "protocols.io",
}

// headed are the groups that come first, in this order, with their lines; those in more are offered only once
// one of their values is chosen. A group without lines has all values of the facet of its name.
var headed = []struct {
	id, label   string
	open        bool
	lines, more []string
}{
	{id: "category", label: "Category", open: true},
	{
		id: "needs", label: "What you will need", open: true,
		lines: []string{"needs_mta=false", "needs_irb=false", "needs_abstract=false", "shipping=false"},
		more:  []string{"needs_mta=true", "needs_irb=true", "needs_abstract=true", "shipping=true"},
	},
	{id: "organisms", label: "Organism", open: true},
	{id: "availability", label: "Availability", open: true, lines: []string{"is_archived=false", "is_archived=true"}},
	{id: "publication", label: "Publication", lines: []string{"has_publication=true"},
		more: []string{"has_publication=false"}},
	{id: "import_source", label: "Imported from", more: []string{"imported=true", "imported=false"}},
	{id: "organization", label: "Lab"},
}

// groupsOf returns the filters of a search, with the number of hits that each would leave.
func groupsOf(found catalog.Results[material.Shown], a searchParams) []facetGroup {
	var groups, further []facetGroup
	shown := map[string]bool{}
	for _, h := range headed {
		g := facetGroup{ID: h.id, Label: h.label, Open: h.open}
		for _, line := range append(slices.Clone(h.lines), h.more...) {
			name, value, _ := strings.Cut(line, "=")
			shown[name] = true
			n, known := found.Facets[name].Values[value]
			if a.has(name, value) || known && n > 0 && slices.Contains(h.lines, line) {
				g.Options = append(g.Options, option(found, a, name, value))
			}
		}
		if h.lines == nil {
			shown[h.id] = true
			g.fill(found, a, h.id)
		}
		groups = append(groups, g)
	}
	for _, f := range material.Facets {
		if shown[f.Name] || len(found.Facets[f.Name].Values) == 0 {
			continue
		}
		g := facetGroup{ID: f.Name, Label: f.Label}
		g.fill(found, a, f.Name)
		further = append(further, g)
	}
	weight := func(g facetGroup) (n int64) {
		for _, o := range g.Options {
			n += found.Facets[g.ID].Values[o.Value]
			if o.Chosen {
				n += 1 << 40
			}
		}
		return n
	}
	slices.SortStableFunc(further, func(x, y facetGroup) int { return cmp.Compare(weight(y), weight(x)) })
	further = further[:min(len(further), maxGroups)]
	all := slices.Concat(groups[:3], further, groups[3:])
	for i := range all {
		all[i].Open = all[i].Open || slices.ContainsFunc(all[i].Options, func(o facetOption) bool { return o.Chosen })
	}
	return slices.DeleteFunc(all, func(g facetGroup) bool { return len(g.Options) == 0 })
}

// fill adds the most frequent values of a facet, and the chosen ones.
func (g *facetGroup) fill(found catalog.Results[material.Shown], a searchParams, name string) {
	f := found.Facets[name]
	values := make([]string, 0, len(f.Values))
	for value, n := range f.Values {
		if n > 0 || a.has(name, value) {
			values = append(values, value)
		}
	}
	slices.SortFunc(values, func(x, y string) int {
		return cmp.Or(cmp.Compare(f.Values[y], f.Values[x]), cmp.Compare(x, y))
	})
	for i, value := range values {
		if i < maxOptions || a.has(name, value) {
			g.Options = append(g.Options, option(found, a, name, value))
		} else {
			g.More++
		}
	}
	g.More += f.More
}

func option(found catalog.Results[material.Shown], a searchParams, name, value string) facetOption {
	n := found.Facets[name].Values[value]
	return facetOption{
		ID: "o-" + url.QueryEscape(name+"-"+value), Name: name, Value: value,
		Label: valueLabel(found.Labels, name, value), Count: ui.Count(n),
		About: slices.Contains(found.Approximate, name), Chosen: a.has(name, value),
		Italic: name == "organisms",
	}
}

// valueLabel returns the label of a facet value.
func valueLabel(labels map[string]map[string]string, name, value string) string {
	if c, known := category.Get(value); known && name == "category" {
		return c.Plural
	}
	for _, label := range []string{said[name+"="+value], labels[name][value], material.FacetLabel(name, value)} {
		if label != "" {
			return label
		}
	}
	for _, f := range material.Facets {
		if f.Name == name && f.Flag {
			return map[string]string{"true": "Yes", "false": "No"}[value]
		}
	}
	return value
}

// chip is a chosen filter, with the address of the search without it.
type chip struct {
	Facet, Value string
	Label        string
	Italic       bool
	Address      string
	Gain         string // how many hits there would be without it
}

func chipsOf(labels map[string]map[string]string, a searchParams) []chip {
	var chips []chip
	for _, f := range material.Facets {
		for _, value := range a.search.Filters[f.Name] {
			label := valueLabel(labels, f.Name, value)
			if f.Flag && said[f.Name+"="+value] == "" {
				label = f.Label + ": " + strings.ToLower(label)
			}
			rest := searchParams{values: map[string][]string{}}
			for name, values := range a.values {
				for _, v := range values {
					if name != f.Name || v != value {
						rest.values[name] = append(rest.values[name], v)
					}
				}
			}
			chips = append(chips, chip{Facet: f.Name, Value: value, Label: label, Italic: f.Name == "organisms",
				Address: rest.address()})
		}
	}
	return chips
}

// without returns the pairs that remove all filters of a search.
func without(a searchParams) []string {
	var pairs []string
	for name := range a.search.Filters {
		pairs = append(pairs, name, "")
	}
	return pairs
}

func facetNames() []string {
	var names []string
	for _, f := range material.Facets {
		names = append(names, f.Name)
	}
	return names
}
