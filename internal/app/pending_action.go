package app

import (
	"cmp"
	"context"
	"errors"

	"aliquot/internal/app/core"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// Schedule runs an action after UndoTime. It tries the action first and returns its error at once if it would be
// refused now; it returns Conflict if somebody else's action on the same request is pending. match is a condition on
// the request of the action.
func (a *App) Schedule(ctx context.Context, who exchange.Actor, d transfer.PendingAction,
	match core.IfMatch[request.Detail]) (id int64, err error) {
	trial := errors.New("rolled back")
	if err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		return cmp.Or(a.applyPendingAction(ctx, tx, who, d, match), trial)
	}); !errors.Is(err, trial) {
		return 0, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if d.Request != 0 {
			q, err := tx.Requests.ForUpdate(ctx, d.Request)
			if err == nil {
				err = a.Requests.RefuseOver(ctx, tx, who, q)
			}
			if err != nil {
				return err
			}
		}
		id, err = transfer.Do.Restart(ctx, tx, d,
			job.EnqueueOptions{Key: d.Key(who.ID), User: &who.ID, At: tx.Now.Add(transfer.UndoTime)})
		return err
	})
	return id, err
}

// Undo cancels a pending action of who; it returns Conflict if the action has run already.
func (a *App) Undo(ctx context.Context, who exchange.Actor, id int64) (d transfer.PendingAction, err error) {
	_, err = a.changeJob(ctx, who, exchange.JobCancel, id, func(j exchange.Job, tx store.Conn) (exchange.Job, error) {
		if d, err = transfer.PendingActionOf(j); err != nil || j.State == exchange.JobCancelled {
			return j, err
		}
		if j.State != exchange.JobReady {
			return j, exchange.Errorf(exchange.Conflict, "It has been done and can no longer be undone.")
		}
		return j.Cancel(tx.Now)
	})
	return d, err
}

// runPendingAction is the handler of Do. The action and the end of the job are one transaction, so that an action that
// was done is never reported as failed. An action that a rule now forbids is not retried. Only pages schedule
// actions, so their rules hold.
func (a *App) runPendingAction(ctx context.Context, r *job.Run, d transfer.PendingAction) error {
	a = a.ForPages()
	who, err := a.DB.Read().Actors.Of(ctx, r.User())
	if err != nil {
		return err
	}
	err = r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		return nil, a.applyPendingAction(ctx, tx, who, d, nil)
	})
	if e, ok := errors.AsType[*exchange.Error](err); ok && !e.Code.ServerFault() {
		return job.GiveUp(err)
	}
	return err
}

// applyPendingAction runs an action in a transaction that is open.
func (a *App) applyPendingAction(ctx context.Context, tx store.Conn, who exchange.Actor, d transfer.PendingAction,
	match core.IfMatch[request.Detail]) error {
	a = a.inside(tx)
	switch {
	case d.Request != 0:
		return a.applyPendingStatus(ctx, who, d, match)
	case d.Material != 0:
		return a.Materials.ArchiveMaterial(ctx, who, d.Material, nil)
	}
	return a.Labs.RemoveMember(ctx, who, d.Organization, d.Member, d.To)
}

// applyPendingStatus changes the status of a request, and its shipping details if the action has any.
func (a *App) applyPendingStatus(ctx context.Context, who exchange.Actor, d transfer.PendingAction,
	match core.IfMatch[request.Detail]) error {
	p := request.Patch{Status: exchange.Some(d.Status), Reason: exchange.Some(d.Reason)}
	if d.Status == request.Rejected {
		p.Rejection = exchange.Some(d.Reason)
	}
	if d.Override != "" {
		p.Override = exchange.Some(d.Override)
	}
	_, err := a.Requests.Act(ctx, who, exchange.RequestUpdate, d.Request, match,
		func(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (after request.Request, events []request.Event, err error) {
			if s := d.Shipment; s != nil {
				if q.Request, events, err = q.Ship(roles, who.ID, s.Patch(), q.Terms, tx.Now); err != nil {
					return q.Request, nil, err
				}
			}
			after, moved, err := a.Requests.Patch(ctx, tx, who, q, roles, p)
			if outdated := d.From != "" && q.Status != d.From; outdated &&
				(err == nil || exchange.CodeOf(err) == exchange.InvalidTransition) { // a missing right is told first
				return q.Request, nil, exchange.Errorf(exchange.InvalidTransition,
					"The status of the request is %s; it was to be changed from %s.", q.Status, d.From).
					With("status", q.Status)
			}
			return after, append(events, moved...), err
		})
	return err
}
