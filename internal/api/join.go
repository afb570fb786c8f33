package api

import "aliquot/internal/exchange/lab"

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

func showJoinRequest(j lab.ShownJoinRequest) JoinRequest {
	return JoinRequest{j.ID, j.Organization, j.OrganizationID, showPerson(j.Asker), j.Note, j.Status, j.Reason,
		Time(j.CreatedAt), timeOf(j.AnsweredAt)}
}

// askToJoin answers 201 with the join request, or 200 with the one that is already open.
func askToJoin(c *Call, in lab.JoinNew) (JoinRequest, error) {
	j, existed, err := c.App.Labs.AskToJoin(c.Context(), c.Actor, c.id("id"), in)
	if existed {
		c.status = 200
	}
	return showJoinRequest(j), err
}

func listJoinRequests(c *Call, f lab.JoinFilter) ([]JoinRequest, error) {
	part, err := c.App.Labs.JoinRequests(c.Context(), c.Actor, c.id("id"), f, c.list.page)
	return answerList(c, part, err, showJoinRequest)
}

func listJoinRequestsOf(c *Call, f lab.JoinFilter) ([]JoinRequest, error) {
	part, err := c.App.Labs.JoinRequestsOf(c.Context(), c.Actor, c.user, f, c.list.page)
	return answerList(c, part, err, showJoinRequest)
}

func acceptJoinRequest(c *Call, _ None) (JoinRequest, error) {
	return answerJoinRequest(c, lab.JoinAccepted, lab.JoinDecline{})
}

func declineJoinRequest(c *Call, in lab.JoinDecline) (JoinRequest, error) {
	return answerJoinRequest(c, lab.JoinDeclined, in)
}

func answerJoinRequest(c *Call, to lab.JoinStatus, in lab.JoinDecline) (JoinRequest, error) {
	j, err := c.App.Labs.AnswerJoin(c.Context(), c.Actor, c.id("id"), c.id("join_request"), to, in)
	return showJoinRequest(j), err
}

func withdrawJoinRequest(c *Call, _ None) (None, error) {
	return None{}, c.App.Labs.WithdrawJoin(c.Context(), c.Actor, c.id("id"), c.id("join_request"), ifNoTag(c))
}
