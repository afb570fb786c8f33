package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"aliquot/internal/web"
)

func TestRoutes_OfTheAPIIgnoreTheAcceptHeaderOfBrowsers(t *testing.T) {
	t.Parallel()
	handler := web.ForPeople(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, c := range []struct{ method, path, accept, want string }{
		{"GET", "/materials/7", browser, ""}, {"GET", "/materials/7/", browser, ""},
		{"HEAD", "/organizations/3", browser, ""},
		{"GET", "/materials/7", "", ""}, {"GET", "/materials/7", "*/*", ""},
		{"GET", "/materials/7", "application/json, text/html", ""},
		{"DELETE", "/materials/7", browser, ""}, {"GET", "/v1/materials/7", browser, ""},
		{"GET", "/materials", browser, ""}, {"GET", "/materials/7/citation", browser, ""},
		{"GET", "/materials/07", browser, ""},
		{"GET", "/search?search=a+b&category=PDX", browser, "/catalog?category=PDX&q=a+b"},
		{"GET", "/search", "", "/catalog"},
		{"GET", "/search/materials?search=a", browser, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://example.org"+c.path, http.NoBody)
		if c.accept != "" {
			r.Header.Set("Accept", c.accept)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if got := w.Header().Get("Location"); got != c.want || c.want == "" && w.Code != http.StatusTeapot {
			t.Errorf("%s %s as %q: %d %s, want %s", c.method, c.path, c.accept, w.Code, got, c.want)
		}
	}
}
