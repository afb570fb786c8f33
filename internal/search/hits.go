package search

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// finder searches one index on behalf of one viewer and returns only what the viewer may see.
type finder struct {
	*sqldb.Conn
	Index
	viewer uuid.UUID
}

// hit is an index row that matches a search.
type hit struct {
	rank            int64
	facets, weights string
}

// end returns the upper bound of the ranks, exclusive.
func (ix Index) end() int64 { return 2 << ix.bits }

// from returns the FROM of the hits x of an expression, and the condition that they match and are visible to the
// viewer.
func (f finder) from(e fulltext.Expr) (string, *sqldb.Filter) {
	d := searchSQLOf(f.Conn)
	w := sqldb.Where(strings.ReplaceAll(d.foundBy, "%[1]s", f.name), d.asked(e))
	f.andVisible(w)
	return strings.ReplaceAll(d.found, "%[1]s", f.name), w
}

// andVisible adds the condition that the viewer may see the row x.
func (f finder) andVisible(w *sqldb.Filter) {
	if f.visible != "" {
		w.And(f.visible, f.Today(), f.viewer)
	}
}

// matches returns the condition that the row x matches the expression $1.
func (f finder) matches() string {
	return strings.NewReplacer("%[1]s", f.name, "?", "$1").Replace(searchSQLOf(f.Conn).matches)
}

// hits returns the first matches of an expression by rank, from one rank (inclusive) to another (exclusive).
func (f finder) hits(ctx context.Context, e fulltext.Expr, from, until int64, most int) ([]hit, error) {
	if !f.Postgres() { // which goes by rank, and stops
		return f.read(ctx, e, from, until, most)
	}
	// PostgreSQL finds all hits before it sorts them, so each query covers only as many ranks as should be enough,
	// judging by the density of the hits found so far.
	var list []hit
	for begin, ranks := from, 1.0; from < until && len(list) < most; {
		asked, to := f.within(e, from, from+int64(min(ranks, float64(until-from))))
		to = min(to, until)
		more, err := f.read(ctx, asked, from, to, most-len(list))
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
		from = to
		ranks = float64(f.end())
		if len(list) > 0 {
			ranks = float64(most-len(list))/float64(len(list))*float64(from-begin)*9/8 + 1
		}
	}
	return list, nil
}

// partBits are the numbers of leading bits of a rank that name its part of the ranks, in two sizes: 2048 and 128 parts.
// PostgreSQL indexes a token for each; SQLite reads by rank and needs none.
var partBits = [...]int{11, 7}

// manyParts is the number of parts from which on a query uses the next larger size of part, and after the largest size
// searches all ranks.
const manyParts = 32

// ManyRanks is the number of ranks from which on a query searches all of them.
const ManyRanks = (manyParts - 1) << (32 + 1 - 7)

// within narrows e to the fewest parts that cover the ranks from one to another, and returns the narrowed expression
// and the rank at which the parts end.
func (f finder) within(e fulltext.Expr, from, until int64) (fulltext.Expr, int64) {
	for _, bits := range partBits {
		size := f.bits + 1 - bits
		first, last := from>>size, (until-1)>>size
		if last-first >= manyParts {
			continue
		}
		var slots []fulltext.Expr
		for part := first; part <= last; part++ {
			slots = append(slots, f.slot(part<<size, bits))
		}
		return and(e, or(slots)), (last + 1) << size
	}
	if from >= f.end()/2 { // archived objects have a token of their own
		e = and(e, fulltext.Expr{Token: fulltext.Facet("is_archived", "true")})
	}
	return e, f.end()
}

// slot returns the expression for the part of the ranks that contains rank.
func (ix Index) slot(rank int64, bits int) fulltext.Expr {
	return fulltext.Expr{Token: fmt.Sprintf("=k%d.%x", bits, rank>>(ix.bits+1-bits))}
}

func (f finder) read(ctx context.Context, e fulltext.Expr, from, until int64, most int) ([]hit, error) {
	place := searchSQLOf(f.Conn).place
	tables, w := f.from(e)
	w.And(place+" >= ? AND "+place+" < ?", from, until)
	return sqldb.All(ctx, f.Conn, func(r sqldb.Row, h *hit) error { return r.Scan(&h.rank, &h.facets, &h.weights) },
		"SELECT x.rank, x.facets, x.weights FROM "+tables+" WHERE "+w.SQL.String()+" ORDER BY "+place+" LIMIT $"+
			strconv.Itoa(len(w.Args)+1),
		append(w.Args, most)...)
}

// some returns the ranks of at most n hits, whichever the database finds first.
func (f finder) some(ctx context.Context, e fulltext.Expr, n int) ([]int64, error) {
	asked := []fulltext.Expr{e}
	if f.Postgres() {
		// where hits are many, those of a part are soon found
		asked = []fulltext.Expr{and(e, f.slot(0, partBits[1])), e}
	}
	var ranks []int64
	for _, e := range asked {
		tables, w := f.from(e)
		var err error
		if ranks, err = sqldb.All(ctx, f.Conn, sqldb.Value[int64], "SELECT x.rank FROM "+tables+" WHERE "+
			w.SQL.String()+" LIMIT $"+
			strconv.Itoa(len(w.Args)+1),
			append(w.Args, n)...); err != nil {
			return nil, err
		}
		if len(ranks) == n {
			break
		}
	}
	slices.Sort(ranks)
	return ranks, nil
}

// and returns an expression for what all of the expressions match.
func and(list ...fulltext.Expr) fulltext.Expr {
	list = slices.DeleteFunc(list, func(e fulltext.Expr) bool { return e.Token == fulltext.All })
	switch len(list) {
	case 0:
		return fulltext.Expr{Token: fulltext.All}
	case 1:
		return list[0]
	}
	return fulltext.Expr{And: list}
}

// or returns an expression for what any of the expressions matches; the list is not empty.
func or(list []fulltext.Expr) fulltext.Expr {
	if len(list) == 1 {
		return list[0]
	}
	return fulltext.Expr{Or: list}
}

// filtered returns an expression for what passes all filters except the one named but; "" excepts none.
func filtered(filters map[string][]string, but string) fulltext.Expr {
	var list []fulltext.Expr
	for name, values := range filters {
		if name == but {
			continue
		}
		var any []fulltext.Expr
		for _, v := range values {
			any = append(any, fulltext.Expr{Token: fulltext.Facet(name, v)})
		}
		list = append(list, or(any))
	}
	return and(list...)
}
