package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// UndoTime is how long a deed can be taken back.
const UndoTime = 10 * time.Second

// Deed is one thing that others will see, and that its person may take back before they do: a request moves to a
// status, a material is archived, or a member is removed from a lab.
type PendingAction struct {
	Request      int64              `json:"request,omitempty"`
	Status       exchange.Status    `json:"status,omitempty"`
	Reason       string             `json:"reason,omitempty"`
	Override     string             `json:"override,omitempty"` // why it goes on with something missing
	Shipment     *exchange.Shipment `json:"shipment,omitempty"` // how the parcel travels; nil: that stays as it is
	Material     int64              `json:"material,omitempty"`
	Organization int64              `json:"organization,omitempty"`
	Member       uuid.UUID          `json:"member"`
}

// key names what a deed of a person is about: there is one about it at a time.
func (d PendingAction) key(user uuid.UUID) string {
	return fmt.Sprintf("%s %d %d %d %s", user, d.Request, d.Material, d.Organization, d.Member)
}

// pendingActionOf is the deed that a job is to do.
func pendingActionOf(j exchange.Job) (d PendingAction, err error) {
	if j.Kind != Do.Name {
		return d, exchange.Errorf(exchange.NotFound, "There is nothing to take back.")
	}
	return d, json.Unmarshal(j.Args, &d)
}

// Do is the job that does a deed, when it can no longer be taken back.
var Do = job.Kind[PendingAction]{Name: "deed"}

// Later has a deed done after UndoTime. One that could not be done now is refused at once, as it would be then.
func (a *App) Schedule(ctx context.Context, who exchange.Actor, d PendingAction) (id int64, err error) {
	trial, held := a.DB.DeferCommit(ctx)
	err = a.applyPendingAction(trial, who, d)
	held.Rollback(ctx)
	if err != nil {
		return 0, err
	}
	err = a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		id, err = Do.Restart(ctx, tx, d,
			job.EnqueueOptions{Key: d.key(who.ID), User: &who.ID, At: tx.Now.Add(UndoTime)})
		return err
	})
	return id, err
}

// Undo takes back a deed of who; Conflict where it is done by now.
func (a *App) Undo(ctx context.Context, who exchange.Actor, id int64) (d PendingAction, err error) {
	_, err = a.changeJob(ctx, who, exchange.JobCancel, id, func(j exchange.Job, tx store.Conn) (exchange.Job, error) {
		if d, err = pendingActionOf(j); err != nil || j.State == exchange.JobCancelled {
			return j, err
		}
		if j.State != exchange.JobReady {
			return j, exchange.Errorf(exchange.Conflict, "It is done by now and cannot be taken back any more.")
		}
		return j.Cancel(tx.Now)
	})
	return d, err
}

// Doing is the deed about a request that waits to be done, nil where there is none, and what kept an earlier one
// from being done.
type PendingStatus struct {
	ID     int64
	Deed   PendingAction
	At     time.Time // when it is done
	Failed string    // why it was not done, for a person; "": it waits
	Ended  time.Time // when that was
}

// PendingStatusOf is what who is about to do to a request; nil: nothing.
func (a *App) PendingStatusOf(ctx context.Context, who exchange.Actor, request int64) (*PendingStatus, error) {
	j, err := a.DB.Read().JobByKey(ctx, Do.Name, PendingAction{Request: request}.key(who.ID))
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
		return &PendingStatus{ID: j.ID, Deed: d, At: *j.DueAt}, nil
	case exchange.JobFailed:
		return &PendingStatus{ID: j.ID, Deed: d, Failed: j.Error, Ended: *j.EndedAt}, nil
	}
	return nil, nil
}

// runPendingAction is the job: what it does and that it is done are one transaction, so that no deed that was done is
// told as one that was not. What a rule forbids by now is not tried again.
func (a *App) runPendingAction(ctx context.Context, r *job.Run, d PendingAction) error {
	who, err := a.DB.Read().ActorOf(ctx, r.User())
	if err != nil {
		return err
	}
	deed, held := a.DB.DeferCommit(ctx)
	defer held.Rollback(ctx)
	if err = a.applyPendingAction(deed, who, d); err == nil {
		return r.FinishHeld(ctx, held)
	}
	if e, ok := errors.AsType[*exchange.Error](err); ok && !e.Code.ServerFault() {
		return job.GiveUp(err)
	}
	return err
}

// do does a deed, in one transaction.
func (a *App) applyPendingAction(ctx context.Context, who exchange.Actor, d PendingAction) error {
	switch {
	case d.Request != 0:
		return a.applyPendingStatus(ctx, who, d)
	case d.Material != 0:
		return a.ArchiveMaterial(ctx, who, d.Material)
	}
	members, err := a.DB.Read().MembersOf(ctx, d.Organization, everything)
	if err != nil {
		return err
	}
	rest := []exchange.UserRef{}
	for _, m := range members.Items {
		if m.ID != d.Member {
			rest = append(rest, exchange.UserRef(m.ID))
		}
	}
	_, err = a.UpdateOrganization(ctx, who, d.Organization, exchange.OrganizationPatch{Members: exchange.Some(rest)})
	return err
}

// applyPendingStatus gives a request the status of a deed, and says how its parcel travels.
func (a *App) applyPendingStatus(ctx context.Context, who exchange.Actor, d PendingAction) error {
	p := exchange.RequestPatch{Status: exchange.Some(d.Status), Reason: exchange.Some(d.Reason)}
	if d.Status == exchange.Rejected {
		p.Rejection = exchange.Some(d.Reason)
	}
	if d.Override != "" {
		p.Override = exchange.Some(d.Override)
	}
	_, err := a.act(ctx, who, exchange.RequestUpdate, d.Request,
		func(ctx context.Context, tx store.Conn, who exchange.Actor, q exchange.RequestDetail,
			roles exchange.Roles) (after exchange.Request, events []exchange.Event, err error) {
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
