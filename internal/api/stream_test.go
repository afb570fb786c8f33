package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/api"
	"aliquot/internal/api/rest"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/server"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestStream_SendsNotificationsAndTheUnreadCount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		before := s.requester().all()
		f := s.requester().own(url, "")
		for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store",
			"X-Accel-Buffering": "no", "Content-Encoding": ""} {
			if got := f.answer.Header.Get(name); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		f.unread(len(before))

		s.member.want(201, "POST", s.req("/messages"), obj{"text": "line\r\nbreak: \u2028 <b>"})
		heard := f.unread(len(before) + 1)
		list := s.requester().want(200, "GET", s.user("/notifications?limit=1"), nil)
		var got []any
		if err := json.Unmarshal([]byte("["+heard[1].data+"]"), &got); err != nil ||
			fmt.Sprint(got) != fmt.Sprint(list.List) || heard[1].name != "notification" {
			t.Errorf("got %v, want %s: %v", heard, list.Raw, err)
		}

		// What another process does comes too, if not at once.
		elsewhere := app.New(s.app.Config)
		elsewhere.DB = storetest.Again(t, db)
		who, err := elsewhere.Accounts.Actor(t.Context(), s.member.Token)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := elsewhere.Requests.SendMessage(t.Context(), who, s.request,
			request.TextBody{Text: exchange.Some("Hello")}); err != nil {
			t.Fatal(err)
		}
		f.unread(len(before) + 2)
		me := exchange.Actor{ID: s.requester().ID}
		newest := f.ids()[1]
		if err := elsewhere.Notifications.MarkRead(t.Context(), me, me.ID, newest, exchange.Some(true), nil); err != nil {
			t.Fatal(err)
		}
		f.unread(len(before) + 1)
		if err := elsewhere.Notifications.MarkRead(t.Context(), me, me.ID, newest, exchange.Some(false), nil); err != nil {
			t.Fatal(err)
		}
		f.unread(len(before) + 2)
		s.requester().want(204, "POST", s.user("/notifications/read"), obj{"until": newest - 1})
		f.unread(1)
		s.requester().want(204, "POST", s.user("/notifications/read"), nil)
		f.unread(0)
		if got := f.ids(); len(got) != 2 {
			t.Errorf("notified of %v", got)
		}
	})
}

func TestStream_ResumesAfterTheLastEvent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		say := func() { s.member.want(201, "POST", s.req("/messages"), obj{"text": "Hello"}) }
		had := s.requester().all()
		f := s.requester().own(url, "")
		first := f.unread(len(had))[0].id // nothing came: the place is sent all the same
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
		for last, behind := range map[string]int{place: len(all) - 1, "0": 0, fmt.Sprint(all[0]): 1, newest: len(all),
			"9000000000000000000": len(all)} {
			f := s.requester().own(url, last)
			f.unread(len(all))
			want := slices.Clone(all[behind:])
			say() // also to who claims to be beyond all that there is
			f.unread(len(all) + 1)
			want = append(want, s.requester().all()[len(all)])
			if got := f.ids(); !slices.Equal(got, want) {
				t.Errorf("after %s: got %v, want %v", last, got, want)
			}
			f.cancel()
			s.exec("DELETE FROM notifications WHERE id > " + newest)
		}
		asked := s.requester().call("GET", s.user("/notifications/stream?last_event_id="+newest), nil)
		if asked.Status != 200 || strings.Contains(string(asked.Raw), "event: notification") ||
			!strings.Contains(string(asked.Raw), "id: "+newest) {
			t.Errorf("by the address: %d %s", asked.Status, asked.Raw)
		}
		for _, wrong := range []string{"x", "-1", "1.", "1.1", strings.Repeat("1", 40)} {
			a := s.requester().refused(400, "INVALID_INPUT", "GET",
				s.user("/notifications/stream?last_event_id="+wrong), nil)
			b := s.requester().callWith(map[string]string{"Last-Event-ID": wrong}, "GET",
				s.user("/notifications/stream"), nil)
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

// TestStream_LosesNothingCommittedOutOfOrder where PostgreSQL shows a notification before one
// with a lower id, to who follows and to who comes again in between.
func TestStream_LosesNothingCommittedOutOfOrder(t *testing.T) {
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
				q, err := tx.Requests.ForUpdate(ctx, s.request)
				if err != nil {
					return err
				}
				events, err := tx.Events.Append(ctx, &q,
					[]request.Event{{Kind: request.Messaged, Actor: s.member.ID}})
				if err == nil {
					err = tx.Notifications.Notify(ctx,
						notify.Audience{Category: mailing.StatusNotif, To: notify.ToRequester},
						events[0], s.id, s.requester().ID)
				}
				if err == nil {
					err = tx.Requests.Update(ctx, q, false)
				}
				close(inserted)
				<-commit
				return err
			})
		}()
		<-inserted
		s.member.want(201, "POST", fmt.Sprintf("/material-requests/%d/messages", second),
			obj{"text": "Later, and first"})
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
		if got := f.ids(); !slices.Equal(got, []int64{all[1], all[0]}) || !slices.Equal(again.ids(), all[:1]) ||
			len(gone.ids()) != 0 {
			t.Errorf("got %v, then %v, then %v; want %v backwards, nothing, and the first", got, gone.ids(),
				again.ids(), all)
		}
	})
}

// TestStream_ReconnectingReaderGetsEverythingOnce while many write at once, in two processes.
func TestStream_ReconnectingReaderGetsEverythingOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const writers, messages = 6, 20
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		elsewhere := app.New(s.app.Config)
		elsewhere.DB = storetest.Again(t, db)
		who, err := s.app.Accounts.Actor(t.Context(), s.member.Token)
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
		for i, requestID := range requests {
			a := []*app.App{s.app, elsewhere}[i%2]
			writing.Go(func() {
				for range messages {
					if _, err := a.Requests.SendMessage(t.Context(), who, requestID,
						request.TextBody{Text: exchange.Some("Hello")}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		var heard []int64
		for broken := 0; ; {
			n := len(f.heard()) + rand.IntN(12)
			f.until("a few more", func(list []told) bool {
				news := 0
				for _, e := range list {
					if e.name == "notification" {
						news++
					}
				}
				return len(list) >= n || len(heard)+news >= writers*messages
			})
			f.cancel()
			f.over()
			if heard = append(heard, f.ids()...); len(heard) >= writers*messages && broken > 3 {
				break
			}
			broken++
			f = s.requester().own(url, f.last)
			f.until("the first word", func(list []told) bool { return len(list) > 0 })
		}
		writing.Wait()
		// The count may be sent before the last of what it counts.
		steady.until("everything", func([]told) bool { return len(steady.ids()) >= writers*messages })
		all := s.requester().all()[len(before):]
		for name, got := range map[string][]int64{"who comes again": heard, "who stays": steady.ids()} {
			if slices.Sort(got); !slices.Equal(got, all) {
				t.Errorf("%s was notified of %d, want %d: %v", name, len(got), len(all), got)
			}
		}
	})
}

func TestStream_EndsWhenAccessEnds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		url := s.streams(asItIs)
		admin, user := s.people["admin"], s.requester().ID.String()
		for name, end := range map[string]func(p *testPerson){
			"revoked": func(p *testPerson) { p.want(204, "POST", "/logout", nil) },
			"expired": func(p *testPerson) {
				s.exec("UPDATE tokens SET expires_at = $1 WHERE hash = $2", s.db.Read().Now.Add(-1), hash(p.Token))
			},
		} {
			p := s.signIn("requester")
			f, stays := p.own(url, ""), s.requester().own(url, "")
			stays.unread(len(s.requester().all()))
			if end(p); f.over() > 10*time.Second { // one or two where the machine is idle
				t.Errorf("%s: the stream ended late", name)
			}
			if got := p.follow(url, user, "").answer; got.Status != 401 {
				t.Errorf("%s: got %d", name, got.Status)
			}
			select {
			case <-stays.ended:
				t.Errorf("%s: another token's stream ended", name)
			default:
			}
		}
		f := admin.follow(url, user, "")
		own := admin.own(url, "")
		f.unread(len(s.requester().all()))
		if err := s.app.Accounts.SetAdmin(t.Context(), "id-admin", false); err != nil {
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

func TestStream_EndsWhenTheProcessStops(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		apiHandler := api.New(s.app, s.app.Log)
		apiHandler.Stop = ctx.Done()
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx, l, apiHandler, nil, s.app.Log) }()
		var readers []*reader
		for range 5 {
			f := s.requester().own("http://"+l.Addr().String(), "")
			f.unread(len(s.requester().all()))
			readers = append(readers, f)
		}
		begin := time.Now()
		stop()
		if err := <-served; err != nil || time.Since(begin) > 5*time.Second { // of the 20 that answers under way have
			t.Errorf("stopped after %v: %v", time.Since(begin), err)
		}
		for _, f := range readers {
			f.over()
		}
	})
}

func TestStream_SendsHeartbeats(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	f := s.requester().own(s.streams(func(apiHandler *rest.API) { apiHandler.Heartbeat = 10 * time.Millisecond }), "")
	f.until("three heartbeats", func([]told) bool { return f.beaten() >= 3 })
	if got := f.unread(len(s.requester().all())); len(got) != 1 {
		t.Errorf("got %v, want the count once", got)
	}
}
