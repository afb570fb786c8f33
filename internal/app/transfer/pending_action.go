package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"

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
	Override     string            `json:"override,omitempty"` // why the actor continues although something is missing
	Shipment     *request.Shipment `json:"shipment,omitempty"` // nil leaves the shipping details unchanged
	Material     int64             `json:"material,omitempty"`
	Organization int64             `json:"organization,omitempty"`
	Member       uuid.UUID         `json:"member"`
}

// Key identifies the object of a user's action: at most one action on it is pending at a time.
func (d PendingAction) Key(user uuid.UUID) string {
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
	Action PendingAction
	At     time.Time // when it runs
	Failed string    // why it failed, in words for people; "" if it is pending
	Ended  time.Time // when it failed
}

// PendingStatusOf returns the status change that who has pending for a request, or the one that failed; nil if there is
// none.
func (a Requests) PendingStatusOf(ctx context.Context, who exchange.Actor, request int64) (*PendingStatus, error) {
	j, err := a.DB.Read().Jobs.ByKey(ctx, Do.Name, PendingAction{Request: request}.Key(who.ID))
	if exchange.CodeOf(err) == exchange.NotFound {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	d, err := PendingActionOf(j)
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
