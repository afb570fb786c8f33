package bench

import (
	"fmt"
	"net/http"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/limit"
)

// tenth is the ratio below which something adds more than 10 % to each call.
const tenth = 1 / 1.1

// BenchmarkLimits compares a server with limits, which nobody reaches, to the same one without: on
// calls that count as their address, and on calls that count as their user.
func BenchmarkLimits(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		var rules [3]limit.Rule
		for i, rule := range []limit.Rule{limit.User, limit.Address, limit.Login} {
			rule.Rate, rule.Burst = 1e6, 1e9
			rules[i] = rule
		}
		apiHandler := api.New(w.app, w.log)
		var err error
		if apiHandler.Limits, err = limit.NewGates(rules[0], rules[1], rules[2]); err != nil {
			b.Fatal(err)
		}
		w.url = [2]string{serve(b, apiHandler, w.log), w.url[ours]}
		for name, next := range map[string]call{
			"address": func(side, client, n int) *http.Request {
				return w.request(side, "GET", w.material(client*131+n), "", "")
			},
			"token": func(side, client, n int) *http.Request {
				return w.request(side, "GET", w.requestPath(client*31+n), w.member, "")
			},
		} {
			b.Run(name, func(b *testing.B) {
				for side, limited := range []bool{true, false} {
					if answer, err := http.DefaultClient.Do(next(side, 0, 0)); err != nil ||
						answer.Body.Close() != nil || (answer.Header.Get("RateLimit") != "") != limited {
						b.Fatalf("side %d: %v, %v", side, answer, err)
					}
				}
				compare(b, tenth, next)
			})
		}
	})
}

// BenchmarkKey compares a POST with an Idempotency-Key, a new one each time, to the same without.
func BenchmarkKey(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		w.url[bare] = w.url[ours]
		compare(b, tenth, func(side, client, n int) *http.Request {
			r := w.request(side, "POST", w.requestPath(side*clients+client)+"/messages", w.member,
				`{"text": "We ship on Monday."}`)
			if side == ours {
				r.Header.Set("Idempotency-Key", fmt.Sprintf("%d-%d", client, n))
			}
			return r
		})
	})
}
