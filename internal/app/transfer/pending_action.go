package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
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
	From         request.Status    `json:"from,omitempty"` // the status that the actor saw; in another, it is refused
	Reason       string            `json:"reason,omitempty"`
	Override     string            `json:"override,omitempty"` // why the actor continues although something is missing
	Shipment     *request.Shipment `json:"shipment,omitempty"` // nil leaves the shipping details unchanged
	Material     int64             `json:"material,omitempty"`
	Organization int64             `json:"organization,omitempty"`
	Member       uuid.UUID         `json:"member"`
	To           uuid.UUID         `json:"to"` // who takes the listings and requests of the member; uuid.Nil: the owner
}

// Key identifies the object of a user's action: at most one action on it is pending at a time, and on a request at most
// one of all users.
func (d PendingAction) Key(user uuid.UUID) string {
	if d.Request != 0 {
		return fmt.Sprintf("request %d", d.Request)
	}
	return fmt.Sprintf("%s %d %d %d %s", user, d.Request, d.Material, d.Organization, d.Member)
}

// PendingActionOf returns the action that a job is to run.
func PendingActionOf(j exchange.Job) (d PendingAction, err error) {
	if j.Kind != Do.Name {
		return d, exchange.Errorf(exchange.NotFound, "There is nothing to undo.")
	}
	return d, json.Unmarshal(j.Args, &d)
}

// Do is the job that runs an action once it can no longer be undone.
var Do = job.Kind[PendingAction]{Name: "deed"}

// PendingStatus is a status change of a request that is pending, or one that failed, with the reason.
type PendingStatus struct {
	ID     int64
	By     person.User // who decided; only they can undo it
	Action PendingAction
	At     time.Time // when it runs
	Failed string    // why it failed, in words for people; "" if it is pending
	Ended  time.Time // when it failed
}

// pendingStatus returns what who sees of the job of an action on a request: members and admins see it while it is
// pending, its actor also when it failed; nil if there is nothing to see.
func pendingStatus(j exchange.Job, who exchange.Actor, q request.Detail, by person.User) (*PendingStatus, error) {
	roles := request.RolesOf(q.RelationsOf(who, q.Organization))
	if by.ID != who.ID && (j.State == exchange.JobFailed || !roles.Member && !roles.Admin) {
		return nil, nil //nolint:nilnil // there is none
	}
	d, err := PendingActionOf(j)
	if err != nil {
		return nil, err
	}
	switch j.State {
	case exchange.JobReady, exchange.JobRunning:
		return &PendingStatus{ID: j.ID, By: by, Action: d, At: *j.DueAt}, nil
	case exchange.JobFailed:
		return &PendingStatus{ID: j.ID, By: by, Action: d, Failed: j.Error, Ended: *j.EndedAt}, nil
	}
	return nil, nil //nolint:nilnil // there is none
}

// PendingStatusOf returns the status change that is pending for a request, or the one of who that failed; nil if there
// is none that who may see.
func (a Requests) PendingStatusOf(ctx context.Context, who exchange.Actor, q request.Detail) (*PendingStatus, error) {
	c := a.DB.Read()
	j, err := c.Jobs.ByKey(ctx, Do.Name, PendingAction{Request: q.ID}.Key(who.ID))
	if exchange.CodeOf(err) == exchange.NotFound {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	by, err := c.Users.Get(ctx, *j.User)
	if err != nil {
		return nil, err
	}
	return pendingStatus(j, who, q, by)
}

// RefuseOver returns Conflict if a status change of somebody else than who is pending for the request, which tx has
// locked.
func (a Requests) RefuseOver(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail) error {
	j, err := tx.Jobs.ByKey(ctx, Do.Name, PendingAction{Request: q.ID}.Key(who.ID))
	if exchange.CodeOf(err) == exchange.NotFound || err == nil && (j.State.Over() || *j.User == who.ID) {
		return nil
	} else if err != nil {
		return err
	}
	d, err := PendingActionOf(j)
	if err != nil {
		return err
	}
	by, err := tx.Users.Get(ctx, *j.User)
	if err != nil {
		return err
	}
	return exchange.Errorf(exchange.Conflict, "%s just %s this request and can undo it for a few seconds. Decide "+
		"after that.", by.Name(), decided(d.Status))
}

// decided returns a status change in the past tense.
func decided(to request.Status) string {
	switch to {
	case request.Approved:
		return "accepted"
	case request.Rejected:
		return "declined"
	case request.Fulfilled:
		return "shipped"
	}
	return "changed"
}
