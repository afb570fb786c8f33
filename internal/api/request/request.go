// Package request has the handlers of material requests and of attachments.
package request

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
)

// CreateRequest serves POST /material-requests.
func CreateRequest(c *rest.Call, in request.New) (shape.Request, error) {
	q, err := c.App.Requests.CreateRequest(c.Context(), c.Actor, in)
	c.Location(err, "/material-requests/%d", q.ID)
	return shape.ShowRequest(c.App)(q), err
}

// ListRequests serves GET /material-requests.
func ListRequests(c *rest.Call, f request.Filter) ([]shape.Request, error) {
	part, err := c.App.Requests.Requests(c.Context(), c.Actor, c.List.Page, f)
	return rest.AnswerList(c, part, err, shape.ShowRequest(c.App))
}

// GetRequest serves GET /material-requests/{id}.
func GetRequest(c *rest.Call, _ rest.None) (shape.Request, error) {
	q, err := c.App.Requests.Request(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowRequest(c.App)(q), err
}

// UpdateRequest serves PUT and PATCH /material-requests/{id}.
func UpdateRequest(c *rest.Call, in request.Patch) (shape.Request, error) {
	q, err := c.App.Requests.UpdateRequest(c.Context(), c.Actor, c.ID("id"), in,
		rest.IfMatch(c, shape.ShowRequest(c.App)))
	return shape.ShowRequest(c.App)(q), err
}

// ShipRequest serves PUT and PATCH /material-requests/{id}/shipment.
func ShipRequest(c *rest.Call, in request.ShipmentPatch) (shape.Request, error) {
	q, err := c.App.Requests.ShipRequest(c.Context(), c.Actor, c.ID("id"), in,
		rest.IfMatch(c, shape.ShowRequest(c.App)))
	return shape.ShowRequest(c.App)(q), err
}

// AcceptDocument serves POST /material-requests/{id}/documents/{document}/accept.
func AcceptDocument(c *rest.Call, _ rest.None) (shape.Request, error) {
	return review(c, true, "")
}

// ReturnDocument serves POST /material-requests/{id}/documents/{document}/return.
func ReturnDocument(c *rest.Call, in request.ReasonBody) (shape.Request, error) {
	return review(c, false, in.Reason.Value)
}

func review(c *rest.Call, accept bool, reason string) (shape.Request, error) {
	slot := document.Slot(c.PathValue("document"))
	q, err := c.App.Requests.ReviewDocument(c.Context(), c.Actor, c.ID("id"), slot, accept, reason, nil)
	return shape.ShowRequest(c.App)(q), err
}

// DeleteRequest serves DELETE /material-requests/{id}.
func DeleteRequest(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Requests.DeleteRequest(c.Context(), c.Actor, c.ID("id"),
		rest.IfMatch(c, shape.ShowRequest(c.App)))
}

// ListEvents serves GET /material-requests/{id}/events.
func ListEvents(c *rest.Call, _ rest.None) ([]shape.Event, error) {
	part, err := c.App.Requests.Events(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowEvent)
}

// ListMessages serves GET /material-requests/{id}/messages.
func ListMessages(c *rest.Call, _ rest.None) ([]shape.Message, error) {
	part, err := c.App.Requests.Messages(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowMessage)
}

// ListOrganizationEvents serves GET /organizations/{id}/events.
func ListOrganizationEvents(c *rest.Call, f request.EventFilter) ([]shape.OrganizationEvent, error) {
	part, err := c.App.Requests.OrganizationEvents(c.Context(), c.Actor, c.ID("id"), f, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowOrganizationEvent)
}

// SendMessage serves POST /material-requests/{id}/messages.
func SendMessage(c *rest.Call, in request.MessageBody) (shape.Message, error) {
	send := c.App.Requests.SendMessage
	if in.Question.Value {
		send = c.App.Requests.AskRequester
	}
	e, err := send(c.Context(), c.Actor, c.ID("id"), request.TextBody{Text: in.Text})
	return shape.ShowMessage(e), err
}

// ListIssues serves GET /material-requests/{id}/issues.
func ListIssues(c *rest.Call, _ rest.None) ([]shape.Issue, error) {
	part, err := c.App.Requests.Issues(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowIssue)
}

// OpenIssue serves POST /material-requests/{id}/issues.
func OpenIssue(c *rest.Call, in request.TextBody) (shape.Issue, error) {
	issue, err := c.App.Requests.OpenIssue(c.Context(), c.Actor, c.ID("id"), in)
	return shape.ShowIssue(issue), err
}

// CloseIssue serves POST /material-requests/{id}/issues/{issue}/close.
func CloseIssue(c *rest.Call, _ rest.None) (shape.Issue, error) {
	issue, err := c.App.Requests.CloseIssue(c.Context(), c.Actor, c.ID("id"), c.ID("issue"),
		request.Resolution{})
	return shape.ShowIssue(issue), err
}

// ListTurns serves GET /material-requests/{id}/turns.
func ListTurns(c *rest.Call, _ rest.None) ([]shape.RequestTurn, error) {
	part, err := c.App.Requests.Turns(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowTurn)
}

// SnoozeRequest serves POST /material-requests/{id}/snooze.
func SnoozeRequest(c *rest.Call, in request.SnoozeNew) (shape.Request, error) {
	q, err := c.App.Requests.SnoozeRequest(c.Context(), c.Actor, c.ID("id"), in)
	return shape.ShowRequest(c.App)(q), err
}

// UnsnoozeRequest serves DELETE /material-requests/{id}/snooze.
func UnsnoozeRequest(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Requests.UnsnoozeRequest(c.Context(), c.Actor, c.ID("id"),
		rest.IfMatch(c, shape.ShowRequest(c.App)))
}
