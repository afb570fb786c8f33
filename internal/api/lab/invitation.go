package lab

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
)

// ListInvitations serves GET /organizations/{id}/invitations.
func ListInvitations(c *rest.Call, f lab.InvitationFilter) ([]shape.Invitation, error) {
	part, err := c.App.Labs.Invitations(c.Context(), c.Actor, c.ID("id"), f, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowInvitation)
}

// Invite answers 201 with the invitation, or 200 with the open one that the person already has.
func Invite(c *rest.Call, in lab.InvitationNew) (shape.Invitation, error) {
	i, existed, err := c.App.Labs.Invite(c.Context(), c.Actor, c.ID("id"), in)
	if existed {
		c.Status = 200
	}
	return shape.ShowInvitation(i), err
}

// WithdrawInvitation serves DELETE /organizations/{id}/invitations/{invitation}.
func WithdrawInvitation(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Labs.Withdraw(c.Context(), c.Actor, c.ID("id"), c.ID("invitation"), rest.IfNoTag(c))
}

// ResendInvitation serves POST /organizations/{id}/invitations/{invitation}/resend.
func ResendInvitation(c *rest.Call, _ rest.None) (shape.Invitation, error) {
	i, err := c.App.Labs.Resend(c.Context(), c.Actor, c.ID("id"), c.ID("invitation"))
	return shape.ShowInvitation(i), err
}

// AcceptInvitation serves POST /users/{id}/invitations/{invitation}/accept.
func AcceptInvitation(c *rest.Call, _ rest.None) (shape.Invitation, error) {
	return answerInvitation(c, lab.InvitationAccepted)
}

// DeclineInvitation serves POST /users/{id}/invitations/{invitation}/decline.
func DeclineInvitation(c *rest.Call, _ rest.None) (shape.Invitation, error) {
	return answerInvitation(c, lab.InvitationDeclined)
}

func answerInvitation(c *rest.Call, to lab.InvitationStatus) (shape.Invitation, error) {
	i, err := c.App.Labs.Answer(c.Context(), c.Actor, c.User, c.ID("invitation"), to)
	return shape.ShowInvitation(i), err
}

// heldQuery holds the token; it is not part of the path, because the log records paths.
type heldQuery struct {
	Token *string `query:"token" required:"true" help:"The token of the mail."`
}

// GetHeldInvitation serves GET /invitations.
func GetHeldInvitation(c *rest.Call, in heldQuery) (shape.HeldInvitation, error) {
	c.NoStore()
	token := ""
	if in.Token != nil {
		token = *in.Token
	}
	token, err := lab.InvitationToken{Token: exchange.Some(token)}.Check()
	if err != nil {
		return shape.HeldInvitation{}, err
	}
	i, err := c.App.Labs.HeldInvitation(c.Context(), token)
	return shape.ShowHeldInvitation(i), err
}

// AcceptHeldInvitation serves POST /invitations/accept.
func AcceptHeldInvitation(c *rest.Call, in lab.InvitationToken) (shape.Invitation, error) {
	i, err := c.App.Labs.AnswerHeld(c.Context(), c.Actor, in, lab.InvitationAccepted)
	return shape.ShowInvitation(i), err
}

// DeclineHeldInvitation serves POST /invitations/decline.
func DeclineHeldInvitation(c *rest.Call, in lab.InvitationToken) (shape.Invitation, error) {
	i, err := c.App.Labs.AnswerHeld(c.Context(), c.Actor, in, lab.InvitationDeclined)
	return shape.ShowInvitation(i), err
}
