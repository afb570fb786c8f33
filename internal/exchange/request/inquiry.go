package request

import (
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"

	"github.com/google/uuid"
)

// Inquiry is a question about a material that a person asks its lab without requesting it, with the lab's answer.
type Inquiry struct {
	ID             int64
	MaterialID     int64
	OrganizationID int64 // the lab that owns the material
	UserID         uuid.UUID
	Question       string
	CreatedAt      time.Time
	Answer         string // "" until it is answered
	AnsweredBy     *uuid.UUID
	AnsweredAt     *time.Time
	RequestID      *int64 // the request that the person made because of it; nil: none
}

// ShownInquiry is an inquiry with what is shown with it.
type ShownInquiry struct {
	Inquiry
	Material     string // its title
	Organization string // its name
	Asker        person.User
}

// MaxInquiries is how many inquiries a person makes within a day, so that nobody can pester labs.
const MaxInquiries = 20

// InquiryFilter narrows a list of inquiries.
type InquiryFilter struct {
	Answered *bool `query:"answered" help:"Only those that are answered, or that wait for an answer."`
}

// Answered answers i on behalf of by; the same answer again changes nothing.
func (i Inquiry) Answered(answer string, by uuid.UUID, now time.Time) (Inquiry, error) {
	switch {
	case i.AnsweredAt == nil:
		i.Answer, i.AnsweredBy, i.AnsweredAt = answer, &by, &now
	case i.Answer != answer:
		return i, exchange.Errorf(exchange.Conflict, "This inquiry was already answered; reload it to read the answer.")
	}
	return i, nil
}

// RelationsOf returns how a is related to the inquiry: the person who asked is its owner.
func (i Inquiry) RelationsOf(a exchange.Actor) exchange.Relation {
	r := a.ToUser(i.UserID)
	if a.MemberOf(i.OrganizationID) {
		r |= exchange.MemberOf
	}
	return r
}
