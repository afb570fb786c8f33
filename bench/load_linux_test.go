package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/store/storetest"
)

// The bars of BenchmarkLoad, for two processors that also run the database and the clients.
const (
	loadLoss     = 0.97                   // of the calls a second: what two runs of one process differ by
	loadSlower   = 2                      // p99 of two processes against that of one
	loadP99      = 50 * time.Millisecond  // at 70 % of the peak
	loadShedP99  = 500 * time.Millisecond // of what is accepted at ten times the peak
	loadRecovery = 5 * time.Second
	loadMemory   = 512 * mib
	loadBeside   = 2 // p95 beside slow clients against that without
)

// BenchmarkLoad measures the built program on a durable PostgreSQL under a mixed load, four reads and a write of five
// calls: its peak in one and in two processes, steady work below the peak, ten times the peak, and slow clients.
// LOAD_SECONDS is how long the steady work takes; the rest takes a tenth of that for each part.
func BenchmarkLoad(b *testing.B) {
	steady := 5 * time.Minute
	if text := os.Getenv("LOAD_SECONDS"); text != "" {
		seconds, err := time.ParseDuration(text + "s")
		if err != nil || seconds < 10*time.Second {
			b.Fatalf("LOAD_SECONDS: %q is no number from 10 on", text)
		}
		steady = seconds
	}
	if _, ok := storetest.Postgres(); !ok {
		b.Fatal("there is no PostgreSQL: run make bench-load")
	}
	for range b.N { // once: it takes longer than -benchtime
		load(b, steady)
	}
}

func load(b *testing.B, steady time.Duration) {
	t := newTown(b, storetest.PostgreSQL, 10_000, 1000, "--rate-limit", "off", "--role", "web")
	defer t.p.stop()
	part := steady / 10
	l := &loader{town: t, at: []string{t.p.url}, client: &http.Client{Timeout: 30 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 2000, DisableCompression: true}}}
	l.prepare()
	second := t.run()
	both := []string{t.p.url, second.url}
	l.at = both
	closed(loadClients, part/2, l.call) // what is prepared and cached
	one, two := &answers{}, &answers{}
	for range loadTurns { // so that other work on the machine affects both
		l.at = both[:1]
		one.join(closed(loadClients, part/2, l.call))
		l.at = both
		two.join(closed(loadClients, part/2, l.call))
	}
	second.stop()
	l.at = both[:1]
	peak := one.rate()
	b.Logf("one process: %s", one)
	b.Logf("two processes: %s", two)
	if two.rate() < loadLoss*peak || two.percentile(99) > loadSlower*one.percentile(99) {
		b.Errorf("two processes: %.0f calls a second, not %.0f; p99 %v, not under %d times %v", two.rate(), peak,
			two.percentile(99), loadSlower, one.percentile(99))
	}

	before := t.p.memory("VmRSS")
	calm := l.offer(0.7*peak, steady)
	after := t.p.memory("VmRSS")
	b.Logf("at 70 %% of the peak: %s; %d MiB before, %d after", calm, before/mib, after/mib)
	if calm.percentile(99) > loadP99 || calm.shed+calm.failed > 0 {
		b.Errorf("at 70 %% of the peak: %s", calm)
	}

	t.p.resetPeak()
	storm := l.offer(10*peak, part)
	ended := time.Now()
	for {
		if took, status, _ := l.call(rand.Uint32()); status < 300 && took < loadP99 {
			break
		}
	}
	recovered, most := time.Since(ended), t.p.memory("VmHWM")
	b.Logf("at ten times the peak: %s; recovered after %v, %d MiB at most", storm, recovered, most/mib)
	if storm.percentile(99) > loadShedP99 || storm.failed > 0 || recovered > loadRecovery || most > loadMemory {
		b.Errorf("at ten times the peak: %s; recovered after %v, %d MiB at most", storm, recovered, most/mib)
	}

	alone := l.offer(0.2*peak, part)
	done := l.slow(b)
	beside := l.offer(0.2*peak, part)
	done()
	b.Logf("without slow clients: %s", alone)
	b.Logf("beside 2,000: %s", beside)
	if beside.percentile(95) > loadBeside*alone.percentile(95) || beside.shed+beside.failed > 0 {
		b.Errorf("beside slow clients: %s; without: %s", beside, alone)
	}
	for name, value := range map[string]float64{"peak-calls/s": peak, "two/one": two.rate() / peak,
		"calm-p99-ms": ms(calm.percentile(99)), "storm-p99-ms": ms(storm.percentile(99)),
		"storm-calls/s": storm.rate(), "storm-MiB": float64(most) / mib, "recovery-ms": ms(recovered),
		"beside/alone-p95": float64(beside.percentile(95)) / float64(alone.percentile(95))} {
		b.ReportMetric(value, name)
	}
	b.ReportMetric(0, "ns/op")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// loader calls one process after the other.
type loader struct {
	*town
	at     []string
	client *http.Client
	public []int64    // materials that everybody sees
	people []resident // each with another material and request, so that writes seldom wait for each other
}

// prepare finds materials to read, and makes materials and requests to change.
func (l *loader) prepare() {
	raw, err := l.town.call(l.b.Context(), http.DefaultClient, "GET", "/v1/materials/?limit=200", "", "", http.NoBody)
	var page []struct{ ID int64 }
	if err == nil {
		err = json.Unmarshal(raw, &page)
	}
	if err != nil || len(page) == 0 {
		l.b.Fatalf("%d materials: %v", len(page), err)
	}
	for _, m := range page {
		l.public = append(l.public, m.ID)
	}
	for range 25 {
		for i := range l.others {
			l.settle(i)
		}
		l.people = append(l.people, l.others...)
	}
}

// answers is how a load was answered.
type answers struct {
	mu     sync.Mutex
	length time.Duration
	took   []time.Duration // of the calls that were answered as they should be
	shed   int             // 503
	failed int             // anything else
	cause  error           // of one of those
}

func (t *answers) rate() float64 { return float64(len(t.took)) / t.length.Seconds() }

func (t *answers) percentile(n int) time.Duration {
	if len(t.took) == 0 {
		return time.Hour // nothing was answered
	}
	return percentile(t.took, n)
}

// String says it in a line.
func (t *answers) String() string {
	return fmt.Sprintf("%.0f calls a second, p50 %v, p99 %v; %d shed, %d failed (%v)", t.rate(), t.percentile(50),
		t.percentile(99), t.shed, t.failed, t.cause)
}

func (t *answers) add(took time.Duration, status int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case status == http.StatusServiceUnavailable:
		t.shed++
	case err != nil || status > 299:
		t.failed++
		t.cause = errors.Join(err, fmt.Errorf("status %d", status))
	default:
		t.took = append(t.took, took)
	}
}

// join adds the answers of another length of time.
func (t *answers) join(more *answers) {
	t.length += more.length
	t.took = append(t.took, more.took...)
	t.shed += more.shed
	t.failed += more.failed
	t.cause = errors.Join(t.cause, more.cause)
}

// loadClients is how many clients find the peak, and loadTurns how often one process and two are measured by turns.
const (
	loadClients = 32
	loadTurns   = 4
)

// closed has so many clients call, each with the next number as soon as its call before was answered.
func closed(clients int, length time.Duration, call func(n uint32) (time.Duration, int, error)) *answers {
	t := &answers{length: length}
	end := time.Now().Add(length)
	var calling sync.WaitGroup
	var next atomic.Uint32
	next.Store(rand.Uint32())
	for range clients {
		calling.Go(func() {
			for time.Now().Before(end) {
				t.add(call(next.Add(1)))
			}
		})
	}
	calling.Wait()
	return t
}

// mostOpen bounds the calls that are not answered yet; those that would exceed it fail.
const mostOpen = 4000

// offer makes so many calls a second, whether or not those before were answered. What a call took counts from when it
// was due.
func (l *loader) offer(rate float64, length time.Duration) *answers {
	t := &answers{length: length}
	var calling sync.WaitGroup
	var open atomic.Int64
	began, n := time.Now(), rand.Uint32()
	for i := 0; ; i++ {
		due := began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if due.Sub(began) > length {
			break
		}
		time.Sleep(time.Until(due))
		if open.Load() >= mostOpen {
			continue // this machine cannot offer more
		}
		open.Add(1)
		calling.Go(func() {
			defer open.Add(-1)
			_, status, err := l.call(n + uint32(i))
			t.add(time.Since(due), status, err)
		})
	}
	calling.Wait()
	return t
}

// call makes call n of the mixed load.
func (l *loader) call(n uint32) (took time.Duration, status int, err error) {
	one, public := l.people[n/10%uint32(len(l.people))], l.public[n/10%uint32(len(l.public))]
	method, path, body := "GET", fmt.Sprintf("/v1/materials/%d", public), ""
	switch n % 10 {
	case 1:
		path = "/v1/material-requests/?limit=20"
	case 2:
		method, path = "PATCH", fmt.Sprintf("/v1/materials/%d", one.material)
		body = fmt.Sprintf(`{"additional_info": "checked %d"}`, n)
	case 3:
		path = fmt.Sprintf("/v1/material-requests/%d", one.request)
	case 4:
		path = "/v1/search/materials?limit=20&search=" + []string{"colon", "plasmid+gfp", "mouse+strain"}[n/10%3]
	case 5, 9:
		path = fmt.Sprintf("/catalog/%d", public)
	case 6:
		method, path = "POST", fmt.Sprintf("/v1/material-requests/%d/messages", one.request)
		body = `{"text": "We ship on Monday."}`
	case 7:
		path = "/v1/materials/?limit=20"
	}
	r, err := http.NewRequest(method, l.at[int(n)%len(l.at)]+path, strings.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if strings.HasPrefix(path, "/v1/") {
		r.Header.Set("Authorization", "Token "+one.token)
	}
	began := time.Now()
	answer, err := l.client.Do(r)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body)
	return time.Since(began), answer.StatusCode, err
}

// slow has 1,000 clients send headers and 1,000 send files, a byte every second, until done is called.
func (l *loader) slow(b *testing.B) (done func()) {
	ctx, cancel := context.WithCancel(b.Context())
	var sending sync.WaitGroup
	head := "POST /v1/attachments/ HTTP/1.1\r\nHost: " + strings.TrimPrefix(l.at[0], "http://") +
		"\r\nAuthorization: Token " + l.others[0].token +
		"\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n"
	for i := range 2000 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(l.at[0], "http://"))
		if err != nil {
			b.Fatal(err)
		}
		sending.Go(func() {
			defer func() { _ = conn.Close() }()
			first := head + "X-Slow: "
			if i%2 == 0 {
				first = head + "\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"slow.csv\"\r\n\r\n"
			}
			for _, err := io.WriteString(conn, first); err == nil && ctx.Err() == nil; _, err = io.WriteString(conn, "x") {
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		})
	}
	return func() {
		cancel()
		sending.Wait()
	}
}
