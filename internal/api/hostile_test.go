package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestHostileRequests_AreRefusedAndChangeNothing: every answer of every test is held to the shape of
// an error besides, and to having no status of 500 (see answer.fault).
func TestHostileRequests_AreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()
	deep := func(n int, open, shut string) string {
		return `{"category": "OTHER", "title": "A", "organization_id": 1, "additional_metadata": {"x": ` +
			strings.Repeat(open, n) + "1" + strings.Repeat(shut, n) + `}}`
	}
	const text = "text/plain"
	tests := []struct {
		name, by, call, kind, body string
		status                     int
		code, field                string
	}{
		{"no JSON", "member", "POST /materials", "", "{\n  \"title\": nope\n}", 400, "MALFORMED_JSON", "line"},
		{"cut off", "member", "POST /materials", "", `{"title": "A`, 400, "MALFORMED_JSON", "column"},
		{"two objects", "member", "POST /materials", "", `{} {}`, 400, "MALFORMED_JSON", "column"},
		{"a comma too many", "member", "POST /materials", "", `{"title": "A",}`, 400, "MALFORMED_JSON", "column"},
		{"single quotes", "member", "POST /materials", "", `{'title': 1}`, 400, "MALFORMED_JSON", "column"},
		{"a comment", "member", "POST /materials", "", `{/* */}`, 400, "MALFORMED_JSON", "column"},
		{"NaN", "member", "POST /materials", "", `{"title": NaN}`, 400, "MALFORMED_JSON", "column"},
		{"a byte order mark", "member", "POST /materials", "", "\ufeff{}", 400, "MALFORMED_JSON", "column"},
		{"blanks alone", "member", "POST /materials", "", "   ", 400, "MALFORMED_JSON", ""},
		{"a list", "member", "POST /materials", "", `[{"title": "A"}]`, 400, "MALFORMED_JSON", ""},
		{"null", "member", "POST /materials", "", `null`, 400, "MALFORMED_JSON", ""},
		{"a number", "member", "POST /materials", "", `7`, 400, "MALFORMED_JSON", ""},
		{"a string", "member", "POST /login", "", `"code"`, 400, "MALFORMED_JSON", ""},
		{"no UTF-8", "member", "POST /materials", "", "{\"title\": \"\xff\"}", 400, "MALFORMED_JSON", ""},
		{"UTF-16", "member", "POST /materials", "", "\xff\xfe{\x00}\x00", 400, "MALFORMED_JSON", ""},
		{"half a surrogate", "member", "POST /shipping-requirements", "", `{"organization": "\ud800"}`, 400,
			"MALFORMED_JSON", ""},
		{"nothing", "member", "POST /materials", "", "", 400, "INVALID_INPUT", "title"},
		{"an empty object", "member", "POST /materials", "", "{}", 400, "INVALID_INPUT", "organization_id"},
		{"NUL in a text", "member", "PATCH {material}", "", `{"title": "A\u0000"}`, 400, "INVALID_INPUT", "title"},
		{"NUL in a long text", "member", "PATCH {material}", "", `{"citation": "A\u0000"}`, 400, "INVALID_INPUT",
			"citation"},
		{"NUL in a list", "member", "PATCH {material}", "", `{"organisms": ["A\u0000"]}`, 400, "INVALID_INPUT",
			"organisms"},
		{"NUL in a source", "member", "PATCH {material}", "", `{"import_source": "A\u0000"}`, 400, "INVALID_INPUT",
			"import_source"},
		{"NUL in a category", "member", "POST /materials", "", `{"category": "OTHER\u0000"}`, 400, "INVALID_INPUT",
			"category"},
		{"NUL in a status", "member", "PATCH {request}", "", `{"status": "OPEN\u0000"}`, 400, "INVALID_INPUT",
			"status"},
		{"NUL in a reason", "member", "POST {request}/documents/requester_signed_mta/return", "",
			`{"reason": "a\u0000b"}`, 400, "INVALID_INPUT", "reason"},
		{"a reason of blanks", "member", "POST {request}/documents/requester_signed_mta/return", "", `{"reason": "  "}`,
			400, "INVALID_INPUT", "reason"},
		{"a reason without end", "member", "POST {request}/documents/requester_signed_mta/return", "", `{"reason": "` +
			strings.Repeat("x", 20_001) + `"}`, 400, "INVALID_INPUT", "reason"},
		{"NUL in a message", "member", "POST {request}/messages", "", `{"text": "a\u0000"}`, 400, "INVALID_INPUT",
			"text"},
		{"a message of blanks", "member", "POST {request}/messages", "", `{"text": " \u00a0\n"}`, 400, "INVALID_INPUT",
			"text"},
		{"NUL in an address", "requester", "POST {user}/addresses", "",
			`{"name": "a\u0000", "address_line_1": "x", "locality": "x", "country": "x"}`, 400, "INVALID_INPUT",
			"name"},
		{"NUL in a name", "requester", "PATCH {user}", "", `{"first_name": "\u0000"}`, 400, "INVALID_INPUT",
			"first_name"},
		{"lines in a name", "requester", "PATCH {user}", "", `{"first_name": "a\r\nBcc: x"}`, 400, "INVALID_INPUT",
			"first_name"},
		{"two e-mail addresses", "requester", "PATCH {user}", "", `{"email": "a@example.org, b@example.org"}`, 400,
			"INVALID_INPUT", "email"},
		{"a long title", "member", "PATCH {material}", "", `{"title": "` + strings.Repeat("ä", 501) + `"}`, 400,
			"INVALID_INPUT", "title"},
		{"a script as address", "member", "PATCH {material}", "", `{"url": "javascript:alert(1)"}`, 400,
			"INVALID_INPUT", "url"},
		{"a huge number", "member", "POST /material-requests", "", `{"material": 1e400}`, 400, "INVALID_INPUT",
			"material"},
		{"a number with 500 digits", "member", "POST /material-requests", "", `{"material": ` +
			strings.Repeat("9", 500) + `}`, 400, "INVALID_INPUT", "material"},
		{"a number over 64 bits", "member", "POST /material-requests", "", `{"material": 9223372036854775808}`, 400,
			"INVALID_INPUT", "material"},
		{"the largest number", "member", "POST /material-requests", "", `{"material": 9223372036854775807}`, 400,
			"INVALID_INPUT", "material"},
		{"a negative id", "member", "POST /material-requests", "", `{"material": -1}`, 400, "INVALID_INPUT",
			"material"},
		{"days beyond reason", "owner", "PATCH {organization}", "", `{"ship_days": 9999999999, "decide_days": -1}`, 400,
			"INVALID_INPUT", "decide_days"},
		{"people that are none", "owner", "PATCH {organization}", "",
			`{"members": ["00000000-0000-0000-0000-000000000000"]}`, 400, "INVALID_INPUT", "members"},
		{"people that nobody knows", "owner", "PATCH {organization}", "",
			`{"members": ["018f0000-0000-7000-8000-000000000000"], "owner": "018f0000-0000-7000-8000-000000000001"}`,
			400, "INVALID_INPUT", "owner"},
		{"a day that is none", "member", "PATCH {material}", "", `{"embargo_date": "2026-02-30"}`, 400, "INVALID_INPUT",
			"embargo_date"},
		{"a year that is none", "member", "PATCH {request}/shipment", "", `{"sent_at": "99999-01-01T00:00:00+0000"}`,
			400, "INVALID_INPUT", "sent_at"},
		{"lists without end", "member", "POST /materials", "", strings.Repeat("[", 500_000), 400, "MALFORMED_JSON", ""},
		{"objects without end", "member", "POST /materials", "", strings.Repeat(`{"a":`, 150_000), 400,
			"MALFORMED_JSON", ""},
		{"metadata too deep to be shown", "member", "POST /materials", "", deep(9_990, "[", "]"), 400, "MALFORMED_JSON",
			""},
		{"metadata deeper than any reader", "member", "POST /materials", "", deep(500, `{"a":`, "}"), 400,
			"MALFORMED_JSON", ""},
		{"metadata that is a list", "member", "PATCH {material}", "", `{"additional_metadata": []}`, 400,
			"INVALID_INPUT", "additional_metadata"},
		{"too much metadata", "member", "PATCH {material}", "", `{"additional_metadata": {"x": "` +
			strings.Repeat("x", 70_000) + `"}}`, 400, "INVALID_INPUT", "additional_metadata"},
		{"2 MiB", "member", "POST /materials", "", `{"title": "` + strings.Repeat("x", 2<<20) + `"}`, 413, "TOO_LARGE",
			"limit"},
		{"2 MiB to anyone", "anonymous", "POST /login", "", strings.Repeat(" ", 2<<20), 413, "TOO_LARGE", "limit"},
		{"text", "member", "POST /materials", text, `{"title": "A"}`, 415, "UNSUPPORTED_MEDIA", ""},
		{"a form", "member", "POST /materials", "application/x-www-form-urlencoded", `title=A`, 415,
			"UNSUPPORTED_MEDIA", ""},
		{"no type at all", "member", "POST /materials", ";;;", `{}`, 415, "UNSUPPORTED_MEDIA", ""},
		{"a record as text", "member", "POST /attachments", text, `{"filename": "a"}`, 415, "UNSUPPORTED_MEDIA", ""},
		{"JSON that says its encoding", "member", "POST /materials", "application/json; charset=utf-8", `{}`, 400,
			"INVALID_INPUT", "title"},
		{"a limit of 0", "member", "GET /materials?limit=0", "", "", 400, "INVALID_INPUT", "limit"},
		{"a limit of 201", "member", "GET /materials?limit=201", "", "", 400, "INVALID_INPUT", "limit"},
		{"a limit below 0", "member", "GET /material-requests?limit=-1", "", "", 400, "INVALID_INPUT", "limit"},
		{"a limit over 64 bits", "member", "GET /organizations?limit=99999999999999999999", "", "", 400,
			"INVALID_INPUT", "limit"},
		{"no limit", "member", "GET /organizations?limit=", "", "", 400, "INVALID_INPUT", "limit"},
		{"a cursor that is none", "member", "GET /materials?cursor=abc", "", "", 400, "INVALID_INPUT", "cursor"},
		{"a cursor below 0", "member", "GET /materials?cursor=LTE", "", "", 400, "INVALID_INPUT", "cursor"},
		{"SQL", "member", "GET /materials?cursor=1;DROP", "", "", 400, "INVALID_INPUT", "query"},
		{"all wrong at once", "member",
			"GET /material-requests?limit=x&cursor=y&material=z&requester=1&is_active=maybe", "", "", 400,
			"INVALID_INPUT", "requester"},
		{"NUL in a query", "member", "GET /materials?category=%00", "", "", 400, "INVALID_INPUT", "category"},
		{"no UTF-8 in a query", "member", "GET /materials?category=%ff", "", "", 400, "INVALID_INPUT", "category"},
		{"a broken escape", "member", "GET /materials?category=%zz", "", "", 400, "INVALID_INPUT", "query"},
		{"a long query", "member", "GET /materials?category=" + strings.Repeat("x", 60_000), "", "", 400,
			"INVALID_INPUT", "category"},
		{"a long path", "member", "GET /materials/" + strings.Repeat("9", 60_000), "", "", 404, "NOT_FOUND", ""},
		{"NUL in a path", "member", "GET /users/%00", "", "", 404, "NOT_FOUND", ""},
		{"no UTF-8 in a path", "member", "PUT /uploaded-file/attachment_1/%ff", "", "x", 404, "NOT_FOUND", ""},
		{"a user id with braces", "member", "GET /users/%7B018f0000-0000-7000-8000-000000000000%7D", "", "", 404,
			"NOT_FOUND", ""},
		{"a user id without hyphens", "member", "GET /users/018f0000000070008000000000000000", "", "", 404, "NOT_FOUND",
			""},
		{"the nil user", "member", "GET /users/00000000-0000-0000-0000-000000000000/addresses", "", "", 403,
			"FORBIDDEN", ""},
		{"another's address by an own path", "stranger", "PATCH {other}/addresses/1", "", `{"name": "x"}`, 404,
			"NOT_FOUND", ""},
		{"an issue of another request", "member", "POST {request}/issues/999/close", "", "", 404, "NOT_FOUND", ""},
		{"a document that is none", "member", "POST {request}/documents/passport/accept", "", "", 404, "NOT_FOUND", ""},
		{"a document that is missing", "member", "POST {request}/documents/irb/accept", "", "", 409, "CONFLICT", ""},
		{"a mark of nobody's notification", "stranger", "PATCH {user}/notifications/1", "", "{}", 403, "FORBIDDEN", ""},
		{"a mark of no notification", "requester", "PATCH {user}/notifications/999", "", `{"read": true}`, 404,
			"NOT_FOUND", ""},
	}
	storetest.OnStrictest(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.requester().want(200, "PATCH", s.user(""), obj{"email": "a@example.org"})
		paths := strings.NewReplacer("{material}", s.paths("material"), "{organization}", s.paths("organization"),
			"{request}", s.req(""),
			"{user}", s.user(""), "{other}", fmt.Sprintf("/users/%s", s.people["stranger"].ID))
		for _, test := range tests {
			s.unchanged(test.name, func() {
				method, path, _ := strings.Cut(paths.Replace(test.call), " ")
				kind := test.kind
				if kind == "" {
					kind = "application/json"
				}
				a := s.people[test.by].send(method, path, kind, strings.NewReader(test.body))
				_, detail := a.Body[test.field]
				if a.Status != test.status || a.Body["error_code"] != test.code ||
					test.field != "" && !detail && a.at("fields."+test.field) == nil {
					t.Errorf("%s: %d %.500s, want %d %s %s", test.name, a.Status, a.Raw, test.status, test.code,
						test.field)
				}
			})
		}
		a := s.member.send("POST", "/materials", "application/json", strings.NewReader("{\n  \"title\": nope\n}"))
		if a.Body["line"] != 2.0 || a.Body["column"] != 13.0 {
			t.Errorf("the position of a mistake: %s", a.Raw)
		}
		if a := s.member.want(200, "PATCH", s.paths("material"),
			`{"title": "last", "unknown": {"a": [1]}, "": 7, "id": 7, "created_at": "x"}`); a.Body["title"] != "last" ||
			a.Body["created_at"] == "x" || a.id() != s.material {
			t.Errorf("%s", a.Raw)
		}
	})
}

func TestToken_FormsOfTheAuthorizationHeader(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessOpen)
		p := w.person("p")
		for header, want := range map[string]int{
			"": 200, " ": 200, "Token " + p.Token: 200, "token " + p.Token: 200, "TOKEN   " + p.Token: 200, "Token\t" +
				p.Token: 200, "Token " + p.Token + " ": 200,
			"Token": 401, "Token ": 401, p.Token: 401, "Bearer " + p.Token: 200, "Bearer": 401, "Bearer Token " +
				p.Token: 401, "Basic dXNlcjpwYXNz": 401, "Token" + p.Token: 401,
			"Token " + p.Token + " x": 401, "Token " + p.Token + "," + p.Token: 401, "Token " + p.Token[:40]: 401,
			"Token " + strings.ToLower(p.Token):    401,
			"Token " + strings.Repeat("x", 10_000): 401, "Token \"" + p.Token + "\"": 401, "Token ' OR 1=1": 401,
			"Token %00": 401, "Token ÿ": 401,
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/materials", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", header)
			if a := w.do(r); a.Status != want {
				t.Errorf("%q: %d, want %d", header, a.Status, want)
			}
		}
	})
}

func TestValidation_NamesWrongTypesAndValuesInOneAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessOpen)
		ada := w.person("ada")
		for _, c := range []struct {
			method, path string
			body         obj
			want         []string
		}{
			{"POST", "/materials/", obj{"category": "STONE", "needs_mta": "yes", "url": "nowhere",
				"embargo_date": "soon"},
				[]string{"category", "embargo_date", "needs_mta", "organization_id", "title", "url"}},
			{"POST", "/organizations/", obj{"name": 7, "owner": ada.ID, "ship_days": 0},
				[]string{"members", "name", "ship_days"}},
			{"PATCH", fmt.Sprintf("/users/%s", ada.ID), obj{"first_name": 7, "email": "nobody"},
				[]string{"email", "first_name"}},
			{"POST", "/material-requests/", obj{"quantity": false, "payment_method": "GOLD"},
				[]string{"material", "payment_method", "quantity"}},
		} {
			a := ada.refused(400, "INVALID_INPUT", c.method, c.path, c.body)
			fields, _ := a.Body["fields"].(map[string]any)
			if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, c.want) {
				t.Errorf("%s %s: got %v, want %v", c.method, c.path, got, c.want)
			}
		}
	})
}
