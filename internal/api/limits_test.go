package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/exchange"
	"aliquot/internal/limit"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestALimitAnswersWithItsNumber(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessOpen)
		limits, err := api.NewLimits()
		if err != nil {
			t.Fatal(err)
		}
		w.api.Limits = limits
		ada := w.person("ada")
		path := fmt.Sprintf("/users/%s", ada.ID)
		// The first call with a token counts as its address, which it proves by.
		for i := range limit.Token.Burst {
			if a := ada.want(200, "GET", path, nil); i > 0 && a.Header.Get("RateLimit-Policy") != `"token";q=100;w=5` {
				t.Fatalf("call %d: RateLimit-Policy is %q", i, a.Header.Get("RateLimit-Policy"))
			}
		}
		refused := answer{}
		for range limit.Token.Burst { // the bucket fills while we call
			if refused = ada.call("GET", path, nil); refused.Status != http.StatusOK {
				break
			}
		}
		if refused.Status != http.StatusTooManyRequests || refused.Body["error_code"] != "RATE_LIMITED" ||
			refused.Body["limit"] != float64(limit.Token.Burst) || refused.Header.Get("Retry-After") != "1" {
			t.Errorf("over the limit: %d %s, Retry-After %q", refused.Status, refused.Raw, refused.Header.Get("Retry-After"))
		}

		// Tokens that are made up count as their address, so nobody tries them without a limit.
		last := 0
		for i := range 2 * limit.Address.Burst {
			guess := &person{w: w, Token: fmt.Sprintf("alq_guess%d", i)}
			if last = guess.call("GET", path, nil).Status; last == http.StatusTooManyRequests {
				break
			}
		}
		if last != http.StatusTooManyRequests {
			t.Errorf("guessing tokens: the last answer is %d", last)
		}
		if got := w.anonymous().call("GET", "/materials/", nil).Status; got != http.StatusTooManyRequests {
			t.Errorf("the address that guesses: got %d", got)
		}
	})
}

func TestLoginHasALimitOfItsOwn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessOpen)
		limits, err := api.NewLimits()
		if err != nil {
			t.Fatal(err)
		}
		w.api.Limits = limits
		last := answer{}
		for range 2 * limit.Login.Burst {
			if last = w.anonymous().call("POST", "/login", obj{}); last.Status != http.StatusBadRequest {
				break
			}
		}
		if last.Status != http.StatusTooManyRequests || last.Body["limit"] != float64(limit.Login.Burst) {
			t.Errorf("got %d %s", last.Status, last.Raw)
		}
	})
}
