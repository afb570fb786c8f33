package exchange

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/fulltext"

	"github.com/google/uuid"
)

// SavedSearch is a search of materials that a person keeps. Where Alerts is true they are told of what
// is new in it: of each material once.
type SavedSearch struct {
	ID        int64
	UserID    uuid.UUID
	Name      string // never empty; what it looks for, where the person gave none
	Search    string
	Filters   Filters
	Alerts    bool
	Since     AlertStart
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Beginning is from when on materials are new to a saved search. What was there is told by counting, and
// not by the clock, which another process may have set otherwise, and by which a transaction that ends
// late would seem to have been there.
type AlertStart struct {
	Epoch int64  // one that is listed, or offered again, in this epoch or a later one is new
	Day   string // one whose embargo ends after this day too
}

// Filters are values by the name of a facet; of each facet one of them must hold.
type Filters map[string]Names

// The bounds of saved searches.
const (
	MaxSavedSearches = 100 // of a person
	searchLength     = MaxSearchText
	MaxFilterValues  = 50 // of a facet
)

// SavedSearchPatch is the body of POST, PUT and PATCH of saved searches.
type SavedSearchPatch struct {
	Name    Opt[string]  `json:"name"`
	Search  Opt[string]  `json:"search"`
	Filters Opt[Filters] `json:"filters"`
	Alerts  Opt[bool]    `json:"alerts"`
}

// Create makes a saved search of p.
func (p SavedSearchPatch) Create(user uuid.UUID) (SavedSearch, error) {
	return p.Patch(SavedSearch{UserID: user, Filters: Filters{}, Alerts: true})
}

// Patch applies p to s. One that is called what it looks for stays so.
func (p SavedSearchPatch) Patch(s SavedSearch) (SavedSearch, error) {
	var f FieldErrors
	if s.Name == s.describe() {
		s.Name = ""
	}
	f.line("search", p.Search, searchLength, &s.Search)
	if p.Filters.Set {
		s.Filters = f.filters(p.Filters.Value)
	}
	if p.Search.Set || p.Filters.Set {
		f.SearchSize("search", s.Search, s.Query().Filters)
	}
	f.line("name", p.Name, lineLength, &s.Name)
	if s.Name == "" {
		s.Name = s.describe()
	}
	s.Alerts = p.Alerts.Or(s.Alerts)
	return s, f.Err()
}

// filters are those of a body, each value once and in order.
func (f *FieldErrors) filters(all Filters) Filters {
	clean := Filters{}
	for _, facet := range slices.Sorted(maps.Keys(all)) {
		known := slices.IndexFunc(Facets, func(n FacetName) bool { return n.Name == facet })
		if known < 0 {
			f.Add("filters", "%q is no facet; use some of %s", shorten(facet, 50), strings.Join(facetNames(), ", "))
			return nil
		}
		var of FieldErrors
		var list Names
		for _, text := range all[facet] {
			value := ""
			of.line(facet, Some(text), lineLength, &value)
			of.need(facet, value)
			if fault := Facets[known].wrong(value); fault != "" {
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

// describe says in words what s looks for.
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
	return shorten(strings.Join(parts, ", "), lineLength)
}

// Asks is the search that s keeps, as its person sees it.
func (s SavedSearch) Query() Search {
	filters := map[string][]string{}
	for facet, values := range s.Filters {
		filters[facet] = values
	}
	return Search{Query: fulltext.Parse(s.Search), Filters: filters, Viewer: s.UserID}
}

// Address is where what s looks for is found: a path below root.
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

// SameQuery reports whether s and other look for the same.
func (s SavedSearch) SameQuery(other SavedSearch) bool {
	return s.Search == other.Search && maps.EqualFunc(s.Filters, other.Filters, slices.Equal[Names])
}

// Match is what became new in saved searches in one run of alerts, to one of them.
type Match struct {
	Search    SavedSearch
	Materials []MaterialPayload // the newest MaxTold
	Count     int               // of all
}

// MaxTold is how many materials one piece of news names.
const MaxTold = 10

// MatchNews are the news of m.
func (m Match) News() Announcement {
	return Announcement{Kind: SearchMatched,
		Detail: AnnouncementDetail{SavedSearch: m.Search.ID, Name: m.Search.Name, Count: m.Count,
			Materials: m.Materials}}
}

// describeMatch says in one sentence what is new in a saved search.
func describeMatch(d AnnouncementDetail) string {
	const named = 3
	var titles []string
	for _, m := range d.Materials[:min(named, len(d.Materials))] {
		titles = append(titles, m.Title)
	}
	if more := d.Count - len(titles); more > 0 {
		titles = append(titles, fmt.Sprintf("%d more", more))
	}
	what := "1 material is"
	if d.Count != 1 {
		what = fmt.Sprintf("%d materials are", d.Count)
	}
	return fmt.Sprintf("%s new in your saved search %s: %s.", what, d.Name, strings.Join(titles, "; "))
}
