package exchange

import (
	"net/mail"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Invitation asks one person into an organization; nobody joins without accepting it.
type Invitation struct {
	ID             int64
	OrganizationID int64
	RegistryID     string // who is invited: one of the two, the other is empty
	Email          string // in lower case
	InvitedBy      uuid.UUID
	Status         InvitationStatus
	CreatedAt      time.Time
	ExpiresAt      time.Time
}

// InvitationStatus is what became of an invitation.
type InvitationStatus string

// The statuses of an invitation; one that is withdrawn is gone.
const (
	InvitationPending  InvitationStatus = "PENDING"
	InvitationAccepted InvitationStatus = "ACCEPTED"
	InvitationDeclined InvitationStatus = "DECLINED"
)

// InvitationLifetime is how long an invitation can be answered.
const InvitationLifetime = 30 * 24 * time.Hour

// ShownInvitation is an invitation with what is shown beside it.
type ShownInvitation struct {
	Invitation
	Organization string // its name
	Inviter      User
}

// InvitationNew is the body of POST /organizations/:id/invitations/.
type InvitationNew struct {
	RegistryID Opt[string] `json:"registry_id"`
	Email      Opt[string] `json:"email"`
}

// Create makes an invitation of p, which names one person in one way.
func (p InvitationNew) Create() (Invitation, error) {
	var f Faults
	i := Invitation{Status: InvitationPending}
	f.line("registry_id", p.RegistryID, lineLength, &i.RegistryID)
	f.line("email", p.Email, lineLength, &i.Email)
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
	return i, f.Err()
}

// For says whether u is the one who is invited. Only an address that the identity provider
// verified counts: any other one anybody may claim.
func (i Invitation) For(u User) bool {
	return i.RegistryID != "" && i.RegistryID == u.RegistryID || i.Email != "" && i.Email == strings.ToLower(u.VerifiedEmail)
}

// Answer accepts or declines i; the same answer again changes nothing.
func (i Invitation) Answer(to InvitationStatus, now time.Time) (Invitation, error) {
	switch {
	case i.Status == to:
	case i.Status != InvitationPending:
		return i, Fail(Conflict, "This invitation was %s already.", strings.ToLower(string(i.Status)))
	case !now.Before(i.ExpiresAt):
		return i, Fail(Conflict, "This invitation expired; ask for a new one.")
	}
	i.Status = to
	return i, nil
}
