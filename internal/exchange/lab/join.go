package lab

import (
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"

	"github.com/google/uuid"
)

// JoinRequest is a person's request to join an organization, which the owner answers.
type JoinRequest struct {
	ID             int64
	OrganizationID int64
	UserID         uuid.UUID // who wants to join
	Note           string
	Status         JoinStatus
	Reason         string // why it was declined
	CreatedAt      time.Time
	AnsweredAt     *time.Time // when it was answered or withdrawn
}

// JoinStatus is the status of a join request.
type JoinStatus string

// The statuses of a join request.
const (
	JoinPending   JoinStatus = "PENDING"
	JoinAccepted  JoinStatus = "ACCEPTED"
	JoinDeclined  JoinStatus = "DECLINED"
	JoinWithdrawn JoinStatus = "WITHDRAWN"
)

// JoinStatuses lists all of them.
var JoinStatuses = []JoinStatus{JoinPending, JoinAccepted, JoinDeclined, JoinWithdrawn}

// The limits of join requests, so that nobody can pester owners.
const (
	MaxJoins  = 20             // pending ones of one person
	joinPause = 24 * time.Hour // before the same person can ask the same organization again
)

// ShownJoinRequest is a join request with what is shown with it.
type ShownJoinRequest struct {
	JoinRequest
	Organization string // its name
	Asker        person.User
}

// JoinFilter narrows a list of join requests.
type JoinFilter struct {
	Status *JoinStatus `query:"status"`
}

// JoinNew is the body of POST /organizations/:id/join-requests/.
type JoinNew struct {
	Note exchange.Opt[string] `json:"note"`
}

// Create makes a join request from p.
func (p JoinNew) Create() (JoinRequest, error) {
	var f exchange.FieldErrors
	j := JoinRequest{Status: JoinPending}
	f.Long("note", p.Note, &j.Note)
	return j, f.Err()
}

// Validate implements Body.
func (p JoinNew) Validate(bool) exchange.FieldErrors {
	_, err := p.Create()
	return exchange.FieldsOf(err)
}

// JoinDecline is the body of declining a join request.
type JoinDecline struct {
	Reason exchange.Opt[string] `json:"reason"`
}

// Check returns the tidy reason, which may be empty.
func (r JoinDecline) Check() (reason string, err error) {
	var f exchange.FieldErrors
	f.Long("reason", r.Reason, &reason)
	return reason, f.Err()
}

// Validate implements Body.
func (r JoinDecline) Validate(bool) exchange.FieldErrors {
	_, err := r.Check()
	return exchange.FieldsOf(err)
}

// Again reports whether the person who made j, their last request to this organization, may ask again.
func (j JoinRequest) Again(now time.Time) error {
	if j.Status == JoinAccepted { // and has left since
		return nil
	}
	return exchange.NotBefore(j.CreatedAt.Add(joinPause), now,
		"You asked to join this organization within the last day")
}

// Answer accepts, declines or withdraws j; repeating the same answer changes nothing.
func (j JoinRequest) Answer(to JoinStatus, reason string, now time.Time) (JoinRequest, error) {
	switch {
	case j.Status == to:
		return j, nil
	case j.Status != JoinPending:
		return j, exchange.Errorf(exchange.Conflict, "This join request was already %s.",
			strings.ToLower(string(j.Status)))
	}
	j.Status, j.Reason, j.AnsweredAt = to, reason, &now
	return j, nil
}
