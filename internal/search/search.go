// Package search finds materials, organizations and people: query, index, facets, ranking. The store keeps the tables
// and says which columns to read of what is found.
package search

import (
	"context"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Searcher answers searches over one connection.
type Searcher struct{ conn *sqldb.Conn }

// New returns the Search over a connection.
func New(c *sqldb.Conn) Searcher { return Searcher{c} }

// Match returns the ids of those of the given materials that match a search; it ignores the sort and the page.
func (st Searcher) Match(ctx context.Context, s exchange.Search, ids []int64) (matching []int64, err error) {
	f := finder{st.conn, Materials, s.Viewer}
	e := and(s.Query.Expr(), filtered(s.Filters, ""))
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		places, args := sqldb.In([]any{searchSQLOf(f.Conn).asked(e)}, some)
		w := &sqldb.Filter{Args: args}
		w.SQL.WriteString("x.id IN (" + places + ") AND " + f.matches())
		f.andVisible(w)
		found, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT x.id FROM material_index x WHERE "+
			w.SQL.String()+
			" ORDER BY x.id", w.Args...)
		if err != nil {
			return nil, err
		}
		matching = append(matching, found...)
	}
	return matching, nil
}

// ranked is a hit and its position in the order of the search.
type ranked struct {
	rank int64
	spot cursor
}

// Find counts the hits and reads one page of them. tables has the objects under the alias o; fields returns the
// destinations that the columns are scanned into.
func Find[T any](ctx context.Context, c *sqldb.Conn, in Index, s exchange.Search, columns, tables string,
	fields func(*T) []any) (exchange.SearchResult[T], error) {
	f := finder{c, in, s.Viewer}
	var found exchange.SearchResult[T]
	at, err := startOf(s.Page)
	if err != nil {
		return found, err
	}
	counted, err := f.tally(ctx, s)
	if err != nil {
		return found, err
	}
	if found.Count, err = f.count(ctx, s, counted); err != nil {
		return found, err
	}
	for name, is := range counted.approximate {
		if is {
			found.Approximate = append(found.Approximate, name)
		}
	}
	slices.Sort(found.Approximate)
	if s.Facets {
		found.Facets = map[string]exchange.Facet{}
		for name := range s.Filters {
			found.Facets[name] = facet(nil, s.Filters[name], true)
		}
		for name, values := range counted.facets {
			found.Facets[name] = facet(values, s.Filters[name], !counted.approximate[name])
		}
	}
	if s.Page.Limit <= 0 {
		return found, nil
	}
	list, err := f.page(ctx, s, at, counted)
	if err != nil {
		return found, err
	}
	if len(list) > s.Page.Limit {
		list = list[:s.Page.Limit]
		found.Next, err = list[s.Page.Limit-1].spot.position(s.Page, len(list))
		if err != nil {
			return found, err
		}
	}
	found.Items, err = load(ctx, f, list, columns, tables, fields)
	return found, err
}

// Page returns the hits of a page, and the one after them if there is one.
func (f finder) page(ctx context.Context, s exchange.Search, at *cursor, counted tally) ([]ranked, error) {
	if order, is := f.sorts[s.Sort]; is && (s.Sort != exchange.ByRelevance || s.Query.Empty()) {
		return f.sorted(ctx, s, order, at, counted)
	}
	return f.relevant(ctx, s, at, counted)
}

// load reads the objects of hits, in the order of the hits. An object that changed meanwhile, so that the viewer may no
// longer see it, is left out.
func load[T any](ctx context.Context, f finder, hits []ranked, columns, tables string, fields func(*T) []any) ([]T,
	error) {
	items := []T{}
	if len(hits) == 0 {
		return items, nil
	}
	var ranks []int64
	for _, h := range hits {
		ranks = append(ranks, h.rank)
	}
	places, args := sqldb.In(nil, ranks)
	w := &sqldb.Filter{Args: args}
	w.SQL.WriteString("x.rank IN (" + places + ")")
	f.andVisible(w)
	byRank := map[int64]T{}
	_, err := sqldb.All(ctx, f.Conn, func(r sqldb.Row, rank *int64) error {
		var item T
		if err := r.Scan(append([]any{rank}, fields(&item)...)...); err != nil {
			return err
		}
		byRank[*rank] = item
		return nil
	}, "SELECT x.rank, "+columns+" FROM "+tables+" JOIN "+f.name+"_index x ON x.id = o.id WHERE "+w.SQL.String(),
		w.Args...)
	for _, rank := range ranks {
		if item, is := byRank[rank]; is {
			items = append(items, item)
		}
	}
	return items, err
}

// Some returns at most n of the objects that have the values of some facets, whichever are found first.
func Some[T any](ctx context.Context, c *sqldb.Conn, in Index, filters map[string][]string, viewer uuid.UUID, n int,
	columns, tables string, fields func(*T) []any) ([]T, error) {
	f := finder{c, in, viewer}
	ranks, err := f.some(ctx, filtered(filters, ""), n)
	if err != nil {
		return nil, err
	}
	hits := make([]ranked, len(ranks))
	for i, rank := range ranks {
		hits[i].rank = rank
	}
	return load(ctx, f, hits, columns, tables, fields)
}
