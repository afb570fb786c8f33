package api_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"aliquot/internal/api/shape"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/store/storetest"
)

func FuzzTime(f *testing.F) {
	f.Add(int64(0), int64(0))
	f.Add(int64(1589206419), int64(999_999_999))
	f.Add(int64(-2208988800), int64(1))
	f.Add(int64(253402300799), int64(0))
	f.Fuzz(func(t *testing.T, seconds, nanos int64) {
		at := time.Unix(seconds, nanos%1e9).UTC()
		if at.Year() < 1900 || at.Year() > 9999 {
			return
		}
		raw, err := json.Marshal(shape.Time(at))
		if err != nil || !forms["time"].MatchString(strings.Trim(string(raw), `"`)) {
			t.Fatalf("%s: %v", raw, err)
		}
		var back exchange.Instant
		if err := json.Unmarshal(raw, &back); err != nil || !time.Time(back).Equal(at.Truncate(time.Second)) {
			t.Errorf("%s came back as %v: %v", raw, time.Time(back), err)
		}
		if raw, err = json.Marshal(shape.Expiry(at)); err != nil ||
			!forms["expiry"].MatchString(strings.Trim(string(raw), `"`)) {
			t.Errorf("%s: %v", raw, err)
		}
	})
}

// quiet is an installation for a fuzz target, which may not write to the log of its parent.
func quiet(f *testing.F) (*world, *testPerson) {
	f.Helper()
	w := newWorldWith(f, storetest.Open(f, storetest.SQLite),
		func(c *app.Config) { c.Log = slog.New(slog.DiscardHandler) })
	p := w.person("p")
	p.want(201, "POST", "/materials", obj{"category": "OTHER", "title": "A", "organization_id": p.Lab})
	p.want(201, "POST", "/material-requests", obj{"material": 1})
	p.upload("a.pdf", pdf, nil)
	return w, p
}

// answerOf calls the handler itself.
func (w *world) answerOf(r *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	w.apiHandler.ServeHTTP(recorder, r)
	return recorder
}

func FuzzMultipart(f *testing.F) {
	w, p := quiet(f)
	for _, parts := range [][]string{
		{filePart("a.pdf", string(pdf))}, {formField("filename", "a"), filePart("", "x")},
		{formField("owned_by_org", "{"), filePart("a", "x")}, {filePart("a", "")},
		{formField("description", "\xff"), filePart("a\xff", "x")}, {"\r\n"}, {filePart("a", "x"), filePart("b", "y")},
		{"Content-Disposition: form-data\r\n\r\nx"},
	} {
		_, body := form(parts...)
		f.Add(body)
		f.Add(body[:len(body)/2])
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, publicURL+"/attachments",
			strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		r.Header.Set("Authorization", "Token "+p.Token)
		before := keys(t, w)
		a := w.answerOf(r)
		if a.Code != 201 && a.Code != 400 && a.Code != 403 && a.Code != 413 && a.Code != 415 {
			t.Errorf("%q: %d %s", body, a.Code, a.Body)
		}
		made := 0
		if a.Code == 201 {
			made = 1
		}
		if after := keys(t, w); after != before+made {
			t.Errorf("%q: %d, and %d files became %d", body, a.Code, before, after)
		}
	})
}

func keys(t *testing.T, w *world) (n int) {
	t.Helper()
	for _, err := range w.folder.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func FuzzPath(f *testing.F) {
	w, p := quiet(f)
	for _, seed := range []string{"/", "//", "/v1/materials/1/", "/materials/%00", "/materials/../..", "/users/" +
		p.ID.String() + "/addresses/1", "/material-requests/1/events",
		"/uploaded-file/attachment_1/a.pdf", "/uploaded-file/attachment_-1/%2e%2e", "*", "/materials//", "/%2f/%5c",
		"/organizations/9223372036854775807", "/material-requests/1/documents/irb/return"} {
		f.Add("GET", seed, "limit=1&cursor=MQ", "")
		f.Add("GET", seed, "limit=1&ordering=-updated_at&cursor=WyIiLDEsbnVsbF0", "")
		f.Add("POST", seed, "", `{"text": "a", "material": 1}`)
		f.Add("PATCH", seed, "%zz;", `{"title": "\u0000", "status": "FULFILLED"}`)
		f.Add("DELETE", seed, "limit=-1&category=%ff&is_archived=x&requester=1", "[]")
	}
	f.Fuzz(func(t *testing.T, method, path, query, body string) {
		target, err := url.ParseRequestURI(path)
		if err != nil || strings.ContainsAny(method, " \t\r\n/") {
			return
		}
		target.RawQuery = query
		for _, token := range []string{"", p.Token} {
			r := (&http.Request{Method: method, URL: target, Host: "x", Header: http.Header{},
				Body:          io.NopCloser(strings.NewReader(body)),
				ContentLength: int64(len(body)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
				RequestURI: path}).WithContext(t.Context())
			if token != "" {
				r.Header.Set("Authorization", "Token "+token)
			}
			a := w.answerOf(r)
			if a.Code >= 500 && (a.Code != 503 || !strings.HasSuffix(strings.TrimRight(path, "/"), "login") &&
				!strings.HasSuffix(strings.TrimRight(path, "/"), "users")) || a.Code >= 300 && a.Code < 400 {
				t.Errorf("%s %q ? %q %q: %d %s", method, path, query, body, a.Code, a.Body)
			}
			if a.Code >= 400 && method != http.MethodHead && !json.Valid(a.Body.Bytes()) {
				t.Errorf("%s %q: %d %s", method, path, a.Code, a.Body)
			}
		}
	})
}

// maxStatements is how many SQL statements a search may run, whatever is searched.
const maxStatements = 40

func FuzzSearch(f *testing.F) {
	w, p := quiet(f)
	for _, title := range []string{"HT-29", "HeLa", "HeLa S3", "TNF-alpha", "Δ株", "a\"b' OR 1=1 --"} {
		p.want(201, "POST", "/materials", obj{"category": "OTHER", "title": title, "organization_id": p.Lab})
	}
	for _, seed := range []string{"", "hela", `"hela s3" -ht29`, `"`, "-", "-hela", `-"`,
		"a OR b AND NOT (c NEAR d)*^:", "title:hela", "{a b}: c", "'; DROP TABLE materials; --", "\x00\xff\xfe",
		"\u202eaLeH", "株Δ株", "🧬🧬", "RRID:CVCL_0320", "https://doi.org/10.1000/xyz",
		"ht 2 9 a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 5 6 7 8 9 0",
		"a & b | !c <-> d:*", `\ \' \" %_`, "=all", "#k", "~x ^y @z", strings.Repeat("a-", 200),
		strings.Repeat("hela ", 64), strings.Repeat("hela ", 65), strings.Repeat(`"a `, 50)} {
		f.Add(seed, "HeLa")
		f.Add("hela", seed)
	}
	f.Fuzz(func(t *testing.T, text, facet string) {
		get := func(address string) *httptest.ResponseRecorder {
			before := w.db.Queries()
			a := w.answerOf(httptest.NewRequestWithContext(t.Context(), http.MethodGet, publicURL+address, http.NoBody))
			if n := w.db.Queries() - before; n > maxStatements {
				t.Errorf("%s: %d statements", address, n)
			}
			return a
		}
		words := url.Values{"search": {text}}.Encode()
		if utf8.RuneCountInString(text) > exchange.MaxSearchText || len(strings.Fields(text)) > exchange.MaxSearched {
			if a := get("/search/materials?" + words); a.Code != 400 || !strings.Contains(a.Body.String(), `"search"`) {
				t.Errorf("%q: %d %s", text, a.Code, a.Body)
			}
			return
		}
		for _, path := range []string{"/search/materials", "/search/organizations", "/search/users", "/search/suggest",
			"/search/materials/feed"} {
			limit := "limit=2&"
			if path == "/search/materials/feed" { // which takes no page
				limit = ""
			}
			a := get(path + "?" + limit + words)
			if a.Code != 200 {
				t.Errorf("%s for %q: %d %s", path, text, a.Code, a.Body)
			}
			var page struct{ Next, Previous string }
			if path != "/search/materials/feed" {
				if err := json.Unmarshal(a.Body.Bytes(), &page); err != nil {
					t.Errorf("%s for %q: %v", path, text, err)
				}
			} else if err := xml.Unmarshal(a.Body.Bytes(), new(struct{ XMLName xml.Name })); err != nil {
				t.Errorf("the feed for %q: %v", text, err)
			}
			if page.Next != "" {
				if a := get(page.Next); a.Code != 200 {
					t.Errorf("%s behind %q: %d %s", path, text, a.Code, a.Body)
				}
			}
		}
		if a := get("/search/materials?" + words + "&" +
			url.Values{"organisms": {facet, text}}.Encode()); a.Code != 200 &&
			(a.Code != 400 || !strings.Contains(a.Body.String(), `"organisms"`) &&
				!strings.Contains(a.Body.String(), "words and filter values")) {
			t.Errorf("%q, %q: %d %s", text, facet, a.Code, a.Body)
		}
		if a := get("/search/materials?" +
			url.Values{"cursor": {text}, "ordering": {"title"}}.Encode()); a.Code != 400 {
			t.Errorf("the cursor %q: %d", text, a.Code)
		}
	})
}
