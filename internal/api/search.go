package api

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
)

// searchPage holds the parameters by which a search is paged.
type searchPage struct {
	Limit  pageSize   `query:"limit" least:"1" most:"200" default:"20" help:"The maximum number of items on a page."`
	Offset hitOffset  `query:"offset"`
	Cursor cursorText `query:"cursor" shared:"true"`
	Count  *counting  `query:"count" shared:"true"`
	Facets bool       `query:"facets" default:"true" help:"Whether facets are counted."`
}

// hitOffset is how many hits are before a page, at most exchange.MaxOffset.
type hitOffset int64

// searched is what a search accepts besides its text.
type searched struct {
	facets []exchange.FacetName
	title  string // the name of the order by title
	feed   bool   // it is a feed of the newest, without pages
}

// orders returns the values of ordering, the default first.
func (s searched) orders() []string { return exchange.SearchOrders(s.title) }

// searchQuery selects which part of a search a call asks for.
type searchQuery struct {
	values url.Values
	text   string
	name   string // of the search, see listName
	search exchange.Search
}

// readSearch reads the parameters of a search. Any text is valid, whatever its bytes.
func (c *Call) readSearch() error {
	q := c.query()
	text := q.anything("search")
	s := exchange.Search{Query: fulltext.Parse(text), Filters: q.faults.SearchFilters(q.values, c.searched.facets)}
	q.faults.SearchSize("search", text, s.Filters)
	c.search = searchQuery{values: q.values, text: text}
	if !c.searched.feed {
		var order string
		order, s.Sort = q.faults.SearchOrder(q.values, c.searched.title)
		c.search.name = listName(c.Request, exchange.Order{Field: exchange.Field{Name: order}}, []any{text, s.Filters})
		var page searchPage
		q.read(&page)
		s.Page = exchange.SearchPage{Limit: int(page.Limit), Offset: int(page.Offset),
			After: q.searchCursor(page.Cursor, c.search.name)}
		s.Facets, s.CountAll = page.Facets, page.Count != nil
	}
	c.search.search = s
	return q.faults.Err()
}

func (q *query) offset(name string) hitOffset {
	n := q.integer(name)
	switch {
	case n == nil:
		return 0
	case q.values.Has("cursor"):
		q.faults.Add(name, "cannot be combined with cursor")
	case *n < 0 || *n > exchange.MaxOffset:
		q.faults.Add(name, "must be from 0 to %d; beyond that, follow the address in next", exchange.MaxOffset)
	}
	return hitOffset(*n)
}

// searchCursor returns the position after which the page begins, nil for the beginning.
func (q *query) searchCursor(c cursorText, search string) *exchange.SearchPosition {
	parts := q.unpacked(c, search)
	if parts == nil {
		return nil
	}
	offset, err := decodeValue[int](parts[0])
	token, errToken := decodeValue[string](parts[1])
	if err != nil || errToken != nil || offset < 1 {
		q.badCursor()
		return nil
	}
	return &exchange.SearchPosition{Offset: offset, Token: token}
}

// addresses returns the addresses of the next and the previous part; nil if there is none. There is no previous part
// that begins beyond the maximum of offset.
func (c *Call) addresses(next *exchange.SearchPosition) (after, before *string) {
	page, values := c.search.search.Page, c.search.values
	at := page.Offset
	if page.After != nil {
		at = page.After.Offset
	}
	values.Del("offset")
	if next != nil {
		values.Set("cursor", packed(c.search.name, next.Offset, next.Token))
		after = c.address(values)
	}
	values.Del("cursor")
	start := max(at-page.Limit, 0)
	if at == 0 || start > exchange.MaxOffset {
		return after, nil
	}
	if start > 0 {
		values.Set("offset", strconv.Itoa(start))
	}
	values.Set("limit", strconv.Itoa(at-start))
	return after, c.address(values)
}

func (c *Call) address(values url.Values) *string {
	return new(c.URL.EscapedPath() + "?" + values.Encode())
}

func searchMaterials(c *Call, _ None) (Page[MaterialHit], error) {
	found, err := c.App.Materials.SearchMaterials(c.Context(), c.Actor, c.search.search)
	return pageOf(c, found, err, func(m material.Shown) MaterialHit {
		return MaterialHit{showMaterial(m), highlights(c.search.search.Query, m.Texts())}
	})
}

func searchOrganizations(c *Call, _ None) (Page[OrganizationHit], error) {
	found, err := c.App.Materials.SearchOrganizations(c.Context(), c.search.search)
	return pageOf(c, found, err, func(v core.OrganizationView) OrganizationHit {
		return OrganizationHit{showOrganization(v), highlights(c.search.search.Query, v.Texts())}
	})
}

func searchUsers(c *Call, _ None) (Page[User], error) {
	found, err := c.App.Materials.SearchUsers(c.Context(), c.search.search)
	return pageOf(c, found, err, showUser(c.App))
}

// SuggestQuery is the query of GET /search/suggest.
type SuggestQuery struct {
	Search *exchange.SearchText `query:"search" help:"What was typed so far."`
	Limit  int64                `query:"limit" least:"1" most:"20" default:"8" help:"How many there are at most."`
}

func suggest(c *Call, asked SuggestQuery) (Suggestions, error) {
	text := ""
	if asked.Search != nil {
		text = string(*asked.Search)
	}
	found, err := c.App.Materials.Suggest(c.Context(), c.Actor, text, int(asked.Limit))
	return Suggestions{list(found, showSuggestion)}, err
}

// feedMaterials writes a search as a feed. A feed reader sends the same search from now on, so the feed is identified
// by its search alone.
func feedMaterials(c *Call, _ None) (Body, error) {
	listings, err := c.App.Materials.Feed(c.Context(), c.search.search)
	if err != nil {
		return Body{}, err
	}
	asked, title := url.Values{}, []string{}
	if c.search.text != "" {
		asked.Set("search", c.search.text)
		title = append(title, c.search.text)
	}
	for _, f := range c.searched.facets {
		if values := c.search.search.Filters[f.Name]; values != nil {
			asked[f.Name] = values
			title = append(title, f.Label+": "+strings.Join(values, ", "))
		}
	}
	address := func(path string) string { return strings.TrimSuffix(c.App.PublicURL+path+"?"+asked.Encode(), "?") }
	raw, err := publish.Atom(publish.Feed{
		Title:  strings.TrimSuffix(fmt.Sprintf("Materials on Aliquot: %s", strings.Join(title, "; ")), ": "),
		Self:   address("/v1/search/materials/feed"),
		Search: address("/v1/search/materials"), Listings: listings,
	})
	return Body{Type: publish.AtomType, Bytes: raw}, err
}
