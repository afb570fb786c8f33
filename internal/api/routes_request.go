package api

import (
	"aliquot/internal/api/evidence"
	"aliquot/internal/api/request"
	"aliquot/internal/api/requirement"
	"aliquot/internal/api/rest"
	"aliquot/internal/exchange"
)

// requestRoutes are those of requests and of questions about a material.
var requestRoutes = []rest.Route{
	rest.On("createRequest", "POST /material-requests", exchange.RequestCreate, 201, request.CreateRequest,
		"Request a material. Requirements can be submitted later."),
	rest.On("listRequests", "GET /material-requests", exchange.RequestList, 200, request.ListRequests,
		"List the caller's requests and those of their organizations, newest first").SortedBy(exchange.RequestFields),
	rest.On("getRequest", "GET /material-requests/{id}", exchange.RequestRead, 200, request.GetRequest,
		"Read a request, with what it needs and whose turn it is").ShownAt("/requests/"),
	rest.On("updateRequest", "PUT,PATCH /material-requests/{id}", exchange.RequestUpdate, 200, request.UpdateRequest,
		"Change the status of a request, or submit something it needs"),
	rest.On("deleteRequest", "DELETE /material-requests/{id}", exchange.RequestDelete, 204, request.DeleteRequest,
		"Delete a request"),
	rest.On("createRequestGroup", "POST /request-groups", exchange.RequestCreate, 201, request.CreateRequestGroup,
		"Request several materials of one lab in one step. Makes one request for each of them, all or none; what the "+
			"materials do not require is left out of their requests. The lab is notified once. Materials that cannot "+
			"be requested (archived, under embargo, of the caller's own lab, or with an open request of the caller) "+
			"are an error, unless skip_unavailable leaves them out."),
	rest.On("getRequestGroup", "GET /request-groups/{id}", exchange.RequestRead, 200, request.GetRequestGroup,
		"Read the requests that were sent in one step"),
	rest.On("acceptRequestGroup", "POST /request-groups/{id}/accept", exchange.RequestUpdate, 200,
		request.AcceptRequestGroup,
		"Accept the open requests of a group. The answer states of each of its requests whether it was accepted, "+
			"and why not."),
	rest.On("createInquiry", "POST /materials/{id}/inquiries", exchange.InquiryCreate, 201, request.CreateInquiry,
		"Ask the lab of a material a question, without requesting it. The material's contact is notified; every "+
			"member may answer. At most 20 within 24 hours, and one about a material until it is answered."),
	rest.On("listInquiriesTo", "GET /organizations/{id}/inquiries", exchange.InquiryRead, 200, request.ListInquiriesTo,
		"List the questions that an organization was asked about its materials, newest first").
		SortedBy(exchange.InquiryFields),
	rest.On("listInquiriesOf", "GET /users/{id}/inquiries", exchange.InquiryRead, 200, request.ListInquiriesOf,
		"List the questions that a user asked about materials, newest first").SortedBy(exchange.InquiryFields),
	rest.On("getInquiry", "GET /inquiries/{id}", exchange.InquiryRead, 200, request.GetInquiry,
		"Read a question about a material, with its answer").ShownAt("/inquiry/"),
	rest.On("answerInquiry", "POST /inquiries/{id}/answer", exchange.InquiryAnswer, 200, request.AnswerInquiry,
		"Answer a question about a material. The person who asked is notified, and can request the material with "+
			"inquiry in POST /material-requests/."),
	rest.On("listEvents", "GET /material-requests/{id}/events", exchange.RequestRead, 200, request.ListEvents,
		"List what happened to a request, newest first, each chained to the one before by its hash").
		SortedBy(exchange.EventFields),
	rest.On("proveEvent", "GET /material-requests/{id}/events/{seq}/proof", exchange.RequestRead, 200,
		evidence.GetProof,
		"Prove that an event of a request is in the log, with the event as it is hashed. Anyone who has the key of "+
			"the log can check it; docs/record.md says how."),
	rest.On("getDossier", "GET /material-requests/{id}/dossier", exchange.RequestRead, 200, evidence.GetDossier,
		"Download the record of a request as a file that proves itself: events, documents in all versions, and the "+
			"proof that they are in the signed log. README.txt in it says how to check it without this "+
			"server.").SendsFile(),
	rest.On("getOwed", "GET /material-requests/{id}/requirements", exchange.RequestRead, 200, requirement.GetOwed,
		"Read what the transfer of a request needs by facts of the material and by law, who owes it, and what the lab "+
			"has to state first. What the life cycle asks for is in requirements of the request itself."),
	rest.On("getPurpose", "GET /material-requests/{id}/purpose", exchange.RequestRead, 200, requirement.GetPurpose,
		"Read what the requester stated of the purpose of a request, about which terms of data use ask. What is in "+
			"requirements under limits depends on it."),
	rest.On("statePurpose", "PUT,PATCH /material-requests/{id}/purpose", exchange.RequestPurpose, 200,
		requirement.StatePurpose,
		"State the purpose of a request, as its requester. UNKNOWN never counts as NO."),
	rest.On("getPapers", "GET /material-requests/{id}/paper-findings", exchange.RequestRead, 200, request.GetPapers,
		"Read what was found in the agreements that were uploaded for a request, as far as the caller may read these. "+
			"Findings are hints: nothing waits for them. A new version of a document is checked again."),
	rest.On("listTurns", "GET /material-requests/{id}/turns", exchange.RequestRead, 200, request.ListTurns,
		"List whose turn it was in a request, newest first. Each ends when the next one begins.").
		SortedBy(exchange.TurnFields),
	rest.On("snoozeRequest", "POST /material-requests/{id}/snooze", exchange.RequestUpdate, 200, request.SnoozeRequest,
		"Snooze reminders of a turn. Only the side whose turn it is may; the snooze ends with the turn."),
	rest.On("unsnoozeRequest", "DELETE /material-requests/{id}/snooze", exchange.RequestUpdate, 204,
		request.UnsnoozeRequest,
		"Stop snoozing reminders of a turn"),
	rest.On("listMessages", "GET /material-requests/{id}/messages", exchange.RequestRead, 200, request.ListMessages,
		"List the messages on a request, newest first. Those on requests of its group are among them, each with the "+
			"request that it is stored with.").SortedBy(exchange.MessageFields),
	rest.On("sendMessage", "POST /material-requests/{id}/messages", exchange.RequestUpdate, 201, request.SendMessage,
		"Write to the other side of a request, or ask the requester what the lab has to know before it decides"),
	rest.On("listIssues", "GET /material-requests/{id}/issues", exchange.RequestRead, 200, request.ListIssues,
		"List the problems with a transfer").SortedBy(exchange.IssueFields),
	rest.On("openIssue", "POST /material-requests/{id}/issues", exchange.RequestUpdate, 201, request.OpenIssue,
		"Report a problem with a transfer. A fulfilled request goes back to IN_FULFILLMENT."),
	rest.On("closeIssue", "POST /material-requests/{id}/issues/{issue}/close", exchange.RequestUpdate, 200,
		request.CloseIssue,
		"Mark a problem as resolved. When the last one is resolved, the request is fulfilled again."),
	rest.On("shipRequest", "PUT,PATCH /material-requests/{id}/shipment", exchange.RequestShip, 200, request.ShipRequest,
		"Set the shipping details"),
	rest.On("acceptDocument", "POST /material-requests/{id}/documents/{document}/accept", exchange.RequestUpdate, 200,
		request.AcceptDocument,
		"Accept a document of the other side"),
	rest.On("returnDocument", "POST /material-requests/{id}/documents/{document}/return", exchange.RequestUpdate, 200,
		request.ReturnDocument,
		"Return a document of the other side, with a reason. It is owed again."),
}
