package request

import (
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// InboxState is whose turn it is in a request, from the point of view of one of its readers.
type InboxState string

// To each of its readers, a request has one of these states.
const (
	OnMe     InboxState = "me"     // it is the turn of the requester or the assignee, who is the reader
	OnMyLabs InboxState = "labs"   // it is the turn of a lab that the reader is in, and another member deals with it
	OnOthers InboxState = "others" // it is somebody else's turn
	OnNobody InboxState = "done"   // it is closed or resolved
)

// Parts of an inbox that other pages show; each of their requests has one of the states above as well.
const (
	Own      InboxState = "own"        // requests that the reader made and that are under way
	ToShip   InboxState = "to-ship"    // requests of the reader's labs that are ready to ship
	OnTheWay InboxState = "on-the-way" // requests of the reader's labs whose receipt is not confirmed
)

// Whoses lists the states.
var Whoses = []InboxState{OnMe, OnMyLabs, OnOthers, OnNobody}

// InboxState returns the state of a request for a, who is the requester or a member of the lab.
func (q Detail) InboxState(a exchange.Actor) InboxState {
	member := a.MemberOf(q.Organization)
	switch {
	case q.Party == Nobody:
		return OnNobody
	case q.Party == RequesterSide && a.Is(q.Requester), q.Party == LabSide && member && a.Is(q.AssignedTo):
		return OnMe
	case q.Party == LabSide && member:
		return OnMyLabs
	}
	return OnOthers
}

// InboxFilter narrows the requests of a person and of their labs; a nil field filters nothing.
type InboxFilter struct {
	Whose        *InboxState
	Organization *int64
	Material     *int64
	Group        *int64 // of requests that were sent in one step
	Status       *Status
	AssignedTo   *uuid.UUID
	Search       *exchange.SearchText
}

// The orders of an inbox. In the order by due date, requests without one come last.
var (
	ByWaiting = exchange.Field{Name: "waiting_since", Kind: exchange.Moment}
	ByDue     = exchange.Field{Name: "due"}
)

// MaxCounted is how far the requests of an inbox are counted; this number means that many or more.
const MaxCounted = 1000

// InboxCounts holds the number of requests in each state.
type InboxCounts map[InboxState]int64

// Of returns the number of requests in a state; nil: in all.
func (c InboxCounts) Of(w *InboxState) (n int64) {
	if w != nil {
		return c[*w]
	}
	for _, of := range c {
		n += of
	}
	return n
}

// InboxView is a choice of requests that a person keeps under a name.
type InboxView struct {
	ID    int64
	Name  string
	Query string // of the inbox's address
}

// The limits of views.
const (
	MaxInboxViews    = 20
	maxInboxViewName = 60    // characters
	maxInboxQuery    = 2_000 // bytes
)

// Check validates v, whose name it tidies.
func (v *InboxView) Check() error {
	var f exchange.FieldErrors
	f.Line("name", exchange.Some(v.Name), maxInboxViewName, &v.Name)
	f.Must("name", v.Name != "", "is required")
	f.Must("query", len(v.Query) <= maxInboxQuery, "is too long to keep")
	return f.Err()
}
