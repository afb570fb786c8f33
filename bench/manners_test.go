package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/limit"
	"aliquot/internal/metrics"
	"aliquot/internal/server"
	"aliquot/internal/tracing"
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

// BenchmarkWatched compares a server with metrics, the limit of load and deadlines to the same one with none of them.
func BenchmarkWatched(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		load := server.NewLoadLimit(runtime.GOMAXPROCS(0))
		plain := httptest.NewServer(server.Record(api.New(w.app, w.log), w.log))
		b.Cleanup(plain.Close)
		w.url = [2]string{serve(b, load.Shed(api.New(w.app, w.log)), w.log, metrics.New(w.db, load, "bench")), plain.URL}
		compare(b, tenth, func(side, client, n int) *http.Request {
			return w.request(side, "GET", w.material(client*131+n), "", "")
		})
	})
}

// BenchmarkTraced compares a server that sends traces to a collector, on the same machine, to one that sends none.
func BenchmarkTraced(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		}))
		b.Cleanup(collector.Close)
		tracer, err := tracing.New(b.Context(), collector.URL, "bench", "bench", w.log)
		if err != nil {
			b.Fatal(err)
		}
		w.db.Observer = tracer
		w.url = [2]string{serve(b, api.New(w.app, w.log), w.log, tracer), w.url[ours]}
		compare(b, 0.5, func(side, client, n int) *http.Request {
			return w.request(side, "GET", w.material(client*131+n), "", "")
		})
		if err := tracer.Close(b.Context()); err != nil {
			b.Error(err)
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
