package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/api"
	"aliquot/internal/api/rest"
	"aliquot/internal/server"
)

// told is one event of a stream.
type told struct{ id, name, data string }

// reader reads a stream as a page does.
type reader struct {
	t      testing.TB
	answer answer // its body is only read where it is a refusal
	cancel context.CancelFunc
	mu     sync.Mutex
	events []told
	beats  int
	last   string // the id of the last event
	ended  chan struct{}
}

// streams serves the API with streams that go on until the test ends; change may set up the server.
func (w *world) streams(change func(*rest.API)) (url string) {
	w.t.Helper()
	apiHandler := api.New(w.app, w.app.Log)
	change(apiHandler)
	s := httptest.NewServer(server.Record(apiHandler, w.app.Log))
	w.t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func asItIs(*rest.API) {}

// follow opens a stream of somebody's notifications; the server is the one at url.
func (p *testPerson) follow(url, user, last string) *reader {
	p.w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p.w.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/users/"+user+"/notifications/stream/", nil)
	if err != nil {
		p.w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Token "+p.Token)
	r.Header.Set("Accept-Encoding", "gzip")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	response, err := crowdClient.Do(r)
	if err != nil {
		p.w.t.Fatal(err)
	}
	p.w.t.Cleanup(func() { _ = response.Body.Close() })
	f := &reader{t: p.w.t, answer: answer{Status: response.StatusCode, Header: response.Header}, cancel: cancel,
		ended: make(chan struct{})}
	if response.StatusCode == http.StatusOK {
		go f.read(response.Body)
	} else if f.answer.Raw, err = io.ReadAll(response.Body); err != nil {
		p.w.t.Fatal(err)
	}
	return f
}

// crowdClient has a connection for each stream.
var crowdClient = &http.Client{Transport: &http.Transport{DisableCompression: true}}

// own opens the stream of a person's own notifications.
func (p *testPerson) own(url, last string) *reader {
	p.w.t.Helper()
	f := p.follow(url, p.ID.String(), last)
	if f.answer.Status != http.StatusOK {
		p.w.t.Fatalf("%d %s", f.answer.Status, f.answer.Raw)
	}
	return f
}

func (f *reader) read(body io.Reader) {
	defer close(f.ended)
	var e told
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		f.mu.Lock()
		switch {
		case name == "id":
			e.id = value
		case name == "event":
			e.name = value
		case name == "data":
			e.data = value
		case lines.Text() == "" && e.name != "":
			f.events, f.last, e = append(f.events, e), e.id, told{}
		case strings.HasPrefix(lines.Text(), ":"):
			f.beats++
		}
		f.mu.Unlock()
	}
}

// heard returns the events so far.
func (f *reader) heard() []told {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events)
}

// beaten is how many heartbeats came so far.
func (f *reader) beaten() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.beats
}

// until waits until a stream sent what is wanted, and returns all that it sent.
func (f *reader) until(what string, enough func([]told) bool) []told {
	f.t.Helper()
	for begin := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		if list := f.heard(); enough(list) {
			return list
		} else if time.Since(begin) > 20*time.Second {
			f.t.Fatalf("waited for %s; heard %v", what, list)
		}
	}
}

// unread waits for a number of unread notifications as the last event.
func (f *reader) unread(n int) []told {
	f.t.Helper()
	want := fmt.Sprintf(`{"unread":%d}`, n)
	return f.until(want, func(list []told) bool {
		return len(list) > 0 && list[len(list)-1].name == "unread" && list[len(list)-1].data == want
	})
}

// ids are those of the notifications that a stream sent.
func (f *reader) ids() []int64 {
	f.t.Helper()
	var list []int64
	for _, e := range f.heard() {
		if e.name != "notification" {
			continue
		}
		var n struct {
			ID int64 `json:"id"`
		}
		if err := json.Unmarshal([]byte(e.data), &n); err != nil {
			f.t.Fatal(err)
		}
		list = append(list, n.ID)
	}
	return list
}

// over waits for the end of a stream and returns how long it took.
func (f *reader) over() time.Duration {
	f.t.Helper()
	begin := time.Now()
	select {
	case <-f.ended:
	case <-time.After(2 * time.Minute):
		f.t.Fatal("the stream continues")
	}
	return time.Since(begin)
}

// all are the ids of a person's notifications, the oldest first.
func (p *testPerson) all() []int64 {
	p.w.t.Helper()
	list := idsOf(p.want(200, "GET", fmt.Sprintf("/users/%s/notifications?limit=200&ordering=id", p.ID), nil).List)
	slices.Sort(list)
	return list
}
