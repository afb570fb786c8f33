package api_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestTokens_AreListedWithoutSecretsAndRevoked(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		first := s.requester()
		second, third := s.again("requester"), s.again("requester")
		list := second.want(200, "GET", s.user("/tokens/"), nil)
		for i, presented := range []bool{false, true, false} {
			if list.List[i].(map[string]any)["presented"] != presented {
				t.Errorf("token %d: %s", i, list.Raw)
			}
		}
		for _, p := range []*testPerson{first, second, third} {
			if bytes.Contains(list.Raw, []byte(p.Token)) || bytes.Contains(list.Raw, []byte(hash(p.Token))) {
				t.Errorf("a secret is shown: %s", list.Raw)
			}
		}
		path := fmt.Sprintf("%s/%d", s.user("/tokens"), idsOf(list.List)[0])
		s.unchanged("a token of another", func() {
			s.member.refused(404, "NOT_FOUND", "DELETE",
				fmt.Sprintf("/users/%s/tokens/%d", s.member.ID, idsOf(list.List)[0]), nil)
		})
		first.want(204, "DELETE", path, nil)
		third.refused(401, "NOT_AUTHENTICATED", "GET", "/materials", nil)
		first.refused(404, "NOT_FOUND", "DELETE", path, nil)
		first.want(204, "DELETE", s.user("/tokens"), nil)
		for _, p := range []*testPerson{first, second} {
			p.refused(401, "NOT_AUTHENTICATED", "GET", "/materials", nil)
		}
		s.member.want(200, "GET", "/materials", nil)
	})
}

func TestTokens_AreShownOnceAndActWithinTheirScope(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		until := time.Now().UTC().AddDate(0, 0, 60).Truncate(time.Second)
		key := map[string]string{"Idempotency-Key": "k"}
		made := s.owner.callWith(key, "POST", "/users/me/tokens/",
			obj{"name": " freezer ", "scopes": []string{"read", "write"}, "organization": s.id,
				"expires": until.Format(time.RFC3339)})
		secret, _ := made.Body["token"].(string)
		if made.Status != 201 || !strings.HasPrefix(secret, "alq_") || made.Header.Get("Cache-Control") != "no-store" ||
			made.Body["name"] != "freezer" ||
			made.Body["organization"] != float64(s.id) ||
			made.Body["expires"] != until.Format("2006-01-02T15:04:05.000Z") {
			t.Fatalf("%d %v %s", made.Status, made.Header, made.Raw)
		}
		var kept int
		if err := s.sql.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM idempotency_keys").Scan(&kept); err != nil ||
			kept != 0 {
			t.Errorf("%d answers are kept, %v", kept, err)
		}
		again := s.owner.callWith(key, "POST", "/users/me/tokens/", obj{"name": "reader", "scopes": []string{"read"}})
		if again.Status != 201 || again.Body["token"] == secret {
			t.Errorf("the same key: %d %s", again.Status, again.Raw)
		}
		list := s.owner.want(200, "GET", "/users/me/tokens", nil)
		if bytes.Contains(list.Raw, []byte(secret)) {
			t.Errorf("the secret is shown again: %s", list.Raw)
		}
		var shown []string
		for _, item := range list.List {
			token := item.(map[string]any)
			shown = append(shown, fmt.Sprintln(token["name"], token["scopes"], token["organization"],
				token["presented"]))
		}
		if want := []string{"reader [read] <nil> false\n", fmt.Sprintf("freezer [read write] %d false\n", s.id),
			" [] <nil> true\n"}; !slices.Equal(shown, want) {
			t.Errorf("%q, want %q", shown, want)
		}

		// A program of the lab sees its requests, and none of its user's own.
		own := s.person("elsewhere")
		other := own.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "B", "organization_id": own.Lab}).id()
		asked := s.owner.want(201, "POST", "/material-requests", obj{"material": other}).id()
		program := &testPerson{w: s.world, ID: s.owner.ID, Token: secret}
		for _, path := range []string{"/material-requests", "/material-requests?search=B"} {
			if ids := idsOf(program.want(200, "GET", path, nil).List); slices.Contains(ids, asked) {
				t.Errorf("%s shows the request that its user made", path)
			}
		}
		if ids := idsOf(program.want(200, "GET", "/material-requests", nil).List); !slices.Contains(ids, s.request) {
			t.Errorf("a request of the lab is not in %v", ids)
		}
		program.refused(403, "SCOPE", "GET", fmt.Sprintf("/material-requests/%d", asked), nil)
		program.refused(403, "SCOPE", "POST", "/attachments", obj{"filename": "a.pdf"})
		program.want(201, "POST", "/attachments", obj{"filename": "a.pdf", "owned_by_org": s.id})
		if me := program.want(200, "GET", "/users/me", nil); me.Body["id"] != s.owner.ID.String() ||
			me.Body["email"] != nil {
			t.Errorf("%s", me.Raw)
		}
		hidden := s.owner.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "Hidden", "organization_id": s.owner.Lab,
				"embargo_date": "2999-01-01"}).id()
		for _, path := range []string{"/materials?limit=200", "/search/materials?search=Hidden",
			fmt.Sprintf("/organizations/%d/materials", s.owner.Lab)} {
			if a := program.want(200, "GET", path, nil); bytes.Contains(a.Raw, []byte("Hidden")) {
				t.Errorf("%s shows the embargoed material %d of another lab", path, hidden)
			}
		}

		leaver := s.program(s.member, obj{"name": "leaves", "scopes": []string{"read"}, "organization": s.id})
		leaver.want(200, "GET", fmt.Sprintf("/organizations/%d/history", s.id), nil)
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id),
			obj{"members": []any{s.owner.ID, s.assignee.ID}})
		leaver.refused(403, "SCOPE", "GET", fmt.Sprintf("/organizations/%d/history", s.id), nil)
		if list := leaver.want(200, "GET", "/material-requests", nil).List; len(list) != 0 {
			t.Errorf("whose user left the lab is shown %v", list)
		}
	})
}

func TestTokens_ShowWhatIsPrivateInALabOnlyWithinTheirReach(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		list := func(lab int64) string {
			id := s.owner.want(201, "POST", "/materials",
				obj{"category": "OTHER", "title": "T", "organization_id": lab,
					"additional_metadata": obj{"freezer": "shelf 7"}}).id()
			return fmt.Sprintf("/materials/%d", id)
		}
		ours, other := list(s.id), list(s.owner.Lab)
		for _, c := range []struct {
			token               obj
			seesOurs, seesOther bool
		}{
			{obj{"name": "reads", "scopes": []string{"read"}}, true, true},
			{obj{"name": "one lab", "scopes": []string{"read"}, "organization": s.id}, true, false},
		} {
			program := s.program(s.owner, c.token)
			for path, sees := range map[string]bool{ours: c.seesOurs, other: c.seesOther} {
				if a := program.want(200, "GET", path, nil); bytes.Contains(a.Raw, []byte("shelf 7")) != sees {
					t.Errorf("%v, %s: %s", c.token, path, a.Raw)
				}
			}
		}
	})
}

func TestTokens_WhatIsWrongWithANewOneIsNamed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for field, body := range map[string]obj{
			"name":         {"scopes": []string{"read"}},
			"scopes":       {"name": "a"},
			"organization": {"name": "a", "scopes": []string{"read"}, "organization": 1 << 40},
			"expires":      {"name": "a", "scopes": []string{"read"}, "expires": "2020-01-01"},
		} {
			s.unchanged(field, func() {
				if a := s.people["stranger"].refused(400, "INVALID_INPUT", "POST", "/users/me/tokens",
					body); a.at("fields."+field) == nil || len(a.Body["fields"].(map[string]any)) != 1 {
					t.Errorf("%s: %s", field, a.Raw)
				}
			})
		}
		for _, body := range []obj{{"name": "a", "scopes": []string{}}, {"name": "a", "scopes": []string{"admin"}},
			{"name": "a", "scopes": "read"},
			{"name": "a", "scopes": []string{"read"}, "expires": time.Now().AddDate(2, 0, 0).Format(time.DateOnly)},
			{"name": "a", "scopes": []string{"read"}, "expires": "soon"}} {
			s.owner.refused(400, "INVALID_INPUT", "POST", "/users/me/tokens", body)
		}
		s.people["stranger"].refused(403, "FORBIDDEN", "POST", "/users/me/tokens",
			obj{"name": "a", "scopes": []string{"read"}, "organization": s.id})
		s.people["admin"].refused(403, "FORBIDDEN", "POST", fmt.Sprintf("/users/%s/tokens", s.owner.ID),
			obj{"name": "a", "scopes": []string{"read"}})
	})
}

func TestTokens_MakeNoneThatIsMoreThanThemselves(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		day := func(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
		writes := s.program(s.owner, obj{"name": "writes", "scopes": []string{"write"}, "expires": day(10)})
		writes.want(201, "POST", "/users/me/tokens", obj{"name": "a", "scopes": []string{"read"}, "expires": day(9)})
		s.unchanged("a longer life", func() {
			writes.refused(403, "SCOPE", "POST", "/users/me/tokens",
				obj{"name": "a", "scopes": []string{"read"}, "expires": day(11)})
		})
		for _, limited := range []obj{{"name": "reads", "scopes": []string{"read"}},
			{"name": "lab", "scopes": []string{"write"}, "organization": s.id}} {
			program := s.program(s.owner, limited)
			s.unchanged("a limited token", func() {
				program.refused(403, "SCOPE", "POST", "/users/me/tokens",
					obj{"name": "a", "scopes": []string{"read"}, "expires": day(1)})
				program.refused(403, "SCOPE", "DELETE", "/users/me/tokens", nil)
			})
		}
	})
}

func TestTokens_AreAtMostFiftyAndLoginsDoNotCount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := loginWorld(t, db, nil)
		p := w.holder(w.login(90))
		for range person.MaxTokens - 1 {
			p.want(201, "POST", "/users/me/tokens", obj{"name": "a", "scopes": []string{"read"}})
		}
		made := 0
		for _, a := range atOnce(func(int) answer {
			return p.call("POST", "/users/me/tokens", obj{"name": "b", "scopes": []string{"read"}})
		}) {
			if a.Status == 201 {
				made++
			} else if a.Status != 409 || a.Body["error_code"] != "CONFLICT" ||
				a.Body["limit"] != float64(person.MaxTokens) {
				t.Errorf("%d %s", a.Status, a.Raw)
			}
		}
		if made != 1 {
			t.Errorf("%d tokens took the last place", made)
		}
		w.login(90) // nobody is locked out
		newest := idsOf(p.want(200, "GET", "/users/me/tokens?limit=2", nil).List)[1]
		p.want(204, "DELETE", fmt.Sprintf("/users/me/tokens/%d", newest), nil)
		p.want(201, "POST", "/users/me/tokens", obj{"name": "c", "scopes": []string{"read"}})
		if _, err := w.sql.ExecContext(t.Context(),
			"UPDATE tokens SET expires_at = created_at WHERE name = 'a'"); err != nil {
			t.Fatal(err)
		}
		// those that expired do not count
		p.want(201, "POST", "/users/me/tokens", obj{"name": "d", "scopes": []string{"read"}})
	})
}

func TestTokens_SayWhenTheyWereUsedToTheHour(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		program := s.program(s.owner, obj{"name": "a", "scopes": []string{"read"}})
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE tokens SET used_at = $1 WHERE hash = $2",
			s.db.Read().Now.Add(-2*time.Hour), core.Hash(program.Token)); err != nil {
			t.Fatal(err)
		}
		before := s.db.Queries()
		program.want(200, "GET", "/materials", nil)
		first := s.db.Queries() - before
		before = s.db.Queries()
		program.want(200, "GET", "/materials", nil)
		if then := s.db.Queries() - before; then != first-1 {
			t.Errorf("%d statements, then %d", first, then)
		}
		used, err := time.Parse("2006-01-02T15:04:05-0700",
			program.want(200, "GET", "/users/me/tokens", nil).List[0].(map[string]any)["last_used"].(string))
		if err != nil || time.Since(used) > time.Minute {
			t.Errorf("last used %v, %v", used, err)
		}
	})
}

func TestAuthorization_TakesTokenAndBearerInAnyCase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		p := w.person("ada")
		secret := p.Token
		p.Token = ""
		for header, want := range map[string]int{"Token ": 200, "token ": 200, "Bearer ": 200, "bearer ": 200,
			"BEARER  ": 200, "Basic ": 401, "": 401, "Bearer Token ": 401} {
			a := p.sendWith(map[string]string{"Authorization": header + secret}, "GET", "/users/me", "", nil)
			if a.Status != want || want == 200 && a.Body["id"] != p.ID.String() || want == 401 &&
				a.Header.Get("WWW-Authenticate") != "Token" {
				t.Errorf("%q: %d %v %s", header, a.Status, a.Header, a.Raw)
			}
		}
	})
}

func TestMe_IsTheCallerInEveryPathOfAUser(t *testing.T) {
	t.Parallel()
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		p := s.requester()
		seen := 0
		for _, c := range visits {
			if !strings.Contains(c.route, " /users/{id}") {
				continue
			}
			seen++
			methods, _ := c.methods()
			for _, method := range methods {
				v := c.make(s, "requester")
				who := p
				if v.as != nil {
					who = v.as
				}
				v.path = strings.Replace(v.path, who.ID.String(), "me", 1)
				if a := v.call(who, method); a.Status < 200 || a.Status > 299 {
					t.Errorf("%s %s: %d %s", method, v.path, a.Status, a.Raw)
				}
				v.as = nil
				if a := v.call(s.anonymous(), method); a.Status != 401 {
					t.Errorf("%s %s without a token: %d %s", method, v.path, a.Status, a.Raw)
				}
			}
		}
		if seen < 25 {
			t.Errorf("only %d routes", seen)
		}
		p.refused(404, "NOT_FOUND", "GET", "/users/Me", nil)
	})
}
