package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange/words"

	"github.com/google/uuid"
)

// finder finds what one viewer may see in an index.
type finder struct {
	Conn
	index
	viewer uuid.UUID
}

// hit is a row of an index that a search finds.
type hit struct {
	rank            int64
	facets, weights string
}

// end is behind the last rank.
func (ix index) end() int64 { return 2 << ix.bits }

// from is the FROM of the hits x of an expression, and the condition that the viewer sees them.
func (f finder) from(e words.Expr) (string, *filter) {
	d := f.db.dialect
	w := where(strings.ReplaceAll(d.foundBy, "%[1]s", f.name), d.asked(e))
	if f.sight != nil {
		f.sight(w, f.Conn, f.viewer)
	}
	return strings.ReplaceAll(d.found, "%[1]s", f.name), w
}

// matches is the condition that the row x is a hit of the expression $1.
func (f finder) matches() string {
	return strings.NewReplacer("%[1]s", f.name, "?", "$1").Replace(f.db.dialect.matches)
}

// hits are the first of an expression by rank, from one rank until before another.
func (f finder) hits(ctx context.Context, e words.Expr, from, until int64, most int) ([]hit, error) {
	if !f.db.Postgres() { // which goes by rank, and stops
		return f.read(ctx, e, from, until, most)
	}
	// PostgreSQL finds all hits before it sorts them, so it is asked for parts of the ranks, which are as
	// many as what was found so far lets expect.
	var list []hit
	for parts, seen := int64(1), int64(0); from < until && len(list) < most; {
		first, last := from>>f.part(), (until-1)>>f.part()
		asked, to := e, until
		if parts <= last-first && parts < manyParts {
			to = (first + parts) << f.part()
			var slots []words.Expr
			for part := range parts {
				slots = append(slots, f.slot((first+part)<<f.part()))
			}
			asked = and(e, or(slots))
		}
		more, err := f.read(ctx, asked, from, to, most-len(list))
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
		from, seen = to, seen+parts
		parts = manyParts
		if len(list) > 0 {
			parts = int64(most-len(list))*seen/int64(len(list))*9/8 + 1
		}
	}
	return list, nil
}

// manyParts is from how many parts on it is better to ask for all, as the hits are few.
const manyParts = 32

// part is how many bits of a rank are within one of the 128 parts of all ranks.
func (ix index) part() int { return ix.bits - 6 }

// slot asks for the things in that part of the ranks where rank is; PostgreSQL has such marks.
func (ix index) slot(rank int64) words.Expr {
	return words.Expr{Token: fmt.Sprintf("=k%02x", rank>>ix.part())}
}

func (f finder) read(ctx context.Context, e words.Expr, from, until int64, most int) ([]hit, error) {
	place := f.db.dialect.place
	tables, w := f.from(e)
	w.and(place+" >= ? AND "+place+" < ?", from, until)
	return all(ctx, f.Conn, func(r row, h *hit) error { return r.Scan(&h.rank, &h.facets, &h.weights) },
		"SELECT x.rank, x.facets, x.weights FROM "+tables+" WHERE "+w.sql.String()+" ORDER BY "+place+" LIMIT $"+strconv.Itoa(len(w.args)+1),
		append(w.args, most)...)
}

// some are at most n hits, whichever are found first.
func (f finder) some(ctx context.Context, e words.Expr, n int) ([]int64, error) {
	asked := []words.Expr{e}
	if f.db.Postgres() {
		asked = []words.Expr{and(e, f.slot(0)), e} // where hits are many, those of a part are soon found
	}
	var ranks []int64
	for _, e := range asked {
		tables, w := f.from(e)
		var err error
		if ranks, err = all(ctx, f.Conn, value[int64], "SELECT x.rank FROM "+tables+" WHERE "+w.sql.String()+" LIMIT $"+strconv.Itoa(len(w.args)+1),
			append(w.args, n)...); err != nil {
			return nil, err
		}
		if len(ranks) == n {
			break
		}
	}
	slices.Sort(ranks)
	return ranks, nil
}

// and asks for what all of the expressions find.
func and(list ...words.Expr) words.Expr {
	list = slices.DeleteFunc(list, func(e words.Expr) bool { return e.Token == words.All })
	switch len(list) {
	case 0:
		return words.Expr{Token: words.All}
	case 1:
		return list[0]
	}
	return words.Expr{And: list}
}

// or asks for what any of the expressions finds, of which there is one at least.
func or(list []words.Expr) words.Expr {
	if len(list) == 1 {
		return list[0]
	}
	return words.Expr{Or: list}
}

// filtered asks for what passes all filters but one, "" for all.
func filtered(filters map[string][]string, but string) words.Expr {
	var list []words.Expr
	for name, values := range filters {
		if name == but {
			continue
		}
		var any []words.Expr
		for _, v := range values {
			any = append(any, words.Expr{Token: words.Facet(name, v)})
		}
		list = append(list, or(any))
	}
	return and(list...)
}
