package app_test

import (
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
)

// act is something that somebody can do to a request. before lists the actions of the owner and the requester that
// bring the request to where it can be done.
type act struct {
	name   string
	kind   request.EventKind
	before []step
	do     step
}

// step does something to a request; requester is the name of the person who made it.
type step func(h *hearing, by string, request int64, requester string) error

func patch(p request.Patch) step {
	return func(h *hearing, by string, request int64, _ string) error {
		_, err := h.app.Requests.UpdateRequest(h.Context(), h.people[by], request, p, nil)
		return err
	}
}

func status(to request.Status) step {
	return patch(request.Patch{Status: exchange.Some(to), Reason: exchange.Some("so")})
}

// by returns a step done by somebody else: the requester, or one of the people.
func by(name string, do step) step {
	return func(h *hearing, _ string, request int64, requester string) error {
		if name == "requester" {
			return do(h, requester, request, requester)
		}
		return do(h, name, request, requester)
	}
}

func documentDeed(slot document.Slot) step {
	return func(h *hearing, by string, requestID int64, requester string) error {
		t, err := h.app.Documents.CreateAttachment(h.Context(), h.people[by],
			document.AttachmentPatch{Filename: exchange.Some("a.pdf")}, nil)
		if err != nil {
			return err
		}
		ref := exchange.NullOf(exchange.Ref(t.ID))
		return patch(map[document.Slot]request.Patch{document.SignedMTA: {SignedMTA: ref},
			document.IRB: {IRB: ref}, document.ExecutedMTA: {ExecutedMTA: ref}}[slot])(h, by, requestID, requester)
	}
}

func review(slot document.Slot, accept bool) step {
	return func(h *hearing, by string, request int64, _ string) error {
		_, err := h.app.Requests.ReviewDocument(h.Context(), h.people[by], request, slot, accept, "page 4", nil)
		return err
	}
}

func address(h *hearing, by string, requestID int64, requester string) error {
	who := h.people[requester]
	a, err := h.app.Documents.CreateAddress(h.Context(), who, who.ID,
		person.AddressPatch{Name: exchange.Some("A"), Line1: exchange.Some("1 Waterman St"),
			Locality: exchange.Some("Providence"), Country: exchange.Some("US")})
	if err != nil {
		return err
	}
	return patch(request.Patch{Address: exchange.NullOf(exchange.Ref(a.ID))})(h, by, requestID, requester)
}

func issue(h *hearing, by string, requestID int64, _ string) error {
	_, err := h.app.Requests.OpenIssue(h.Context(), h.people[by], requestID, request.TextBody{Text: exchange.Some("It thawed")})
	return err
}

// solve closes the issue opened before, as the requester.
func solve(h *hearing, by string, requestID int64, requester string) error {
	part, err := h.app.Requests.Issues(h.Context(), h.people[requester], requestID, exchange.Page{Limit: 1})
	if err != nil {
		return err
	}
	_, err = h.app.Requests.CloseIssue(h.Context(), h.people[by], requestID, part.Items[0].ID,
		request.Resolution{})
	return err
}

func message(h *hearing, by string, requestID int64, _ string) error {
	_, err := h.app.Requests.SendMessage(h.Context(), h.people[by], requestID, request.TextBody{Text: exchange.Some("Hello")})
	return err
}

func ship(h *hearing, by string, requestID int64, _ string) error {
	_, err := h.app.Requests.ShipRequest(h.Context(), h.people[by], requestID,
		request.ShipmentPatch{Carrier: exchange.Some("UPS")}, nil)
	return err
}

func snooze(h *hearing, by string, requestID int64, _ string) error {
	_, err := h.app.Requests.SnoozeRequest(h.Context(), h.people[by], requestID,
		request.SnoozeNew{Until: exchange.Some(exchange.Until(h.now.Load().AddDate(0, 0, 9)))})
	return err
}

func unsnooze(h *hearing, by string, request int64, _ string) error {
	return h.app.Requests.UnsnoozeRequest(h.Context(), h.people[by], request, nil)
}

func remove(h *hearing, by string, request int64, _ string) error {
	return h.app.Requests.DeleteRequest(h.Context(), h.people[by], request, nil)
}

func giveToOwner(h *hearing, by string, requestID int64, requester string) error {
	return patch(request.Patch{AssignedTo: exchange.Some(exchange.UserRef(h.people["owner"].ID))})(h, by,
		requestID, requester)
}

var (
	approved   = by("owner", status(request.Approved))
	fulfilling = by("owner", status(request.InFulfillment))
	fulfilled  = by("owner", status(request.Fulfilled))
	sent       = by("owner", ship)
	signed     = by("requester", documentDeed(document.SignedMTA))
	executed   = by("owner", documentDeed(document.ExecutedMTA))

	acts = []act{
		{"approves", request.StatusChanged, nil, status(request.Approved)},
		{"rejects", request.StatusChanged, nil, status(request.Rejected)},
		{"returns for correction", request.StatusChanged, []step{approved}, status(request.Open)},
		{"begins to fulfill", request.StatusChanged, []step{approved}, status(request.InFulfillment)},
		{"fulfills", request.StatusChanged, []step{approved, fulfilling}, status(request.Fulfilled)},
		{"confirms", request.StatusChanged, []step{approved, fulfilled}, status(request.Verified)},
		{"cancels", request.StatusChanged, nil, status(request.Cancelled)},
		{"invalidates", request.StatusChanged, nil, status(request.Invalid)},
		{"gives it to the owner", request.Assigned, nil, giveToOwner},
		{"adds a signed MTA", request.DocumentAdded, nil, documentDeed(document.SignedMTA)},
		{"adds an IRB document", request.DocumentAdded, nil, documentDeed(document.IRB)},
		{"adds an executed MTA", request.DocumentAdded, nil, documentDeed(document.ExecutedMTA)},
		{"withdraws a signed MTA", request.DocumentWithdrawn, []step{signed},
			patch(request.Patch{SignedMTA: exchange.Cleared[exchange.Ref]()})},
		{"accepts the signed MTA", request.DocumentAccepted, []step{signed}, review(document.SignedMTA, true)},
		{"returns the signed MTA", request.DocumentReturned, []step{signed}, review(document.SignedMTA, false)},
		{"accepts the executed MTA", request.DocumentAccepted, []step{executed}, review(document.ExecutedMTA, true)},
		{"returns the executed MTA", request.DocumentReturned, []step{executed}, review(document.ExecutedMTA, false)},
		{"changes the abstract", request.AbstractChanged, nil,
			patch(request.Patch{Abstract: exchange.Some("Another why")})},
		{"changes the address", request.AddressChanged, nil, address},
		{"changes the payment", request.PaymentChanged, nil,
			patch(request.Patch{Notes: exchange.Some("Cost centre 7")})},
		{"gives a reason", request.DetailsChanged, nil,
			patch(request.Patch{Rejection: exchange.Some("too many")})},
		{"writes a message", request.Messaged, nil, message},
		{"reports an issue", request.IssueOpened, []step{sent}, issue},
		{"solves an issue", request.IssueClosed, []step{sent, by("requester", issue)}, solve},
		{"ships", request.ShipmentChanged, nil, ship},
		{"closes", request.Closed, nil, patch(request.Patch{Active: exchange.Some(false)})},
		{"reopens", request.Reopened, []step{by("owner", patch(request.Patch{Active: exchange.Some(false)}))},
			patch(request.Patch{Active: exchange.Some(true)})},
		{"snoozes the lab's turn", request.Snoozed, nil, snooze},
		{"ends the lab's snooze", request.Unsnoozed, []step{by("owner", snooze)}, unsnooze},
		{"deletes", request.Deleted, nil, remove},
	}
)
