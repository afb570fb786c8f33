package exchange

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"aliquot/internal/exchange/fulltext"
)

// How a search is asked for in an address: by the API as by the pages.

// OrderingOf is the parameter that names the order of a search.
const OrderingOf = "ordering"

// byRelevance is the usual order.
const byRelevance = "relevance"

// SearchOrders are the values of OrderingOf, the usual one first; title is what the order by title is called.
func SearchOrders(title string) []string {
	return []string{byRelevance, "-created_at", "-updated_at", title}
}

// SearchOrder reads the order that values ask for.
func (f *FieldErrors) SearchOrder(values url.Values, title string) (name string, sort SearchSort) {
	orders := SearchOrders(title)
	name = byRelevance
	if values.Has(OrderingOf) {
		name = values.Get(OrderingOf)
	}
	i := slices.Index(orders, name)
	if i < 0 {
		f.Add(OrderingOf, "must be one of %s", strings.Join(orders, ", "))
		return byRelevance, ByRelevance
	}
	return name, []SearchSort{ByRelevance, ByNewest, ByUpdated, ByTitle}[i]
}

// MaxSearched is how many words and values of filters a search may have together, so also of one facet, and
// MaxSearchText how long its text may be, in characters.
const (
	MaxSearched   = 64
	MaxSearchText = 1000
)

// SearchSize notes where a search asks for more than one may; name is the parameter of its text.
func (f *FieldErrors) SearchSize(name, text string, filters map[string][]string) {
	if n := utf8.RuneCountInString(text); n > MaxSearchText {
		f.Add(name, "must be at most %d characters; it has %d", MaxSearchText, n)
		return
	}
	terms, values := len(strings.Fields(text)), 0
	for _, list := range filters {
		values += len(list)
	}
	if terms+values > MaxSearched {
		f.Add(name, "must be at most %d words and filter values together; there are %d words and %d values",
			MaxSearched, terms, values)
	}
}

// SearchFilters reads what values filter by; a facet without any filters nothing.
func (f *FieldErrors) SearchFilters(values url.Values, facets []FacetName) map[string][]string {
	filters := map[string][]string{}
	for _, facet := range facets {
		asked := slices.Compact(slices.Sorted(slices.Values(values[facet.Name])))
		if len(asked) > MaxSearched {
			f.Add(facet.Name, "must be at most %d values; there are %d", MaxSearched, len(asked))
			continue
		}
		for _, value := range asked {
			if fault := facet.wrong(value); fault != "" {
				f.Add(facet.Name, "%s", fault)
				break
			}
			if f.Short(facet.Name, value) {
				filters[facet.Name] = append(filters[facet.Name], value)
			}
		}
	}
	return filters
}

// wrong says why a facet cannot have a value; "" where it can.
func (n FacetName) wrong(value string) string {
	id, err := strconv.ParseInt(value, 10, 64)
	switch {
	case n.IDs && (err != nil || id < 1 || strconv.FormatInt(id, 10) != value):
		return "must be an id"
	case n.Flag && value != "true" && value != "false":
		return "must be true or false"
	case n.Values != nil && !slices.Contains(n.Values, value):
		return "must be one of " + strings.Join(n.Values, ", ")
	}
	return ""
}

// Short reports whether a parameter is short text without control characters, and notes where it is not.
func (f *FieldErrors) Short(name, s string) bool {
	ok := utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) && len(s) <= 1000
	if !ok {
		f.Add(name, "must be short text without control characters")
	}
	return ok
}

// snippet is about how long a text that is shown with a hit is, in letters.
const snippet = 200

// Highlights are the first of some texts, and of the others that which q matches most; only those
// that q matches.
func Highlights(q fulltext.Query, texts []NamedText) map[string][]fulltext.Piece {
	shown := map[string][]fulltext.Piece{}
	name, most, best := "", 0, []fulltext.Piece(nil)
	for i, t := range texts {
		pieces := q.Highlight(t.Text, snippet)
		matched := 0
		for _, p := range pieces {
			if p.Match {
				matched += len(p.Text)
			}
		}
		switch {
		case matched == 0:
		case i == 0:
			shown[t.Name] = pieces
		case matched > most:
			name, most, best = t.Name, matched, pieces
		}
	}
	if most > 0 {
		shown[name] = best
	}
	return shown
}
