package demo

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

//go:embed testdata/relevance.txt
var relevance string

// expectation is what a query should find, and whether the first is to be the first.
type expectation struct {
	query  string
	titles []string
	ranked bool
}

func expectations() (list []expectation) {
	for line := range strings.Lines(relevance) {
		line = strings.TrimSuffix(line, "\n")
		title, isTitle := strings.CutPrefix(line, "  ")
		switch {
		case line == "" || line[0] == '#':
		case isTitle:
			last := &list[len(list)-1]
			last.titles = append(last.titles, title)
		default:
			query, anyOrder := strings.CutSuffix(line, " ~")
			list = append(list, expectation{query: query, ranked: !anyOrder})
		}
	}
	return list
}

// called reports whether a title is the one that is expected, or begins so.
func called(title, expected string) bool {
	beginning, cut := strings.CutSuffix(expected, "…")
	return title == expected || cut && strings.HasPrefix(title, beginning)
}

// TestRelevance_ScientistsFindWhatTheyExpect holds for both databases alike: stems, accents and spellings are
// made equal before a database sees the words.
func TestRelevance_ScientistsFindWhatTheyExpect(t *testing.T) {
	t.Parallel()
	list := expectations()
	if len(list) < 60 {
		t.Fatalf("%d queries are too few", len(list))
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if err := Fill(t.Context(), newApp(t, db)); err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			found, err := db.Read().Materials.Search(t.Context(), exchange.Search{
				Query: fulltext.Parse(e.query), Page: exchange.SearchPage{Limit: 200},
			})
			if err != nil {
				t.Errorf("%s: %v", e.query, err)
				continue
			}
			var got []string
			for _, m := range found.Items {
				title := m.Title
				if i := slices.IndexFunc(e.titles, func(x string) bool { return called(m.Title, x) }); i >= 0 {
					title = e.titles[i]
				}
				got = append(got, title)
			}
			if e.ranked && len(got) > 0 && got[0] != e.titles[0] {
				t.Errorf("%s: the first is %q, want %q", e.query, got[0], e.titles[0])
			}
			slices.Sort(got)
			if diff := cmp.Diff(slices.Sorted(slices.Values(e.titles)), got); diff != "" {
				t.Error(fmt.Sprintf("%s (-want +got):\n", e.query) + diff)
			}
		}
	})
}
