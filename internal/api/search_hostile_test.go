package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestSearch_TakesAnyText up to its limit: a thousand letters, each of which the address writes in nine.
func TestSearch_TakesAnyText(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		for _, words := range []string{strings.Repeat("hela ", 64), strings.Repeat("株", 333), strings.Repeat("-", 1000),
			strings.Repeat(`"`, 1000),
			strings.Repeat("\x00", 1000), strings.Repeat("a", 1000), strings.Repeat("\xff", 1000),
			strings.Repeat("a-", 500), strings.Repeat("(", 1000)} {
			before := db.Queries()
			a := s.people["anonymous"].want(200, "GET", search(words)+"&limit=1", nil)
			if n := db.Queries() - before; n > 50 {
				t.Errorf("%.10q...: %d statements", words, n)
			}
			if next, more := a.Body["next"].(string); more {
				if again := s.people["anonymous"].want(200, "GET", next, nil); len(titles(again)) != 1 {
					t.Errorf("%.10q...: the next page has %d", words, len(titles(again)))
				}
			}
			s.people["anonymous"].want(200, "GET", "/search/suggest?search="+url.QueryEscape(words), nil)
			s.people["anonymous"].want(200, "GET", "/search/materials/feed?search="+url.QueryEscape(words), nil)
		}
	})
}

// TestSearch_BeyondItsLimitIsRefused with the limit and what was sent, at each address that searches, before it costs
// a statement of its own.
func TestSearch_BeyondItsLimitIsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		nobody := s.people["anonymous"]
		refused := func(path, field string, says ...string) {
			t.Helper()
			before := db.Queries()
			a := nobody.want(400, "GET", path, nil)
			for _, part := range says {
				if !strings.Contains(fmt.Sprint(a.at("fields."+field)), part) {
					t.Errorf("%.60s: %s: %v, want it to say %s", path, field, a.at("fields"), part)
				}
			}
			if n := db.Queries() - before; n > 0 {
				t.Errorf("%.60s: %d statements", path, n)
			}
		}
		var organisms string
		for i := range 40 {
			organisms += fmt.Sprintf("&organisms=Species+%d", i)
		}
		long, many := url.QueryEscape(strings.Repeat("ä", 1001)), url.QueryEscape(strings.Repeat("hela ", 65))
		for _, path := range []string{"/search/materials", "/search/materials/feed", "/search/organizations",
			"/search/users", "/search/suggest"} {
			refused(path+"?search="+long, "search", "1000", "1001")
			refused(path+"?search="+many, "search", "64", "65")
		}
		both := url.QueryEscape(strings.Repeat("hela ", 25))
		nobody.want(200, "GET", "/search/materials?search="+url.QueryEscape(strings.Repeat("hela ", 24))+organisms, nil)
		refused("/search/materials?search="+both+organisms, "search", "64", "25", "40")
		refused("/search/materials?search=hela"+organisms+strings.ReplaceAll(organisms, "Species", "Other"),
			"organisms", "64", "80")
		s.member.want(400, "GET", "/material-requests/?search="+long, nil)
		s.member.want(400, "POST", fmt.Sprintf("/users/%s/saved-searches", s.member.ID),
			obj{"search": strings.Repeat("hela ", 65)})
	})
}

// TestSearchCursor_NotIssuedByUsIsRefused or leads to some page, whatever it holds.
func TestSearchCursor_NotIssuedByUsIsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		for _, order := range []string{"relevance", "-created_at", "title"} {
			path := "/search/materials?search=hela&limit=1&ordering=" + order
			next, err := url.Parse(s.member.want(200, "GET", path, nil).Body["next"].(string))
			if err != nil {
				t.Fatal(err)
			}
			var parts []any
			raw, err := base64.RawURLEncoding.DecodeString(next.Query().Get("cursor"))
			if err == nil {
				err = json.Unmarshal(raw, &parts)
			}
			if err != nil {
				t.Fatal(err)
			}
			try := func(before, token any) {
				forged, err := json.Marshal([]any{parts[0], before, token})
				if err != nil {
					t.Fatal(err)
				}
				a := s.member.call("GET", path+"&cursor="+base64.RawURLEncoding.EncodeToString(forged), nil)
				if a.Status != 200 && (a.Status != 400 || a.at("fields.cursor") == nil) {
					t.Errorf("%s from %v, %v: %d %s", order, before, token, a.Status, a.Raw)
				}
			}
			for _, before := range []any{nil, 0, -1, 1.5, "1", 1 << 62, 1e40} {
				try(before, parts[2])
			}
			for _, token := range []string{"", "x", "{}", "[]", "null", `{"r": -1}`,
				`{"r": 9223372036854775807, "s": 3}`, `{"s": 99}`, `{"s": 1, "f": -5}`, `{"f": 9e18, "u": 9e18}`,
				`{"k": "a\u0000b", "r": 1}`, `{"k": "0000-01-01T00:00:00Z"}`,
				`{"k": "9999-12-31T23:59:59.999999999Z", "a": true}`, `{"k": "\ud800"}`,
				`{"p": -9223372036854775808}`} {
				try(1, token)
				try(1, base64.RawURLEncoding.EncodeToString([]byte(token)))
			}
			try(1, nil)
			try(1, 7)
		}
	})
}
