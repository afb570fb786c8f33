package api

import "aliquot/internal/exchange"

// JoinRequest is a user's request to join the named organization.
type JoinRequest struct {
	ID           int64               `json:"id"`
	Name         string              `json:"name"`
	Organization int64               `json:"organization"`
	User         Person              `json:"user"`
	Note         string              `json:"note"`
	Status       exchange.JoinStatus `json:"status"`
	Reason       string              `json:"reason"`
	CreatedAt    Time                `json:"created_at"`
	AnsweredAt   *Time               `json:"answered_at"`
}

func showJoinRequest(j exchange.ShownJoinRequest) JoinRequest {
	return JoinRequest{j.ID, j.Organization, j.OrganizationID, showPerson(j.Asker), j.Note, j.Status, j.Reason,
		Time(j.CreatedAt), timeOf(j.AnsweredAt)}
}

// askToJoin answers 201 with the join request, or 200 with the one that is already open.
func (a *API) askToJoin(c *Call, in exchange.JoinNew) (JoinRequest, error) {
	id, err := c.pathID("id")
	if err != nil {
		return JoinRequest{}, err
	}
	j, existed, err := a.App.AskToJoin(c.Context(), c.Actor, id, in)
	if existed {
		c.status = 200
	}
	return showJoinRequest(j), err
}

func (a *API) listJoinRequests(c *Call, f exchange.JoinFilter) ([]JoinRequest, error) {
	id, err := c.pathID("id")
	if err != nil {
		return nil, err
	}
	part, err := a.App.JoinRequests(c.Context(), c.Actor, id, f, c.list.page)
	return answerList(c, part, err, showJoinRequest)
}

func (a *API) listJoinRequestsOf(c *Call, f exchange.JoinFilter) ([]JoinRequest, error) {
	user, err := c.pathUser()
	if err != nil {
		return nil, err
	}
	part, err := a.App.JoinRequestsOf(c.Context(), c.Actor, user, f, c.list.page)
	return answerList(c, part, err, showJoinRequest)
}

func (a *API) acceptJoinRequest(c *Call, _ None) (JoinRequest, error) {
	return a.answerJoinRequest(c, exchange.JoinAccepted, exchange.JoinDecline{})
}

func (a *API) declineJoinRequest(c *Call, in exchange.JoinDecline) (JoinRequest, error) {
	return a.answerJoinRequest(c, exchange.JoinDeclined, in)
}

func (a *API) answerJoinRequest(c *Call, to exchange.JoinStatus, in exchange.JoinDecline) (JoinRequest, error) {
	id, join, err := c.pathIDs("join_request")
	if err != nil {
		return JoinRequest{}, err
	}
	j, err := a.App.AnswerJoin(c.Context(), c.Actor, id, join, to, in)
	return showJoinRequest(j), err
}

func (a *API) withdrawJoinRequest(c *Call, _ None) (None, error) {
	id, join, err := c.pathIDs("join_request")
	if err != nil {
		return None{}, err
	}
	return None{}, a.App.WithdrawJoin(c.Context(), c.Actor, id, join, ifNoTag(c))
}
