// Package search finds materials, organizations and people: query, index, facets, ranking. The store keeps the tables
// and says which columns to read of what is found.
package search

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
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
	at   cursor
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
		found.Next, err = list[s.Page.Limit-1].at.position(s.Page, len(list))
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

// cursor is the position of a hit in the order of its search, which exchange.SearchPosition.Token encodes.
type cursor struct {
	Section int   `json:"s,omitempty"` // of the walk by relevance, from 1; 0 is all hits, where they are few
	From    int64 `json:"f,omitempty"` // the block of ranks that it is in
	Until   int64 `json:"u,omitempty"`
	Score   int   `json:"p,omitempty"`
	Rank    int64 `json:"r"`

	Archived bool   `json:"a,omitempty"` // of hits that are sorted by Key
	Key      string `json:"k,omitempty"`
}

// position returns the position after which the next page begins.
func (s cursor) position(p exchange.SearchPage, n int) (*exchange.SearchPosition, error) {
	token, err := json.Marshal(s)
	before := p.Offset
	if p.After != nil {
		before = p.After.Offset
	}
	return &exchange.SearchPosition{Offset: before + n, Token: base64.RawURLEncoding.EncodeToString(token)}, err
}

// startOf returns the position after which a page begins, nil for the beginning.
func startOf(p exchange.SearchPage) (*cursor, error) {
	if p.After == nil {
		return nil, nil //nolint:nilnil // no position is no error
	}
	s := &cursor{}
	token, err := base64.RawURLEncoding.DecodeString(p.After.Token)
	if err == nil {
		err = json.Unmarshal(token, s)
	}
	if err != nil || strings.Contains(s.Key, "\x00") || s.Section < 0 || s.Section > 2*kinds || s.From < 0 ||
		s.Until < s.From {
		return nil, wrongCursor()
	}
	return s, nil
}

func wrongCursor() error {
	var f exchange.FieldErrors
	f.Add("cursor", "must be one from an earlier response")
	return f.Err()
}

// The kinds of hits, in the order in which many hits are read: first all kinds of those that are not archived.
const (
	wholes = iota // by name or identifier
	titles        // others by title
	others
	kinds
)

// relevant returns hits by relevance. Few hits are sorted as a whole; many are read section by section, and within each
// in blocks of half a sample.
func (f finder) relevant(ctx context.Context, s exchange.Search, at *cursor, counted tally) ([]ranked, error) {
	skip, want := 0, s.Page.Limit+1
	if at == nil {
		skip, at = s.Page.Offset, &cursor{Section: 1, Rank: -1}
		if !counted.sampled {
			at.Section = 0
		}
	}
	var list []ranked
	last := 2 * kinds
	if at.Section == 0 {
		last = 0
	}
	for n := at.Section; n <= last; n++ {
		e, from, until, is := f.section(s, n)
		if n == at.Section {
			from = max(from, at.From)
		}
		for is && from < until && len(list) < want+skip {
			block, end, err := f.block(ctx, e, from, until, n, at, counted)
			if err != nil {
				return nil, err
			}
			sorted := f.scored(s.Query, block, cursor{Section: n, From: from, Until: end})
			if n == at.Section && from == at.From && at.Rank >= 0 {
				behind := ranked{rank: at.Rank, at: *at}
				sorted = slices.DeleteFunc(sorted, func(r ranked) bool { return f.compare(r, behind) <= 0 })
			}
			list = append(list, sorted...)
			from = end
		}
	}
	list = list[min(skip, len(list)):]
	return list[:min(want, len(list))], nil
}

// section returns the expression and the ranks of a section; false if it is empty.
func (f finder) section(s exchange.Search, n int) (e fulltext.Expr, from, until int64, is bool) {
	filters := filtered(s.Filters, "")
	if n == 0 {
		return and(s.Query.Expr(), filters), 0, f.end(), true
	}
	half := f.end() / 2
	from, until = 0, half
	if n > kinds {
		from, until = half, f.end()
	}
	whole, hasWhole := s.Query.WholeExpr()
	title, hasTitle := s.Query.TitleExpr()
	switch (n - 1) % kinds {
	case wholes:
		return and(whole, filters), from, until, hasWhole
	case titles:
		return and(but(title, whole, hasWhole), filters), from, until, hasTitle
	}
	return and(but(s.Query.Expr(), title, hasTitle), filters), from, until, true
}

// but returns an expression for what yes matches, and no does not if there is a no.
func but(yes, no fulltext.Expr, is bool) fulltext.Expr {
	if !is {
		return yes
	}
	return fulltext.Expr{But: &fulltext.But{Yes: yes, No: no}}
}

// block reads the hits that are scored together, and returns the rank at which the next block begins. A block in which
// a page ended keeps its end, so that no hit comes twice if others were added meanwhile.
func (f finder) block(ctx context.Context, e fulltext.Expr, from, until int64, section int, at *cursor,
	counted tally) ([]hit, int64, error) {
	if section == 0 && !counted.sampled {
		return counted.hits, until, nil
	}
	most := (f.DB.Sampling.Sampled + 1) / 2
	if section == 0 {
		most = f.DB.Sampling.ExactUpTo
	}
	if section == at.Section && from == at.From && at.Until > from {
		until, most = min(until, at.Until), 2*most
	}
	hits, err := f.hits(ctx, e, from, until, most)
	if err == nil && len(hits) == most && section > 0 {
		until = hits[most-1].rank + 1
	}
	return hits, until, err
}

// scored returns the hits of a block in order; at is the position of the block.
func (f finder) scored(q fulltext.Query, block []hit, at cursor) []ranked {
	list := make([]ranked, len(block))
	for i, h := range block {
		list[i] = ranked{rank: h.rank, at: at}
		list[i].at.Score, list[i].at.Rank = q.Score(h.weights), h.rank
	}
	slices.SortFunc(list, f.compare)
	return list
}

// compare orders the hits of one block: archived last, the best first.
func (f finder) compare(a, b ranked) int {
	return cmp.Or(cmp.Compare(a.rank>>f.bits, b.rank>>f.bits), cmp.Compare(b.at.Score, a.at.Score),
		cmp.Compare(a.rank, b.rank))
}
