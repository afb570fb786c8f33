package store

import (
	"context"
	"slices"

	"aliquot/internal/exchange"
)

// Materials returns the materials that match a search and that its viewer may see. Without words, the newest are
// the most relevant.
func (st Search) Materials(ctx context.Context, s exchange.Search) (exchange.SearchResult[exchange.ShownMaterial],
	error) {
	return search(ctx, finder{st.conn, materialIndex, s.Viewer}, s, shownMaterial, materialFrom, shownFields)
}

// Organizations returns the organizations that match a search.
func (st Search) Organizations(ctx context.Context, s exchange.Search) (exchange.SearchResult[exchange.Organization],
	error) {
	return search(ctx, finder{st.conn, organizationIndex, s.Viewer}, s, organizationColumns, "organizations o",
		organizationFields)
}

// Users returns the users that match a search.
func (st Search) Users(ctx context.Context, s exchange.Search) (exchange.SearchResult[exchange.User], error) {
	return search(ctx, finder{st.conn, userIndex, s.Viewer}, s, userColumns, "users u JOIN users o ON o.id = u.id",
		userFields)
}

// MatchMaterials returns the ids of those of the given materials that match a search; it ignores the sort and the page.
func (st Search) MatchMaterials(ctx context.Context, s exchange.Search, ids []int64) (matching []int64, err error) {
	f := finder{st.conn, materialIndex, s.Viewer}
	e := and(s.Query.Expr(), filtered(s.Filters, ""))
	for some := range slices.Chunk(ids, maxIn) {
		places, args := in([]any{f.db.dialect.asked(e)}, some)
		w := &filter{args: args}
		w.sql.WriteString("x.id IN (" + places + ") AND " + f.matches())
		f.sight(w, st.conn, s.Viewer)
		found, err := all(ctx, st.conn, value[int64], "SELECT x.id FROM material_index x WHERE "+w.sql.String()+
			" ORDER BY x.id", w.args...)
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

// search counts the hits and reads one page of them. tables has the objects under the alias o; fields returns the
// destinations that the columns are scanned into.
func search[T any](ctx context.Context, f finder, s exchange.Search, columns, tables string,
	fields func(*T) []any) (exchange.SearchResult[T], error) {
	var found exchange.SearchResult[T]
	at, err := startOf(s.Page)
	if err != nil {
		return found, err
	}
	counted, err := f.tally(ctx, s)
	if err != nil {
		return found, err
	}
	estimate := counted.approximate["count"]
	found.Count = rounded(counted.count, !estimate)
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

// page returns the hits of a page, and the one after them if there is one.
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
	places, args := in(nil, ranks)
	w := &filter{args: args}
	w.sql.WriteString("x.rank IN (" + places + ")")
	if f.sight != nil {
		f.sight(w, f.conn, f.viewer)
	}
	byRank := map[int64]T{}
	_, err := all(ctx, f.conn, func(r row, rank *int64) error {
		var item T
		if err := r.Scan(append([]any{rank}, fields(&item)...)...); err != nil {
			return err
		}
		byRank[*rank] = item
		return nil
	}, "SELECT x.rank, "+columns+" FROM "+tables+" JOIN "+f.name+"_index x ON x.id = o.id WHERE "+w.sql.String(),
		w.args...)
	for _, rank := range ranks {
		if item, is := byRank[rank]; is {
			items = append(items, item)
		}
	}
	return items, err
}
