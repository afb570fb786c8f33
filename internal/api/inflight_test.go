package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// inFlight is the table of access for a caller who may, and whose right ends between the moment at which they were
// known and the transaction of the call: the first sign is for a token that is revoked then, the second for somebody
// who is no longer what they were, an admin or a member of a lab. What changes something is refused, with 401 and with
// what the table of access has for a former member. A call that only reads is answered for what the caller was when it
// came. Here are the routes that differ.
var inFlight = map[string]string{
	"POST /login":                              "++", // nobody calls: the code proves who it is
	"POST /users":                              "++",
	"POST /materials/import/preview":           "++", // stores nothing
	"POST /agreements/resolve":                 "++", // likewise
	"PUT,PATCH /grants/{id}":                   "1+", // a grant stays its person's, whatever lab they are in
	"DELETE /grants/{id}/materials/{material}": "1+",
}

// inFlightOf are the signs of a route in flight.
func inFlightOf(c routeCase) string {
	methods, _ := c.methods()
	words := strings.Fields(access[c.route])
	switch signs := inFlight[c.route]; {
	case signs != "":
		return signs
	case methods[0] == "GET":
		return "++"
	case slices.Contains([]string{"member", "owner", "assignee", "admin"}, c.by):
		return "1" + words[len(words)-1][slices.Index(roles, "former"):][:1]
	}
	return "1+" // what is their own stays
}

// endsIn has do run once, right before a call that has the context opens its first transaction.
type endsIn struct {
	context.Context
	do func()
}

func (c *endsIn) Value(key any) any {
	if do := c.do; do != nil && fmt.Sprintf("%T", key) == "sqldb.inTx" {
		c.do = nil
		do()
	}
	return c.Context.Value(key)
}

// inFlight calls a route in a context.
func (v visit) inFlight(ctx context.Context, p *testPerson, method string) answer {
	p.w.t.Helper()
	kind, body := "application/json", io.Reader(nil)
	switch b := v.body.(type) {
	case nil:
		kind = ""
	case []byte:
		kind, body = "application/octet-stream", bytes.NewReader(b)
	case string:
		body = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			p.w.t.Fatal(err)
		}
		body = bytes.NewReader(raw)
	}
	r := httptest.NewRequestWithContext(ctx, method, publicURL+v.path, body)
	r.Header.Set("Content-Type", kind)
	if p.Token != "" {
		r.Header.Set("Authorization", "Token "+p.Token)
	}
	return p.w.serve(r)
}

// loses takes from somebody all that they are: an admin, and a member of whatever lab.
func (s *scene) loses(p *testPerson) {
	s.t.Helper()
	for _, query := range []string{"UPDATE users SET is_admin = FALSE WHERE id = $1",
		"UPDATE memberships SET left_at = created_at WHERE user_id = $1",
		"UPDATE authorities SET holder = NULL WHERE holder = $1"} {
		if _, err := s.sql.ExecContext(s.t.Context(), query, p.ID); err != nil {
			s.t.Fatal(err)
		}
	}
	if _, err := s.sql.ExecContext(s.t.Context(), "UPDATE organizations SET owner_id = $1 WHERE owner_id = $2",
		s.people["former"].ID, p.ID); err != nil {
		s.t.Fatal(err)
	}
}

// TestAccess_LostDuringACallRefusesIt for every route of the contract: for a token that is revoked and for somebody who is
// no longer what they were.
func TestAccess_LostDuringACallRefusesIt(t *testing.T) {
	t.Parallel()
	for at, end := range []func(*scene, *testPerson){
		func(s *scene, p *testPerson) {
			if _, err := s.sql.ExecContext(s.t.Context(), "DELETE FROM tokens WHERE hash = $1",
				hash(p.Token)); err != nil {
				s.t.Fatal(err)
			}
		},
		(*scene).loses,
	} {
		t.Run([]string{"a token", "a right"}[at], func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				s := newScene(t, db, exchange.AccessMembers)
				for _, c := range visits {
					s.fly(c, at, func(p *testPerson) { end(s, p) })
				}
			})
		})
	}
}

// fly calls a route as who may, whose right ends in flight. A refused call changes nothing.
func (s *scene) fly(c routeCase, at int, end func(*testPerson)) {
	s.t.Helper()
	methods, _ := c.methods()
	for _, method := range methods {
		v := c.make(s, c.by)
		p := s.people[c.by]
		if v.as != nil {
			p = v.as
		}
		var before []string
		kept := s.kept() // the content that a call takes in before its transaction goes again
		if p.Token != "" {
			p = s.signIn(p.name)
		}
		ctx := &endsIn{s.t.Context(), func() {
			end(p)
			before = s.dump()
		}}
		a := v.inFlight(ctx, p, method)
		got := byte('?')
		switch {
		case a.Status < 300:
			got = '+'
		case a.Status == 401 && a.Body["error_code"] == "NOT_AUTHENTICATED":
			got = '1'
		case a.Status == 403:
			got = '3'
		case a.Status == 404 && a.Body["error_code"] == "NOT_FOUND":
			got = '4'
		}
		if want := inFlightOf(c)[at]; got != want {
			s.t.Errorf("%s %s by %s, in flight: %c, want %c: %d %.300s", method, c.route, c.by, got, want, a.Status,
				a.Raw)
		}
		isFile := func(line string) bool { return strings.HasPrefix(line, "file ") }
		if got != '+' && (!slices.Equal(slices.DeleteFunc(before, isFile), slices.DeleteFunc(s.dump(), isFile)) ||
			!slices.Equal(kept, s.kept())) {
			s.t.Errorf("%s %s by %s was refused in flight and changed something", method, c.route, c.by)
		}
		if before != nil {
			s.regain()
		}
	}
}

// regain makes everybody what they were before loses.
func (s *scene) regain() {
	s.t.Helper()
	s.setAdmin(true)
	s.join(s.id, s.owner, s.member, s.assignee)
	for _, p := range s.people {
		if p.Lab != 0 {
			s.join(p.Lab, p)
			s.owns(p.Lab, p)
		}
	}
	s.owns(s.id, s.owner)
	if s.office != nil {
		if _, err := s.sql.ExecContext(s.t.Context(), "UPDATE authorities SET holder = $1 WHERE id = $2", s.owner.ID,
			s.office.authority); err != nil {
			s.t.Fatal(err)
		}
	}
}

// owns makes somebody the owner of a lab.
func (s *scene) owns(lab int64, p *testPerson) {
	s.t.Helper()
	if _, err := s.sql.ExecContext(s.t.Context(), "UPDATE organizations SET owner_id = $1 WHERE id = $2", p.ID,
		lab); err != nil {
		s.t.Fatal(err)
	}
}
