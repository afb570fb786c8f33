package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// titled adds a material of that title.
func (l testLab) titled(organization int64, contact uuid.UUID, title string, change func(m *material.Material)) int64 {
	l.t.Helper()
	return l.material(organization, contact, func(m *material.Material) {
		m.Title = title
		if change != nil {
			change(m)
		}
	})
}

// search returns the ids that a query finds.
func (l testLab) search(c store.Conn, query string, viewer uuid.UUID) []int64 {
	l.t.Helper()
	found, err := c.Materials.Search(l.ctx,
		exchange.Search{Query: fulltext.Parse(query), Viewer: viewer, Facets: true,
			Page: exchange.SearchPage{Limit: 20}})
	if err != nil {
		l.t.Fatal(err)
	}
	if int(found.Count.N) != len(found.Items) {
		l.t.Errorf("%q: count %d of %d", query, found.Count.N, len(found.Items))
	}
	return idsOf(found.Items, shownID)
}

// suggest returns what is suggested for what was typed.
func (l testLab) suggest(typed string, viewer uuid.UUID) []string {
	l.t.Helper()
	list, err := l.db.Read().Search.Suggest(l.ctx, typed, viewer, 5)
	if err != nil {
		l.t.Fatal(err)
	}
	texts := []string{}
	for _, s := range list {
		texts = append(texts, s.Kind+" "+s.Text)
	}
	return texts
}

func (l testLab) meant(query string, viewer uuid.UUID) string {
	l.t.Helper()
	meant, err := l.db.Read().Search.Meant(l.ctx, fulltext.Parse(query), viewer)
	if err != nil {
		l.t.Fatal(err)
	}
	return meant
}

func TestSearch_ShowsEmbargoedMaterialOnlyToMembers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		member, other := l.user().ID, l.user().ID
		organization := l.organization(member, member)
		secret := l.titled(organization, member, "Zebrafish glowing", func(m *material.Material) {
			m.EmbargoDate = new(exchange.Date("2031-01-01"))
			m.Organisms = []string{"Danio rerio"}
		})
		for _, viewer := range []uuid.UUID{other, uuid.Nil} {
			found, err := l.db.Read().Materials.Search(l.ctx,
				exchange.Search{Viewer: viewer, Facets: true, Page: exchange.SearchPage{Limit: 5}})
			if err != nil || found.Count != (exchange.Count{}) || len(found.Items) != 0 || len(found.Facets) != 0 {
				t.Errorf("%+v, %v", found, err)
			}
			if got := l.suggest("zebra", viewer); len(got) != 0 {
				t.Errorf("suggested: %v", got)
			}
			if got := l.meant("zebrafihs", viewer); got != "" {
				t.Errorf("meant: %q", got)
			}
			matching, err := l.db.Read().Search.Match(l.ctx,
				exchange.Search{Query: fulltext.Parse("zebrafish"), Viewer: viewer}, []int64{secret})
			if err != nil || len(matching) != 0 {
				t.Errorf("matching: %v %v", matching, err)
			}
		}
		if got := l.search(l.db.Read(), "zebrafish", member); !slices.Equal(got, []int64{secret}) {
			t.Errorf("found %v", got)
		}
		if got := l.suggest("zebra", member); !slices.Equal(got, []string{"material Zebrafish glowing"}) {
			t.Errorf("suggested: %v", got)
		}
		if got := l.meant("zebrafihs", member); got != "zebrafish" {
			t.Errorf("meant: %q", got)
		}
	})
}

func TestSearch_CorrectsAMistypedWord(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		u := l.user().ID
		organization := l.organization(u, u)
		l.titled(organization, u, "Mouse fibroblast line", nil)
		l.titled(organization, u, "Fibroblast of Zoë, cultured", nil)
		for query, want := range map[string]string{
			"fibroblst":            "fibroblast",
			"fibrobalst":           "fibroblast",
			"mouse firboblast":     "mouse fibroblast",
			"muose fibroblst":      "mouse fibroblast",
			"mousse cultured":      "", // no mouse is cultured
			"fibroblast":           "",
			"fib":                  "",
			"xyzzyxyzzy":           "",
			`"fibroblst"`:          "",
			"":                     "",
			"-fibroblst":           "",
			"fibroblst -fibroblst": "fibroblast -fibroblst",
		} {
			if got := l.meant(query, u); got != want {
				t.Errorf("%q: meant %q, want %q", query, got, want)
			}
		}
	})
}

func TestSuggestions_MatchTheBeginningOfAWord(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		u := l.user().ID
		organization := l.organization(u, u)
		for _, title := range []string{"HeLa S3", "HeLa", "Anti-HeLa antibody", "HeLa", "Élan"} {
			l.titled(organization, u, title, nil)
		}
		l.titled(organization, u, "Hela, no longer", func(m *material.Material) { m.Archived = true })
		for typed, want := range map[string][]string{
			"hel":   {"material HeLa", "material HeLa S3", "material Anti-HeLa antibody"},
			"ELAN":  {"material Élan"},
			"lab":   {"organization Lab"},
			"h":     {"material HeLa", "material HeLa S3"},
			"":      {},
			"  ":    {},
			"\x00":  {},
			"%":     {},
			"zzzzz": {},
		} {
			if diff := cmp.Diff(want, l.suggest(typed, u)); diff != "" {
				t.Errorf("%q (-want +got): %s", typed, diff)
			}
		}
	})
}

func TestSearchIndex_ChangesInTheTransactionOfTheRow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		u := l.user().ID
		organization := l.organization(u, u)
		old := l.titled(organization, u, "Old title", nil)
		undo := errors.New("undo")
		err := l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
			l := l
			l.tx = &tx
			fresh := l.titled(organization, u, "Fresh material", nil)
			m, err := tx.Materials.Get(ctx, old)
			if err != nil {
				return err
			}
			m.Title, m.Archived = "New title", true
			if err := tx.Materials.Update(ctx, m); err != nil {
				return err
			}
			if got := l.search(tx, "fresh", u); !slices.Equal(got, []int64{fresh}) {
				t.Errorf("fresh: %v", got)
			}
			if got := l.search(tx, "old", u); len(got) != 0 {
				t.Errorf("old: %v", got)
			}
			if got := l.search(tx, "title", u); !slices.Equal(got, []int64{old}) {
				t.Errorf("title: %v", got)
			}
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatal(err)
		}
		for query, want := range map[string][]int64{"fresh": {}, "new": {}, "old": {old}, "title": {old}, "": {old}} {
			if got := l.search(l.db.Read(), query, u); !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", query, got, want)
			}
		}
		if got := l.meant("frehs", u); got != "" {
			t.Errorf("meant %q", got)
		}
	})
}

func TestSearchIndex_IsLeftAloneByUnrelatedChanges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		u := l.user().ID
		m, err := l.db.Read().Materials.Get(l.ctx, l.titled(l.organization(u, u), u, "HeLa", nil))
		if err != nil {
			t.Fatal(err)
		}
		m.ContactID = l.user().ID
		before := l.db.Queries()
		l.write(func(ctx context, tx store.Conn) error { return tx.Materials.Update(ctx, m) })
		if got := l.db.Queries() - before; got != 5 { // the epoch of searches, the row, and 3 of the record
			t.Errorf("%d statements", got)
		}
	})
}

// hostile are texts that mean something to one of the databases.
var hostile = []string{`"`, `""`, `"""`, `'`, `''`, `\`, `\\`, `\'`, `'\''`, "NOT", "AND", "a AND", "NEAR(a b)", "a*",
	"^a", "words:a", "{a b}:c", "a + b", "a <-> b", "a & !b", "!a", "a |",
	"a:*", "'a':1", "(", ")", "((((", "-", "--", "- -", "-*", `-"`, "$1", "?", "%", "_", ";", "'; DROP TABLE users; --",
	"\x00", "a\x00b", "\xff\xfe", "a\xc3", "🧬", "👩‍🔬 lab", "שלום עולם", "\u202eabc\u202c",
	"=all", "=k11.0", "~hela", "^he", "#x", "@hela", "株式会社", "e\u0301", "\u0301", "a\u200bb", "ﬁbroblast", "Ⅷ", "TNF-α",
	"-----a", odd}

func TestSearch_TakesAnyText(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		u := l.user().ID
		organization := l.organization(u, u)
		for _, text := range hostile {
			l.titled(organization, u, strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")+" x", nil)
		}
		queries := slices.Concat(hostile,
			[]string{strings.Repeat("a ", 5000), strings.Repeat("long", 2500), strings.Repeat(`"`, 10_000),
				strings.Repeat("(", 10_000),
				strings.Repeat("-", 10_000), strings.Repeat("a-", 5000), strings.Repeat("株", 3000),
				strings.Repeat("🧬", 2500)})
		for _, query := range queries {
			q := fulltext.Parse(query)
			before := l.db.Queries()
			for _, c := range []func() error{
				func() error {
					_, err := l.db.Read().Materials.Search(l.ctx,
						exchange.Search{Query: q, Facets: true, Page: exchange.SearchPage{Limit: 5}})
					return err
				},
				func() error {
					_, err := l.db.Read().Organizations.Search(l.ctx,
						exchange.Search{Query: q, Page: exchange.SearchPage{Limit: 5}})
					return err
				},
				func() error {
					_, err := l.db.Read().Users.Search(l.ctx,
						exchange.Search{Query: q, Page: exchange.SearchPage{Limit: 5}})
					return err
				},
				func() error {
					_, err := l.db.Read().Search.Match(l.ctx,
						exchange.Search{Query: q, Filters: map[string][]string{query: slices.Repeat(hostile, 20)}},
						[]int64{1})
					return err
				},
				func() error { _, err := l.db.Read().Search.Suggest(l.ctx, query, u, 5); return err },
				func() error { _, err := l.db.Read().Search.Meant(l.ctx, q, u); return err },
			} {
				if err := c(); err != nil {
					t.Errorf("%.40q: %v", query, err)
				}
			}
			if n := l.db.Queries() - before; n > 100 {
				t.Errorf("%.40q: %d statements", query, n)
			}
		}
	})
}

// PostgreSQL finds all hits before it leaves any out: a million of them take seconds.
func TestSearch_ReadsFewRanksWithoutFindingAllHits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		owner := l.user().ID
		organization := l.organization(owner)
		for range 300 {
			l.titled(organization, owner, "Cells", nil)
		}
		l.db.Search(20, 20, exchange.CountLimit, 0)
		read := 0
		l.db.Watch(func(query string, args []any) {
			if !strings.Contains(query, "x.words @@") || !strings.Contains(query, "x.rank + 0 >= ") {
				return
			}
			read++
			n := len(args)
			if from, until := args[n-3].(int64), args[n-2].(int64); until-from < store.ManyRanks &&
				!strings.Contains(fmt.Sprint(args[0]), "=k") {
				t.Errorf("ranks from %d to %d are looked for among all hits", from, until)
			}
		})
		s := exchange.Search{Query: fulltext.Parse("cell"), Facets: true, Page: exchange.SearchPage{Limit: 7}}
		for pages := 0; pages == 0 || s.Page.After != nil; pages++ {
			found, err := l.db.Read().Materials.Search(l.ctx, s)
			if err != nil {
				t.Fatal(err)
			}
			s.Page.After = found.Next
		}
		if l.db.Postgres() && read < 40 {
			t.Errorf("%d statements found hits", read)
		}
	})
}

func TestSearch_RefusesACursorNotIssuedByUs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		for _, token := range []string{"", "x", "e30", "eyJzIjotMX0", "eyJzIjo5OX0", "bnVsbA", "eyJyIjoxLCJrIjoieCJ9"} {
			for _, sort := range []exchange.SearchSort{exchange.ByRelevance, exchange.ByNewest, exchange.ByTitle} {
				_, err := l.db.Read().Materials.Search(l.ctx, exchange.Search{Query: fulltext.Parse("a"), Sort: sort,
					Page: exchange.SearchPage{Limit: 1, After: &exchange.SearchPosition{Token: token}}})
				if err != nil {
					code(t, fmt.Sprint(token, sort), err, exchange.InvalidInput)
				}
			}
		}
	})
}

func TestSearch_FindsPeopleAndOrganizationsByName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		u := l.user()
		organization := l.organization(u.ID)
		l.write(func(ctx context, tx store.Conn) error {
			u.FirstName = "Ångström"
			o, err := tx.Organizations.Get(ctx, organization)
			if err != nil {
				return err
			}
			o.Name = "Institute of Zebrafish"
			return errors.Join(tx.Users.Update(ctx, u), tx.Organizations.Update(ctx, o))
		})
		for query, want := range map[string]int{"angstrom": 1, "ohara": 1, "zoe": 0, "zoe@example.org": 0, "": 1} {
			for _, sort := range []exchange.SearchSort{exchange.ByRelevance, exchange.ByNewest, exchange.ByUpdated,
				exchange.ByTitle} {
				found, err := l.db.Read().Users.Search(l.ctx,
					exchange.Search{Query: fulltext.Parse(query), Sort: sort, Page: exchange.SearchPage{Limit: 5}})
				if err != nil || len(found.Items) != want || int(found.Count.N) != want {
					t.Errorf("user %q by %q: %+v %v", query, sort, found, err)
				}
			}
		}
		for query, want := range map[string]int{"zebra": 1, "Lab": 0, "": 1} {
			found, err := l.db.Read().Organizations.Search(l.ctx,
				exchange.Search{Query: fulltext.Parse(query), Page: exchange.SearchPage{Limit: 5}})
			if err != nil || len(found.Items) != want || int(found.Count.N) != want {
				t.Errorf("organization %q: %+v %v", query, found, err)
			}
		}
	})
}
