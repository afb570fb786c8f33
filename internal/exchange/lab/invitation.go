package lab

import (
	"net/mail"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/person"

	"github.com/google/uuid"
)

// Invitation invites one person into an organization; nobody joins without accepting it.
type Invitation struct {
	ID             int64
	OrganizationID int64
	RegistryID     string // who is invited: either this or Email, the other is empty
	Email          string // in lower case
	Role           Role
	InvitedBy      uuid.UUID
	Status         InvitationStatus
	Round          int       // how often it was sent
	SentAt         time.Time // when it was sent last
	CreatedAt      time.Time
	ExpiresAt      time.Time
	Mail           mailing.State // of the last round; "": the person is notified in the product, or has no address
	AnsweredBy     *uuid.UUID
	AnsweredAt     *time.Time
}

// Role is a member's role in an organization.
type Role string

// The roles. A person who accepts an invitation as owner replaces the owner, who stays a member.
const (
	MemberRole Role = "MEMBER"
	OwnerRole  Role = "OWNER"
)

// OrganizationRoles lists all of them.
var OrganizationRoles = []Role{MemberRole, OwnerRole}

// InvitationStatus is the status of an invitation.
type InvitationStatus string

// The statuses of an invitation. An expired one is stored as pending: it expires by the clock.
const (
	InvitationPending   InvitationStatus = "PENDING"
	InvitationExpired   InvitationStatus = "EXPIRED"
	InvitationAccepted  InvitationStatus = "ACCEPTED"
	InvitationDeclined  InvitationStatus = "DECLINED"
	InvitationWithdrawn InvitationStatus = "WITHDRAWN"
)

// InvitationStatuses lists all of them.
var InvitationStatuses = []InvitationStatus{InvitationPending, InvitationExpired, InvitationAccepted,
	InvitationDeclined, InvitationWithdrawn}

// The limits of invitations.
const (
	InvitationLifetime = 30 * 24 * time.Hour // how long an invitation can be answered, unless it says otherwise
	longestInvitation  = 90 * 24 * time.Hour
	InvitationPause    = 10 * time.Minute // between two mails to one address from one organization
	MaxInvited         = 100              // people that one person can invite within InvitationDay
	InvitationDay      = 24 * time.Hour
)

// ShownInvitation is an invitation with what is shown with it.
type ShownInvitation struct {
	Invitation
	Organization string // its name
	Inviter      person.User
}

// InvitationFilter narrows a list of invitations; without a status it lists those that can still be answered.
type InvitationFilter struct {
	Status *InvitationStatus `query:"status" help:"PENDING where it is left out."`
	Role   *Role             `query:"role"`
}

// InvitationNew is the body of POST /organizations/:id/invitations/.
type InvitationNew struct {
	RegistryID exchange.Opt[string]           `json:"registry_id"`
	Email      exchange.Opt[string]           `json:"email"`
	Role       exchange.Opt[Role]             `json:"role"`
	ExpiresAt  exchange.Opt[exchange.Instant] `json:"expires_at"`
}

// Create makes an invitation from p, which names one person in one way; byORCID means that the registry's ids are ORCID
// iDs. If now is zero, expires_at is not compared with the clock.
func (p InvitationNew) Create(now time.Time, byORCID bool) (Invitation, error) {
	var f exchange.FieldErrors
	i := Invitation{Status: InvitationPending, Role: p.Role.Or(MemberRole), Round: 1, SentAt: now,
		ExpiresAt: now.Add(InvitationLifetime)}
	f.Line("registry_id", p.RegistryID, exchange.LineLength, &i.RegistryID)
	if id := i.RegistryID; id != "" {
		known, err := identifier.Subject, error(nil)
		if byORCID || strings.Contains(id, "orcid.org/") {
			known = identifier.ORCID
		}
		if i.RegistryID, err = known(id); err != nil {
			f.Add("registry_id", "%s; or give an e-mail address instead", err)
		}
	}
	f.Line("email", p.Email, exchange.LineLength, &i.Email)
	f.MailAddress("email")
	if i.Email != "" {
		if a, err := mail.ParseAddress(i.Email); err != nil || a.Address != i.Email {
			f.Add("email", "must be an e-mail address, such as name@example.org")
		}
	}
	switch {
	case len(f) > 0:
	case i.RegistryID == "" && i.Email == "":
		f.Add("registry_id", "is required, unless email is given")
	case i.RegistryID != "" && i.Email != "":
		f.Add("email", "must be left out if registry_id is given")
	}
	i.Email = strings.ToLower(i.Email)
	if !slices.Contains(OrganizationRoles, i.Role) {
		f.Add("role", "must be MEMBER or OWNER")
	}
	if p.ExpiresAt.Set && !now.IsZero() {
		i.ExpiresAt = time.Time(p.ExpiresAt.Value)
		if !i.ExpiresAt.After(now) || i.ExpiresAt.After(now.Add(longestInvitation)) {
			f.Add("expires_at", "must be in the future, and at most 90 days from now")
		}
	}
	return i, f.Err()
}

// Validate implements Body.
func (p InvitationNew) Validate(bool) exchange.FieldErrors {
	_, err := p.Create(time.Time{}, false) // which registry is in use is not known here
	return exchange.FieldsOf(err)
}

// Addressee returns the registry id or mail address that i is for.
func (i Invitation) Addressee() string { return i.RegistryID + i.Email }

// For reports whether u is the person invited. Only an address that the identity provider verified counts, since
// anybody could claim another; holding means that u has the token that was sent to the address.
func (i Invitation) For(u person.User, holding bool) bool {
	return i.RegistryID != "" && i.RegistryID == u.RegistryID || i.Email != "" &&
		(holding || i.Email == strings.ToLower(u.VerifiedEmail))
}

// At returns i as of a moment: an invitation that was not answered in time is expired.
func (i Invitation) At(now time.Time) Invitation {
	if i.Status == InvitationPending && !now.Before(i.ExpiresAt) {
		i.Status = InvitationExpired
	}
	return i
}

// Answer accepts or declines i; repeating the same answer changes nothing.
func (i Invitation) Answer(to InvitationStatus, by uuid.UUID, now time.Time) (Invitation, error) {
	switch {
	case i.Status == to && i.AnsweredBy != nil && *i.AnsweredBy == by:
		return i, nil
	case i.Status == InvitationWithdrawn:
		return i, exchange.Errorf(exchange.NotFound, "This invitation was withdrawn.")
	case i.Status == InvitationExpired:
		return i, exchange.Errorf(exchange.Conflict, "This invitation expired; ask for a new one.")
	case i.Status != InvitationPending:
		return i, exchange.Errorf(exchange.Conflict, "This invitation was already %s.",
			strings.ToLower(string(i.Status)))
	}
	i.Status, i.AnsweredBy, i.AnsweredAt = to, &by, &now
	return i, nil
}

// Withdraw withdraws an invitation that was not answered.
func (i Invitation) Withdraw() (Invitation, error) {
	if i.Status != InvitationPending && i.Status != InvitationExpired {
		return i, exchange.Errorf(exchange.NotFound, "There is no such invitation, or it was already answered.")
	}
	i.Status = InvitationWithdrawn
	return i, nil
}

// Resend sends an invitation again that was not answered; it is valid for as long as at first.
func (i Invitation) Resend(now time.Time) (Invitation, error) {
	if i.Status != InvitationPending && i.Status != InvitationExpired {
		return i, exchange.Errorf(exchange.Conflict, "This invitation was already %s.",
			strings.ToLower(string(i.Status)))
	}
	if err := exchange.NotBefore(i.SentAt.Add(InvitationPause), now,
		"This invitation was sent a moment ago"); err != nil {
		return i, err
	}
	i.Status, i.Round, i.SentAt, i.ExpiresAt = InvitationPending, i.Round+1, now, now.Add(i.ExpiresAt.Sub(i.SentAt))
	return i, nil
}

// InvitationToken is the body for answering an invitation with the token that was mailed.
type InvitationToken struct {
	Token exchange.Opt[string] `json:"token"`
}

// Check returns the token, which is required.
func (t InvitationToken) Check() (token string, err error) {
	var f exchange.FieldErrors
	f.Line("token", t.Token, person.InvitationLength, &token)
	f.Need("token", token)
	return token, f.Err()
}

// Validate implements Body.
func (t InvitationToken) Validate(bool) exchange.FieldErrors {
	_, err := t.Check()
	return exchange.FieldsOf(err)
}
