package search

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Kinds of exchange.Suggestion.
const (
	suggestedMaterial     = "material"
	suggestedOrganization = "organization"
)

// Suggest returns at most n objects whose title or name, or a word of it, begins with what was typed so far: first
// those that begin with it, materials before organizations. Archived materials are left out, and so are further objects
// with the same title.
func (st Searcher) Suggest(ctx context.Context, typed string, viewer uuid.UUID, n int) ([]exchange.Suggestion,
	error) {
	q := fulltext.Parse(typed)
	title, is := q.TitleExpr()
	if !is || n <= 0 {
		return []exchange.Suggestion{}, nil
	}
	materials, organizations := finder{st.conn, Materials, viewer}, finder{st.conn, SharingLabs, viewer}
	list := []exchange.Suggestion{}
	for _, ask := range []func() ([]exchange.Suggestion, error){
		func() ([]exchange.Suggestion, error) { return materials.begins(ctx, suggestedMaterial, typed, n) },
		func() ([]exchange.Suggestion, error) {
			return organizations.begins(ctx, suggestedOrganization, typed, n)
		},
		func() ([]exchange.Suggestion, error) { return materials.contains(ctx, suggestedMaterial, title, n) },
		func() ([]exchange.Suggestion, error) {
			return organizations.contains(ctx, suggestedOrganization, title, n)
		},
	} {
		more, err := ask()
		if err != nil {
			return nil, err
		}
		for _, s := range more {
			same := func(other exchange.Suggestion) bool { return other.Kind == s.Kind && other.Text == s.Text }
			if len(list) < n && !slices.ContainsFunc(list, same) {
				list = append(list, s)
			}
		}
		if len(list) == n {
			break
		}
	}
	return list, nil
}

// begins returns objects whose title begins with a text, in the order of titles.
func (f finder) begins(ctx context.Context, kind, typed string, n int) ([]exchange.Suggestion, error) {
	from := exchange.SortKey(strings.ReplaceAll(strings.ToValidUTF8(typed, ""), "\x00", ""))
	if strings.TrimSpace(from) == "" {
		return nil, nil
	}
	w := sqldb.Where(f.title+"_sort >= ? AND "+f.title+"_sort < ?", from, from+string(utf8.MaxRune))
	return f.suggest(ctx, kind, w, n)
}

// contains returns objects that an expression matches.
func (f finder) contains(ctx context.Context, kind string, e fulltext.Expr, n int) ([]exchange.Suggestion, error) {
	ranks, err := f.some(ctx, e, 4*n)
	if err != nil || len(ranks) == 0 {
		return nil, err
	}
	places, args := sqldb.In(nil, ranks)
	w := &sqldb.Filter{Args: args}
	w.SQL.WriteString("x.rank IN (" + places + ")")
	return f.suggest(ctx, kind, w, n)
}

func (f finder) suggest(ctx context.Context, kind string, w *sqldb.Filter, n int) ([]exchange.Suggestion, error) {
	f.andVisible(w)
	w.And(f.archive() + " = FALSE")
	return sqldb.All(ctx, f.Conn, func(r sqldb.Row, s *exchange.Suggestion) error {
		s.Kind = kind
		return r.Scan(&s.ID, &s.Text)
	}, "SELECT o.id, "+f.title+" FROM "+f.table+" o JOIN "+f.name+"_index x ON x.id = o.id WHERE "+w.SQL.String()+
		" ORDER BY "+f.title+"_sort, o.id LIMIT $"+strconv.Itoa(len(w.Args)+1), append(w.Args, 2*n)...)
}

// Sharing returns those of some organizations that viewer finds among SharingLabs.
func (st Searcher) Sharing(ctx context.Context, ids []int64, viewer uuid.UUID) (found []int64, err error) {
	f := finder{st.conn, SharingLabs, viewer}
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		w := &sqldb.Filter{Args: args}
		w.SQL.WriteString("x.id IN (" + places + ")")
		f.andVisible(w)
		more, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT x.id FROM organization_index x WHERE "+
			w.SQL.String(), w.Args...)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// maxCorrected is how many words of a query are corrected, and maxTried how many words are tried for each.
const (
	maxCorrected = 3
	maxTried     = 8
)

// Meant returns a query with its misspelt words corrected that has a hit which viewer may see; "" if there is none. A
// word is misspelt if nothing that the viewer may see contains it.
func (st Searcher) Meant(ctx context.Context, q fulltext.Query, viewer uuid.UUID) (string, error) {
	f := finder{st.conn, Materials, viewer}
	corrected := ""
	left := maxCorrected
	for i, word := range q.Words() {
		if n := utf8.RuneCountInString(word); n < shortestWord || n > longestWord || left == 0 {
			continue
		}
		known, err := f.some(ctx, fulltext.Parse(word).Expr(), 1)
		if err != nil {
			return "", err
		}
		if len(known) > 0 {
			continue
		}
		left--
		better, err := f.corrected(ctx, word)
		if err != nil {
			return "", err
		}
		if better != "" {
			corrected = q.Replace(i, better)
			q = fulltext.Parse(corrected)
		}
	}
	if corrected == "" {
		return "", nil
	}
	hits, err := f.some(ctx, q.Expr(), 1)
	if err != nil || len(hits) == 0 {
		return "", err
	}
	return corrected, nil
}

// corrected returns the word that is most like a mistyped one: it begins with one of its first two letters, and one
// letter is wrong, too many, missing or swapped; two from eight letters on. "" if the viewer may see none.
func (f finder) corrected(ctx context.Context, word string) (string, error) {
	typed := exchange.SortKey(word)
	letters := []rune(typed)
	if len(letters) < shortestWord {
		return "", nil
	}
	most := 1
	if len(letters) >= 8 {
		most = 2
	}
	w := sqldb.Where("(word >= ? AND word < ? OR word >= ? AND word < ?) AND LENGTH(word) BETWEEN ? AND ?",
		string(letters[0]), string(letters[0]+1), string(letters[1]), string(letters[1]+1), len(letters)-most,
		len(letters)+most)
	like, err := sqldb.All(ctx, f.Conn, sqldb.Value[string], "SELECT word FROM search_words WHERE "+w.SQL.String(),
		w.Args...)
	if err != nil {
		return "", err
	}
	distance := map[string]int{}
	like = slices.DeleteFunc(like, func(other string) bool {
		distance[other] = fulltext.Distance(typed, other)
		return distance[other] > most
	})
	slices.SortFunc(like, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), strings.Compare(a, b))
	})
	best, bestHits := "", 0
	for i, other := range like[:min(maxTried, len(like))] {
		if best != "" && distance[other] > distance[like[i-1]] {
			break
		}
		hits, err := f.some(ctx, fulltext.Parse(other).Expr(), manyHits)
		if err != nil {
			return "", err
		}
		if len(hits) > bestHits {
			best, bestHits = other, len(hits)
		}
	}
	return best, nil
}

// manyHits is the number of hits from which on one word is as good as another.
const manyHits = 64
