package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/limit"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// limited is a world whose buckets hardly fill up again while a test runs.
func limited(t *testing.T, db *store.DB) *world {
	t.Helper()
	w := newWorld(t, db, exchange.AccessOpen)
	slow := limit.Rule{Name: "token", Rate: 0.01, Burst: 5, Callers: 100}
	address, login := slow, slow
	address.Name, login.Name, login.Burst = "address", "login", 2
	var err error
	if w.api.Limits, err = limit.NewGates(slow, address, login); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestALimitAnswersWithItsNumber(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := limited(t, db)
		ada := w.person("ada")
		path := fmt.Sprintf("/users/%s", ada.ID)
		for i, want := range []string{`"address";r=4;t=0`, `"token";r=3;t=0`, `"token";r=2;t=0`, `"token";r=1;t=0`, `"token";r=0;t=0`} {
			if got := ada.want(200, "GET", path, nil).Header.Get("RateLimit"); got != want {
				t.Errorf("call %d: RateLimit is %s, want %s", i, got, want)
			}
		}
		a := ada.refused(429, "RATE_LIMITED", "GET", path, nil)
		if a.Body["limit"] != 5.0 || a.Body["per_second"] != 0.01 || a.Header.Get("RateLimit-Policy") != `"token";q=5;w=500` || a.Header.Get("Retry-After") == "" {
			t.Errorf("over the limit: %s, %v", a.Raw, a.Header)
		}
		if got := w.person("bob").call("GET", path, nil).Status; got != http.StatusOK {
			t.Errorf("another person: got %d", got)
		}
	})
}

func TestTokensThatAreMadeUpCountAsTheirAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := limited(t, db)
		for i := range 5 {
			(&person{w: w, Token: fmt.Sprintf("alq_guess%d", i)}).refused(401, "NOT_AUTHENTICATED", "GET", "/materials/", nil)
		}
		(&person{w: w, Token: "alq_guess"}).refused(429, "RATE_LIMITED", "GET", "/materials/", nil)
		w.anonymous().refused(429, "RATE_LIMITED", "GET", "/materials/", nil)
	})
}

func TestLoginHasALimitOfItsOwn(t *testing.T) {
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
