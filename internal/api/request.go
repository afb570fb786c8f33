package api

import (
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
)

func createRequest(c *Call, in request.New) (Request, error) {
	q, err := c.App.Requests.CreateRequest(c.Context(), c.Actor, in)
	c.location(err, "/material-requests/%d", q.ID)
	return showRequest(c.App)(q), err
}

func listRequests(c *Call, f request.Filter) ([]Request, error) {
	part, err := c.App.Requests.Requests(c.Context(), c.Actor, c.list.page, f)
	return answerList(c, part, err, showRequest(c.App))
}

func getRequest(c *Call, _ None) (Request, error) {
	q, err := c.App.Requests.Request(c.Context(), c.Actor, c.id("id"))
	return showRequest(c.App)(q), err
}

func updateRequest(c *Call, in request.Patch) (Request, error) {
	q, err := c.App.Requests.UpdateRequest(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showRequest(c.App)))
	return showRequest(c.App)(q), err
}

func shipRequest(c *Call, in request.ShipmentPatch) (Request, error) {
	q, err := c.App.Requests.ShipRequest(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showRequest(c.App)))
	return showRequest(c.App)(q), err
}

func acceptDocument(c *Call, _ None) (Request, error) {
	return review(c, true, "")
}

func returnDocument(c *Call, in request.ReasonBody) (Request, error) {
	return review(c, false, in.Reason.Value)
}

func review(c *Call, accept bool, reason string) (Request, error) {
	slot := document.Slot(c.PathValue("document"))
	q, err := c.App.Requests.ReviewDocument(c.Context(), c.Actor, c.id("id"), slot, accept, reason, nil)
	return showRequest(c.App)(q), err
}

func deleteRequest(c *Call, _ None) (None, error) {
	return None{}, c.App.Requests.DeleteRequest(c.Context(), c.Actor, c.id("id"), ifMatch(c, showRequest(c.App)))
}

func listEvents(c *Call, _ None) ([]Event, error) {
	return events(c, "", showEvent)
}

func listMessages(c *Call, _ None) ([]Message, error) {
	return events(c, request.Messaged, showMessage)
}

func listOrganizationEvents(c *Call, f request.EventFilter) ([]OrganizationEvent, error) {
	part, err := c.App.Requests.OrganizationEvents(c.Context(), c.Actor, c.id("id"), f, c.list.page)
	return answerList(c, part, err, showOrganizationEvent)
}

func events[Out any](c *Call, kind request.EventKind, show func(request.Event) Out) ([]Out, error) {
	part, err := c.App.Requests.Events(c.Context(), c.Actor, c.id("id"), kind, c.list.page)
	return answerList(c, part, err, show)
}

func sendMessage(c *Call, in request.TextBody) (Message, error) {
	e, err := c.App.Requests.SendMessage(c.Context(), c.Actor, c.id("id"), in)
	return showMessage(e), err
}

func listIssues(c *Call, _ None) ([]Issue, error) {
	part, err := c.App.Requests.Issues(c.Context(), c.Actor, c.id("id"), c.list.page)
	return answerList(c, part, err, showIssue)
}

func openIssue(c *Call, in request.TextBody) (Issue, error) {
	issue, err := c.App.Requests.OpenIssue(c.Context(), c.Actor, c.id("id"), in)
	return showIssue(issue), err
}

func closeIssue(c *Call, _ None) (Issue, error) {
	issue, err := c.App.Requests.CloseIssue(c.Context(), c.Actor, c.id("id"), c.id("issue"),
		request.Resolution{})
	return showIssue(issue), err
}

func listTurns(c *Call, _ None) ([]RequestTurn, error) {
	part, err := c.App.Requests.Turns(c.Context(), c.Actor, c.id("id"), c.list.page)
	return answerList(c, part, err, showTurn)
}

func snoozeRequest(c *Call, in request.SnoozeNew) (Request, error) {
	q, err := c.App.Requests.SnoozeRequest(c.Context(), c.Actor, c.id("id"), in)
	return showRequest(c.App)(q), err
}

func unsnoozeRequest(c *Call, _ None) (None, error) {
	return None{}, c.App.Requests.UnsnoozeRequest(c.Context(), c.Actor, c.id("id"), ifMatch(c, showRequest(c.App)))
}
