package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/store/sqldb"
)

// sample is a sample of the hits of an expression: the first by rank, live and archived ones separately.
type sample struct {
	hits  []hit
	scale [2]float64 // how many live, and how many archived hits one of them stands for
}

// whole reports whether a sample contains all hits.
func (s sample) whole() bool { return s.scale == [2]float64{1, 1} }

// sample reads all hits of an expression or, if they are clearly more than are counted one by one, enough of them to
// estimate the counts.
func (f finder) sample(ctx context.Context, e fulltext.Expr) (sample, error) {
	some := f.DB.Sampling.Sampled
	s := sample{scale: [2]float64{1, 1}}
	hits, err := f.hits(ctx, e, 0, f.end(), some)
	if err != nil || len(hits) < some {
		s.hits = hits
		return s, err
	}
	most, err := f.exactUpTo(ctx)
	if err != nil {
		return s, err
	}
	half := f.end() / 2
	last := hits[some-1].rank
	if live := float64(some) * float64(half) / float64(last+1); last >= half || live < 1.5*float64(most) {
		more, err := f.hits(ctx, e, last+1, f.end(), most+1-some)
		if err != nil {
			return s, err
		}
		if hits = append(hits, more...); len(hits) <= most {
			s.hits = hits
			return s, nil
		}
		hits = hits[:most]
		last = hits[most-1].rank
	}
	s.hits = hits
	if last >= half {
		s.scale[1] = float64(half) / float64(last-half+1)
		return s, nil
	}
	s.scale[0] = float64(half) / float64(last+1)
	few := some/10 + 1
	archived, err := f.hits(ctx, e, half, f.end(), few+1)
	if len(archived) > few {
		archived = archived[:few]
		s.scale[1] = float64(half) / float64(archived[few-1].rank-half+1)
	}
	s.hits = append(s.hits, archived...)
	return s, err
}

// exactUpTo returns how many hits are counted one by one: all of them in a small installation.
func (f finder) exactUpTo(ctx context.Context) (int, error) {
	if f.bits != Materials.bits { // the ids of users do not count them
		return f.DB.Sampling.ExactUpTo, nil
	}
	newest, err := sqldb.One(ctx, f.Conn, sqldb.Value[int64], "SELECT COALESCE(MAX(id), 0) FROM "+f.table)
	if newest <= int64(f.DB.Sampling.ExactIn) {
		return max(f.DB.Sampling.ExactUpTo, f.DB.Sampling.ExactIn), err
	}
	return f.DB.Sampling.ExactUpTo, err
}

// tally holds the counts of a search.
type tally struct {
	count       float64                       // an estimate if sampled
	sampled     bool                          // hits are a sample
	facets      map[string]map[string]float64 // facet -> value ->
	approximate map[string]bool               // by facet
	hits        []hit
}

// tally counts the hits of s, and per facet if s asks for facets.
func (f finder) tally(ctx context.Context, s exchange.Search) (tally, error) {
	t := tally{facets: map[string]map[string]float64{}, approximate: map[string]bool{}}
	text := s.Query.Expr()
	if !s.Facets {
		text, s.Filters = and(text, filtered(s.Filters, "")), nil
	}
	every, err := f.sample(ctx, text)
	if err != nil {
		return t, err
	}
	if every.whole() {
		t.addWhole(every, s.Filters)
		return t, nil
	}
	narrowed := every
	if len(s.Filters) > 0 {
		if narrowed, err = f.sample(ctx, and(text, filtered(s.Filters, ""))); err != nil {
			return t, err
		}
	}
	t.hits = narrowed.hits
	t.sampled = !narrowed.whole()
	for _, h := range narrowed.hits {
		t.count += narrowed.scale[h.rank>>f.bits]
	}
	if !s.Facets {
		return t, nil
	}
	t.addFacets(f.Index, narrowed, func(name string) bool { return s.Filters[name] == nil })
	for name := range s.Filters {
		but := every
		if len(s.Filters) > 1 {
			if but, err = f.sample(ctx, and(text, filtered(s.Filters, name))); err != nil {
				return t, err
			}
		}
		t.addFacets(f.Index, but, func(other string) bool { return other == name })
		t.approximate[name] = !but.whole() // even where none of the sample has a value
	}
	return t, nil
}

// sureSample is the number of hits in a sample from which on its estimate is at most a few percent off.
const sureSample = 1000

// count returns the number of hits of s, of which a tally is known. Hits of which only a sample was read are counted up
// to Sampling.CountLimit, unless the sample shows that there are more; or all of them, if s asks for that.
func (f finder) count(ctx context.Context, s exchange.Search, t tally) (exchange.Count, error) {
	if !t.sampled {
		return exchange.Count{N: int64(t.count)}, nil
	}
	most := f.DB.Sampling.CountLimit
	if s.CountAll {
		most = math.MaxInt64 - 1
	} else if len(t.hits) >= sureSample && t.count > 1.5*float64(most) {
		return exchange.Count{N: most, AtLeast: true}, nil
	}
	tables, w := f.counted(and(s.Query.Expr(), filtered(s.Filters, "")))
	n, err := sqldb.One(ctx, f.Conn, sqldb.Value[int64], "SELECT COUNT(*) FROM (SELECT 1 FROM "+tables+" WHERE "+
		w.SQL.String()+" LIMIT $"+strconv.Itoa(len(w.Args)+1)+") found", append(w.Args, most+1)...)
	return exchange.Count{N: min(n, most), AtLeast: n > most}, err
}

// counted is from for a count. On SQLite that goes through the words alone and looks up only those rows that may be
// hidden from the viewer, which are few; PostgreSQL has the words in the rows.
func (f finder) counted(e fulltext.Expr) (tables string, w *sqldb.Filter) {
	if f.Postgres() || f.visible != "" && f.hideable == "" {
		return f.from(e)
	}
	w = sqldb.Where("w."+f.name+"_words MATCH ?", searchSQLOf(f.Conn).asked(e))
	if f.visible != "" {
		w.And("NOT EXISTS (SELECT 1 FROM "+f.name+"_index x INDEXED BY "+f.name+"_index_hideable "+
			"WHERE x.rank = w.rowid AND "+f.hideable+" AND NOT "+f.visible+")", f.Today(), f.viewer)
	}
	return f.name + "_words w", w
}

// addFacets counts the facets of the sample's hits whose name is wanted.
func (t *tally) addFacets(ix Index, s sample, wanted func(name string) bool) {
	lines := map[string]float64{}
	for _, h := range s.hits {
		for line := range strings.SplitSeq(h.facets, "\n") {
			lines[line] += s.scale[h.rank>>ix.bits]
		}
	}
	for line, n := range lines {
		if name, _, _ := strings.Cut(line, "="); wanted(name) {
			t.add(line, n)
			t.approximate[name] = !s.whole()
		}
	}
}

func (t *tally) add(line string, n float64) {
	name, value, is := strings.Cut(line, "=")
	if !is {
		return
	}
	if t.facets[name] == nil {
		t.facets[name] = map[string]float64{}
	}
	t.facets[name][value] += n
}

// addWhole counts all hits of a text: those that pass every filter for every facet, and those that fail only one filter
// for the facet of that filter.
func (t *tally) addWhole(s sample, filters map[string][]string) {
	wanted := wantedLines(filters)
	all, only := map[string]float64{}, map[string]map[string]float64{}
	for name := range filters {
		only[name] = map[string]float64{}
	}
	for _, h := range s.hits {
		failed, failures := "", 0
		for name, lines := range wanted {
			if !hasLine(h.facets, lines) {
				failed = name
				failures++
			}
		}
		into := all
		switch failures {
		case 0:
			t.hits = append(t.hits, h)
		case 1:
			into = only[failed]
		default:
			continue
		}
		for line := range strings.SplitSeq(h.facets, "\n") {
			into[line]++
		}
	}
	t.count = float64(len(t.hits))
	for line, n := range all {
		t.add(line, n)
	}
	for name, lines := range only {
		for line, n := range lines {
			if strings.HasPrefix(line, name+"=") {
				t.add(line, n)
			}
		}
	}
}

// wantedLines returns, for each filter, the facet lines of which an object must have one.
func wantedLines(filters map[string][]string) map[string]map[string]bool {
	wanted := map[string]map[string]bool{}
	for name, values := range filters {
		wanted[name] = map[string]bool{}
		for _, v := range values {
			wanted[name][name+"="+v] = true
		}
	}
	return wanted
}

// passes reports whether an object with these facet lines passes all filters.
func passes(lines string, wanted map[string]map[string]bool) bool {
	for _, any := range wanted {
		if !hasLine(lines, any) {
			return false
		}
	}
	return true
}

func hasLine(lines string, wanted map[string]bool) bool {
	for line := range strings.SplitSeq(lines, "\n") {
		if wanted[line] {
			return true
		}
	}
	return false
}

// maxValues is the number of values of a facet that are returned.
const maxValues = 100

// facet returns the most frequent values of a facet, and those that are filtered by.
func facet(values map[string]float64, chosen []string, exact bool) exchange.Facet {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a,
		b string) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b))
	})
	facet := exchange.Facet{Values: map[string]int64{}, More: max(0, len(names)-maxValues)}
	for _, name := range names[:len(names)-facet.More] {
		facet.Values[name] = rounded(values[name], exact)
	}
	for _, name := range chosen {
		if _, is := facet.Values[name]; !is {
			facet.Values[name] = rounded(values[name], exact)
			if _, counted := values[name]; counted {
				facet.More--
			}
		}
	}
	return facet
}

// rounded rounds a count; an estimate of 1000 or more to three significant digits.
func rounded(n float64, exact bool) int64 {
	if exact || n < 1000 {
		return int64(math.Round(n))
	}
	digits := math.Pow(10, math.Floor(math.Log10(n))-2)
	return int64(math.Round(n/digits) * digits)
}
