package app_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/app/evidence"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/identity"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/uuid"
)

// reminding is a lab of two members with a material, and someone who requests it, on a database whose clock stands
// still until it is set.
type reminding struct {
	*testing.T
	app           *app.App
	db            *store.DB
	now           *atomic.Pointer[time.Time]
	member, asks  exchange.Actor
	off           exchange.Actor // a member who switched reminders off
	lab, material int64
}

func newReminding(t *testing.T, db *store.DB) *reminding {
	t.Helper()
	r := &reminding{T: t, db: db, now: &atomic.Pointer[time.Time]{}}
	r.set(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	r.app = r.process(db)
	r.member, r.off, r.asks = r.person("member"), r.person("off"), r.person("requester")
	ctx := t.Context()
	o, err := r.app.Labs.CreateOrganization(ctx, r.member,
		lab.OrganizationPatch{Owner: exchange.Some(exchange.UserRef(r.member.ID)),
			Members: exchange.Some([]exchange.UserRef{})})
	r.must(err)
	r.lab = o.ID
	r.must(join(ctx, db, r.lab, r.off.ID))
	r.member, r.off = r.person("member"), r.person("off") // reloaded with their lab
	part, err := r.app.Labs.OwnSettings(ctx, r.off, exchange.Page{Limit: 9})
	r.must(err)
	for _, m := range part.Items {
		_, err = r.app.Labs.UpdateSettings(ctx, r.off, m.ID, lab.SwitchesPatch{Reminder: exchange.Some(false)}, nil)
		r.must(err)
	}
	m, _, err := r.app.Materials.CreateMaterial(ctx, r.member,
		material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some("HeLa"),
			Organization: exchange.Some(exchange.Ref(o.ID)), NeedsAbstract: exchange.Some(true)})
	r.must(err)
	r.material = m.ID
	return r
}

// join makes people members of a lab by invitations that they accept.
func join(ctx context.Context, db *store.DB, lab int64, people ...uuid.UUID) error {
	return db.Tx(ctx, func(ctx context.Context,
		tx store.Conn) error {
		return tx.Organizations.Join(ctx, lab, people...)
	})
}

// process returns the use cases as another process has them.
func (r *reminding) process(db *store.DB) *app.App {
	db.Clock = func() time.Time { return *r.now.Load() }
	return app.New(app.Config{DB: db, Access: exchange.AccessMembers, Registration: []string{"open"},
		TokenLifetime: 1e6 * time.Hour,
		Reminders:     request.Reminders{7, 14, 28}, Escalation: 21, Log: slog.New(slog.DiscardHandler)})
}

func (r *reminding) set(now time.Time) { r.now.Store(&now) }

func (r *reminding) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *reminding) person(name string) exchange.Actor {
	r.Helper()
	signed, err := r.app.Accounts.SignIn(r.Context(), identity.Person{RegistryID: name}, person.Registration{})
	r.must(err)
	who, err := r.app.Accounts.Actor(r.Context(), signed.Token)
	r.must(err)
	return who
}

func (r *reminding) request() int64 { return r.requestOf(r.asks) }

func (r *reminding) requestOf(who exchange.Actor) int64 {
	r.Helper()
	q, err := r.app.Requests.CreateRequest(r.Context(), who,
		request.New{Material: exchange.Some(exchange.Ref(r.material))})
	r.must(err)
	return q.ID
}

// work starts workers, each as a process of its own.
func (r *reminding) work(processes int) {
	r.Helper()
	for n := range processes {
		a := r.app // is woken at once; the others poll
		if n > 0 {
			a = r.process(storetest.Again(r.T, r.db))
		}
		var handlers []job.Handler
		for _, h := range a.Handlers() {
			handlers = append(handlers, h.Every(0))
		}
		jobtest.Start(r.T, job.Config{DB: a.DB, Handlers: handlers, Lease: 1e6 * time.Hour,
			Log: slog.New(slog.DiscardHandler)})
	}
}

// remind runs so many jobs at the same time and returns how many reminders and escalations they sent.
func (r *reminding) remind(jobs int) (sent int) {
	r.Helper()
	ids := make([]int64, jobs)
	for i := range ids {
		ids[i] = jobtest.Enqueue(r.T, r.db, transfer.Remind, struct{}{}, job.EnqueueOptions{})
	}
	for _, id := range ids {
		var s transfer.ReminderResult
		r.must(json.Unmarshal(jobtest.Wait(r.T, r.db, id, exchange.JobDone).Result, &s))
		sent += int(s.Reminders + s.Escalations)
	}
	return sent
}

// heard returns the days of a request's reminders that somebody got, in order.
func (r *reminding) heard(who exchange.Actor, requestID int64) (days []int) {
	r.Helper()
	return r.heardOf(request.Reminded, who, requestID)
}

func (r *reminding) heardOf(kind request.EventKind, who exchange.Actor, request int64) (days []int) {
	r.Helper()
	part, err := r.db.Read().Notifications.List(r.Context(), who.ID, notify.NotificationFilter{},
		exchange.Page{Limit: 10_000})
	r.must(err)
	for _, n := range slices.Backward(part.Items) {
		if n.Event.RequestID == request && n.Event.Kind == kind && n.Category == mailing.ReminderNotif {
			days = append(days, n.Event.Detail.Days)
		}
	}
	return days
}

func TestReminders_GoToWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		r.work(1)
		ctx, id := t.Context(), r.request()
		began := *r.now.Load()
		check := func(day time.Duration, requester, member []int) {
			t.Helper()
			r.set(began.Add(day * 24 * time.Hour))
			r.remind(1)
			for who, want := range map[*exchange.Actor][]int{&r.asks: requester, &r.member: member, &r.off: nil} {
				if got := r.heard(*who, id); !slices.Equal(got, want) {
					t.Errorf("day %d: reminded on %v, want %v", day, got, want)
				}
			}
		}
		check(6, nil, nil)
		check(7, []int{7}, nil)
		check(7, []int{7}, nil)
		before, err := r.app.Requests.Request(ctx, r.asks, id)
		r.must(err)
		check(16, []int{7, 14}, nil)
		after, err := r.app.Requests.Request(ctx, r.asks, id)
		r.must(err)
		if !after.WaitingSince.Equal(began) || !after.UpdatedAt.Equal(before.UpdatedAt) ||
			after.Head.Seq != before.Head.Seq+1 {
			t.Errorf("a reminder made %+v of %+v", after, before)
		}
		// on day 16
		_, err = r.app.Requests.UpdateRequest(ctx, r.asks, id,
			request.Patch{Abstract: exchange.Some("To map receptors.")}, nil)
		r.must(err)
		check(22, []int{7, 14}, nil)
		check(23, []int{7, 14}, []int{7})
		check(16+28+30+30, []int{7, 14}, []int{7, 88})
		check(40, []int{7, 14}, []int{7, 88}) // the clock was set back
		check(16+118, []int{7, 14}, []int{7, 88, 118})
		_, err = r.app.Requests.UpdateRequest(ctx, r.member, id,
			request.Patch{Status: exchange.Some(request.Rejected)}, nil)
		r.must(err)
		check(900, []int{7, 14}, []int{7, 88, 118})
		if report, err := r.app.Evidence.Verify(ctx, evidence.Verification{Files: true}); err != nil || len(report.Faults) > 0 {
			t.Errorf("verify: %v, %v", report.Faults, err)
		}
	})
}

func TestEscalation_NotifiesTheOwnerOncePerTurn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		r.work(1)
		ctx, id, theirs := t.Context(), r.request(), r.request()
		update := func(p request.Patch) {
			t.Helper()
			_, err := r.app.Requests.UpdateRequest(ctx, r.asks, id, p, nil)
			r.must(err)
		}
		check := func(days int, want ...int) {
			t.Helper()
			r.set(r.now.Load().AddDate(0, 0, days))
			r.remind(1)
			if got := r.heardOf(request.Escalated, r.member, id); !slices.Equal(got, want) {
				t.Errorf("on %s the owner heard on %v, want %v", r.now.Load(), got, want)
			}
		}
		check(30) // the requester's turn
		update(request.Patch{Abstract: exchange.Some("To map receptors.")})
		check(20)
		check(1, 21)
		check(90, 21)
		update(request.Patch{Abstract: exchange.Some("")})
		check(30, 21)
		update(request.Patch{Abstract: exchange.Some("To map them all.")})
		check(60, 21, 21)
		o, err := r.app.Labs.UpdateOrganization(ctx, r.member, r.lab,
			lab.OrganizationPatch{Owner: exchange.Some(exchange.UserRef(r.off.ID))}, nil)
		r.must(err)
		_, err = r.app.Labs.Answer(ctx, r.off, r.off.ID, o.Invitations[0].ID, lab.InvitationAccepted)
		r.must(err)
		update(request.Patch{Abstract: exchange.Some("")})
		update(request.Patch{Abstract: exchange.Some("To map some.")})
		check(21, 21, 21)
		for _, who := range []exchange.Actor{r.off, r.asks} {
			if got := r.heardOf(request.Escalated, who, id); got != nil {
				t.Errorf("someone else heard on %v", got)
			}
		}
		if got := r.heardOf(request.Escalated, r.member, theirs); got != nil {
			t.Errorf("a turn of the requester escalated on %v", got)
		}
	})
}

// TestReminders_AreSentOnceByManyProcesses has several processes do several jobs at once.
func TestReminders_AreSentOnceByManyProcesses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		r.work(3)
		first := r.request()
		raw := storetest.SQL(t, db)
		const columns = `material_id, requester_id, assigned_to, status, is_active, quantity, note, requester_abstract, payment_method,
			payment_method_notes, rejection_reason, override_reason, correction, open_issues, put_back, organization_id, party, step, waiting_since, reminded, escalates, clock, created_at, updated_at`
		const doubled = 9
		for range doubled { // 512, more than one step
			_, err := raw.ExecContext(t.Context(), "INSERT INTO material_requests ("+columns+
				", last_seq, last_hash) SELECT "+columns+", 0, '' FROM material_requests")
			r.must(err)
		}
		_, err := raw.ExecContext(t.Context(),
			`INSERT INTO request_turns (request_id, seq, status, party, what, began_at)
			SELECT r.id, t.seq, t.status, t.party, t.what, t.began_at FROM request_turns t CROSS JOIN material_requests r WHERE r.id <> t.request_id`)
		r.must(err)
		for i, days := range []int{7, 7, 20} {
			r.set(time.Date(2026, 3, 2+days, 9, 0, 0, 0, time.UTC))
			if sent, want := r.remind(4), []int{1 << doubled, 0, 1 << doubled}[i]; sent != want {
				q, err := r.app.Requests.Request(t.Context(), r.asks, first)
				t.Errorf("%d reminders went out on day %d, want %d; the first request: %+v, %v", sent, days, want,
					q.Request, err)
			}
		}
		if sent := r.remind(1); sent != 0 {
			t.Errorf("%d reminders were left for another run", sent)
		}
		count := func(query string, args ...any) (n int) {
			r.must(raw.QueryRowContext(t.Context(), query, args...).Scan(&n))
			return n
		}
		for query, want := range map[string]int{
			"SELECT COUNT(*) FROM request_events WHERE kind = 'reminded'":                               2 << doubled,
			"SELECT COUNT(DISTINCT request_id) FROM request_events WHERE kind = 'reminded'":             1 << doubled,
			"SELECT COUNT(*) FROM notifications WHERE category = 'reminder_notif'":                      2 << doubled,
			"SELECT COUNT(*) FROM material_requests WHERE reminded = 14":                                1 << doubled,
			"SELECT COUNT(*) FROM request_events WHERE kind = 'reminded' AND detail LIKE '%days\":14}'": 1 << doubled,
		} {
			if got := count(query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
		if got := r.heard(r.asks, first); !slices.Equal(got, []int{7, 14}) {
			t.Errorf("reminded on %v", got)
		}
		if report, err := r.app.Evidence.Verify(t.Context(), evidence.Verification{Files: true}); err != nil || len(report.Faults) > 0 {
			t.Errorf("verify: %v, %v", report.Faults, err)
		}
	})
}

func TestReminders_NeedTheSetting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		id := r.request()
		r.set(r.now.Load().AddDate(1, 0, 0))
		r.app.Reminders, r.app.Escalation = nil, 0
		r.work(1)
		if sent := r.remind(1); sent != 0 || r.heard(r.asks, id) != nil {
			t.Errorf("%d reminders were sent", sent)
		}
	})
}
