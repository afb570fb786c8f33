package transfer

import (
	"context"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// Remind is the job that reminds people of their tasks, and notifies the owners of labs that keep somebody waiting. It
// is periodic; nothing enqueues it.
var Remind = job.Kind[struct{}]{Name: "remind"}

// ReminderResult is the result of a Remind job.
type ReminderResult struct {
	Reminders   int64 `json:"reminders"`
	Escalations int64 `json:"escalations"`
}

// Remind sends the reminders that are due. A request that is locked by somebody else waits for the next run. Apart from
// its counts, a run needs no state to continue one that died: requests already reminded of no longer match its query.
func (a Requests) Remind(ctx context.Context, r *job.Run, _ struct{}) error {
	s := sending{app: a, step: r.Step}
	if err := r.Resume(&s.sent); err != nil {
		return err
	}
	if err := s.due(ctx); err != nil {
		return err
	}
	return r.Finish(ctx, func(context.Context, store.Conn) (any, error) { return s.sent, nil })
}

// RemindDue sends reminders as the job does, of what is due by the clock of the caller, which makes up past events.
func (a Requests) RemindDue(ctx context.Context) error {
	s := sending{app: a, step: func(ctx context.Context, part part) error {
		return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
			_, _, err := part(ctx, tx)
			return err
		})
	}}
	return s.due(ctx)
}

// sending is one round of reminders.
type sending struct {
	app  Requests
	step func(context.Context, part) error // runs a part in a transaction
	sent ReminderResult
}

// part is the work of one transaction of a round.
type part = func(context.Context, store.Conn) (exchange.Progress, any, error)

// due sends what is due.
func (s *sending) due(ctx context.Context) error {
	for last := -1; ; {
		day, some, err := s.app.DB.Read().Reminders.Next(ctx, last)
		if err != nil {
			return err
		}
		next, ever := s.app.Reminders.Next(day)
		if !some || !ever {
			break
		}
		if err := s.reminders(ctx, day, next); err != nil {
			return err
		}
		last = day
	}
	return s.escalations(ctx)
}

// reminders sends the reminders of the day next of a turn for requests whose last reminder was on the given day.
func (s *sending) reminders(ctx context.Context, day, next int) error {
	find := func(ctx context.Context, tx store.Conn, after request.Request) ([]request.Detail, error) {
		return tx.Reminders.ToRemind(ctx, day, tx.Now.AddDate(0, 0, -next), after, remindAtOnce)
	}
	return s.each(ctx, &s.sent.Reminders, find,
		func(q request.Detail, now time.Time) (request.Request, []request.Event) {
			return q.Remind(q.Terms, s.app.Reminders, now)
		})
}

// escalations notifies the owners of labs.
func (s *sending) escalations(ctx context.Context) error {
	e := s.app.Escalation
	if e == 0 {
		return nil
	}
	find := func(ctx context.Context, tx store.Conn, after request.Request) ([]request.Detail, error) {
		return tx.Reminders.ToEscalate(ctx, tx.Now.AddDate(0, 0, -int(e)), after, remindAtOnce)
	}
	return s.each(ctx, &s.sent.Escalations, find,
		func(q request.Detail, now time.Time) (request.Request, []request.Event) {
			return q.Escalate(q.Terms, e, now)
		})
}

// each runs what is due for each request that find returns, batch by batch, and counts it.
func (s *sending) each(ctx context.Context, count *int64,
	find func(context.Context, store.Conn, request.Request) ([]request.Detail, error),
	do func(request.Detail, time.Time) (request.Request, []request.Event)) error {
	before, after := *count, request.Request{}
	for {
		var list []request.Detail
		err := s.step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
			*count = before // the transaction may run again
			if list, err = find(ctx, tx, after); err != nil {
				return p, nil, err
			}
			for _, q := range list {
				r, events := do(q, tx.Now)
				if len(events) == 0 {
					continue
				}
				*count++
				if err := saveReminder(ctx, tx, q, r, events); err != nil {
					return p, nil, err
				}
			}
			return exchange.Progress{Done: s.sent.Reminders + s.sent.Escalations, Note: "reminding"}, s.sent, nil
		})
		if err != nil || len(list) < remindAtOnce {
			return err
		}
		before, after = *count, list[len(list)-1].Request
	}
}

// remindAtOnce is how many requests one transaction handles; SQLite has no other writer meanwhile.
const remindAtOnce = 200

// saveReminder saves a request, whose row is locked, after a reminder.
func saveReminder(ctx context.Context, tx store.Conn, q request.Detail, after request.Request,
	events []request.Event) error {
	q.Request = after
	events, err := tx.Events.Append(ctx, &q, events)
	if err != nil {
		return err
	}
	if err := tx.Reminders.Save(ctx, q); err != nil {
		return err
	}
	return notifier.NotifyAbout(ctx, tx, q, request.Roles{}, events)
}

// RemindRequest sends a reminder from who to the other side of a request, whose turn it is.
func (a Requests) RemindRequest(ctx context.Context, who exchange.Actor, id int64) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		q, err := tx.Requests.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		rel := q.RelationsOf(who, q.Organization)
		if err := a.May(ctx, tx, who, exchange.RequestUpdate, rel, core.Object("request", id)); err != nil {
			return err
		}
		after, events, err := q.RemindNow(request.RolesOf(rel), who.ID, q.Terms, tx.Now)
		if err != nil {
			return err
		}
		return saveReminder(ctx, tx, q, after, events)
	})
}
