package web_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"aliquot/internal/limit"
	"aliquot/internal/server"
	"aliquot/internal/store/storetest"
	"aliquot/internal/web"
)

// limited is a world whose buckets hardly fill up again while a test runs.
func limited(t *testing.T) *world {
	t.Helper()
	slow := limit.Rule{Name: "user", Rate: 0.01, Burst: 5, Callers: 100}
	address, login := slow, slow
	address.Name, login.Name, login.Burst = "address", "login", 2
	gates, err := limit.NewGates(slow, address, login)
	if err != nil {
		t.Fatal(err)
	}
	return newWorld(t, openDemo(t, storetest.SQLite), func(cfg *web.Config) { cfg.Limits = gates })
}

func TestLimits_PageSaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	w := limited(t)
	nobody := w.as("")
	for range 5 {
		nobody.get("/").want(http.StatusOK)
	}
	a := nobody.get("/").want(http.StatusTooManyRequests)
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || seconds < 1 || !strings.Contains(a.text("h1"), "Too many attempts") ||
		!strings.Contains(a.text(".lede"), strconv.Itoa(seconds)) ||
		a.header.Get("RateLimit-Policy") != `"address";q=5;w=500` {
		t.Errorf("%v: %s", a.header, a.text("main"))
	}
	for _, free := range []string{a.doc.Find(`link[rel="stylesheet"]`).AttrOr("href", ""), "/favicon.ico"} {
		for range 10 {
			if got := nobody.get(free); got.status >= 400 {
				t.Fatalf("%s is limited too: %d", free, got.status)
			}
		}
	}
}

func TestLimits_ValidSessionHasItsOwn(t *testing.T) {
	t.Parallel()
	w := limited(t)
	josiah, nadia := w.as("josiah"), w.as("nadia")
	if policy := josiah.get("/").want(http.StatusOK).header.Get("RateLimit"); policy != `"address";r=4;t=0` {
		t.Errorf("the first call: %s", policy)
	}
	for range 4 {
		if policy := josiah.get("/").want(http.StatusOK).header.Get("RateLimit"); !strings.HasPrefix(policy, `"user"`) {
			t.Errorf("a later call: %s", policy)
		}
	}
	josiah.get("/").want(http.StatusTooManyRequests)
	josiah.post("/signout").want(http.StatusTooManyRequests)
	nadia.get("/").want(http.StatusOK)
	madeUp := w.as("")
	for i := range 4 {
		madeUp.cookies["__Host-session"] = "alq_guess" + strconv.Itoa(i)
		if i < 3 {
			madeUp.get("/").want(http.StatusOK)
		} else {
			madeUp.get("/").want(http.StatusTooManyRequests)
		}
	}
}

func TestLimits_SignInHasItsOwn(t *testing.T) {
	t.Parallel()
	w := limited(t)
	for range 2 {
		w.as("").get("/signin/callback?code=x&state=y").want(http.StatusUnprocessableEntity)
	}
	if a := w.as("").get("/signin/callback?code=x&state=y").want(http.StatusTooManyRequests); !strings.Contains(a.header.Get("RateLimit-Policy"), `"login"`) {
		t.Errorf("%v", a.header)
	}
	w.as("").get("/").want(http.StatusOK)
}

// programs is an API that has one address.
type programs struct{}

func (programs) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, `{"error_code": "NOT_FOUND"}`, http.StatusNotFound)
}
func (programs) Knows(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/grants") }

func TestPages_UnknownAddressIsAPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openDemo(t, storetest.SQLite), func(cfg *web.Config) { cfg.Rest = programs{} })
	for _, c := range []struct {
		method, path, accept string
		page                 bool
	}{
		{"GET", "/nothing", "text/html,application/xhtml+xml,*/*;q=0.8", true},
		{"GET", "/material", "text/html", true},
		{"GET", "/drafts/x/y/z", "*/*", true}, // ours anyway
		{"GET", "/nothing", "*/*", false},
		{"GET", "/nothing", "", false},
		{"GET", "/nothing", "application/json", false},
		{"POST", "/nothing", "text/html", false},
		{"GET", "/grants/9", "text/html", false}, // of the API
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://example.org"+c.path, http.NoBody)
		r.Header.Set("Accept", c.accept)
		a := w.as("").send(r).want(http.StatusNotFound)
		if got := a.has("h1"); got != c.page || got && !strings.Contains(a.text("h1"), "no page") {
			t.Errorf("%s %s, %s: page %v, %s", c.method, c.path, c.accept, got, a.body)
		}
	}
}

func TestPages_AreCompressedOnRequest(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for _, path := range []string{"/", "/docs", "/drafts/nothing"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.org"+path, http.NoBody)
		plain := w.as("").send(r)
		r.Header.Set("Accept-Encoding", "gzip, br")
		zipped := w.as("").send(r)
		if zipped.header.Get("Content-Encoding") != "gzip" || len(zipped.body) >= len(plain.body) ||
			zipped.status != plain.status ||
			!strings.Contains(strings.Join(zipped.header.Values("Vary"), ","), "Accept-Encoding") ||
			plain.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d bytes of %d, %v", path, len(zipped.body), len(plain.body), zipped.header)
		}
		if tag := zipped.header.Get("ETag"); zipped.status == http.StatusOK && path == "/docs" {
			r.Header.Set("If-None-Match", tag)
			if a := w.as("").send(r); a.status != http.StatusNotModified || a.body != "" {
				t.Errorf("%s again: %d", path, a.status)
			}
		}
	}
}

func TestPages_TheRecordNamesTheActor(t *testing.T) {
	t.Parallel()
	w := alone(t)
	var log bytes.Buffer
	w.pages = server.Record(w.pages, slog.New(slog.NewTextHandler(&log, nil)))
	josiah := w.as("josiah")
	for _, visit := range []struct {
		who   *visitor
		actor string
	}{{josiah, "actor=" + josiah.actor.ID.String()}, {w.as(""), ""}} {
		log.Reset()
		visit.who.get("/catalog").want(http.StatusOK)
		if line := log.String(); !strings.Contains(line, "client=192.0.2.0/24") ||
			strings.Contains(line, "actor=") != (visit.actor != "") || !strings.Contains(line, visit.actor) {
			t.Errorf("%s: %s", visit.actor, line)
		}
	}
}
