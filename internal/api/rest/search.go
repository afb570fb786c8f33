package rest

import (
	"net/url"
	"strconv"

	"aliquot/internal/api/jsonschema"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
)

// Searched is what a search accepts besides its text.
type Searched struct {
	Facets []exchange.FacetName
	Title  string // the name of the order by title
	Feed   bool   // it is a feed of the newest, without pages
}

// orders returns the values of ordering, the default first.
func (s Searched) orders() []string { return exchange.SearchOrders(s.Title) }

// searchQuery selects which part of a search a call asks for.
type searchQuery struct {
	values url.Values
	Text   string
	name   string // of the search, see listName
	Search exchange.Search
}

// readSearch reads the parameters of a search. Any text is valid, whatever its bytes.
func (c *Call) readSearch() error {
	q := c.query()
	text := q.anything("search")
	s := exchange.Search{Query: fulltext.Parse(text), Filters: q.faults.SearchFilters(q.values, c.Searched.Facets)}
	q.faults.SearchSize("search", text, s.Filters)
	c.Search = searchQuery{values: q.values, Text: text}
	if !c.Searched.Feed {
		var order string
		order, s.Sort = q.faults.SearchOrder(q.values, c.Searched.Title)
		c.Search.name = listName(c.Request, exchange.Order{Field: exchange.Field{Name: order}}, []any{text, s.Filters})
		var page jsonschema.SearchPage
		q.read(&page)
		s.Page = exchange.SearchPage{Limit: int(page.Limit), Offset: int(page.Offset),
			After: q.searchCursor(page.Cursor, c.Search.name)}
		s.Facets, s.CountAll = page.Facets, page.Count != nil
	}
	c.Search.Search = s
	return q.faults.Err()
}

func (q *query) offset(name string) jsonschema.HitOffset {
	n := q.integer(name)
	switch {
	case n == nil:
		return 0
	case q.values.Has("cursor"):
		q.faults.Add(name, "cannot be combined with cursor")
	case *n < 0 || *n > exchange.MaxOffset:
		q.faults.Add(name, "must be from 0 to %d; beyond that, follow the address in next", exchange.MaxOffset)
	}
	return jsonschema.HitOffset(*n)
}

// searchCursor returns the position after which the page begins, nil for the beginning.
func (q *query) searchCursor(c jsonschema.CursorText, search string) *exchange.SearchPosition {
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
	page, values := c.Search.Search.Page, c.Search.values
	at := page.Offset
	if page.After != nil {
		at = page.After.Offset
	}
	values.Del("offset")
	if next != nil {
		values.Set("cursor", packed(c.Search.name, next.Offset, next.Token))
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

// PageOf returns the answer of a search.
func PageOf[T, Out any](c *Call, found catalog.Results[T], err error, show func(T) Out) (shape.Page[Out], error) {
	if err != nil {
		return shape.Page[Out]{}, err
	}
	h := shape.Page[Out]{
		Count: found.Count.N, CountIs: shape.CountExactly, Results: shape.List(found.Items, show),
		Facets: map[string]map[string]int64{},
		More:   map[string]int{},
		Labels: map[string]map[string]string{}, Approximate: append([]string{}, found.Approximate...),
	}
	if found.Count.AtLeast {
		h.CountIs = shape.CountAtLeast
	}
	for name, f := range found.Facets {
		h.Facets[name] = f.Values
		if f.More > 0 {
			h.More[name] = f.More
		}
	}
	for name, labels := range found.Labels {
		h.Labels[name] = labels
	}
	if found.Meant != "" {
		h.Meant = &found.Meant
	}
	h.Next, h.Previous = c.addresses(found.Next)
	return h, nil
}
