package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// slow is a body before whose first byte something else happens: by then the caller is known, and nothing is done yet.
type slow struct {
	io.Reader
	meanwhile func()
}

func (s *slow) Read(p []byte) (int, error) {
	if do := s.meanwhile; do != nil {
		s.meanwhile = nil
		do()
	}
	return s.Reader.Read(p)
}

// slowly sends a body while something else happens.
func (p *testPerson) slowly(meanwhile func(), headers map[string]string, method, path, kind, body string) answer {
	p.w.t.Helper()
	r := httptest.NewRequestWithContext(p.w.t.Context(), method, publicURL+path,
		&slow{strings.NewReader(body), meanwhile})
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Authorization", "Token "+p.Token)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return p.w.serve(r)
}

// serve answers a request without a connection.
func (w *world) serve(r *http.Request) answer {
	recorder := httptest.NewRecorder()
	w.apiHandler.ServeHTTP(recorder, r)
	a := answer{Status: recorder.Code, Header: recorder.Header(), Raw: recorder.Body.Bytes()}
	_ = json.Unmarshal(a.Raw, &a.Body) // of a list or a file there is none
	return a
}

// TestAccess_LostWhileABodyIsSentRefusesTheCall: the caller was known when it began, and lost the right, or the token,
// meanwhile.
func TestAccess_LostWhileABodyIsSentRefusesTheCall(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		admin := s.people["admin"]
		home := fmt.Sprintf("/organizations/%d", s.id)
		ends := map[string]struct {
			person *testPerson
			status int
			end    func(p *testPerson)
			undo   func(p *testPerson)
		}{
			"a token is revoked": {s.member, 401, func(p *testPerson) { p.want(204, "POST", "/logout", nil) },
				func(*testPerson) {}},
			"a member is removed": {s.member, 403,
				func(p *testPerson) { s.owner.want(200, "PATCH", home, obj{"members": []any{}}) },
				func(p *testPerson) { s.join(s.id, p) }},
			"an admin is none any more": {admin, 403,
				func(*testPerson) { s.setAdmin(false) },
				func(*testPerson) { s.setAdmin(true) }},
		}
		kind, form := form(formField("owned_by_org", fmt.Sprint(s.id)), filePart("a.pdf", string(pdf)))
		const text = "application/json"
		calls := map[string]func() (method, path, kind, body string){
			"JSON": func() (string, string, string, string) {
				return "PATCH", fmt.Sprintf("/material-requests/%d", s.newRequest()), text,
					`{"status": "REJECTED", "rejection_reason": "No"}`
			},
			"a new material": func() (string, string, string, string) {
				return "POST", "/materials", text,
					fmt.Sprintf(`{"category": "OTHER", "title": "A", "organization_id": %d}`, s.id)
			},
			"an upload": func() (string, string, string, string) {
				return "PUT", s.newAttachment().Body["download_url"].(string), "application/pdf", string(pdf)
			},
			"a form": func() (string, string, string, string) { return "POST", "/attachments", kind, form },
			"a spreadsheet": func() (string, string, string, string) {
				return "POST", home + "/materials/bulk", "text/csv", "category,title\nOTHER,A\n"
			},
		}
		for name, e := range ends {
			for what, call := range calls {
				for _, headers := range []map[string]string{nil, {"Idempotency-Key": name + what}} {
					p := s.signIn(e.person.name)
					method, path, kind, body := call()
					var before []string
					a := p.slowly(func() { e.end(p); before = s.dump() }, headers, method, path, kind, body)
					after := s.dump()
					if headers != nil { // the answer of a refusal is kept where it holds for the next call too
						keys := func(line string) bool { return strings.HasPrefix(line, "idempotency_keys") }
						after = slices.DeleteFunc(after, keys)
						before = slices.DeleteFunc(before, keys)
					}
					if a.Status != e.status || !slices.Equal(before, after) {
						t.Errorf("%s while %s is sent, %v: %d %s, %d rows became %d", name, what, headers, a.Status,
							a.Raw, len(before), len(after))
					}
					e.undo(e.person)
					if headers != nil && e.status == 401 {
						if again := s.signIn(e.person.name).slowly(nil, headers, method, path, kind,
							body); again.Status >= 300 {
							t.Errorf("%s while %s was sent, once more with another token: %d %s", name, what,
								again.Status, again.Raw)
						}
					}
				}
			}
		}
	})
}
