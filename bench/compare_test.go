// Package bench measures Aliquot against the bare limit: a net/http handler that runs the same
// SQL and sends the same JSON, on the same database, in the same run. docs/benchmarks.md says
// what is measured, how, and its result.
package bench

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	clients = 8                      // that call at once, each over a connection it keeps; of BenchmarkWriters four times as many
	rounds  = 60                     // of each side, in turn
	length  = 100 * time.Millisecond // of a round
)

// The two sides that are compared.
const (
	ours = iota
	bare
)

// call makes the n-th request of a client to a side.
type call func(side, client, n int) *http.Request

// compare calls both sides in turn, in rounds so short that other load on the machine affects both. It reports the
// throughput of each, their ratio and our latency, and fails if the ratio is below bar.
func compare(b *testing.B, bar float64, next call) { compareWith(b, clients, bar, next) }

// compareWith is compare with another number of clients.
func compareWith(b *testing.B, clients int, bar float64, next call) {
	tallies := [2]tally{{calls: make([]int, clients)}, {calls: make([]int, clients)}}
	for range b.N { // once: it takes longer than -benchtime
		for range rounds {
			for side := range tallies {
				tallies[side].round(b, func(client, n int) *http.Request { return next(side, client, n) })
			}
		}
	}
	our, limit := tallies[ours].rate(), tallies[bare].rate()
	b.ReportMetric(our, "ours/s")
	b.ReportMetric(limit, "bare/s")
	b.ReportMetric(our/limit, "ratio")
	slices.Sort(tallies[ours].took)
	b.ReportMetric(tallies[ours].percentile(50), "p50-ms")
	b.ReportMetric(tallies[ours].percentile(99), "p99-ms")
	b.ReportMetric(0, "ns/op") // of all rounds together, which says nothing
	if our/limit < bar {
		b.Errorf("%.2f of the bare limit, not %.2f: %.0f of %.0f calls a second, p50 %.1f ms, p99 %.1f ms", our/limit, bar,
			our, limit, tallies[ours].percentile(50), tallies[ours].percentile(99))
	}
}

// tally is what one side did.
type tally struct {
	calls []int // by each client
	took  []time.Duration
	spent time.Duration // in rounds
}

// round lets every client call for the length of a round.
func (t *tally) round(b *testing.B, next func(client, n int) *http.Request) {
	caller := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: len(t.calls), DisableCompression: true}}
	defer caller.CloseIdleConnections()
	took := make([][]time.Duration, len(t.calls))
	var all sync.WaitGroup
	start := time.Now()
	for client := range t.calls {
		all.Go(func() {
			for time.Since(start) < length && !b.Failed() {
				began := time.Now()
				if _, err := send(caller, next(client, t.calls[client]), io.Discard); err != nil {
					b.Error(err)
				}
				took[client] = append(took[client], time.Since(began))
				t.calls[client]++
			}
		})
	}
	all.Wait()
	t.spent += time.Since(start)
	t.took = append(t.took, slices.Concat(took...)...)
}

// rate is in calls per second.
func (t *tally) rate() float64 { return float64(len(t.took)) / t.spent.Seconds() }

// percentile is in milliseconds; took is sorted.
func (t *tally) percentile(p int) float64 {
	return float64(t.took[len(t.took)*p/100].Microseconds()) / 1000
}

// send sends a request and writes the body of the answer to w; the answer must be a success or 304.
func send(c *http.Client, r *http.Request, w io.Writer) (int64, error) {
	answer, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode > 299 && answer.StatusCode != http.StatusNotModified {
		text, _ := io.ReadAll(answer.Body)
		return 0, fmt.Errorf("%s %s: %s: %s", r.Method, r.URL.Path, answer.Status, text)
	}
	return io.Copy(w, answer.Body)
}
