package api

import "aliquot/internal/exchange"

// Invitation asks one person, by one of registry_id and email, into an organization, whose name
// it bears.
type Invitation struct {
	ID           int64                     `json:"id"`
	Name         string                    `json:"name"`
	Organization int64                     `json:"organization"`
	RegistryID   *string                   `json:"registry_id"`
	Email        *string                   `json:"email"`
	InvitedBy    Person                    `json:"invited_by"`
	Status       exchange.InvitationStatus `json:"status"`
	CreatedAt    Time                      `json:"created_at"`
	ExpiresAt    Time                      `json:"expires_at"`
}

func showInvitation(i exchange.ShownInvitation) Invitation {
	out := Invitation{ID: i.ID, Name: i.Organization, Organization: i.OrganizationID, InvitedBy: showPerson(i.Inviter),
		Status: i.Status, CreatedAt: Time(i.CreatedAt), ExpiresAt: Time(i.ExpiresAt)}
	if i.RegistryID != "" {
		out.RegistryID = &i.RegistryID
	} else {
		out.Email = &i.Email
	}
	return out
}

func (a *API) listInvitations(c *Call, _ None) ([]Invitation, error) {
	id, err := c.pathID("id")
	if err != nil {
		return nil, err
	}
	part, err := a.App.Invitations(c.Context(), c.Actor, id, c.list.page)
	return listed(c, part, err, showInvitation)
}

// invite answers 201 with the invitation, or 200 with the one by which the person is asked already.
func (a *API) invite(c *Call, in exchange.InvitationNew) (Invitation, error) {
	id, err := c.pathID("id")
	if err != nil {
		return Invitation{}, err
	}
	i, existed, err := a.App.Invite(c.Context(), c.Actor, id, in)
	if existed {
		c.status = 200
	}
	return showInvitation(i), err
}

func (a *API) withdrawInvitation(c *Call, _ None) (None, error) {
	id, err := c.pathID("id")
	if err != nil {
		return None{}, err
	}
	invitation, err := c.pathID("invitation")
	if err != nil {
		return None{}, err
	}
	return None{}, a.App.Withdraw(c.Context(), c.Actor, id, invitation)
}

func (a *API) acceptInvitation(c *Call, _ None) (Invitation, error) {
	return a.answerInvitation(c, exchange.InvitationAccepted)
}

func (a *API) declineInvitation(c *Call, _ None) (Invitation, error) {
	return a.answerInvitation(c, exchange.InvitationDeclined)
}

func (a *API) answerInvitation(c *Call, to exchange.InvitationStatus) (Invitation, error) {
	user, err := c.pathUser()
	if err != nil {
		return Invitation{}, err
	}
	id, err := c.pathID("invitation")
	if err != nil {
		return Invitation{}, err
	}
	i, err := a.App.Answer(c.Context(), c.Actor, user, id, to)
	return showInvitation(i), err
}
