package api

import (
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
)

func (a *API) createRequest(c *Call, in request.New) (Request, error) {
	q, err := a.App.Requests.CreateRequest(c.Context(), c.Actor, in)
	c.location(err, "/material-requests/%d", q.ID)
	return a.showRequest(q), err
}

func (a *API) listRequests(c *Call, f request.Filter) ([]Request, error) {
	part, err := a.App.Requests.Requests(c.Context(), c.Actor, c.list.page, f)
	return answerList(c, part, err, a.showRequest)
}

func (a *API) getRequest(c *Call, _ None) (Request, error) {
	q, err := a.App.Requests.Request(c.Context(), c.Actor, c.id("id"))
	return a.showRequest(q), err
}

func (a *API) updateRequest(c *Call, in request.Patch) (Request, error) {
	q, err := a.App.Requests.UpdateRequest(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, a.showRequest))
	return a.showRequest(q), err
}

func (a *API) shipRequest(c *Call, in request.ShipmentPatch) (Request, error) {
	q, err := a.App.Requests.ShipRequest(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, a.showRequest))
	return a.showRequest(q), err
}

func (a *API) acceptDocument(c *Call, _ None) (Request, error) {
	return a.review(c, true, "")
}

func (a *API) returnDocument(c *Call, in request.ReasonBody) (Request, error) {
	return a.review(c, false, in.Reason.Value)
}

func (a *API) review(c *Call, accept bool, reason string) (Request, error) {
	slot := document.Slot(c.PathValue("document"))
	q, err := a.App.Requests.ReviewDocument(c.Context(), c.Actor, c.id("id"), slot, accept, reason, nil)
	return a.showRequest(q), err
}

func (a *API) deleteRequest(c *Call, _ None) (None, error) {
	return None{}, a.App.Requests.DeleteRequest(c.Context(), c.Actor, c.id("id"), ifMatch(c, a.showRequest))
}

func (a *API) listEvents(c *Call, _ None) ([]Event, error) {
	return events(a, c, "", showEvent)
}

func (a *API) listMessages(c *Call, _ None) ([]Message, error) {
	return events(a, c, request.Messaged, showMessage)
}

func (a *API) listOrganizationEvents(c *Call, f request.EventFilter) ([]OrganizationEvent, error) {
	part, err := a.App.Requests.OrganizationEvents(c.Context(), c.Actor, c.id("id"), f, c.list.page)
	return answerList(c, part, err, showOrganizationEvent)
}

func events[Out any](a *API, c *Call, kind request.EventKind, show func(request.Event) Out) ([]Out, error) {
	part, err := a.App.Requests.Events(c.Context(), c.Actor, c.id("id"), kind, c.list.page)
	return answerList(c, part, err, show)
}

func (a *API) sendMessage(c *Call, in request.TextBody) (Message, error) {
	e, err := a.App.Requests.SendMessage(c.Context(), c.Actor, c.id("id"), in)
	return showMessage(e), err
}

func (a *API) listIssues(c *Call, _ None) ([]Issue, error) {
	part, err := a.App.Requests.Issues(c.Context(), c.Actor, c.id("id"), c.list.page)
	return answerList(c, part, err, showIssue)
}

func (a *API) openIssue(c *Call, in request.TextBody) (Issue, error) {
	issue, err := a.App.Requests.OpenIssue(c.Context(), c.Actor, c.id("id"), in)
	return showIssue(issue), err
}

func (a *API) closeIssue(c *Call, _ None) (Issue, error) {
	issue, err := a.App.Requests.CloseIssue(c.Context(), c.Actor, c.id("id"), c.id("issue"),
		request.Resolution{})
	return showIssue(issue), err
}

func (a *API) listTurns(c *Call, _ None) ([]RequestTurn, error) {
	part, err := a.App.Requests.Turns(c.Context(), c.Actor, c.id("id"), c.list.page)
	return answerList(c, part, err, showTurn)
}

func (a *API) snoozeRequest(c *Call, in request.SnoozeNew) (Request, error) {
	q, err := a.App.Requests.SnoozeRequest(c.Context(), c.Actor, c.id("id"), in)
	return a.showRequest(q), err
}

func (a *API) unsnoozeRequest(c *Call, _ None) (None, error) {
	return None{}, a.App.Requests.UnsnoozeRequest(c.Context(), c.Actor, c.id("id"), ifMatch(c, a.showRequest))
}
