package app_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// requestsOfYear is how many requests the simulated year has.
const requestsOfYear = 100

// life is what a naive observer knows of one request: not how Aliquot computes it, only what each action left to do,
// and when.
type life struct {
	words   string // whose turn it is and for what; "": nobody's
	since   time.Time
	day     int // of the turn: day of the last reminder
	told    bool
	snoozed time.Time
	account []request.TurnRecord
	issues  []int64
}

// year is a simulated year and its observer.
type year struct {
	*reminding
	admin     exchange.Actor
	random    *rand.Rand
	materials []int64
	ids       []int64
	lives     map[int64]*life
	want      []string
}

const day = 24 * time.Hour

// TestReminders_OfAYearEqualNaiveCounting makes both sides, admins, and labs that change their requirements act on
// many requests on random days. On some days no worker runs, and the clock jumps ahead and back.
func TestReminders_OfAYearEqualNaiveCounting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		y := &year{reminding: newReminding(t, db), random: rand.New(rand.NewPCG(7, 14)), lives: map[int64]*life{}}
		y.admin = y.person("admin")
		y.admin.Admin = true
		for i := range 10 {
			m, _, err := y.app.Materials.CreateMaterial(t.Context(), y.member,
				material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some("HeLa"),
					Organization: exchange.Some(exchange.Ref(y.lab)), NeedsAbstract: exchange.Some(i%2 == 0),
					NeedsMTA: exchange.Some(i%5 == 0)})
			y.must(err)
			y.materials = append(y.materials, m.ID)
		}
		y.work(1)
		n, off := requestsOfYear, 0
		for today, began := 0, *y.now.Load(); today < 365; today++ {
			if y.random.IntN(20) == 0 {
				off = y.random.IntN(41) - 20
			}
			y.set(began.AddDate(0, 0, today+off))
			if y.random.IntN(5) < 3 {
				y.remind(1)
				y.observe()
			}
			for len(y.ids) <= n*today/200 && len(y.ids) < n { // the last of them with half a year to go
				y.ask()
			}
			for range (n + 49) / 50 {
				y.set(y.now.Load().Add(time.Second))
				y.act(y.ids[y.random.IntN(len(y.ids))])
			}
			if y.random.IntN(40) == 0 {
				y.askForOtherThings()
			}
		}
		y.compare()
	})
}

// ask makes a request.
func (y *year) ask() {
	m := y.materials[y.random.IntN(len(y.materials))]
	q, err := y.app.Requests.CreateRequest(y.Context(), y.asks, request.New{Material: exchange.Some(exchange.Ref(m))})
	y.must(err)
	y.ids = append(y.ids, q.ID)
	y.lives[q.ID] = &life{}
	y.note(q)
}

// act does a random action to a request; actions that are not allowed are ignored.
func (y *year) act(id int64) {
	ctx, l, who := y.Context(), y.lives[id], y.asks
	if strings.HasPrefix(l.words, "lab") != (y.random.IntN(4) == 0) { // more often by the side whose turn it is
		who = y.member
	}
	update := func(p request.Patch) (request.Detail, error) {
		return y.app.Requests.UpdateRequest(ctx, who, id, p, nil)
	}
	read := func(err error) (request.Detail, error) {
		if err != nil {
			return request.Detail{}, err
		}
		return y.app.Requests.Request(ctx, y.admin, id)
	}
	acts := []func() (request.Detail, error){
		func() (request.Detail, error) {
			return update(request.Patch{Abstract: exchange.Some(fmt.Sprint("version ", y.random.Int()))})
		},
		func() (request.Detail, error) {
			return update(request.Patch{Status: exchange.Some(request.Statuses[y.random.IntN(len(request.Statuses))]),
				Reason: exchange.Some("page 2"), Override: exchange.Some("agreed")})
		},
		func() (request.Detail, error) {
			return update(request.Patch{Status: exchange.Some(request.Statuses[y.random.IntN(4)]),
				Override: exchange.Some("agreed")})
		},
		func() (request.Detail, error) {
			return update(request.Patch{Active: exchange.Some(y.random.IntN(4) > 0)})
		},
		func() (request.Detail, error) {
			_, err := y.app.Requests.SendMessage(ctx, who, id, request.TextBody{Text: exchange.Some("Hello")})
			return read(err)
		},
		func() (request.Detail, error) {
			issue, err := y.app.Requests.OpenIssue(ctx, who, id, request.TextBody{Text: exchange.Some("it thawed")})
			if err == nil {
				l.issues = append(l.issues, issue.ID)
			}
			return read(err)
		},
		func() (request.Detail, error) {
			if len(l.issues) == 0 {
				return read(nil)
			}
			_, err := y.app.Requests.CloseIssue(ctx, y.member, id, l.issues[0], request.Resolution{})
			if err == nil {
				l.issues = l.issues[1:]
			}
			return read(err)
		},
		func() (request.Detail, error) {
			until := y.now.Load().Add(time.Duration(1+y.random.IntN(89*24)) * time.Hour)
			q, err := y.app.Requests.SnoozeRequest(ctx, who, id, request.SnoozeNew{Until: exchange.Some(exchange.Until(until))})
			if err == nil {
				l.snoozed = until
			}
			return q, err
		},
		func() (request.Detail, error) {
			err := y.app.Requests.UnsnoozeRequest(ctx, who, id, nil)
			if err == nil {
				l.snoozed = time.Time{}
			}
			return read(err)
		},
		func() (request.Detail, error) {
			if y.random.IntN(20) > 0 {
				return read(nil)
			}
			if err := y.app.Requests.DeleteRequest(ctx, y.admin, id, nil); err != nil {
				return request.Detail{}, err
			}
			y.ended(l)
			return request.Detail{}, exchange.Errorf(exchange.NotFound, "It is deleted.")
		},
	}
	switch q, err := acts[y.random.IntN(len(acts))](); {
	case err == nil:
		y.note(q)
	case exchange.CodeOf(err) == exchange.Internal:
		y.Fatal(err)
	}
}

// askForOtherThings changes what the lab's material requires.
func (y *year) askForOtherThings() {
	materialID := y.materials[y.random.IntN(len(y.materials))]
	_, err := y.app.Materials.UpdateMaterial(y.Context(), y.member, materialID, material.Patch{
		NeedsAbstract: exchange.Some(y.random.IntN(2) == 0), NeedsMTA: exchange.Some(y.random.IntN(2) == 0),
		NeedsIRB: exchange.Some(y.random.IntN(2) == 0)}, nil)
	y.must(err)
	part, err := y.db.Read().Requests.List(y.Context(), exchange.Page{}, request.Filter{Material: &materialID},
		y.admin)
	y.must(err)
	for _, q := range part.Items {
		y.note(q)
	}
}

// note records what there is to do in a request now.
func (y *year) note(q request.Detail) {
	y.Helper()
	words := ""
	if turn := request.WaitingOn(q.Terms, q.Targets, q.Request); turn != nil {
		words = string(turn.Side) + " " + strings.Join(turn.What, " ")
	}
	l := y.lives[q.ID]
	y.turn(l, words, q.Status)
	if q.Reminded != l.day {
		y.Fatalf("request %d: reminded on day %d, want %d", q.ID, q.Reminded, l.day)
	}
}

// ended is note for a deleted request: it is nobody's turn, whatever its status was.
func (y *year) ended(l *life) { y.turn(l, "", l.account[len(l.account)-1].Status) }

func (y *year) turn(l *life, words string, status request.Status) {
	now := *y.now.Load()
	other := len(l.account) == 0 || words != l.words
	if other {
		l.words, l.since, l.day, l.told, l.snoozed = words, now, 0, false, time.Time{}
	}
	if n := len(l.account); n > 0 {
		last := l.account[n-1]
		if !other && last.Status == status {
			return
		}
		if now.Before(last.BeganAt) { // the clock was set back
			now = last.BeganAt
		}
	}
	side, _, _ := strings.Cut(words, " ")
	l.account = append(l.account,
		request.TurnRecord{Seq: int64(len(l.account) + 1), Status: status, Side: request.Side(side), BeganAt: now})
}

// observe records what a run of the job should have sent, counting the days of each turn one by one.
func (y *year) observe() {
	now := *y.now.Load()
	for _, id := range y.ids {
		l := y.lives[id]
		if l.words == "" || now.Before(l.snoozed) {
			continue
		}
		sent := func(kind request.EventKind, d int) {
			who := y.member
			if strings.HasPrefix(l.words, "requester") {
				who = y.asks
			}
			y.want = append(y.want, fmt.Sprint(who.ID, " request ", id, " ", kind, " ", l.words, " day ", d, " at ",
				now))
		}
		due := 0
		for d := 1; !l.since.Add(time.Duration(d) * day).After(now); d++ {
			if d > l.day && (d == 7 || d == 14 || d == 28 || d > 28 && (d-28)%30 == 0) {
				due = d
			}
		}
		if due > 0 {
			sent(request.Reminded, due)
			l.day = due
		}
		if strings.HasPrefix(l.words, "lab") && !l.told && !l.since.Add(21*day).After(now) {
			sent(request.Escalated, 21)
			l.told = true
		}
	}
}

// compare compares the year with the observer's records.
func (y *year) compare() {
	y.Helper()
	var got []string
	for _, who := range []exchange.Actor{y.asks, y.member, y.off, y.admin} {
		part, err := y.db.Read().Notifications.List(y.Context(), who.ID, notify.NotificationFilter{}, exchange.Page{})
		y.must(err)
		for _, n := range part.Items {
			e := n.Event
			if e.Kind == request.Reminded || e.Kind == request.Escalated {
				got = append(got, fmt.Sprint(who.ID, " request ", e.RequestID, " ", e.Kind, " ", e.Detail.Party, " ",
					strings.Join(e.Detail.What, " "),
					" day ", e.Detail.Days, " at ", e.At))
			}
		}
	}
	slices.Sort(got)
	slices.Sort(y.want)
	if len(got) < len(y.ids) {
		y.Errorf("%d requests gave only %d reminders", len(y.ids), len(got))
	}
	if diff := cmp.Diff(y.want, got); diff != "" {
		y.Errorf("reminders and escalations (-want +got):\n%s", diff)
	}
	accounts, err := y.db.Read().Turns.Accounts(y.Context(), 0, slices.Max(y.ids))
	y.must(err)
	entries, want := 0, map[int64][]request.TurnRecord{}
	for id, l := range y.lives {
		for i := range l.account {
			l.account[i].RequestID = id
		}
		want[id] = l.account
	}
	turns := map[int64][]request.TurnRecord{}
	for id, a := range accounts {
		turns[id], entries = a.Turns, entries+len(a.Turns)
	}
	if diff := cmp.Diff(want, turns); diff != "" {
		y.Errorf("the accounts of turns (-want +got):\n%s", diff)
	}
	if report, err := y.app.Evidence.Verify(y.Context(), evidence.Verification{Files: true}); err != nil || len(report.Faults) > 0 {
		y.Errorf("verify: %v, %v", report.Faults, err)
	}
	y.Logf("%d requests with %d turns, %d reminders and escalations", len(y.ids), entries, len(got))
}
