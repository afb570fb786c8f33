package lab

import (
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"

	"github.com/google/uuid"
)

// Membership is a person's membership in an organization and also the specification's organization user settings: the
// five switches of that person there.
type Membership struct {
	ID             int64
	OrganizationID int64
	UserID         uuid.UUID
	Switches       Switches
	CreatedAt      time.Time
	UpdatedAt      time.Time
	LeftAt         *time.Time // set when the person left; the record is kept but hidden
}

// Switches are the five categories of notification a member may turn off.
type Switches struct {
	NewRequest, StatusChange, Decision, Assigned, Reminder bool
}

// AllOn is the initial state of a membership's switches.
var AllOn = Switches{true, true, true, true, true}

// SwitchesPatch is the body of PUT and PATCH /organization-user-settings/:id.
type SwitchesPatch struct {
	NewRequest   exchange.Opt[bool] `json:"new_request_notif"`
	StatusChange exchange.Opt[bool] `json:"change_in_request_status_notif"`
	Decision     exchange.Opt[bool] `json:"request_approval_determined_notif"`
	Assigned     exchange.Opt[bool] `json:"request_assigned_notif"`
	Reminder     exchange.Opt[bool] `json:"reminder_notif"`
}

// On reports whether the switch of a category is on.
func (s Switches) On(c mailing.Category) bool {
	switch c {
	case mailing.NewRequestNotif:
		return s.NewRequest
	case mailing.StatusNotif:
		return s.StatusChange
	case mailing.DecisionNotif:
		return s.Decision
	case mailing.AssignedNotif:
		return s.Assigned
	case mailing.ReminderNotif:
		return s.Reminder
	}
	return false
}

// Validate implements Body: every value is allowed.
func (SwitchesPatch) Validate(bool) exchange.FieldErrors { return nil }

// Patch applies p to s.
func (p SwitchesPatch) Patch(s Switches) Switches {
	return Switches{
		NewRequest:   p.NewRequest.Or(s.NewRequest),
		StatusChange: p.StatusChange.Or(s.StatusChange),
		Decision:     p.Decision.Or(s.Decision),
		Assigned:     p.Assigned.Or(s.Assigned),
		Reminder:     p.Reminder.Or(s.Reminder),
	}
}
