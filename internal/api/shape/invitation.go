package shape

import (
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
)

// Invitation invites one person, by either registry_id or email, to the named organization.
type Invitation struct {
	ID           int64                `json:"id"`
	Name         string               `json:"name"`
	Organization int64                `json:"organization"`
	RegistryID   *string              `json:"registry_id"`
	Email        *string              `json:"email"`
	InvitedBy    Person               `json:"invited_by"`
	Role         lab.Role             `json:"role"`
	Status       lab.InvitationStatus `json:"status"`
	CreatedAt    Time                 `json:"created_at"`
	SentAt       Time                 `json:"sent_at"`
	ExpiresAt    Time                 `json:"expires_at"`
	AnsweredAt   *Time                `json:"answered_at"`
	Mail         *mailing.State       `json:"mail"` // null: no mail is sent to the address
}

// ShowInvitation returns the JSON form of its argument.
func ShowInvitation(i lab.ShownInvitation) Invitation {
	out := Invitation{ID: i.ID, Name: i.Organization, Organization: i.OrganizationID, InvitedBy: ShowPerson(i.Inviter),
		Role: i.Role, Status: i.Status, CreatedAt: Time(i.CreatedAt), SentAt: Time(i.SentAt),
		ExpiresAt: Time(i.ExpiresAt), AnsweredAt: timeOf(i.AnsweredAt)}
	if i.Mail != "" {
		out.Mail = &i.Mail
	}
	if i.RegistryID != "" {
		out.RegistryID = &i.RegistryID
	} else {
		out.Email = &i.Email
	}
	return out
}

// HeldInvitation is an invitation as the holder of its token sees it before signing in.
type HeldInvitation struct {
	Name      string               `json:"name"`
	Inviter   string               `json:"inviter"`
	Role      lab.Role             `json:"role"`
	Status    lab.InvitationStatus `json:"status"`
	ExpiresAt Time                 `json:"expires_at"`
}

// ShowHeldInvitation returns the JSON form of its argument.
func ShowHeldInvitation(i lab.ShownInvitation) HeldInvitation {
	return HeldInvitation{i.Organization, i.Inviter.Name(), i.Role, i.Status, Time(i.ExpiresAt)}
}

// JoinRequest is a user's request to join the named organization.
type JoinRequest struct {
	ID           int64          `json:"id"`
	Name         string         `json:"name"`
	Organization int64          `json:"organization"`
	User         Person         `json:"user"`
	Note         string         `json:"note"`
	Status       lab.JoinStatus `json:"status"`
	Reason       string         `json:"reason"`
	CreatedAt    Time           `json:"created_at"`
	AnsweredAt   *Time          `json:"answered_at"`
}

// ShowJoinRequest returns the JSON form of its argument.
func ShowJoinRequest(j lab.ShownJoinRequest) JoinRequest {
	return JoinRequest{j.ID, j.Organization, j.OrganizationID, ShowPerson(j.Asker), j.Note, j.Status, j.Reason,
		Time(j.CreatedAt), timeOf(j.AnsweredAt)}
}
