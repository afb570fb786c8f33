package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/api"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestLists_PagingLosesAndRepeatsNothing walks lists of 1,001 by parts of several sizes, in the
// order without a name and in others, while rows are added and rows that were added move: what stood
// there at the start comes once each.
func TestLists_PagingLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, 1001)
		lists := c.lists()
		for route := range api.ListFields() {
			list := lists[route]
			if list.by == nil {
				t.Errorf("%s is not walked", route)
				continue
			}
			stood, total := list.walk("", []int{200}, func() {})
			different := map[string]bool{}
			for _, key := range stood {
				different[key] = true
			}
			if len(different) < 1001 || len(different) != len(stood) || total > len(stood) {
				t.Errorf("%s: %d items, %d of them different, of %d", route, len(stood), len(different), total)
			}
			if got := c.walkInACrowd(list, "", "", different); !slices.Equal(got, stood) {
				t.Errorf("%s: of %d items that stood there %d came, or in another order", route, len(stood), len(got))
			}
			slices.Sort(stood)
			for ordering, column := range list.orders {
				got := c.walkInACrowd(list, ordering, column, different)
				if slices.Sort(got); !slices.Equal(got, stood) {
					t.Errorf("%s by %s: of %d items that stood there %d came", route, ordering, len(stood), len(got))
				}
			}
		}
	})
}

// walkInACrowd walks a list while it grows, and while rows that were added since take the place of
// others in the column that it is sorted by. It gives those items that stood there before.
func (c *crowd) walkInACrowd(list longList, ordering, column string, stood map[string]bool) []string {
	c.t.Helper()
	table := list.tables[0]
	var newest int64
	if column != "" {
		if err := c.sql.QueryRowContext(c.t.Context(), "SELECT MAX(id) FROM "+table).Scan(&newest); err != nil {
			c.t.Fatal(err)
		}
	}
	parts := 0
	keys, _ := list.walk(ordering, []int{1, 200, 7, 199, 2, 113, 200}, func() {
		if parts++; parts%3 != 0 {
			return
		}
		for _, table := range list.tables {
			c.more(table, 5)
		}
		if column != "" {
			c.exec(fmt.Sprintf("UPDATE %s SET %s = (SELECT %s FROM %s WHERE id = %d) WHERE id > %d",
				table, column, column, table, newest-rand.Int64N(1000), newest))
		}
	})
	return slices.DeleteFunc(keys, func(key string) bool { return !stood[key] })
}

// walk returns what tells the items of a list apart, and how many there are in the first part's word.
// The parts have several sizes in turn.
func (l longList) walk(ordering string, sizes []int, meanwhile func()) (keys []string, total int) {
	t := l.by.w.t
	t.Helper()
	next := l.path
	if ordering != "" {
		next += "?ordering=" + ordering
	}
	for part := 0; ; part++ {
		at, err := url.Parse(next)
		if err != nil {
			t.Fatal(err)
		}
		q := at.Query()
		q.Set("limit", strconv.Itoa(sizes[part%len(sizes)]))
		a := l.by.want(200, "GET", at.Path+"?"+q.Encode(), nil)
		for _, item := range a.List {
			item := item.(map[string]any)
			key, has := item["id"]
			if !has {
				key = item["version"]
			}
			keys = append(keys, fmt.Sprint(key))
		}
		if part == 0 {
			total, _ = strconv.Atoi(a.Header.Get("X-Total-Count"))
		}
		if next, _, _ = strings.Cut(strings.TrimPrefix(a.Header.Get("Link"), "<"), ">"); next == "" {
			return keys, total
		}
		meanwhile()
	}
}

// TestLists_SortByEachOfTheirFields in both directions, with null behind all else in both.
func TestLists_SortByEachOfTheirFields(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, 30)
		lists := c.lists()
		for route, fields := range api.ListFields() {
			if len(fields) == 0 {
				t.Errorf("%s cannot be sorted", route)
			}
			for _, field := range fields {
				for _, sign := range []string{"", "-"} {
					list := lists[route]
					items := list.by.want(200, "GET", list.path+"?limit=200&ordering="+sign+field.Name, nil).List
					if len(items) < 30 {
						t.Errorf("%s has %d items only", route, len(items))
					}
					var values []any
					for _, item := range items {
						if value, shown := item.(map[string]any)[field.Name]; shown {
							values = append(values, value)
						}
					}
					if !slices.IsSortedFunc(values, func(a, b any) int { return before(field, sign == "", a, b) }) {
						t.Errorf("%s by %s%s: %v", route, sign, field.Name, values)
					}
				}
			}
		}
	})
}

// before compares two values of a field as JSON has them.
func before(f exchange.Field, ascending bool, a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	if !ascending {
		a, b = b, a
	}
	if n, ok := a.(float64); ok {
		return int(n - b.(float64))
	}
	x, y := a.(string), b.(string)
	if f.Kind == exchange.Text {
		x, y = exchange.SortKey(x), exchange.SortKey(y)
	}
	return strings.Compare(x, y)
}

func TestLists_SortTextWithoutCaseAndAccents(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		want := []string{"ä 2", "A-1", "ångström", "Apfel", "b c", "B-a", "B_a", "ba", "Øresund", "oxygen", "ÖZ",
			"straße 1", "STRASSE 2", "株"}
		var got []string
		for _, i := range rand.Perm(len(want)) {
			s.member.want(200, "POST", "/grants", obj{"title": want[i], "funder_id": "R01"})
		}
		for _, grant := range s.member.want(200, "GET", "/grants?ordering=title", nil).List {
			got = append(got, grant.(map[string]any)["title"].(string))
		}
		if !slices.Equal(got, want) {
			t.Errorf("sorted by title: %q, want %q", got, want)
		}
		first := s.member.want(200, "GET", "/grants?ordering=title&limit=1", nil).List
		s.member.want(200, "PATCH", fmt.Sprintf("/grants/%d", idsOf(first)[0]), obj{"title": "株 2"})
		last := s.member.want(200, "GET", "/grants?ordering=-title&limit=1", nil).List
		if idsOf(last)[0] != idsOf(first)[0] {
			t.Error("a changed title is sorted as the old one")
		}
	})
}

func TestCursor_IsBoundToItsListAndOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, 4)
		next := func(path string) string {
			link, _, _ := strings.Cut(strings.TrimPrefix(c.member.want(200, "GET", path, nil).Header.Get("Link"), "<"),
				">")
			return link
		}
		cursor := func(link string) string {
			u, err := url.Parse(link)
			if err != nil || u.Query().Get("cursor") == "" {
				t.Fatalf("no cursor in %q: %v", link, err)
			}
			return u.Query().Get("cursor")
		}
		title := cursor(next("/materials?ordering=title&limit=1&category=OTHER"))
		c.member.want(200, "GET", "/v1/materials/?category=OTHER&limit=2&ordering=title&cursor="+title, nil)
		for _, path := range []string{
			"/materials?category=OTHER&cursor=" + title,
			"/materials?category=OTHER&ordering=-title&cursor=" + title,
			"/materials?category=OTHER&ordering=id&cursor=" + title,
			"/materials?category=PLASMID&ordering=title&cursor=" + title,
			"/materials?ordering=title&cursor=" + title,
			"/grants?ordering=title&cursor=" + title,
			fmt.Sprintf("/organizations/%d/materials?ordering=title&cursor=%s", c.member.Lab, title),
			"/organizations?cursor=" + cursor(next("/materials?limit=1")),
			fmt.Sprintf("/organizations/%d/materials?cursor=%s", c.id, cursor(next("/materials?limit=1"))),
		} {
			a := c.member.refused(400, "INVALID_INPUT", "GET", path, nil)
			if fields := a.Body["fields"].(map[string]any); fields["cursor"] == nil || len(fields) != 1 {
				t.Errorf("%s: %s", path, a.Raw)
			}
		}
	})
}

func TestLists_UnknownOrderingNamesThePossibleFields(t *testing.T) {
	t.Parallel()
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, 1)
		for route, list := range c.lists() {
			for _, ordering := range []string{"", "-", "--id", "+id", "ID", "nope", "id,at", "o.id; DROP TABLE users",
				"title_sort"} {
				a := list.by.refused(400, "INVALID_INPUT", "GET", list.path+"?limit=500&ordering="+
					url.QueryEscape(ordering), nil)
				fields := a.Body["fields"].(map[string]any)
				for _, f := range api.ListFields()[route] {
					if !strings.Contains(fmt.Sprint(fields["ordering"]), f.Name) || fields["limit"] == nil {
						t.Errorf("%s by %q: %s", route, ordering, a.Raw)
					}
				}
			}
		}
	})
}

// TestCursor_NotIssuedByUsIsRefused whatever it holds: a value of another kind, too much, or
// nothing.
func TestCursor_NotIssuedByUsIsRefused(t *testing.T) {
	t.Parallel()
	storetest.OnStrictest(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, 3)
		values := []any{nil, true, 1.5, 1e30, "", "x", "a\u0000b", strings.Repeat("x", 5000), "2026-13-45T00:00:00Z",
			[]any{1}, map[string]any{"a": 1}}
		for route, list := range c.lists() {
			for _, field := range api.ListFields()[route] {
				path := list.path + "?limit=1&ordering=" + field.Name
				a := list.by.want(200, "GET", path, nil)
				link, err := url.Parse(strings.Trim(strings.Split(a.Header.Get("Link"), ";")[0], "<>"))
				if err != nil {
					t.Fatal(err)
				}
				var parts []any
				raw, err := base64.RawURLEncoding.DecodeString(link.Query().Get("cursor"))
				if err == nil {
					err = json.Unmarshal(raw, &parts)
				}
				if err != nil {
					t.Fatal(err)
				}
				refused := func(id, value any) {
					cursor, err := json.Marshal([]any{parts[0], id, value})
					if err != nil {
						t.Fatal(err)
					}
					a := list.by.call("GET", path+"&cursor="+base64.RawURLEncoding.EncodeToString(cursor), nil)
					known := id == parts[1] &&
						(value == nil && field.Nullable || field.Kind == exchange.Text || field.Kind == exchange.Word)
					if a.Status != 400 && (!known || a.Status != 200) {
						t.Errorf("%s by %s from %v %.20v: %d", route, field.Name, id, value, a.Status)
					}
				}
				for _, value := range values {
					refused(parts[1], value)
				}
				for _, id := range []any{nil, 0, -1, 1.5, "7", 1e40} {
					refused(id, parts[2])
				}
			}
		}
		for _, cursor := range []string{"", "MQ", "e30", "W10", "bnVsbA", "WzEsMiwzLDRd", "%00", "%FF",
			strings.Repeat("A", 9000)} {
			if a := c.member.call("GET", "/materials?cursor="+cursor, nil); a.Status != 400 {
				t.Errorf("cursor %.20q: %d", cursor, a.Status)
			}
		}
	})
}

// TestDocs_NameTheOrderingsAndFiltersOfEachList in a table of docs/api.md, in the order of
// the routes.
func TestDocs_NameTheOrderingsAndFiltersOfEachList(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for route, fields := range api.ListFields() {
		var names []string
		for _, f := range fields {
			names = append(names, "`"+f.Name+"`")
		}
		var filters []string
		for _, name := range api.ListFilters()[route] {
			filters = append(filters, "`"+name+"`")
		}
		path := strings.NewReplacer("{", ":", "}", "").Replace(strings.TrimPrefix(route, "GET "))
		line := fmt.Sprintf("| `%s/` | %s | %s |\n", path, strings.Join(names, ", "), strings.Join(filters, ", "))
		if !strings.Contains(string(manual), strings.Replace(line, "|  |", "| |", 1)) {
			t.Errorf("docs/api.md lacks this line:\n%s", line)
		}
	}
}

// TestLists_CountUpToTenThousand: a longer list says that it is longer, and counts all where the call asks for that.
func TestLists_CountUpToTenThousand(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		counts := func(query string) (exact, atLeast string) {
			a := s.people["admin"].want(200, "GET", "/audit-events?action=test&limit=2"+query, nil)
			return a.Header.Get("X-Total-Count"), a.Header.Get("X-Total-Count-At-Least")
		}
		if exact, atLeast := counts(""); exact != "0" || atLeast != "" {
			t.Errorf("an empty list has %q items, at least %q", exact, atLeast)
		}
		if _, err := s.sql.ExecContext(t.Context(), `INSERT INTO audit_events (action, object, as_admin, at, state)
			WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
			SELECT 'test', 'row ' || i, false, $1, '{}' FROM n`, time.Now()); err != nil {
			t.Fatal(err)
		}
		if exact, atLeast := counts(""); exact != "" || atLeast != "10000" {
			t.Errorf("a long list has %q items, at least %q", exact, atLeast)
		}
		if exact, atLeast := counts("&count=exact"); exact != "10001" || atLeast != "" {
			t.Errorf("a long list that is counted has %q items, at least %q", exact, atLeast)
		}
		s.people["admin"].refused(400, "INVALID_INPUT", "GET", "/audit-events?count=all", nil)
	})
}
