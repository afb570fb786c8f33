package api_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func key(k string) map[string]string { return map[string]string{"Idempotency-Key": k} }

func TestIdempotencyKey_RepeatsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for i, c := range visits {
			methods, path := c.methods()
			// that answers a secret
			if methods[0] != "POST" || path == "/login" || path == "/users" || path == "/logout" ||
				path == "/users/{id}/tokens" {
				continue
			}
			v, p, k := c.make(s, c.by), s.people[c.by], key(fmt.Sprint("retry no. ", i, " é"))
			if v.as != nil {
				p = v.as
			}
			call := func(path string) answer {
				if raw, file := v.body.([]byte); file {
					return p.sendWith(k, "POST", path, "application/octet-stream", bytes.NewReader(raw))
				}
				return p.callWith(k, "POST", path, v.body)
			}
			first := call(v.path)
			before := fmt.Sprint(s.rows())
			again := call("/v1" + v.path + "/")
			if first.Status >= 300 || again.Status != first.Status || !bytes.Equal(again.Raw, first.Raw) ||
				again.Header.Get("Location") != first.Header.Get("Location") ||
				again.Header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%s: %d %s, again: %d %s %v", c.route, first.Status, first.Raw, again.Status, again.Raw,
					again.Header)
			}
			if after := fmt.Sprint(s.rows()); after != before {
				t.Errorf("%s: ran twice: %s, then %s", c.route, before, after)
			}
		}
	})
}

// TestIdempotencyKey_OfAnAdminIsOneTransaction: the use of an admin's power is noted in the transaction
// of the act, since a call that is held has only one. Every answer is held to having no status of 500.
func TestIdempotencyKey_OfAnAdminIsOneTransaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		good := 0
		for i, c := range visits {
			methods, path := c.methods()
			if methods[0] != "POST" || path == "/login" || path == "/users" || path == "/logout" {
				continue
			}
			v := c.make(s, c.by)
			if a := s.people["admin"].callWith(key(fmt.Sprint("admin ", i)), "POST", v.path, v.body); a.Status < 300 {
				good++
			}
		}
		if good < 10 {
			t.Errorf("%d calls of an admin did something", good)
		}
	})
}

// TestIdempotencyKey_ThatCannotBeKeptFailsTheCall with the reason of that, as on a full disk: here by an index that takes no
// second answer.
func TestIdempotencyKey_ThatCannotBeKeptFailsTheCall(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		if _, err := s.sql.Exec("CREATE UNIQUE INDEX one_answer ON idempotency_keys (status)"); err != nil {
			t.Fatal(err)
		}
		for i, want := range []int{201, 409} {
			title := fmt.Sprint("kept ", i)
			a := s.member.callWith(key(title), "POST", "/materials", obj{"category": "OTHER", "title": title,
				"organization_id": s.id})
			var made int
			if err := s.sql.QueryRow("SELECT COUNT(*) FROM materials WHERE title = $1", title).Scan(&made); err != nil ||
				a.Status != want || made != 1-i {
				t.Errorf("%s: %d %s, %d materials, %v", title, a.Status, a.Raw, made, err)
			}
		}
	})
}

func TestIdempotencyKey_IsBoundToCallerAndCall(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessOpen)
		ada, bob := w.person("ada"), w.person("bob")
		path := fmt.Sprintf("/users/%s/addresses", ada.ID)
		first := ada.callWith(key("k"), "POST", path, address("home"))
		for where, a := range map[string]answer{
			"another body": ada.callWith(key("k"), "POST", path, address("work")),
			"another path": ada.callWith(key("k"), "POST", "/attachments", address("home")),
			"too long":     ada.callWith(key(strings.Repeat("é", 256)), "POST", path, address("home")),
			"empty":        ada.callWith(key(""), "POST", path, address("home")),
			"no UTF-8":     ada.callWith(key("\xff"), "POST", path, address("home")),
		} {
			fields, _ := a.Body["fields"].(map[string]any)
			if a.Status != 400 || a.Body["error_code"] != "INVALID_INPUT" || fields["Idempotency-Key"] == nil {
				t.Errorf("%s: %d %s", where, a.Status, a.Raw)
			}
		}
		mine := obj{"category": "OTHER", "title": "A", "organization_id": bob.Lab}
		for where, p := range map[string]*testPerson{"another person": bob, "nobody": w.anonymous()} {
			if a := p.callWith(key("k"), "POST", "/materials", mine); a.Status != 201 ||
				a.Header.Get("Idempotency-Replayed") != "" {
				t.Errorf("%s with the same key: %d %s", where, a.Status, a.Raw)
			}
		}
		if a := ada.callWith(key(strings.Repeat("é", 255)), "POST", path, address("home")); a.Status != 200 ||
			a.id() == first.id() {
			t.Errorf("the longest key: %d %s", a.Status, a.Raw)
		}
		refused := ada.callWith(key("r"), "POST", path, obj{})
		if again := ada.callWith(key("r"), "POST", path, obj{}); refused.Status != 400 ||
			!bytes.Equal(again.Raw, refused.Raw) {
			t.Errorf("what was refused: %s, again: %s", refused.Raw, again.Raw)
		}
		// A day later, the sweep or the next call forgets it.
		if _, err := w.sql.ExecContext(t.Context(), "UPDATE idempotency_keys SET created_at = $1",
			time.Now().UTC().Add(-25*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if a := ada.callWith(key("k"), "POST", path, address("work")); a.Status != 200 || a.id() == first.id() {
			t.Errorf("a day later: %d %s", a.Status, a.Raw)
		}
		w.sweep()
		var n int
		if err := w.sql.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM idempotency_keys").Scan(&n); err != nil ||
			n != 1 {
			t.Errorf("the sweep left %d keys, %v", n, err)
		}
	})
}

func TestIdempotencyKey_RunsOnceOfEightCallsAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessOpen)
		ada := w.person("ada")
		var ids sync.Map
		var made atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				a := ada.callWith(key("k"), "POST", fmt.Sprintf("/users/%s/addresses", ada.ID), address("home"))
				if a.Status != 200 {
					t.Errorf("%d %s", a.Status, a.Raw)
				}
				ids.Store(a.id(), true)
				if a.Header.Get("Idempotency-Replayed") == "" {
					made.Add(1)
				}
			})
		}
		all.Wait()
		n := 0
		ids.Range(func(any, any) bool { n++; return true })
		if list := ada.want(200, "GET", fmt.Sprintf("/users/%s/addresses", ada.ID), nil).List; n != 1 ||
			made.Load() != 1 || len(list) != 1 {
			t.Errorf("%d ids, %d answers of the first call, %d addresses", n, made.Load(), len(list))
		}
	})
}

func TestIdempotencyKey_OfAFormRepeatsTheAnswerUnlessTheFirstBrokeOff(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ada := newWorld(t, db, exchange.AccessMembers).person("ada")
		send := func(cut int) answer {
			var body bytes.Buffer
			form := multipart.NewWriter(&body)
			part, err := form.CreateFormFile("file", "a.pdf")
			if err == nil {
				_, err = part.Write(pdf)
			}
			if err != nil || form.Close() != nil {
				t.Fatal(err)
			}
			return ada.sendWith(key("form"), "POST", "/attachments", form.FormDataContentType(),
				bytes.NewReader(body.Bytes()[:body.Len()-cut]))
		}
		if a := send(20); a.Status != 400 {
			t.Errorf("cut off: %d %s", a.Status, a.Raw)
		}
		first, again := send(0), send(0)
		if first.Status != 201 || !bytes.Equal(first.Raw, again.Raw) {
			t.Errorf("%d %s, again: %d %s", first.Status, first.Raw, again.Status, again.Raw)
		}
	})
}

func TestIdempotencyKey_KeepsNoSecret(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for _, c := range visits[:3] { // login, logout, registration
			v := c.make(s, c.by)
			p := s.people[c.by]
			if v.as != nil {
				p = v.as
			}
			if a := p.callWith(key("secret"), "POST", v.path, v.body); a.Status >= 300 {
				t.Errorf("%s: %d %s", c.route, a.Status, a.Raw)
			}
		}
		var n int
		if err := s.sql.QueryRowContext(t.Context(),
			"SELECT COUNT(*) FROM idempotency_keys WHERE body <> ''").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d answers kept, %v", n, err)
		}
	})
}
