package api_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// crossSite are the headers that a browser sends with a form or script of another site.
func crossSite(origin string, more ...string) map[string]string {
	h := map[string]string{"Origin": origin, "Sec-Fetch-Site": "cross-site"}
	for i := 0; i < len(more); i += 2 {
		h[more[i]] = more[i+1]
	}
	return h
}

// is fails unless an answer has a status.
func (a answer) is(t *testing.T, status int) {
	t.Helper()
	if a.Status != status {
		t.Errorf("got %d, want %d: %s", a.Status, status, a.Raw)
	}
}

func TestAPI_WritesFromOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessOpen)
		ada := w.person("ada")
		material := obj{"category": "PROTOCOL", "title": "Stain", "organization_id": ada.Lab}
		id := ada.want(201, "POST", "/materials/", material).Body["id"]
		path := fmt.Sprintf("/materials/%v", id)
		const evil, lab = "https://evil.example", "https://lab.example.org"
		before := w.dump()
		for _, c := range []struct{ method, path string }{
			{"POST", "/materials/"}, {"POST", "/v1/materials"}, {"PUT", path}, {"PATCH", "/v1" + path},
			{"DELETE", path}, {"POST", "/login"}, {"POST", "/logout"},
		} {
			for _, headers := range []map[string]string{
				crossSite(evil), crossSite("null"),
				{"Sec-Fetch-Site": "same-site", "Origin": "https://other.example.org"},
				{"Sec-Fetch-Site": "cross-site"}, {"Origin": evil},
				crossSite(evil, "Idempotency-Key", "k"),
			} {
				for _, who := range []*testPerson{ada, w.anonymous()} {
					a := who.callWith(headers, c.method, c.path, material)
					if a.Status != 403 || a.Body["error_code"] != "CROSS_SITE" ||
						a.Header.Get("Access-Control-Allow-Origin") != "" {
						t.Errorf("%s %s with %v: %d %s", c.method, c.path, headers, a.Status, a.Raw)
					}
				}
			}
		}
		if !slices.Equal(before, w.dump()) {
			t.Error("a write from another site changed something")
		}
		ada.callWith(crossSite(evil), "GET", path, nil).is(t, 200)

		w.api.Origins = []string{lab}
		w.anonymous().callWith(crossSite(lab), "PATCH", path, obj{"title": "Stain 2"}).is(t, 200)
		w.anonymous().callWith(crossSite(evil), "PATCH", path, obj{"title": "Stain 3"}).is(t, 403)
		w.api.Origins = []string{"*"} // anybody's pages may call, but not write as whoever happens to open them
		ada.callWith(crossSite(evil), "PATCH", path, obj{"title": "Stain 4"}).is(t, 200)
		w.anonymous().callWith(crossSite(evil), "PATCH", path, obj{"title": "Stain 5"}).is(t, 403)
		w.anonymous().callWith(crossSite(evil), "POST", "/login", obj{}).is(t, 400)

		w.api.Origins = nil
		for _, headers := range []map[string]string{nil, {"Sec-Fetch-Site": "none"},
			{"Sec-Fetch-Site": "same-origin", "Origin": publicURL}, {"Origin": publicURL}} {
			w.anonymous().callWith(headers, "PATCH", path, obj{"title": "Stain 6"}).is(t, 200)
		}
	})
}

func TestAPI_ABodyNeedsAJSONContentType(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessOpen)
		ada := w.person("ada")
		body := fmt.Sprintf(`{"category": "PROTOCOL", "title": "Stain", "organization_id": %d}`, ada.Lab)
		id := ada.want(201, "POST", "/materials/", body).Body["id"]
		before := w.dump()
		for _, kind := range []string{"", "text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded",
			"text/json", "json", "application/jsonx",
			"multipart/form-data; boundary=x", "application/octet-stream", "application/json, text/plain"} {
			for _, c := range []struct{ method, path string }{{"POST", "/materials/"}, {"POST", "/v1/organizations"},
				{"PATCH", fmt.Sprintf("/materials/%v", id)}} {
				a := ada.send(c.method, c.path, kind, strings.NewReader(body))
				if a.Status != 415 || a.Body["error_code"] != "UNSUPPORTED_MEDIA" {
					t.Errorf("%s %s as %q: %d %s", c.method, c.path, kind, a.Status, a.Raw)
				}
			}
		}
		if !slices.Equal(before, w.dump()) {
			t.Error("a body that is not JSON changed something")
		}
		for _, kind := range []string{"application/json", "Application/JSON; charset=utf-8"} {
			ada.send("POST", "/materials/", kind, strings.NewReader(body)).is(t, 201)
		}
		ada.send("POST", "/logout", "", http.NoBody).is(t, 204) // without a body there is no type to name
	})
}

// raw sends bytes over a connection of its own and returns the first line of the answer and its body's content type.
func (w *world) raw(request string) (status, contentType string) {
	w.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(request)); err != nil {
		w.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	return response.Status[:3], response.Header.Get("Content-Type")
}

func TestAPI_AHostThatIsNotOursIsMisdirected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite), exchange.AccessOpen)
	for request, want := range map[string]string{
		"GET /materials HTTP/1.1\r\nHost: aliquot.example.org\r\n\r\n":                                   "200",
		"GET /materials HTTP/1.1\r\nHost: localhost:1\r\n\r\n":                                           "200",
		"GET /v1/materials HTTP/1.1\r\nHost: evil.example\r\n\r\n":                                       "421",
		"GET /materials HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: aliquot.example.org\r\n\r\n": "421",
		"GET /materials HTTP/1.1\r\nHost: evil.example\r\nForwarded: host=aliquot.example.org\r\n\r\n":   "421",
		"GET /materials HTTP/1.1\r\nHost: aliquot.example.org\r\nX-Forwarded-Host: evil.example\r\n\r\n": "200",
		// an absolute target wins over Host
		"GET http://evil.example/materials HTTP/1.1\r\nHost: aliquot.example.org\r\n\r\n":    "421",
		"GET http://aliquot.example.org/materials HTTP/1.1\r\nHost: evil.example\r\n\r\n":    "200",
		"GET /materials HTTP/1.0\r\n\r\n":                                                    "421",
		"GET /materials HTTP/1.0\r\nHost: aliquot.example.org\r\n\r\n":                       "200",
		"GET /materials HTTP/1.1\r\n\r\n":                                                    "400",
		"GET /materials HTTP/1.1\r\nHost: aliquot.example.org\r\nHost: evil.example\r\n\r\n": "400",
		"OPTIONS /materials HTTP/1.1\r\nHost: evil.example\r\n\r\n":                          "421",
		"POST /materials HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: " +
			"2\r\n\r\n{}": "421",
		"GET /nothing HTTP/1.1\r\nHost: evil.example\r\n\r\n": "421",
	} {
		status, kind := w.raw(request)
		if status != want || status != "400" && kind != "application/json" {
			t.Errorf("%q: got %s, %s, want %s", request, status, kind, want)
		}
	}
}

func TestAPI_ErrorCodesOfOtherSitesAreInTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite), exchange.AccessOpen)
	raw := string(w.anonymous().want(200, "GET", "/openapi.json", nil).Raw)
	for _, code := range []string{"CROSS_SITE", "MISDIRECTED"} {
		if !slices.Contains(strings.Split(raw, `"`), code) {
			t.Errorf("the document does not name %s", code)
		}
	}
}

func TestAPI_AnswersToOnePersonAreNotStored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		ada := w.person("ada")
		file := ada.upload("a.pdf", pdf, nil).Body["download_url"].(string)
		user := fmt.Sprintf("/users/%s", ada.ID)
		tag := ada.want(200, "GET", user, nil).Header.Get("ETag")
		for _, c := range []struct {
			by           *testPerson
			method, path string
			headers      map[string]string
			status       int
		}{
			{ada, "GET", user, nil, 200}, {ada, "GET", user, map[string]string{"If-None-Match": tag}, 304},
			{ada, "GET", "/materials", nil, 200},
			{ada, "GET", "/grants/999", nil, 404}, {ada, "GET", file, nil, 200},
			{ada, "GET", file, map[string]string{"Range": "bytes=0-3"}, 206},
			{ada, "GET", fmt.Sprintf("/organizations/%d/materials/export", ada.Lab), nil, 200},
			{&testPerson{w: w, Token: "alq_guess"}, "GET", "/materials", nil, 401},
		} {
			a := c.by.callWith(c.headers, c.method, c.path, nil)
			if got := a.Header.Get("Cache-Control"); a.Status != c.status || !strings.Contains(got, "no-store") {
				t.Errorf("%s %s: %d, Cache-Control %q", c.method, c.path, a.Status, got)
			}
		}
		a := ada.callWith(map[string]string{"Idempotency-Key": "k"}, "POST", "/organizations", obj{})
		again := ada.callWith(map[string]string{"Idempotency-Key": "k"}, "POST", "/organizations", obj{})
		if a.Header.Get("Cache-Control") != "no-store" || again.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("kept answers: %v, %v", a.Header, again.Header)
		}
		if got := w.anonymous().want(200, "GET", "/materials", nil).Header.Get("Cache-Control"); strings.Contains(got,
			"no-store") {
			t.Errorf("what everybody sees is not stored: %q", got)
		}
	})
}
