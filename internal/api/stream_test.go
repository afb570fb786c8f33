package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aliquot/internal/api"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/server"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestAStreamTellsOfEachNewNotificationAndOfTheUnreadCount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		before := s.requester().all()
		f := s.requester().own(url, "")
		for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": ""} {
			if got := f.header.Get(name); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		f.unread(len(before))

		s.member.want(201, "POST", s.req("/messages"), obj{"text": "line\r\nbreak: \u2028 <b>"})
		heard := f.unread(len(before) + 1)
		list := s.requester().want(200, "GET", s.user("/notifications?limit=1"), nil)
		var got []any
		if err := json.Unmarshal([]byte("["+heard[1].data+"]"), &got); err != nil || fmt.Sprint(got) != fmt.Sprint(list.List) || heard[1].name != "notification" {
			t.Errorf("got %v, want %s: %v", heard, list.Raw, err)
		}

		// What another process does comes too, if not at once.
		elsewhere := app.New(s.app.Config)
		elsewhere.DB = storetest.Again(t, db)
		who, err := elsewhere.Actor(t.Context(), s.member.Token)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := elsewhere.SendMessage(t.Context(), who, s.request, exchange.Words{Text: exchange.Some("Hello")}); err != nil {
			t.Fatal(err)
		}
		f.unread(len(before) + 2)
		me := exchange.Actor{ID: s.requester().ID}
		newest := f.ids()[1]
		if err := elsewhere.MarkRead(t.Context(), me, me.ID, newest, exchange.Some(true)); err != nil {
			t.Fatal(err)
		}
		f.unread(len(before) + 1)
		if err := elsewhere.MarkRead(t.Context(), me, me.ID, newest, exchange.Some(false)); err != nil {
			t.Fatal(err)
		}
		f.unread(len(before) + 2)
		s.requester().want(204, "POST", s.user("/notifications/read"), obj{"until": newest - 1})
		f.unread(1)
		s.requester().want(204, "POST", s.user("/notifications/read"), nil)
		f.unread(0)
		if got := f.ids(); len(got) != 2 {
			t.Errorf("told of %v", got)
		}
	})
}

func TestAStreamGoesOnWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		say := func() { s.member.want(201, "POST", s.req("/messages"), obj{"text": "Hello"}) }
		had := s.requester().all()
		f := s.requester().own(url, "")
		first := f.unread(len(had))[0].id // nothing came: the place is told all the same
		f.cancel()
		say()
		say()
		all := s.requester().all()
		f = s.requester().own(url, first)
		place := f.unread(len(all))[0].id
		if got := f.ids(); !slices.Equal(got, all[len(had):]) {
			t.Errorf("after nothing: got %v, want %v", got, all[len(had):])
		}
		newest := fmt.Sprint(all[len(all)-1])
		for last, want := range map[string][]int64{place: all[len(all)-1:], "0": all, fmt.Sprint(all[0]): all[1:], newest: nil, "9000000000000000000": nil} {
			f := s.requester().own(url, last)
			f.unread(len(all))
			if got := f.ids(); !slices.Equal(got, want) {
				t.Errorf("after %s: got %v, want %v", last, got, want)
			}
			say() // also for who claims to be beyond all that there is
			all = append(all, s.requester().all()[len(all)])
			f.unread(len(all))
			if got := f.ids(); !slices.Equal(got, append(slices.Clip(want), all[len(all)-1])) && last != newest && last != "0" && len(got) == 0 {
				t.Errorf("after %s: got %v", last, got)
			}
			f.cancel()
			all = all[:len(all)-1]
			s.exec("DELETE FROM notifications WHERE id > " + newest)
		}
		asked := s.requester().call("GET", s.user("/notifications/stream?last_event_id="+newest), nil)
		if asked.Status != 200 || strings.Contains(string(asked.Raw), "event: notification") || !strings.Contains(string(asked.Raw), "id: "+newest) {
			t.Errorf("by the address: %d %s", asked.Status, asked.Raw)
		}
		for _, wrong := range []string{"x", "-1", "1.", "1.1", strings.Repeat("1", 40)} {
			a := s.requester().refused(400, "INVALID_INPUT", "GET", s.user("/notifications/stream?last_event_id="+wrong), nil)
			b := s.requester().callWith(map[string]string{"Last-Event-ID": wrong}, "GET", s.user("/notifications/stream"), nil)
			if a.at("fields.last_event_id") == nil || b.Status != 400 {
				t.Errorf("%s: %s, %d", wrong, a.Raw, b.Status)
			}
		}
	})
}

// exec changes the database behind the back of the API.
func (s *scene) exec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.sql.ExecContext(s.t.Context(), query, args...); err != nil {
		s.t.Fatal(err)
	}
}

// TestAStreamLosesNothingThatIsCommittedOutOfOrder where PostgreSQL shows a notification before one
// with a lower id, to who follows and to who comes again in between.
func TestAStreamLosesNothingThatIsCommittedOutOfOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if !db.Postgres() {
			return // has one writer, so ids come into sight in their order
		}
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		second := s.newRequest()
		before := s.requester().all()
		f := s.requester().own(url, "")
		f.unread(len(before))
		inserted, commit, done := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			done <- db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
				q, err := tx.RequestForUpdate(ctx, s.request)
				if err != nil {
					return err
				}
				events, err := tx.AppendEvents(ctx, &q, []exchange.Event{{Kind: exchange.Messaged, Actor: s.member.ID}})
				if err == nil {
					err = tx.Notify(ctx, exchange.Audience{Category: exchange.StatusNotif, To: exchange.ToRequester}, events[0], s.id, s.requester().ID)
				}
				if err == nil {
					err = tx.UpdateRequest(ctx, q, false)
				}
				close(inserted)
				<-commit
				return err
			})
		}()
		<-inserted
		s.member.want(201, "POST", fmt.Sprintf("/material-requests/%d/messages", second), obj{"text": "Later, and first"})
		last := f.unread(len(before) + 1)[2].id
		gone := s.requester().own(url, last)
		gone.unread(len(before) + 1)
		gone.cancel()
		close(commit)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		f.unread(len(before) + 2)
		again := s.requester().own(url, gone.last)
		again.unread(len(before) + 2)
		all := s.requester().all()[len(before):]
		if got := f.ids(); !slices.Equal(got, []int64{all[1], all[0]}) || !slices.Equal(again.ids(), all[:1]) || len(gone.ids()) != 0 {
			t.Errorf("got %v, then %v, then %v; want %v backwards, nothing, and the first", got, gone.ids(), again.ids(), all)
		}
	})
}

// TestAReaderWhoComesAgainAndAgainHearsOfEverythingOnce while many write at once, in two processes.
func TestAReaderWhoComesAgainAndAgainHearsOfEverythingOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const writers, messages = 6, 20
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		elsewhere := app.New(s.app.Config)
		elsewhere.DB = storetest.Again(t, db)
		who, err := s.app.Actor(t.Context(), s.member.Token)
		if err != nil {
			t.Fatal(err)
		}
		requests := make([]int64, writers)
		for i := range requests {
			requests[i] = s.newRequest()
		}
		before := s.requester().all()
		steady, f := s.requester().own(url, ""), s.requester().own(url, "")
		f.unread(len(before))
		steady.unread(len(before))
		var writing sync.WaitGroup
		for i, request := range requests {
			a := []*app.App{s.app, elsewhere}[i%2]
			writing.Go(func() {
				for range messages {
					if _, err := a.SendMessage(t.Context(), who, request, exchange.Words{Text: exchange.Some("Hello")}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		want := len(before) + writers*messages
		var heard []int64
		for broken := 0; ; {
			n := len(f.heard()) + rand.IntN(12)
			f.until("a few more", func(list []told) bool {
				return len(list) >= n || len(list) > 0 && list[len(list)-1].data == fmt.Sprintf(`{"unread":%d}`, want)
			})
			complete := f.heard()[len(f.heard())-1].data == fmt.Sprintf(`{"unread":%d}`, want)
			f.cancel()
			f.over()
			if heard = append(heard, f.ids()...); complete && broken > 3 {
				break
			}
			broken++
			f = s.requester().own(url, f.last)
			f.until("the first word", func(list []told) bool { return len(list) > 0 })
		}
		writing.Wait()
		steady.unread(want)
		all := s.requester().all()[len(before):]
		for name, got := range map[string][]int64{"who comes again": heard, "who stays": steady.ids()} {
			if slices.Sort(got); !slices.Equal(got, all) {
				t.Errorf("%s heard of %d, want %d: %v", name, len(got), len(all), got)
			}
		}
	})
}

func TestAStreamEndsWithTheRightToReadIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		admin, user := s.people["admin"], s.requester().ID.String()
		for name, end := range map[string]func(p *person){
			"revoked": func(p *person) { p.want(204, "POST", "/logout", nil) },
			"expired": func(p *person) {
				s.exec("UPDATE tokens SET expires_at = $1 WHERE hash = $2", s.db.Read().Now.Add(-1), hash(p.Token))
			},
		} {
			p := s.signIn("requester")
			f, stays := p.own(url, ""), s.requester().own(url, "")
			stays.unread(len(s.requester().all()))
			if end(p); f.over() > 3*time.Second {
				t.Errorf("%s: the stream ended late", name)
			}
			if _, response := p.follow(url, user, ""); response.StatusCode != 401 {
				t.Errorf("%s: got %d", name, response.StatusCode)
			}
			select {
			case <-stays.ended:
				t.Errorf("%s: another token's stream ended", name)
			default:
			}
		}
		f, _ := admin.follow(url, user, "")
		own := admin.own(url, "")
		f.unread(len(s.requester().all()))
		if err := s.app.SetAdmin(t.Context(), "id-admin", false); err != nil {
			t.Fatal(err)
		}
		if f.over(); len(own.heard()) == 0 {
			t.Error("the own stream of who is no admin any more is silent")
		}
		select {
		case <-own.ended:
			t.Error("the own stream of who is no admin any more ended")
		default:
		}
	})
}

func TestStreamsEndAtOnceWhenTheProcessStops(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		door := api.New(s.app, s.app.Log)
		door.Stop = ctx.Done()
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx, l, door, s.app.Log) }()
		var readers []*reader
		for range 5 {
			f := s.requester().own("http://"+l.Addr().String(), "")
			f.unread(len(s.requester().all()))
			readers = append(readers, f)
		}
		begin := time.Now()
		stop()
		if err := <-served; err != nil || time.Since(begin) > time.Second {
			t.Errorf("stopped after %v: %v", time.Since(begin), err)
		}
		for _, f := range readers {
			f.over()
		}
	})
}

func TestAStreamBeatsWhileNothingHappens(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	f := s.requester().own(s.streams(func(door *api.API) { door.Heartbeat = 10 * time.Millisecond }), "")
	f.until("three heartbeats", func([]told) bool { return f.beats >= 3 })
	if got := f.unread(len(s.requester().all())); len(got) != 1 {
		t.Errorf("got %v, want the count once", got)
	}
}

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

// TestWhoDoesNotReadAStreamIsDropped and costs no memory until then: nothing is kept for a reader.
func TestWhoDoesNotReadAStreamIsDropped(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, 1000)
		ended := make(chan struct{})
		door := api.New(c.app, c.app.Log)
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			door.ServeHTTP(w, r)
			close(ended)
		}))
		s.Listener = hastyListener{s.Listener}
		s.Start()
		t.Cleanup(s.Close)
		dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
			var err error
			if e := raw.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10) }); e != nil {
				return e
			}
			return err
		}}
		conn, err := dialer.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET %s?last_event_id=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Token %s\r\n\r\n", c.user("/notifications/stream"), c.requester().Token)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatal("the stream goes on")
		}
		raw, _ := io.ReadAll(conn) // what was on its way
		if n := strings.Count(string(raw), "event: notification"); n == 0 || n > 900 {
			t.Errorf("got %d of more than 1000 notifications", n)
		}
	})
}

// TestAThousandNotificationsAreCaughtUpWith by parts, each with a short id.
func TestAThousandNotificationsAreCaughtUpWith(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, 1000)
		c.exec("UPDATE notifications SET created_at = '2026-01-02 03:04:05+00:00'")
		url := c.streams(asItIs)
		f := c.requester().own(url, "0")
		heard := f.until("the count", func(list []told) bool { return len(list) > 0 && list[len(list)-1].name == "unread" })
		ids := f.ids()
		if len(ids) < 1000 || len(heard) != len(ids)+1 || !slices.IsSorted(ids) || heard[len(ids)-1].id != fmt.Sprint(ids[len(ids)-1]) {
			t.Errorf("heard of %d, and %d events, the last one is %v", len(ids), len(heard), heard[len(heard)-1])
		}
	})
}

// TestTwoHundredStreamsAreCheap: 200 streams of 20 people. Measured on the build machine: about 60 KiB each,
// client and server together, and 3 statements a second for all.
func TestTwoHundredStreamsAreCheap(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var readers []*reader
		people, members := []*person{}, []any{s.owner.ID, s.member.ID}
		for i := range 20 {
			people = append(people, s.person(fmt.Sprint("reader", i)))
			members = append(members, people[i].ID)
		}
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"members": members})
		for _, p := range people {
			for range 10 {
				readers = append(readers, p.own(url, ""))
			}
			f, response := p.follow(url, p.ID.String(), "")
			raw, _ := io.ReadAll(response.Body)
			if response.StatusCode != 429 || !strings.Contains(string(raw), "RATE_LIMITED") || !strings.Contains(string(raw), "10 streams") || f.header.Get("Retry-After") == "" {
				t.Errorf("one more: %d %s", response.StatusCode, raw)
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
		if got := db.Queries() - asked; got > 9 {
			t.Errorf("200 streams asked %d times in 1.5 s", got)
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
