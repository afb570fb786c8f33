package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// Remind is the job that reminds of what is owed. Nobody enqueues it: it is periodic.
var Remind = job.Kind[struct{}]{Name: "remind"}

// Sent is the result of a job that reminds.
type Sent struct {
	Reminders int64 `json:"reminders"`
}

// remind reminds whose turn it is, where that is due. A request that is held by somebody else right
// now waits for the next run. It needs no state to go on where another run died: whoever was reminded
// is out of what it looks for.
func (a *App) remind(ctx context.Context, r *job.Run, _ struct{}) error {
	for last := -1; ; {
		day, some, err := a.DB.Read().NextReminded(ctx, last)
		if err != nil {
			return err
		}
		next, ever := a.Reminders.Next(day)
		if !some || !ever {
			return r.Finish(ctx, func(context.Context, store.Conn) (any, error) { return Sent{r.Progress().Done}, nil })
		}
		if err := a.remindOn(ctx, r, day, next); err != nil {
			return err
		}
		last = day
	}
}

// remindOn reminds where it was done last on a day of the turn, and the next day to do it has come.
func (a *App) remindOn(ctx context.Context, r *job.Run, day, next int) error {
	var after exchange.Request
	for {
		var list []exchange.Requested
		err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
			p = exchange.Progress{Done: r.Progress().Done, Note: "reminding"}
			list, err = tx.RequestsToRemind(ctx, day, tx.Now.AddDate(0, 0, -next), after, remindAtOnce)
			if err != nil {
				return p, nil, err
			}
			for _, q := range list {
				sent, err := a.remindOf(ctx, tx, q)
				if err != nil {
					return p, nil, err
				}
				p.Done += sent
			}
			return p, nil, nil
		})
		if err != nil || len(list) < remindAtOnce {
			return err
		}
		after = list[len(list)-1].Request
	}
}

// remindAtOnce is how many requests one transaction reminds of; SQLite has no other writer meanwhile.
const remindAtOnce = 200

// remindOf reminds of one request that is locked, and says how many reminders that were.
func (a *App) remindOf(ctx context.Context, tx store.Conn, q exchange.Requested) (sent int64, err error) {
	after, events := q.Remind(q.Terms, a.Reminders, tx.Now)
	if len(events) == 0 {
		return 0, nil
	}
	q.Request = after
	if events, err = tx.AppendEvents(ctx, &q, events); err != nil {
		return 0, err
	}
	if err := tx.SaveReminder(ctx, q); err != nil {
		return 0, err
	}
	return 1, tell(ctx, tx, q, exchange.Roles{}, events)
}
