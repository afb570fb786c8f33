package lab

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange/lab"
)

// AskToJoin answers 201 with the join request, or 200 with the one that is already open.
func AskToJoin(c *rest.Call, in lab.JoinNew) (shape.JoinRequest, error) {
	j, existed, err := c.App.Labs.AskToJoin(c.Context(), c.Actor, c.ID("id"), in)
	if existed {
		c.Status = 200
	}
	return shape.ShowJoinRequest(j), err
}

// ListJoinRequests serves GET /organizations/{id}/join-requests.
func ListJoinRequests(c *rest.Call, f lab.JoinFilter) ([]shape.JoinRequest, error) {
	part, err := c.App.Labs.JoinRequests(c.Context(), c.Actor, c.ID("id"), f, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowJoinRequest)
}

// ListJoinRequestsOf serves GET /users/{id}/join-requests.
func ListJoinRequestsOf(c *rest.Call, f lab.JoinFilter) ([]shape.JoinRequest, error) {
	part, err := c.App.Labs.JoinRequestsOf(c.Context(), c.Actor, c.User, f, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowJoinRequest)
}

// AcceptJoinRequest serves POST /organizations/{id}/join-requests/{join_request}/accept.
func AcceptJoinRequest(c *rest.Call, _ rest.None) (shape.JoinRequest, error) {
	return answerJoinRequest(c, lab.JoinAccepted, lab.JoinDecline{})
}

// DeclineJoinRequest serves POST /organizations/{id}/join-requests/{join_request}/decline.
func DeclineJoinRequest(c *rest.Call, in lab.JoinDecline) (shape.JoinRequest, error) {
	return answerJoinRequest(c, lab.JoinDeclined, in)
}

func answerJoinRequest(c *rest.Call, to lab.JoinStatus, in lab.JoinDecline) (shape.JoinRequest, error) {
	j, err := c.App.Labs.AnswerJoin(c.Context(), c.Actor, c.ID("id"), c.ID("join_request"), to, in)
	return shape.ShowJoinRequest(j), err
}

// WithdrawJoinRequest serves DELETE /organizations/{id}/join-requests/{join_request}.
func WithdrawJoinRequest(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Labs.WithdrawJoin(c.Context(), c.Actor, c.ID("id"), c.ID("join_request"), rest.IfNoTag(c))
}
