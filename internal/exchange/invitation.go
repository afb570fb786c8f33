package exchange

import (
	"net/mail"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/identifier"

	"github.com/google/uuid"
)

// Invitation asks one person into an organization; nobody joins without accepting it.
type Invitation struct {
	ID             int64
	OrganizationID int64
	RegistryID     string // who is invited: one of the two, the other is empty
	Email          string // in lower case
	Role           Role
	InvitedBy      uuid.UUID
	Status         InvitationStatus
	Round          int       // how often it was sent
	SentAt         time.Time // the last time
	CreatedAt      time.Time
	ExpiresAt      time.Time
	Mail           MailState // of the last round; "": whom it asks is told in the product, or has no address
	AnsweredBy     *uuid.UUID
	AnsweredAt     *time.Time
}

// Role is what someone is in an organization.
type Role string

// The roles. Who accepts an invitation as owner takes the place of the owner, who stays a member.
const (
	MemberRole Role = "MEMBER"
	OwnerRole  Role = "OWNER"
)

// OrganizationRoles are all of them.
var OrganizationRoles = []Role{MemberRole, OwnerRole}

// InvitationStatus is what became of an invitation.
type InvitationStatus string

// The statuses of an invitation. An expired one is kept as pending: it expires by the clock.
const (
	InvitationPending   InvitationStatus = "PENDING"
	InvitationExpired   InvitationStatus = "EXPIRED"
	InvitationAccepted  InvitationStatus = "ACCEPTED"
	InvitationDeclined  InvitationStatus = "DECLINED"
	InvitationWithdrawn InvitationStatus = "WITHDRAWN"
)

// InvitationStatuses are all of them.
var InvitationStatuses = []InvitationStatus{InvitationPending, InvitationExpired, InvitationAccepted,
	InvitationDeclined, InvitationWithdrawn}

// The limits of invitations.
const (
	InvitationLifetime = 30 * 24 * time.Hour // how long one can be answered, where nothing else is said
	longestInvitation  = 90 * 24 * time.Hour
	InvitationPause    = 10 * time.Minute // between two mails to one address from one organization
	MaxInvited         = 100              // people whom one person invites within InvitationDay
	InvitationDay      = 24 * time.Hour
)

// ShownInvitation is an invitation with what is shown beside it.
type ShownInvitation struct {
	Invitation
	Organization string // its name
	Inviter      User
}

// InvitationFilter narrows a list of invitations; without a status it lists those that can be answered.
type InvitationFilter struct {
	Status *InvitationStatus `query:"status" help:"PENDING where it is left out."`
	Role   *Role             `query:"role"`
}

// InvitationNew is the body of POST /organizations/:id/invitations/.
type InvitationNew struct {
	RegistryID Opt[string]  `json:"registry_id"`
	Email      Opt[string]  `json:"email"`
	Role       Opt[Role]    `json:"role"`
	ExpiresAt  Opt[Instant] `json:"expires_at"`
}

// Create makes an invitation of p, which names one person in one way; byORCID: the registry calls people by their ORCID
// iDs. Where now is zero, expires_at is not held against it.
func (p InvitationNew) Create(now time.Time, byORCID bool) (Invitation, error) {
	var f FieldErrors
	i := Invitation{Status: InvitationPending, Role: p.Role.Or(MemberRole), Round: 1, SentAt: now,
		ExpiresAt: now.Add(InvitationLifetime)}
	f.line("registry_id", p.RegistryID, lineLength, &i.RegistryID)
	if id := i.RegistryID; id != "" {
		known, err := identifier.Subject, error(nil)
		if byORCID || strings.Contains(id, "orcid.org/") {
			known = identifier.ORCID
		}
		if i.RegistryID, err = known(id); err != nil {
			f.Add("registry_id", "%s; or give an e-mail address instead", err)
		}
	}
	f.line("email", p.Email, lineLength, &i.Email)
	f.mailAddress("email")
	if i.Email != "" {
		if a, err := mail.ParseAddress(i.Email); err != nil || a.Address != i.Email {
			f.Add("email", "must be an e-mail address, such as name@example.org")
		}
	}
	switch {
	case len(f) > 0:
	case i.RegistryID == "" && i.Email == "":
		f.Add("registry_id", "is required, or email: who is invited")
	case i.RegistryID != "" && i.Email != "":
		f.Add("email", "must be left out where registry_id says who is invited")
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

// Addressee is whom i is addressed to: a registry id or a mail address.
func (i Invitation) Addressee() string { return i.RegistryID + i.Email }

// For reports whether u is the one who is invited. Only an address that the identity provider
// verified counts, as any other one anybody may claim; holding: u has the token that was sent there.
func (i Invitation) For(u User, holding bool) bool {
	return i.RegistryID != "" && i.RegistryID == u.RegistryID || i.Email != "" &&
		(holding || i.Email == strings.ToLower(u.VerifiedEmail))
}

// At is i as it is at a moment: one that nobody answered in time is expired.
func (i Invitation) At(now time.Time) Invitation {
	if i.Status == InvitationPending && !now.Before(i.ExpiresAt) {
		i.Status = InvitationExpired
	}
	return i
}

// Answer accepts or declines i; the same answer again by the same person changes nothing.
func (i Invitation) Answer(to InvitationStatus, by uuid.UUID, now time.Time) (Invitation, error) {
	switch {
	case i.Status == to && i.AnsweredBy != nil && *i.AnsweredBy == by:
		return i, nil
	case i.Status == InvitationWithdrawn:
		return i, Errorf(NotFound, "This invitation was withdrawn.")
	case i.Status == InvitationExpired:
		return i, Errorf(Conflict, "This invitation expired; ask for a new one.")
	case i.Status != InvitationPending:
		return i, Errorf(Conflict, "This invitation was %s already.", strings.ToLower(string(i.Status)))
	}
	i.Status, i.AnsweredBy, i.AnsweredAt = to, &by, &now
	return i, nil
}

// Withdraw takes back an invitation that nobody answered.
func (i Invitation) Withdraw() (Invitation, error) {
	if i.Status != InvitationPending && i.Status != InvitationExpired {
		return i, Errorf(NotFound, "There is no such invitation, or it was answered.")
	}
	i.Status = InvitationWithdrawn
	return i, nil
}

// Resend sends an invitation again that nobody answered; it lives as long as at first.
func (i Invitation) Resend(now time.Time) (Invitation, error) {
	if i.Status != InvitationPending && i.Status != InvitationExpired {
		return i, Errorf(Conflict, "This invitation was %s already.", strings.ToLower(string(i.Status)))
	}
	if err := NotBefore(i.SentAt.Add(InvitationPause), now, "This invitation was sent a moment ago"); err != nil {
		return i, err
	}
	i.Status, i.Round, i.SentAt, i.ExpiresAt = InvitationPending, i.Round+1, now, now.Add(i.ExpiresAt.Sub(i.SentAt))
	return i, nil
}

// NotBefore is RateLimited until a moment, and says why and how long to wait.
func NotBefore(moment, now time.Time, why string) error {
	wait := moment.Sub(now)
	if wait <= 0 {
		return nil
	}
	seconds := int((wait + time.Second - 1) / time.Second)
	return Errorf(RateLimited, "%s; try again at %s.", why, moment.UTC().Format(TimeLayout)).With("retry_after",
		seconds)
}
