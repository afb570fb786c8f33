package api_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"aliquot/internal/api"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// hasty is a connection whose deadlines to write come a hundred times earlier, with small buffers.
type hasty struct{ net.Conn }

func (c hasty) SetWriteDeadline(at time.Time) error {
	return c.Conn.SetWriteDeadline(time.Now().Add(time.Until(at) / 100))
}

type hastyListener struct{ net.Listener }

func (l hastyListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return hasty{c}, c.(*net.TCPConn).SetWriteBuffer(4 << 10)
}

// TestStream_SlowReaderIsDropped and costs no memory until then: nothing is kept for a reader.
func TestStream_SlowReaderIsDropped(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, 1000)
		ended := make(chan struct{})
		apiHandler := api.New(c.app, c.app.Log)
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			apiHandler.ServeHTTP(w, r)
			close(ended)
		}))
		s.Listener = hastyListener{s.Listener}
		s.Start()
		t.Cleanup(s.Close)
		dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
			var err error
			if e := raw.Control(func(fd uintptr) {
				err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET,
					syscall.SO_RCVBUF, 4<<10)
			}); e != nil {
				return e
			}
			return err
		}}
		conn, err := dialer.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET %s?last_event_id=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token %s\r\n\r\n",
			c.user("/notifications/stream"), c.requester().Token)
		select {
		case <-ended:
		case <-time.After(2 * time.Minute):
			t.Fatal("the stream continues")
		}
		raw, _ := io.ReadAll(conn) // what was on its way
		if n := strings.Count(string(raw), "event: notification"); n == 0 || n > 900 {
			t.Errorf("got %d of more than 1000 notifications", n)
		}
	})
}

// TestStream_CatchesUpWithAThousandNotifications by parts, each with a short id.
func TestStream_CatchesUpWithAThousandNotifications(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, 1000)
		c.exec("UPDATE notifications SET created_at = '2026-01-02 03:04:05+00:00'")
		url := c.streams(asItIs)
		f := c.requester().own(url, "0")
		heard := f.until("the count",
			func(list []told) bool { return len(list) > 0 && list[len(list)-1].name == "unread" })
		ids := f.ids()
		if len(ids) < 1000 || len(heard) != len(ids)+1 || !slices.IsSorted(ids) ||
			heard[len(ids)-1].id != fmt.Sprint(ids[len(ids)-1]) {
			t.Errorf("notified of %d, and %d events, the last one is %v", len(ids), len(heard), heard[len(heard)-1])
		}
	})
}

// TestStream_TwoHundredUseLittleMemory: 200 streams of 20 people. Measured on the build machine: about 60 KiB each,
// client and server together, and 3 statements a second for all.
func TestStream_TwoHundredUseLittleMemory(t *testing.T) {
	t.Parallel()
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var readers []*reader
		people := []*testPerson{}
		for i := range 20 {
			people = append(people, s.person(fmt.Sprint("reader", i)))
		}
		s.join(s.id, people...)
		for _, p := range people {
			for range 10 {
				readers = append(readers, p.own(url, ""))
			}
			more := p.follow(url, p.ID.String(), "").answer
			if more.Status != 429 || !strings.Contains(string(more.Raw), "10 streams") ||
				more.Header.Get("Retry-After") == "" {
				t.Errorf("one more: %d %s", more.Status, more.Raw)
			}
		}
		for _, f := range readers {
			f.unread(0)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		each := (int64(after.HeapInuse+after.StackInuse) - int64(before.HeapInuse+before.StackInuse)) / int64(len(readers))
		t.Logf("%d KiB for each stream", each>>10)

		begin, asked := time.Now(), db.Queries()
		for time.Since(begin) < 1500*time.Millisecond {
			time.Sleep(10 * time.Millisecond)
		}
		took := time.Since(begin)
		if got := db.Queries() - asked; got > 3*int64(took/time.Second+2) {
			t.Errorf("200 streams asked %d times in %v", got, took)
		}
		s.requester().want(201, "POST", s.req("/messages"), obj{"text": "Hello"})
		said := time.Now()
		for _, f := range readers {
			f.unread(1)
			f.cancel()
		}
		t.Logf("all knew %v after", time.Since(said).Round(time.Millisecond))
		// With no stream open nothing is asked.
		for quiet := time.Now(); time.Since(quiet) < 1200*time.Millisecond; time.Sleep(10 * time.Millisecond) {
			if n := db.Queries(); n != asked {
				asked, quiet = n, time.Now()
			}
			if time.Since(begin) > 20*time.Second {
				t.Fatal("the streams are closed, and the database is still asked")
			}
		}
	})
}
