package search

import (
	"context"
	"slices"
	"strconv"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/store/sqldb"
)

// sorting is an order by a column of the objects o. Objects with the same value are in the order of their ids; users,
// whose ids are no numbers, in that of their ranks.
type sorting struct {
	column     string
	descending bool
	moment     bool // the column is a time
}

// sortings returns the orders of objects. Without words the newest are the most relevant.
func sortings(title string) map[exchange.SearchSort]sorting {
	newest := sorting{"o.created_at", true, true}
	return map[exchange.SearchSort]sorting{exchange.ByRelevance: newest, exchange.ByNewest: newest,
		exchange.ByUpdated: {"o.updated_at", true, true}, exchange.ByTitle: {column: title}}
}

// tie returns the column that decides between objects with the same value, and its value for the object at a rank.
func (ix Index) tie(rank int64) (column string, value int64) {
	if ix.bits > 32 {
		return "x.rank", rank
	}
	return "o.id", int64(uint32(rank) * unGolden)
}

// sorted returns hits by a column, archived ones last. If a large share of the objects are hits, it reads the objects
// in order and tests them; otherwise it reads all hits.
func (f finder) sorted(ctx context.Context, s exchange.Search, by sorting, at *cursor, counted tally) ([]ranked,
	error) {
	skip := 0
	if at == nil {
		skip = s.Page.Offset
	}
	want := skip + s.Page.Limit + 1
	list, done, err := f.walk(ctx, s, by, at, want, counted)
	if err == nil && !done {
		list, err = f.sift(ctx, and(s.Query.Expr(), filtered(s.Filters, "")), by, at, want)
	}
	return list[min(skip, len(list)):], err
}

// sift sorts all hits.
func (f finder) sift(ctx context.Context, e fulltext.Expr, by sorting, at *cursor, want int) ([]ranked, error) {
	tables, w := f.from(e)
	tie, order := f.ordered(by)
	if at != nil {
		key, id, err := f.place(by, *at)
		if err != nil {
			return nil, err
		}
		w.And("("+f.archive()+" > ? OR "+f.archive()+" = ? AND ("+by.column+", "+tie+")"+by.than()+"(?, ?))",
			at.Archived, at.Archived, key, id)
	}
	return sqldb.All(ctx, f.Conn, f.scanRanked(by), "SELECT x.rank, "+f.archive()+", "+by.column+" FROM "+
		tables+searchSQLOf(f.Conn).join+f.table+
		" o ON o.id = x.id WHERE "+w.SQL.String()+" ORDER BY "+f.archive()+", "+order+" LIMIT $"+
		strconv.Itoa(len(w.Args)+1), append(w.Args, want)...)
}

// walk reads objects in order and tests each, if it expects to need few tests; archived objects are left out. done is
// false if it needed too many, or found too few hits. Without words a test only compares facets.
func (f finder) walk(ctx context.Context, s exchange.Search, by sorting, at *cursor, want int,
	counted tally) (list []ranked, done bool, err error) {
	cost := f.DB.Sampling.ProbeCost
	if s.Query.Empty() {
		cost = min(cost, lookCost)
	}
	if (cost > lookCost && !counted.sampled) || counted.count == 0 || f.bits > 32 || at != nil &&
		at.Archived {
		return nil, false, nil
	}
	newest, err := sqldb.One(ctx, f.Conn, sqldb.Value[int64], "SELECT COALESCE(MAX(id), 0) FROM "+f.table)
	tests := 2*int(float64(want)*float64(newest)/counted.count) + want
	if err != nil || float64(tests)*cost > counted.count {
		return nil, false, err
	}
	tie, order := f.ordered(by)
	wanted, scan := wantedLines(s.Filters), f.scanRanked(by)
	for range 1 + 4*tests/sqldb.MaxIn {
		// it is not archived; + keeps SQLite from going through the ranks instead
		w := sqldb.Where("+x.rank < ?", f.end()/2)
		f.andVisible(w)
		if at != nil {
			key, id, err := f.place(by, *at)
			if err != nil {
				return nil, false, err
			}
			w.And("("+by.column+", "+tie+")"+by.than()+"(?, ?)", key, id)
		}
		facets := map[int64]string{}
		next, err := sqldb.All(ctx, f.Conn, func(r sqldb.Row, h *ranked) error {
			var lines string
			err := scan(sqldb.MoreColumns(r, []any{&lines}), h)
			facets[h.rank] = lines
			return err
		}, "SELECT x.rank, FALSE, "+by.column+", x.facets FROM "+f.table+" o JOIN "+f.name+
			"_index x ON x.id = o.id WHERE "+w.SQL.String()+" ORDER BY "+order+" LIMIT $"+strconv.Itoa(len(w.Args)+1),
			append(w.Args, min(tests, sqldb.MaxIn))...)
		if err != nil || len(next) == 0 {
			return nil, false, err
		}
		matching := slices.DeleteFunc(slices.Clone(next),
			func(r ranked) bool { return !passes(facets[r.rank], wanted) })
		if !s.Query.Empty() {
			if matching, err = f.matching(ctx, s.Query.Expr(), matching); err != nil {
				return nil, false, err
			}
		}
		if list = append(list, matching...); len(list) >= want {
			return list[:want], true, nil
		}
		at = &next[len(next)-1].at
	}
	return nil, false, nil
}

// lookCost is the cost of comparing the facets of an object, in the unit of Sampling.ProbeCost.
const lookCost = 1

// matching returns those of some objects that an expression matches.
func (f finder) matching(ctx context.Context, e fulltext.Expr, list []ranked) (matching []ranked, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	ranks := make([]int64, len(list))
	for i, r := range list {
		ranks[i] = r.rank
	}
	places, args := sqldb.In([]any{searchSQLOf(f.Conn).asked(e)}, ranks)
	found, err := sqldb.All(ctx, f.Conn, sqldb.Value[int64], "SELECT x.rank FROM "+f.name+"_index x WHERE x.rank IN ("+
		places+
		") AND "+f.matches(), args...)
	hits := make(map[int64]bool, len(found))
	for _, rank := range found {
		hits[rank] = true
	}
	for _, r := range list {
		if hits[r.rank] {
			matching = append(matching, r)
		}
	}
	return matching, err
}

// archive returns the condition that the object of the row x is archived.
func (f finder) archive() string {
	if f.Index.archived != "" {
		return f.Index.archived
	}
	return "(x.rank < 0)"
}

func (f finder) ordered(by sorting) (tie, order string) {
	tie, _ = f.tie(0)
	direction := ""
	if by.descending {
		direction = " DESC"
	}
	return tie, by.column + direction + ", " + tie + direction
}

func (by sorting) than() string {
	if by.descending {
		return " < "
	}
	return " > "
}

// place returns the values that a position has in the columns of an order.
func (f finder) place(by sorting, at cursor) (key any, id int64, err error) {
	_, id = f.tie(at.Rank)
	if !by.moment {
		return at.Key, id, nil
	}
	moment, err := time.Parse(time.RFC3339Nano, at.Key)
	if err != nil {
		err = wrongCursor()
	}
	return moment, id, err
}

func (f finder) scanRanked(by sorting) func(sqldb.Row, *ranked) error {
	return func(r sqldb.Row, h *ranked) error {
		var moment time.Time
		key := any(&h.at.Key)
		if by.moment {
			key = sqldb.UTC(&moment)
		}
		err := r.Scan(&h.rank, &h.at.Archived, key)
		if h.at.Rank = h.rank; by.moment {
			h.at.Key = moment.Format(time.RFC3339Nano)
		}
		return err
	}
}
