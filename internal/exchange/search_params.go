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

// The query parameters of a search, shared by the API and the pages.

// OrderingOf is the name of the parameter for the order of a search.
const OrderingOf = "ordering"

// byRelevance is the default order.
const byRelevance = "relevance"

// SearchOrders returns the values of OrderingOf, the default first; title is the name of the order by title.
func SearchOrders(title string) []string {
	return []string{byRelevance, "-created_at", "-updated_at", title}
}

// SearchOrder reads the order from values.
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

// MaxSearched is the maximum number of words and filter values in a search, all together and so also of one facet.
// MaxSearchText is the maximum length of its text, in characters.
const (
	MaxSearched   = 64
	MaxSearchText = 1000
)

// SearchSize adds an error if a search exceeds these limits; name is the parameter of its text.
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

// SearchFilters reads the filters from values; a facet without values filters nothing.
func (f *FieldErrors) SearchFilters(values url.Values, facets []FacetName) map[string][]string {
	filters := map[string][]string{}
	for _, facet := range facets {
		asked := slices.Compact(slices.Sorted(slices.Values(values[facet.Name])))
		if len(asked) > MaxSearched {
			f.Add(facet.Name, "must be at most %d values; there are %d", MaxSearched, len(asked))
			continue
		}
		for _, value := range asked {
			if fault := facet.Wrong(value); fault != "" {
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

// Wrong returns why a facet cannot have a value; "" if it can.
func (n FacetName) Wrong(value string) string {
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

// Short reports whether a parameter is a short text without control characters, and adds an error if not.
func (f *FieldErrors) Short(name, s string) bool {
	ok := utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) && len(s) <= 1000
	if !ok {
		f.Add(name, "must be short text without control characters")
	}
	return ok
}

// snippet is the approximate length of a text shown with a hit, in letters.
const snippet = 200

// Highlights returns the first of texts, and of the others the one that q matches best; only texts that q matches.
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

// SearchText is the text of a search: any text up to MaxSearchText, whatever its bytes.
type SearchText string
