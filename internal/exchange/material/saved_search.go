package material

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"

	"github.com/google/uuid"
)

// SavedSearch is a search of materials that a person saved. If Alerts is true, the person is notified of new materials
// in it: once of each material.
type SavedSearch struct {
	ID        int64
	UserID    uuid.UUID
	Name      string // never empty; a description of the search if the person gave none
	Search    string
	Filters   Filters
	Alerts    bool
	Since     AlertStart
	CreatedAt time.Time
	UpdatedAt time.Time
}

// AlertStart is the start from which on materials are new to a saved search. It is a counter and not a time: the clock
// of another process may differ, and a transaction that commits late would appear to be older than it is.
type AlertStart struct {
	Epoch int64  // materials listed, or made available again, in this epoch or later are new
	Day   string // materials whose embargo ends after this day are new too
}

// Filters holds values by the name of a facet; one of each facet's values must match.
type Filters map[string]exchange.Names

// The limits of saved searches.
const (
	MaxSavedSearches = 100 // of a person
	searchLength     = exchange.MaxSearchText
	MaxFilterValues  = 50 // of a facet
)

// SavedSearchPatch is the body of POST, PUT and PATCH of saved searches.
type SavedSearchPatch struct {
	Name    exchange.Opt[string]  `json:"name"`
	Search  exchange.Opt[string]  `json:"search"`
	Filters exchange.Opt[Filters] `json:"filters"`
	Alerts  exchange.Opt[bool]    `json:"alerts"`
}

// Create makes a saved search from p.
func (p SavedSearchPatch) Create(user uuid.UUID) (SavedSearch, error) {
	return p.Patch(SavedSearch{UserID: user, Filters: Filters{}, Alerts: true})
}

// Patch applies p to s. A search that is named by its description keeps following it.
func (p SavedSearchPatch) Patch(s SavedSearch) (SavedSearch, error) {
	var f exchange.FieldErrors
	if s.Name == s.describe() {
		s.Name = ""
	}
	f.Line("search", p.Search, searchLength, &s.Search)
	if p.Filters.Set {
		s.Filters = setFilters(&f, p.Filters.Value)
	}
	if p.Search.Set || p.Filters.Set {
		f.SearchSize("search", s.Search, s.Query().Filters)
	}
	f.Line("name", p.Name, exchange.LineLength, &s.Name)
	if s.Name == "" {
		s.Name = s.describe()
	}
	s.Alerts = p.Alerts.Or(s.Alerts)
	return s, f.Err()
}

// Validate implements Body.
func (p SavedSearchPatch) Validate(bool) exchange.FieldErrors {
	_, err := p.Create(uuid.Nil)
	return exchange.FieldsOf(err)
}

// setFilters returns the filters of a body, each value once and in order.
func setFilters(f *exchange.FieldErrors, all Filters) Filters {
	clean := Filters{}
	for _, facet := range slices.Sorted(maps.Keys(all)) {
		known := slices.IndexFunc(Facets, func(n exchange.FacetName) bool { return n.Name == facet })
		if known < 0 {
			f.Add("filters", "%q is not a facet; use some of %s", shorten(facet, 50), strings.Join(facetNames(), ", "))
			return nil
		}
		var of exchange.FieldErrors
		var list exchange.Names
		for _, text := range all[facet] {
			value := ""
			of.Line(facet, exchange.Some(text), exchange.LineLength, &value)
			of.Need(facet, value)
			if fault := Facets[known].Wrong(value); fault != "" {
				of.Add(facet, "%s", fault)
			}
			list = append(list, value)
		}
		slices.Sort(list)
		if list = slices.Compact(list); len(list) > MaxFilterValues {
			of.Add(facet, "must be at most %d values", MaxFilterValues)
		}
		if len(of) > 0 {
			f.Add("filters", "%s: %s", facet, of[facet][0])
		}
		if len(list) > 0 {
			clean[facet] = list
		}
	}
	return clean
}

func facetNames() []string {
	names := make([]string, len(Facets))
	for i, n := range Facets {
		names[i] = n.Name
	}
	return names
}

// shorten cuts a text to at most most characters.
func shorten(s string, most int) string {
	if letters := []rune(s); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return s
}

// describe describes in words what s searches for.
func (s SavedSearch) describe() string {
	var parts []string
	if s.Search != "" {
		parts = append(parts, s.Search)
	}
	for _, facet := range Facets {
		if values := s.Filters[facet.Name]; len(values) > 0 {
			parts = append(parts, facet.Label+": "+strings.Join(values, " or "))
		}
	}
	if len(parts) == 0 {
		return "All materials"
	}
	return shorten(strings.Join(parts, ", "), exchange.LineLength)
}

// Query returns the search that s stores, as its owner sees it.
func (s SavedSearch) Query() exchange.Search {
	filters := map[string][]string{}
	for facet, values := range s.Filters {
		filters[facet] = values
	}
	return exchange.Search{Query: fulltext.Parse(s.Search), Filters: filters, Viewer: s.UserID}
}

// Address returns the address of the results of s: a path below root.
func (s SavedSearch) Address(root string) string {
	query := url.Values{}
	if s.Search != "" {
		query.Set("search", s.Search)
	}
	for facet, values := range s.Filters {
		query[facet] = values
	}
	if len(query) == 0 {
		return root
	}
	return root + "?" + query.Encode()
}

// SameQuery reports whether s and other search for the same.
func (s SavedSearch) SameQuery(other SavedSearch) bool {
	return s.Search == other.Search && maps.EqualFunc(s.Filters, other.Filters, slices.Equal[exchange.Names])
}
