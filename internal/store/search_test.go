package store_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	gocmp "github.com/google/go-cmp/cmp"
)

// findable is what a search is compared with: all that there is, in Go.
type findable struct {
	testLab
	people        []uuid.UUID // the last one is nobody: anonymous
	organizations []lab.Organization
	members       map[int64][]uuid.UUID
	materials     []material.Material
}

var vocabulary = []string{"HeLa", "HeLa S3", "HT-29", "SK BR 3", "TNF-α", "mouse", "mice", "antibody", "antibodies",
	"Zoë's", "line", "cell", "anti",
	"plasmid", "CVCL_0030", "hella"}

var phrases = []string{"", "HeLa", "hela s", "ht29", "HT 29", "skbr3", "cell line", `"cell line"`, `"line cell"`,
	"tnf alpha", "antibod", "-mouse", "cell -mouse",
	`line -"HeLa S3"`, "RRID:CVCL_0030", "cvcl_0030", "zoe", "cel", "a", "CELL_LINE", "nothing at all", `"`,
	"mouse antibody HeLa", "lab"}

// draw makes a world of its own in place of what there was.
func draw(rt *rapid.T, l testLab) *findable {
	w := &findable{testLab: l, members: map[int64][]uuid.UUID{}}
	empty(l)
	for range 3 {
		w.people = append(w.people, l.user().ID)
	}
	for i := range 2 {
		owner := w.people[i]
		o := lab.Organization{Name: fmt.Sprintf("Lab %d", i), Owner: owner}
		l.write(func(ctx context, tx store.Conn) (err error) {
			if o.ID, err = tx.Organizations.Insert(ctx, o); err != nil {
				return err
			}
			_, err = tx.Organizations.SetMembers(ctx, o.ID, []uuid.UUID{owner})
			return err
		})
		w.organizations, w.members[o.ID] = append(w.organizations, o), []uuid.UUID{owner}
	}
	w.people = append(w.people, uuid.Nil)
	for range rapid.IntRange(1, 3).Draw(rt, "inserts") {
		var list []material.Material
		for range rapid.IntRange(0, 20).Draw(rt, "materials") {
			m := material.Material{OrganizationID: rapid.SampledFrom(w.organizations).Draw(rt, "organization").ID,
				Metadata: []byte("{}"), ContactID: w.people[0],
				Category: rapid.SampledFrom([]string{"CELL_LINE", "PLASMID"}).Draw(rt, "category")}
			change(rt, &m)
			list = append(list, m)
		}
		l.write(func(ctx context, tx store.Conn) error { _, err := tx.Materials.InsertAll(ctx, list); return err })
		for i := range list {
			list[i].CreatedAt = list[i].CreatedAt.UTC()
		}
		w.materials = append(w.materials, list...)
	}
	for range rapid.IntRange(0, 3).Draw(rt, "updates") {
		var changed []material.Material
		for i := range w.materials {
			if rapid.IntRange(0, 3).Draw(rt, "change") == 0 {
				change(rt, &w.materials[i])
				changed = append(changed, w.materials[i])
			}
		}
		l.write(func(ctx context, tx store.Conn) error {
			for i := range w.materials {
				if slices.ContainsFunc(changed, func(m material.Material) bool { return m.ID == w.materials[i].ID }) {
					w.materials[i].UpdatedAt = tx.Now
				}
			}
			return tx.Materials.UpdateAll(ctx, changed, true)
		})
	}
	if rapid.Bool().Draw(rt, "rename") {
		o := &w.organizations[0]
		o.Name = "Mouse house"
		l.write(func(ctx context, tx store.Conn) error {
			var ids []int64
			for _, m := range w.materials {
				if m.OrganizationID == o.ID {
					ids = append(ids, m.ID)
				}
			}
			if err := tx.Organizations.Update(ctx, *o); err != nil {
				return err
			}
			return tx.Materials.Reindex(ctx, append(ids, 1<<30))
		})
	}
	return w
}

// empty takes everything out of the database that a search could find.
func empty(l testLab) {
	for _, name := range []string{"material", "organization", "user"} {
		if !l.db.Postgres() {
			l.exec("DELETE FROM " + name + "_words")
		}
		l.exec("DELETE FROM " + name + "_index")
	}
	for _, table := range []string{"search_words", "materials", "memberships", "organizations", "users"} {
		l.exec("DELETE FROM " + table)
	}
	if l.db.Postgres() {
		l.exec("ALTER TABLE materials ALTER COLUMN id RESTART WITH 1")
		l.exec("ALTER TABLE organizations ALTER COLUMN id RESTART WITH 1")
	} else {
		l.exec("DELETE FROM sqlite_sequence")
	}
}

func change(rt *rapid.T, m *material.Material) {
	some := func(n int, label string) []string {
		return rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, n).Draw(rt, label)
	}
	m.Title = strings.Join(append(some(3, "title"), rapid.SampledFrom(vocabulary).Draw(rt, "last")), " ")
	m.Organisms = some(2, "organisms")
	info := strings.Join(some(4, "info"), " ")
	m.AdditionalInfo = &info
	m.NeedsMTA = rapid.Bool().Draw(rt, "mta")
	m.Archived = rapid.IntRange(0, 3).Draw(rt, "archived") == 0
	m.EmbargoDate = rapid.SampledFrom([]*exchange.Date{nil, nil, new(exchange.Date("2026-03-12")),
		new(exchange.Date("2031-01-01"))}).Draw(rt, "embargo")
}

func (w *findable) indexed(m material.Material) exchange.SearchDocument {
	for _, o := range w.organizations {
		if o.ID == m.OrganizationID {
			return m.SearchDocument(o.Name, nil, nil)
		}
	}
	panic("no such organization")
}

func (w *findable) sees(viewer uuid.UUID, m material.Material) bool {
	return !m.Embargoed(start) || slices.Contains(w.members[m.OrganizationID], viewer)
}

// find is a search, thing by thing: the hits, and how many there are of each value of a facet.
func (w *findable) find(s exchange.Search) (hits []material.Material, facets map[string]map[string]int64) {
	facets = map[string]map[string]int64{}
	for name := range s.Filters {
		facets[name] = map[string]int64{}
		for _, v := range s.Filters[name] {
			facets[name][v] = 0
		}
	}
	for _, m := range w.materials {
		x := w.indexed(m)
		if !w.sees(s.Viewer, m) || !s.Query.Expr().Match(x.Doc) {
			continue
		}
		var failed []string
		for name, values := range s.Filters {
			if !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(x.Facets, name+"="+v) }) {
				failed = append(failed, name)
			}
		}
		if len(failed) == 0 {
			hits = append(hits, m)
		}
		for _, line := range x.Facets {
			name, value, _ := strings.Cut(line, "=")
			if len(failed) == 0 || len(failed) == 1 && failed[0] == name {
				if facets[name] == nil {
					facets[name] = map[string]int64{}
				}
				facets[name][value]++
			}
		}
	}
	slices.SortFunc(hits, func(a, b material.Material) int {
		archived := cmp.Compare(btoi(a.Archived), btoi(b.Archived))
		switch {
		case s.Sort == exchange.ByTitle:
			return cmp.Or(archived, cmp.Compare(exchange.SortKey(a.Title), exchange.SortKey(b.Title)),
				cmp.Compare(a.ID, b.ID))
		case s.Sort == exchange.ByUpdated:
			return cmp.Or(archived, b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.ID, a.ID))
		case s.Sort == exchange.ByNewest || s.Query.Empty():
			return cmp.Or(archived, b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
		}
		return cmp.Or(archived, cmp.Compare(s.Query.Score(w.indexed(b).Doc.Weights),
			s.Query.Score(w.indexed(a).Doc.Weights)),
			cmp.Compare(rank(a), rank(b)))
	})
	return hits, facets
}

func rank(m material.Material) int64 {
	r, _ := store.RankOf(m.ID, m.Archived)
	return r
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func idsOf[T any](list []T, id func(T) int64) []int64 {
	all := []int64{}
	for _, item := range list {
		all = append(all, id(item))
	}
	return all
}

func shownID(m material.Shown) int64       { return m.ID }
func materialID(m material.Material) int64 { return m.ID }

func (w *findable) drawSearch(rt *rapid.T) exchange.Search {
	s := exchange.Search{Query: fulltext.Parse(rapid.SampledFrom(phrases).Draw(rt, "query")),
		Viewer: rapid.SampledFrom(w.people).Draw(rt, "viewer"), Facets: true,
		Sort: rapid.SampledFrom([]exchange.SearchSort{exchange.ByRelevance, exchange.ByRelevance, exchange.ByNewest,
			exchange.ByUpdated, exchange.ByTitle}).Draw(rt, "sort"),
		Page: exchange.SearchPage{Limit: rapid.IntRange(1, 7).Draw(rt, "limit")}, Filters: map[string][]string{}}
	all := map[string][]string{"category": {"CELL_LINE"}}
	for _, m := range w.materials {
		for _, line := range w.indexed(m).Facets {
			name, value, _ := strings.Cut(line, "=")
			all[name] = append(all[name], value)
		}
	}
	names := slices.Sorted(maps.Keys(all))
	for range rapid.IntRange(0, 2).Draw(rt, "filters") {
		name := rapid.SampledFrom(names).Draw(rt, "facet")
		s.Filters[name] = rapid.SliceOfN(rapid.SampledFrom(append(all[name], "none such")), 1, 2).Draw(rt, "values")
	}
	return s
}

// pages reads all pages of a search.
func (w *findable) pages(rt *rapid.T, s exchange.Search) (found []int64,
	first exchange.SearchResult[material.Shown]) {
	for n := 0; ; n++ {
		page, err := w.db.Read().Materials.Search(w.ctx, s)
		if err != nil {
			rt.Fatal(err)
		}
		if n == 0 {
			first = page
		}
		found = append(found, idsOf(page.Items, shownID)...)
		if page.Next == nil {
			return found, first
		}
		if len(page.Items) != s.Page.Limit || page.Next.Offset != len(found) || n > 1000 {
			rt.Fatalf("page %d of %d things, at %+v after %d", n, len(page.Items), page.Next, len(found))
		}
		s.Page.After = page.Next
	}
}

func TestSearch_EqualsANaiveImplementation(t *testing.T) {
	t.Parallel()
	eachFindable(t, func(rt *rapid.T, w *findable) {
		few := rapid.SampledFrom([]int{exchange.ExactUpTo, exchange.ExactUpTo, 1, 3, 10}).Draw(rt, "exact up to")
		sampled := rapid.SampledFrom([]int{few, min(5, few), max(1, few/5)}).Draw(rt, "sampled")
		limit := int64(rapid.SampledFrom([]int{exchange.CountLimit, few, few + 3}).Draw(rt, "count limit"))
		w.db.Search(few, sampled, limit, rapid.SampledFrom([]float64{0, 40}).Draw(rt, "cost of a test"))
		small := rapid.Bool().Draw(rt, "small installation") // all is read
		if small {
			limit = exchange.CountLimit
			w.db.Sampling.ExactIn, w.db.Sampling.CountLimit = exchange.ExactIn, limit
		}
		for range 5 {
			s := w.drawSearch(rt)
			want, facets := w.find(s)
			got, first := w.pages(rt, s)
			wanted := idsOf(want, materialID)
			all := exchange.Count{N: int64(len(want))}
			if count := (exchange.Count{N: min(all.N, limit), AtLeast: all.N > limit}); first.Count != count {
				rt.Fatalf("count %+v, want %+v", first.Count, count)
			}
			estimate := few < exchange.ExactUpTo && !small && len(want) >= sampled // what is read may be a sample
			if !estimate && len(first.Approximate) > 0 && len(s.Filters) == 0 {
				rt.Fatalf("%d hits, approximate %v", len(want), first.Approximate)
			}
			if small && len(first.Approximate) > 0 {
				rt.Fatalf("estimates of %v in a small installation", first.Approximate)
			}
			if estimate && s.Sort == exchange.ByRelevance && !s.Query.Empty() { // in sections and blocks
				slices.Sort(wanted)
				live := slices.IndexFunc(got, func(id int64) bool {
					return slices.ContainsFunc(want, func(m material.Material) bool { return m.ID == id && m.Archived })
				})
				for _, id := range got[max(0, live):] {
					if live >= 0 && slices.ContainsFunc(want,
						func(m material.Material) bool { return m.ID == id && !m.Archived }) {
						rt.Fatalf("archived materials before others: %v", got)
					}
				}
				slices.Sort(got)
			}
			if diff := gocmp.Diff(wanted, got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("hits (-want +got): %s", diff)
			}
			for name, values := range facets {
				if _, counted := first.Facets[name]; estimate && !counted || slices.Contains(first.Approximate, name) {
					delete(facets, name)
					delete(first.Facets, name)
				} else if diff := gocmp.Diff(values, first.Facets[name].Values); diff != "" {
					rt.Fatalf("facet %s (-want +got): %s", name, diff)
				}
			}
			if len(first.Facets) != len(facets) { // those that are left
				rt.Fatalf("facets %v, want %v", first.Facets, facets)
			}
			matching, err := w.db.Read().Search.Match(w.ctx, s, idsOf(w.materials, materialID))
			slices.Sort(wanted)
			if diff := gocmp.Diff(wanted, matching, cmpopts.EquateEmpty()); diff != "" || err != nil {
				rt.Fatalf("MatchMaterials (-want +got): %s %v", diff, err)
			}
			s.Page, s.Facets = exchange.SearchPage{Limit: 3, Offset: rapid.IntRange(0, 30).Draw(rt, "offset")}, false
			s.CountAll = true
			page, err := w.db.Read().Materials.Search(w.ctx, s)
			if err != nil || page.Facets != nil || page.Count != all {
				rt.Fatal(page.Facets, page.Count, all, err)
			}
			if want := want[min(s.Page.Offset, len(want)):]; !estimate {
				if diff := gocmp.Diff(idsOf(want[:min(3, len(want))], materialID),
					idsOf(page.Items, shownID)); diff != "" {
					rt.Fatalf("from %d (-want +got): %s", s.Page.Offset, diff)
				}
			}
		}
	})
}

// eachFindable runs test in worlds of few objects, which change while they are made.
func eachFindable(t *testing.T, test func(rt *rapid.T, w *findable)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := testLab{t: t, db: db, ctx: t.Context(), count: &atomic.Int64{}}
		db.SetNow(ticking())
		rapid.Check(t, func(rt *rapid.T) { test(rt, draw(rt, l)) })
	})
}
