package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// UndoTime is how long an action can be undone.
const UndoTime = 10 * time.Second

// PendingAction is an action that others will see and that its actor may undo before they do: a request changes its
// status, a material is archived, or a member is removed from a lab.
type PendingAction struct {
	Request      int64             `json:"request,omitempty"`
	Status       request.Status    `json:"status,omitempty"`
	Reason       string            `json:"reason,omitempty"`
	Override     string            `json:"override,omitempty"` // why the actor goes on although something is missing
	Shipment     *request.Shipment `json:"shipment,omitempty"` // nil leaves the shipping details unchanged
	Material     int64             `json:"material,omitempty"`
	Organization int64             `json:"organization,omitempty"`
	Member       uuid.UUID         `json:"member"`
}

// key identifies the object of a user's action: at most one action on it is pending at a time.
func (d PendingAction) key(user uuid.UUID) string {
	return fmt.Sprintf("%s %d %d %d %s", user, d.Request, d.Material, d.Organization, d.Member)
}

// pendingActionOf returns the action that a job is to run.
func pendingActionOf(j exchange.Job) (d PendingAction, err error) {
	if j.Kind != Do.Name {
		return d, exchange.Errorf(exchange.NotFound, "There is nothing to undo.")
	}
	return d, json.Unmarshal(j.Args, &d)
}

// Do is the job that runs an action once it can no longer be undone.
var Do = job.Kind[PendingAction]{Name: "deed"}

// Schedule runs an action after UndoTime. It tries the action first and returns its error at once if it would be
// refused now. match is a condition on the request of the action.
func (a *App) Schedule(ctx context.Context, who exchange.Actor, d PendingAction,
	match IfMatch[request.Detail]) (id int64, err error) {
	trial := errors.New("rolled back")
	if err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		return cmp.Or(a.applyPendingAction(ctx, tx, who, d, match), trial)
	}); !errors.Is(err, trial) {
		return 0, err
	}
	err = a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		id, err = Do.Restart(ctx, tx, d,
			job.EnqueueOptions{Key: d.key(who.ID), User: &who.ID, At: tx.Now.Add(UndoTime)})
		return err
	})
	return id, err
}

// Undo cancels a pending action of who; it returns Conflict if the action has run already.
func (a *App) Undo(ctx context.Context, who exchange.Actor, id int64) (d PendingAction, err error) {
	_, err = a.changeJob(ctx, who, exchange.JobCancel, id, func(j exchange.Job, tx store.Conn) (exchange.Job, error) {
		if d, err = pendingActionOf(j); err != nil || j.State == exchange.JobCancelled {
			return j, err
		}
		if j.State != exchange.JobReady {
			return j, exchange.Errorf(exchange.Conflict, "It has been done and can no longer be undone.")
		}
		return j.Cancel(tx.Now)
	})
	return d, err
}

// PendingStatus is a status change of a request that is pending, or one that failed, with the reason.
type PendingStatus struct {
	ID     int64
	Action PendingAction
	At     time.Time // when it runs
	Failed string    // why it failed, in words for people; "" if it is pending
	Ended  time.Time // when it failed
}

// PendingStatusOf returns the status change that who has pending for a request, or the one that failed; nil if there is
// none.
func (a *App) PendingStatusOf(ctx context.Context, who exchange.Actor, request int64) (*PendingStatus, error) {
	j, err := a.DB.Read().Jobs.ByKey(ctx, Do.Name, PendingAction{Request: request}.key(who.ID))
	if exchange.CodeOf(err) == exchange.NotFound {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	d, err := pendingActionOf(j)
	if err != nil {
		return nil, err
	}
	switch j.State {
	case exchange.JobReady, exchange.JobRunning:
		return &PendingStatus{ID: j.ID, Action: d, At: *j.DueAt}, nil
	case exchange.JobFailed:
		return &PendingStatus{ID: j.ID, Action: d, Failed: j.Error, Ended: *j.EndedAt}, nil
	}
	return nil, nil
}

// runPendingAction is the handler of Do. The action and the end of the job are one transaction, so that an action that
// was done is never reported as failed. An action that a rule now forbids is not retried.
func (a *App) runPendingAction(ctx context.Context, r *job.Run, d PendingAction) error {
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
func (a *App) applyPendingAction(ctx context.Context, tx store.Conn, who exchange.Actor, d PendingAction,
	match IfMatch[request.Detail]) error {
	a = a.inside(tx)
	switch {
	case d.Request != 0:
		return a.applyPendingStatus(ctx, who, d, match)
	case d.Material != 0:
		return a.ArchiveMaterial(ctx, who, d.Material, nil)
	}
	members, err := tx.Organizations.ListMembers(ctx, d.Organization, everything)
	if err != nil {
		return err
	}
	rest := []exchange.UserRef{}
	for _, m := range members.Items {
		if m.ID != d.Member {
			rest = append(rest, exchange.UserRef(m.ID))
		}
	}
	_, err = a.UpdateOrganization(ctx, who, d.Organization,
		lab.OrganizationPatch{Members: exchange.Some(rest)}, nil)
	return err
}

// applyPendingStatus changes the status of a request, and its shipping details if the action has any.
func (a *App) applyPendingStatus(ctx context.Context, who exchange.Actor, d PendingAction,
	match IfMatch[request.Detail]) error {
	p := request.Patch{Status: exchange.Some(d.Status), Reason: exchange.Some(d.Reason)}
	if d.Status == request.Rejected {
		p.Rejection = exchange.Some(d.Reason)
	}
	if d.Override != "" {
		p.Override = exchange.Some(d.Override)
	}
	_, err := a.act(ctx, who, exchange.RequestUpdate, d.Request, match,
		func(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (after request.Request, events []request.Event, err error) {
			if s := d.Shipment; s != nil {
				if q.Request, events, err = q.Ship(roles, who.ID, s.Patch(), q.Terms, tx.Now); err != nil {
					return q.Request, nil, err
				}
			}
			after, moved, err := a.patch(ctx, tx, who, q, roles, p)
			return after, append(events, moved...), err
		})
	return err
}
