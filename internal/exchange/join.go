package exchange

import (
	"strings"
	"time"

	"github.com/google/uuid"
)

// JoinRequest is how someone asks to be taken into an organization, whose owner answers.
type JoinRequest struct {
	ID             int64
	OrganizationID int64
	UserID         uuid.UUID // who asks
	Note           string
	Status         JoinStatus
	Reason         string // why it was declined
	CreatedAt      time.Time
	AnsweredAt     *time.Time // when it was answered or taken back
}

// JoinStatus is what became of a join request.
type JoinStatus string

// The statuses of a join request.
const (
	JoinPending   JoinStatus = "PENDING"
	JoinAccepted  JoinStatus = "ACCEPTED"
	JoinDeclined  JoinStatus = "DECLINED"
	JoinWithdrawn JoinStatus = "WITHDRAWN"
)

// JoinStatuses are all of them.
var JoinStatuses = []JoinStatus{JoinPending, JoinAccepted, JoinDeclined, JoinWithdrawn}

// The limits of join requests, which keep one person from pestering owners.
const (
	MaxJoins  = 20             // that one person has pending
	joinPause = 24 * time.Hour // before the same person asks the same organization anew
)

// ShownJoinRequest is a join request with what is shown beside it.
type ShownJoinRequest struct {
	JoinRequest
	Organization string // its name
	Asker        User
}

// JoinFilter narrows a list of join requests.
type JoinFilter struct {
	Status *JoinStatus `query:"status"`
}

// JoinNew is the body of POST /organizations/:id/join-requests/.
type JoinNew struct {
	Note Opt[string] `json:"note"`
}

// Create makes a join request of p.
func (p JoinNew) Create() (JoinRequest, error) {
	var f FieldErrors
	j := JoinRequest{Status: JoinPending}
	f.long("note", p.Note, &j.Note)
	return j, f.Err()
}

// JoinDecline is the body of declining a join request.
type JoinDecline struct {
	Reason Opt[string] `json:"reason"`
}

// Check gives the tidy reason, which may be empty.
func (r JoinDecline) Check() (reason string, err error) {
	var f FieldErrors
	f.long("reason", r.Reason, &reason)
	return reason, f.Err()
}

// Again reports whether the person who made j, their last one to this organization, may ask anew.
func (j JoinRequest) Again(now time.Time) error {
	if j.Status == JoinAccepted { // and left since
		return nil
	}
	return NotBefore(j.CreatedAt.Add(joinPause), now, "You asked this organization within the last day")
}

// Answer accepts, declines or takes back j; the same again changes nothing.
func (j JoinRequest) Answer(to JoinStatus, reason string, now time.Time) (JoinRequest, error) {
	switch {
	case j.Status == to:
		return j, nil
	case j.Status != JoinPending:
		return j, Errorf(Conflict, "This join request was %s already.", strings.ToLower(string(j.Status)))
	}
	j.Status, j.Reason, j.AnsweredAt = to, reason, &now
	return j, nil
}
