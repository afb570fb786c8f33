package exchange

import "github.com/google/uuid"

// Whose says whose turn it is in a request, as one of those sees it who may read it.
type InboxState string

// A request is one of these to each of its readers.
const (
	OnMe     InboxState = "me"     // it is the turn of the requester or the assignee, which is the reader
	OnMyLabs InboxState = "labs"   // it is the turn of a lab that the reader is in, where another looks after it
	OnOthers InboxState = "others" // it is somebody else's turn
	OnNobody InboxState = "done"   // it is closed or resolved
)

// Whoses are all of them.
var Whoses = []InboxState{OnMe, OnMyLabs, OnOthers, OnNobody}

// Whose says what a request is to a, who is the requester or a member of the lab.
func (a Actor) InboxState(q RequestDetail) InboxState {
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

// InboxFilter narrows the requests of a person and of the labs that they are in; a nil field filters nothing.
type InboxFilter struct {
	Whose        *InboxState
	Organization *int64
	Material     *int64
	Status       *Status
	AssignedTo   *uuid.UUID
	Search       *SearchText
}

// The orders of an inbox. What has no day by which it is due comes last where that is the order.
var (
	ByWaiting = Field{Name: "waiting_since", Kind: Moment}
	ByDue     = Field{Name: "due"}
)

// MaxCounted is how far the requests of an inbox are counted; from there on there are so many or more.
const MaxCounted = 1000

// InboxCounts say how many requests are what to a person.
type InboxCounts map[InboxState]int64

// Of is how many there are of one kind; nil: of all.
func (c InboxCounts) Of(w *InboxState) (n int64) {
	if w != nil {
		return c[*w]
	}
	for _, of := range c {
		n += of
	}
	return n
}
