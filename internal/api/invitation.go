package api

import (
	"aliquot/internal/exchange"
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

func showInvitation(i lab.ShownInvitation) Invitation {
	out := Invitation{ID: i.ID, Name: i.Organization, Organization: i.OrganizationID, InvitedBy: showPerson(i.Inviter),
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

func listInvitations(c *Call, f lab.InvitationFilter) ([]Invitation, error) {
	part, err := c.App.Labs.Invitations(c.Context(), c.Actor, c.id("id"), f, c.list.page)
	return answerList(c, part, err, showInvitation)
}

// invite answers 201 with the invitation, or 200 with the open one that the person already has.
func invite(c *Call, in lab.InvitationNew) (Invitation, error) {
	i, existed, err := c.App.Labs.Invite(c.Context(), c.Actor, c.id("id"), in)
	if existed {
		c.status = 200
	}
	return showInvitation(i), err
}

func withdrawInvitation(c *Call, _ None) (None, error) {
	return None{}, c.App.Labs.Withdraw(c.Context(), c.Actor, c.id("id"), c.id("invitation"), ifNoTag(c))
}

func resendInvitation(c *Call, _ None) (Invitation, error) {
	i, err := c.App.Labs.Resend(c.Context(), c.Actor, c.id("id"), c.id("invitation"))
	return showInvitation(i), err
}

func acceptInvitation(c *Call, _ None) (Invitation, error) {
	return answerInvitation(c, lab.InvitationAccepted)
}

func declineInvitation(c *Call, _ None) (Invitation, error) {
	return answerInvitation(c, lab.InvitationDeclined)
}

func answerInvitation(c *Call, to lab.InvitationStatus) (Invitation, error) {
	i, err := c.App.Labs.Answer(c.Context(), c.Actor, c.user, c.id("invitation"), to)
	return showInvitation(i), err
}

// HeldInvitation is an invitation as the holder of its token sees it before signing in.
type HeldInvitation struct {
	Name      string               `json:"name"`
	Inviter   string               `json:"inviter"`
	Role      lab.Role             `json:"role"`
	Status    lab.InvitationStatus `json:"status"`
	ExpiresAt Time                 `json:"expires_at"`
}

// heldQuery holds the token; it is not part of the path, because the log records paths.
type heldQuery struct {
	Token *string `query:"token" required:"true" help:"The token of the mail."`
}

func getHeldInvitation(c *Call, in heldQuery) (HeldInvitation, error) {
	c.noStore()
	token := ""
	if in.Token != nil {
		token = *in.Token
	}
	token, err := lab.InvitationToken{Token: exchange.Some(token)}.Check()
	if err != nil {
		return HeldInvitation{}, err
	}
	i, err := c.App.Labs.HeldInvitation(c.Context(), token)
	return HeldInvitation{i.Organization, i.Inviter.Name(), i.Role, i.Status, Time(i.ExpiresAt)}, err
}

func acceptHeldInvitation(c *Call, in lab.InvitationToken) (Invitation, error) {
	i, err := c.App.Labs.AnswerHeld(c.Context(), c.Actor, in, lab.InvitationAccepted)
	return showInvitation(i), err
}

func declineHeldInvitation(c *Call, in lab.InvitationToken) (Invitation, error) {
	i, err := c.App.Labs.AnswerHeld(c.Context(), c.Actor, in, lab.InvitationDeclined)
	return showInvitation(i), err
}
