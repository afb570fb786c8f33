package letter

import (
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/web/ui"
)

// comparison is a version next to the one before.
type comparison struct {
	Version, Before letter.Version
	Rows            []comparedRow
}

// comparedRow is a part of a letter in two versions.
type comparedRow struct {
	Name, Before, Now string
}

// Differs reports whether the part was changed.
func (r comparedRow) Differs() bool { return r.Before != r.Now }

// compared compares the version of a number with the one before; nil if the list does not have both.
func compared(list []letter.Version, number string) *comparison {
	n, _ := strconv.Atoi(number)
	find := func(n int) int {
		return slices.IndexFunc(list, func(v letter.Version) bool { return v.Letter.Version == n })
	}
	at, before := find(n), find(n-1)
	if at < 0 || before < 0 {
		return nil
	}
	c := &comparison{Version: list[at], Before: list[before]}
	was, is := c.Before.Letter, c.Version.Letter
	add := func(name, before, now string) { c.Rows = append(c.Rows, comparedRow{name, before, now}) }
	add("Form", was.Instrument+", version "+was.Edition, is.Instrument+", version "+is.Edition)
	add("Materials", requestLines(was), requestLines(is))
	for _, name := range fieldNames(was, is) {
		if name != "materials" { // listed above, with the requests
			add(ui.Words(name), was.Fields[name], is.Fields[name])
		}
	}
	return c
}

// fieldNames returns the names of the fields of both versions, in order.
func fieldNames(list ...letter.Letter) (names []string) {
	for _, l := range list {
		for name := range l.Fields {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// requestLines returns the requests of a version, a line each.
func requestLines(l letter.Letter) string {
	var lines []string
	for _, r := range l.Requests {
		lines = append(lines, strings.TrimSuffix(r.Material+", "+r.Quantity, ", ")+" (request "+
			strconv.FormatInt(r.ID, 10)+")")
	}
	return strings.Join(lines, "\n")
}
