package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aliquot/internal/server"
)

// flood sends n requests at once and counts the answers by status.
func flood(t *testing.T, url string, n int) map[int]int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	t.Cleanup(client.CloseIdleConnections)
	statuses := make([]int, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			answer, err := client.Get(url)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			statuses[i] = answer.StatusCode
			if _, err := io.Copy(io.Discard, answer.Body); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	return count
}

func TestLoadLimit_ShedsAFloodAnswersWhatItAdmitsAndRecovers(t *testing.T) {
	t.Parallel()
	limit := server.NewLoadLimit(1)
	var most, now atomic.Int32
	release := make(chan struct{})
	s := httptest.NewServer(limit.Shed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer now.Add(-1)
		for n := now.Add(1); n > most.Load(); {
			most.Store(n)
		}
		if r.URL.Path == "/slow" {
			<-release
		}
		_, _ = io.WriteString(w, "done")
	})))
	t.Cleanup(s.Close)
	flooded := make(chan map[int]int, 1)
	go func() { flooded <- flood(t, s.URL+"/slow", 600) }()
	await(t, func() bool { // those who wait give up after a while
		working, waiting, shed := limit.Figures()
		return working == 16 && waiting == 0 && shed == 600-16
	})
	refused := get(t, s.URL+"/")
	defer refused.Body.Close()
	var body map[string]string
	if err := json.NewDecoder(refused.Body).Decode(&body); err != nil || refused.StatusCode != http.StatusServiceUnavailable ||
		refused.Header.Get("Retry-After") == "" || body["error_code"] != "UNAVAILABLE" || body["error"] == "" {
		t.Errorf("got %d, %v, %v", refused.StatusCode, body, err)
	}
	ready := get(t, s.URL+"/readyz")
	defer ready.Body.Close()
	if ready.StatusCode != http.StatusOK {
		t.Errorf("a check of a load balancer: got %d", ready.StatusCode)
	}
	close(release)
	if got := <-flooded; got[200] != 16 || got[503] != 600-16 {
		t.Errorf("got %v", got)
	}
	if most.Load() > 17 { // and the check
		t.Errorf("%d at once", most.Load())
	}
	if got := flood(t, s.URL+"/", 64); got[200] != 64 {
		t.Errorf("afterwards: got %v", got)
	}
	if working, waiting, _ := limit.Figures(); working != 0 || waiting != 0 {
		t.Errorf("%d and %d are left", working, waiting)
	}
}

func TestLoadLimit_AQueueThatDoesNotEndIsWaitedInBriefly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, release := context.WithCancel(t.Context())
		handler := server.NewLoadLimit(1).Shed(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ctx.Done() }))
		call := func() (waited time.Duration) {
			began := time.Now()
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
			if w.Code == http.StatusServiceUnavailable {
				return time.Since(began)
			}
			return 0
		}
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() { call() })
		}
		synctest.Wait()
		waited := make([]time.Duration, 60)
		for i := range waited {
			all.Go(func() { waited[i] = call() })
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second) // the queue is empty now
		last := call()
		release()
		all.Wait()
		for i, got := range waited {
			want := 250 * time.Millisecond
			if i > 25 {
				want = 50 * time.Millisecond
			}
			if got != want {
				t.Errorf("after %d ms: waited %v, not %v", 10*i, got, want)
			}
		}
		if last != 250*time.Millisecond {
			t.Errorf("in a new queue: waited %v", last)
		}
	})
}

func TestLoadLimit_PeopleGetAPage(t *testing.T) {
	t.Parallel()
	limit := server.NewLoadLimit(0)
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.Header.Set("Accept", "text/html,*/*")
	limit.Shed(http.NotFoundHandler()).ServeHTTP(w, r)
	if w.Code != 503 || !strings.Contains(w.Body.String(), "<h1>Try again in a moment</h1>") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestLoadLimit_WhoWaitsOrIsSlowKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	read := make(chan string, 100)
	limit := server.NewLoadLimit(1)
	s := httptest.NewServer(limit.Shed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/source":
			until := server.Waits(w)
			<-release
			until()
		case "/upload":
			body, _ := io.ReadAll(r.Body)
			read <- string(body)
		}
	})))
	t.Cleanup(s.Close)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { get(t, s.URL+"/source").Body.Close() })
	}
	var senders []net.Conn
	for range 100 {
		var dialer net.Dialer
		c, err := dialer.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
		senders = append(senders, c)
	}
	for range 50 { // and small bodies that never come
		var dialer net.Dialer
		c, err := dialer.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\nabc")
	}
	if got := flood(t, s.URL+"/", 64); got[200] != 64 {
		t.Errorf("others: got %v", got)
	}
	close(release)
	all.Wait()
	for _, c := range senders {
		_, _ = io.WriteString(c, "0\r\n\r\n")
	}
	for range senders {
		if got := <-read; got != "abc" {
			t.Errorf("read %q", got)
		}
	}
}

func TestLoadLimit_APanicWhileSomethingIsAwaitedLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	limit := server.NewLoadLimit(1)
	handler := server.Record(limit.Shed(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		server.Waits(w)
		panic("the cause")
	})), slog.New(slog.DiscardHandler))
	for range 3 {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	}
	if working, waiting, _ := limit.Figures(); working != 0 || waiting != 0 {
		t.Errorf("%d are worked on, %d wait", working, waiting)
	}
}

// sender is an answer that the kernel sends files to.
type sender struct {
	*httptest.ResponseRecorder
	sent bool
}

func (s *sender) ReadFrom(r io.Reader) (int64, error) {
	s.sent = true
	return io.Copy(s.ResponseRecorder, r)
}

func TestServer_FilesAreSentByTheKernel(t *testing.T) {
	t.Parallel()
	w := &sender{ResponseRecorder: httptest.NewRecorder()}
	limit := server.NewLoadLimit(1)
	server.Record(server.Deadline(limit.Shed(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, struct{ io.Reader }{strings.NewReader("a file")})
	})), time.Minute), slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if !w.sent || w.Body.String() != "a file" {
		t.Errorf("sent: %t, %s", w.sent, w.Body)
	}
}

func TestLoadLimit_HandlersGetTheWholeBody(t *testing.T) {
	t.Parallel()
	handler := server.NewLoadLimit(1).Shed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	for _, size := range []int{0, 1, 16 << 10, 16<<10 + 1, 1 << 20} {
		sent := bytes.Repeat([]byte("x"), size)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(sent)))
		if !bytes.Equal(w.Body.Bytes(), sent) {
			t.Errorf("%d bytes: got %d", size, w.Body.Len())
		}
	}
}

// get reads an address; the caller closes the body.
func get(t *testing.T, url string) *http.Response {
	t.Helper()
	answer, err := http.Get(url) //nolint:noctx // a test
	if err != nil {
		t.Error(err)
		return &http.Response{Body: http.NoBody}
	}
	return answer
}

// await polls until a condition holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it took too long")
		}
	}
}
