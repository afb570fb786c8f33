package shape

import (
	"errors"

	"aliquot/internal/app"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// RequestGroup is several requests of one person to one lab that were sent in one step.
type RequestGroup struct {
	ID        int64     `json:"id"`
	Requester uuid.UUID `json:"requester"`
	Requests  []Request `json:"requests"` // those that the caller may see
	CreatedAt Time      `json:"created_at"`
}

// NewRequestGroup is the answer to POST /request-groups/.
type NewRequestGroup struct {
	RequestGroup
	Skipped []SkippedMaterial `json:"skipped"`
}

// SkippedMaterial is a material that was left out of a group.
type SkippedMaterial struct {
	Material int64         `json:"material"`
	Title    *string       `json:"title"` // null: it is hidden from the caller
	Error    string        `json:"error"`
	Code     exchange.Code `json:"error_code"`
}

// ShowRequestGroup returns the JSON form of a group.
func ShowRequestGroup(a *app.App, v transfer.GroupView) RequestGroup {
	return RequestGroup{v.ID, v.Requester, List(v.Requests, ShowRequest(a)), Time(v.CreatedAt)}
}

// ShowNewRequestGroup returns the JSON form of a group that was just made.
func ShowNewRequestGroup(a *app.App, v transfer.GroupView) NewRequestGroup {
	return NewRequestGroup{ShowRequestGroup(a, v), List(v.Skipped, func(u transfer.Unavailable) SkippedMaterial {
		out := SkippedMaterial{u.Material, &u.Title, u.Reason(), exchange.CodeOf(u.Why)}
		if u.Title == "" {
			out.Title = nil
		}
		return out
	})}
}

// AcceptedGroup is the answer to POST /request-groups/{id}/accept.
type AcceptedGroup struct {
	Requests []AcceptedRequest `json:"requests"`
}

// AcceptedRequest is what accepting a group did with one of its requests.
type AcceptedRequest struct {
	Request  int64          `json:"request"`
	Accepted bool           `json:"accepted"`
	Status   request.Status `json:"status"`
	Error    *string        `json:"error"` // why it was left unchanged
	Code     *exchange.Code `json:"error_code"`
}

// ShowAcceptedRequest returns the JSON form of its argument.
func ShowAcceptedRequest(o transfer.GroupOutcome) AcceptedRequest {
	out := AcceptedRequest{Request: o.Request.ID, Accepted: o.Why == nil, Status: o.Request.Status}
	if e, is := errors.AsType[*exchange.Error](o.Why); is {
		out.Error, out.Code = &e.Message, &e.Code
	}
	return out
}
