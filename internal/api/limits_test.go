package api_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/limit"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// limited is a world whose buckets hardly fill up again while a test runs.
func limited(t *testing.T, db *store.DB) *world {
	t.Helper()
	w := newWorld(t, db, exchange.AccessOpen)
	slow := limit.Rule{Name: "user", Rate: 0.01, Burst: 5, Callers: 100}
	address, login := slow, slow
	address.Name, login.Name, login.Burst = "address", "login", 2
	var err error
	if w.api.Limits, err = limit.NewGates(slow, address, login); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestLimits_AnswerNamesTheLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := limited(t, db)
		ada := w.person("ada")
		path := fmt.Sprintf("/users/%s", ada.ID)
		for i, want := range []string{`"address";r=4;t=0`, `"user";r=3;t=0`, `"user";r=2;t=0`, `"user";r=1;t=0`,
			`"user";r=0;t=0`} {
			if got := ada.want(200, "GET", path, nil).Header.Get("RateLimit"); got != want {
				t.Errorf("call %d: RateLimit is %s, want %s", i, got, want)
			}
		}
		a := ada.refused(429, "RATE_LIMITED", "GET", path, nil)
		if a.Body["limit"] != 5.0 || a.Body["per_second"] != 0.01 ||
			a.Header.Get("RateLimit-Policy") != `"user";q=5;w=500` || a.Header.Get("Retry-After") == "" {
			t.Errorf("over the limit: %s, %v", a.Raw, a.Header)
		}
		if got := w.person("bob").call("GET", path, nil).Status; got != http.StatusOK {
			t.Errorf("another person: got %d", got)
		}
	})
}

func TestLimits_InvalidTokensCountForTheirAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := limited(t, db)
		for i := range 5 {
			(&testPerson{w: w, Token: fmt.Sprintf("alq_guess%d", i)}).refused(401, "NOT_AUTHENTICATED", "GET",
				"/materials/", nil)
		}
		(&testPerson{w: w, Token: "alq_guess"}).refused(429, "RATE_LIMITED", "GET", "/materials/", nil)
		w.anonymous().refused(429, "RATE_LIMITED", "GET", "/materials/", nil)
	})
}

func TestLimits_SignInHasItsOwn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := limited(t, db)
		for range 2 {
			w.anonymous().refused(400, "INVALID_INPUT", "POST", "/login", obj{})
		}
		if a := w.anonymous().refused(429, "RATE_LIMITED", "POST", "/login", obj{}); a.Body["limit"] != 2.0 {
			t.Errorf("got %s", a.Raw)
		}
		w.anonymous().want(200, "GET", "/materials/", nil)
	})
}

func TestLimits_AreOfTheUserWhateverTheToken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := limited(t, db)
		ada, again := w.person("ada"), w.signIn("ada")
		path := fmt.Sprintf("/users/%s", ada.ID)
		ada.want(200, "GET", path, nil)   // counts for the address and for ada
		again.want(200, "GET", path, nil) // too
		for _, who := range []*testPerson{ada, again, ada} {
			who.want(200, "GET", path, nil)
		}
		for _, who := range []*testPerson{ada, again} {
			if a := who.refused(429, "RATE_LIMITED", "GET", path,
				nil); a.Header.Get("RateLimit-Policy") != `"user";q=5;w=500` {
				t.Errorf("got %v", a.Header)
			}
		}
		w.person("bob").want(200, "GET", path, nil)
	})
}

func TestLimits_ATokenThatWasRevokedCountsAsItsAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := limited(t, db)
		ada, stolen := w.person("ada"), w.signIn("ada")
		ada.want(200, "GET", "/grants/", nil)    // 4 are left for the address, 4 for ada
		stolen.want(200, "GET", "/grants/", nil) // 3, 3
		stolen.want(204, "POST", "/logout", nil) // 3, 2
		for range 3 {
			stolen.refused(401, "NOT_AUTHENTICATED", "GET", "/grants/", nil) // the first counts for both
		}
		stolen.refused(429, "RATE_LIMITED", "GET", "/grants/", nil)
		if got := ada.want(200, "GET", "/grants/", nil).Header.Get("RateLimit"); got != `"user";r=0;t=0` {
			t.Errorf("ada has %s", got)
		}
	})
}

func TestAPI_TheRecordNamesTheActor(t *testing.T) {
	t.Parallel()
	var log lines
	w := newWorldWith(t, storetest.Open(t, storetest.SQLite),
		func(c *app.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	ada := w.person("ada")
	ada.callWith(map[string]string{"Accept-Encoding": "gzip"}, "GET", "/materials", nil)
	ada.callWith(map[string]string{"Idempotency-Key": "k"}, "POST", "/organizations", obj{"name": "Lab"})
	w.anonymous().want(200, "GET", "/organizations", nil)
	(&testPerson{w: w, Token: "alq_guess"}).want(401, "GET", "/grants", nil)
	for _, c := range []struct{ path, actor string }{
		{"method=GET path=/materials", ada.ID.String()}, {"method=POST path=/organizations", ada.ID.String()},
		{"method=GET path=/organizations", ""}, {"method=GET path=/grants", ""},
	} {
		line := log.with(c.path)
		if !strings.Contains(line, "client=127.0.0.0/24") || strings.Contains(line, "actor=") != (c.actor != "") ||
			!strings.Contains(line, c.actor) {
			t.Errorf("%s: %s", c.path, line)
		}
	}
}

// lines is a log that may be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// with waits for the first line that has a text.
func (l *lines) with(text string) string {
	for {
		l.mu.Lock()
		for line := range strings.Lines(l.text.String()) {
			if strings.Contains(line, text) {
				l.mu.Unlock()
				return line
			}
		}
		l.mu.Unlock()
		runtime.Gosched() // a record is written when its answer is out
	}
}
