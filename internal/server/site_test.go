package server_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"aliquot/internal/server"
)

func TestSite_AnswersForThePublicHostAndLoopbackNamesAlone(t *testing.T) {
	t.Parallel()
	const public = "https://aliquot.example.org"
	for _, c := range []struct {
		public, host string
		want         bool
	}{
		{public, "aliquot.example.org", true}, {public, "ALIQUOT.example.ORG", true},
		{public, "aliquot.example.org:443", true},
		{public, "aliquot.example.org:80", false}, {public, "aliquot.example.org:8443", false},
		{public, "aliquot.example.org.evil.example", false},
		{public, "evil.example", false}, {public, "", false}, {public, ":443", false}, {public, "example.org", false},
		{public, "localhost", true}, {public, "LocalHost:8080", true}, {public, "127.0.0.1", true},
		{public, "127.3.2.1:9", true}, {public, "[::1]", true},
		{public, "[::1]:8080", true}, {public, "localhost.evil.example", false},
		{public, "localhost:evil.example", false}, {public, "127.0.0.1.evil.example", false},
		{public, "10.0.0.7", false}, {public, "0.0.0.0", false}, {public, "[::1", false}, {public, "[::1]evil", false},
		{public, "[::2]", false},
		{"https://aliquot.example.org:8443", "aliquot.example.org:8443", true},
		{"https://aliquot.example.org:8443", "aliquot.example.org", true},
		{"https://aliquot.example.org:8443", "aliquot.example.org:9443", false},
		{"http://127.0.0.1:8080", "127.0.0.1:8080", true}, {"http://127.0.0.1:8080", "evil.example:8080", false},
		{"https://[2001:db8::7]", "[2001:db8::7]:443", true}, {"", "localhost", true}, {"", "", false},
		{"", "evil.example", false},
	} {
		if got := server.NewSite(c.public).Answers(c.host); got != c.want {
			t.Errorf("%q, Host %q: got %v", c.public, c.host, got)
		}
	}
}

func TestSite_WritesOfOtherSitesAreFromElsewhere(t *testing.T) {
	t.Parallel()
	site := server.NewSite("https://aliquot.example.org")
	for _, c := range []struct {
		method, host, origin, fetch string
		want                        bool
	}{
		{"POST", "aliquot.example.org", "", "", false}, // no browser
		{"POST", "aliquot.example.org", "https://aliquot.example.org", "same-origin", false},
		{"POST", "aliquot.example.org", "https://aliquot.example.org", "", false},
		{"POST", "127.0.0.1:8080", "https://aliquot.example.org", "", false}, // a proxy that names us by another Host
		{"POST", "aliquot.example.org", "", "none", false},
		{"POST", "aliquot.example.org", "https://evil.example", "cross-site", true},
		{"POST", "aliquot.example.org", "https://evil.example", "", true},
		{"POST", "aliquot.example.org", "", "cross-site", true},
		{"POST", "aliquot.example.org", "https://other.example.org", "same-site", true},
		{"POST", "aliquot.example.org", "null", "", true},
		{"PUT", "aliquot.example.org", "null", "cross-site", true},
		{"DELETE", "aliquot.example.org", "https://evil.example", "cross-site", true},
		{"GET", "aliquot.example.org", "https://evil.example", "cross-site", false},
		{"OPTIONS", "aliquot.example.org", "https://evil.example", "cross-site", false},
	} {
		r := httptest.NewRequest(c.method, "http://"+c.host+"/", http.NoBody)
		for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.fetch} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if got := site.FromElsewhere(r); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestSite_HTTPSIsStrict(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{"https://aliquot.example.org": "max-age=31536000",
		"http://localhost:8080": "", "": ""} {
		w := httptest.NewRecorder()
		server.NewSite(public).Secure(http.NotFoundHandler()).ServeHTTP(w,
			httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		if got := w.Header().Get("Strict-Transport-Security"); got != want || w.Code != http.StatusNotFound {
			t.Errorf("%s: got %q, %d", public, got, w.Code)
		}
	}
}

func TestOnlyClean_AnswersNotFoundInsteadOfARedirect(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for target, want := range map[string]int{"/": 204, "/a": 204, "/a/": 204, "/a/b": 204, "/%2e.": 404, "//": 404,
		"/a//b": 404, "//evil.example/": 404, "/a/../b": 404, "/./a": 404} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			w := httptest.NewRecorder()
			server.OnlyClean(mux).ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+target, http.NoBody))
			if w.Code != want {
				t.Errorf("%s %s: %d, want %d", method, target, w.Code, want)
			}
		}
	}
}
