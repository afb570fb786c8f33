package web_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"aliquot/internal/app"
	"aliquot/internal/web"
)

// pages are those of the document in docs.
func pages(t *testing.T) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	if err := web.Mount(mux, web.Config{App: app.New(app.Config{}), OpenAPI: openAPIDocument}); err != nil {
		t.Fatal(err)
	}
	return mux
}

func openAPIDocument() ([]byte, error) { return os.ReadFile("../../docs/openapi.json") }

func get(t *testing.T, h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestDocsPage_ShowsEveryCallAndObject(t *testing.T) {
	t.Parallel()
	var d struct {
		Paths map[string]map[string]struct {
			OperationID, Summary string
		}
		Webhooks   map[string]any
		Components struct{ Schemas, Headers map[string]any }
	}
	raw, err := openAPIDocument()
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	page := get(t, pages(t), "GET", "/docs").Body.String()
	for name := range d.Webhooks {
		if !strings.Contains(page, ">"+name+"</a>") {
			t.Errorf("%s is not there", name)
		}
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			id := strings.TrimSuffix(op.OperationID, "ByPut")
			if !strings.Contains(page, ` id="`+id+`"`) ||
				!strings.Contains(page, `<span class="verb `+strings.ToUpper(method)) ||
				!strings.Contains(page, " "+path+"</a>") && !strings.Contains(page, ">"+path+"</a>") {
				t.Errorf("%s %s is not there", method, path)
			}
		}
	}
	for name := range d.Components.Schemas {
		if !strings.Contains(page, ` id="schema-`+name+`"`) {
			t.Errorf("%s is not there", name)
		}
	}
	if len(d.Paths) < 40 || len(d.Webhooks) < 20 || len(d.Components.Schemas) < 50 {
		t.Errorf("%d paths, %d objects", len(d.Paths), len(d.Components.Schemas))
	}
}

// TestPages_LinksLeadSomewhere also holds that nothing is of another host, and that no two
// places have one name.
func TestPages_LinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	h := pages(t)
	page := get(t, h, "GET", "/docs").Body.String()
	places := map[string]bool{}
	for _, id := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if places[id[1]] {
			t.Errorf("two places are called %s", id[1])
		}
		places[id[1]] = true
	}
	links := regexp.MustCompile(` (?:href|src|action|aria-labelledby)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	for _, link := range links {
		to := link[1]
		switch {
		case strings.Contains(link[0], "aria-labelledby") && places[to], strings.HasPrefix(to, "#") && places[to[1:]]:
		case strings.HasPrefix(to, "/assets/"):
			if w := get(t, h, "GET", to); w.Code != 200 ||
				!strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %v", to, w.Code, w.Header())
			}
		case to == "/openapi.json":
		default:
			t.Errorf("%s leads nowhere", to)
		}
	}
	if len(links) < 500 {
		t.Errorf("%d links", len(links))
	}
}

func TestPages_AllowNoInlineScript(t *testing.T) {
	t.Parallel()
	w := get(t, pages(t), "GET", "/docs/")
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	for _, never := range []string{"<script", "<style", " style=", "javascript:", " onclick", "<no value>", "ZgotmplZ",
		"//"} {
		if strings.Contains(w.Body.String(), never) {
			t.Errorf("the page has %q", never)
		}
	}
	policy := w.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'self'; img-src 'self';") ||
		strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") {
		t.Errorf("policy %s", policy)
	}
}

func TestPages_AnswerNotModified(t *testing.T) {
	t.Parallel()
	h := pages(t)
	first := get(t, h, "GET", "/docs")
	if w := get(t, h, "GET", "/docs", "If-None-Match", first.Header().Get("ETag")); w.Code != 304 || w.Body.Len() > 0 {
		t.Errorf("%d with %d bytes", w.Code, w.Body.Len())
	}
	if w := get(t, h, "HEAD", "/docs"); w.Code != 200 || w.Body.Len() > 0 ||
		w.Header().Get("Content-Length") != first.Header().Get("Content-Length") {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}

func TestPages_AnswerOnlyGetAndHead(t *testing.T) {
	t.Parallel()
	h := pages(t)
	for path, want := range map[string]int{"/docs": 405, "/docs/": 405, "/assets/": 405, "/docs/x": 404} {
		if w := get(t, h, "POST", path); w.Code != want || want == 405 && w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d %v", path, w.Code, w.Header())
		}
	}
	for _, path := range []string{"/assets/", "/assets/docs.css", "/assets/../web.go"} {
		if w := get(t, h, "GET", path); w.Code == 200 {
			t.Errorf("GET %s: %d", path, w.Code)
		}
	}
}

func TestDocsPage_InvalidDocumentIsAnError(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "[]", `{"paths": 7}`} {
		mux := http.NewServeMux()
		if err := web.Mount(mux,
			web.Config{App: app.New(app.Config{Log: slog.New(slog.DiscardHandler)}),
				OpenAPI: func() ([]byte, error) { return []byte(wrong), nil }}); err != nil {
			t.Fatal(err)
		}
		if w := get(t, mux, "GET", "/docs"); w.Code != http.StatusInternalServerError {
			t.Errorf("%q: %d", wrong, w.Code)
		}
	}
}
