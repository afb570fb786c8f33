package app_test

import (
	"aliquot/internal/exchange"
)

// act is something that somebody can do to a request. before lists the actions of the owner and the requester that
// bring the request to where it can be done.
type act struct {
	name   string
	kind   exchange.EventKind
	before []step
	do     step
}

// step does something to a request; requester is the name of the person who made it.
type step func(h *hearing, by string, request int64, requester string) error

func patch(p exchange.RequestPatch) step {
	return func(h *hearing, by string, request int64, _ string) error {
		_, err := h.app.UpdateRequest(h.Context(), h.people[by], request, p, nil)
		return err
	}
}

func status(to exchange.Status) step {
	return patch(exchange.RequestPatch{Status: exchange.Some(to), Reason: exchange.Some("so")})
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

func document(slot exchange.Slot) step {
	return func(h *hearing, by string, request int64, requester string) error {
		t, err := h.app.CreateAttachment(h.Context(), h.people[by],
			exchange.AttachmentPatch{Filename: exchange.Some("a.pdf")}, nil)
		if err != nil {
			return err
		}
		ref := exchange.NullOf(exchange.Ref(t.ID))
		return patch(map[exchange.Slot]exchange.RequestPatch{exchange.SignedMTA: {SignedMTA: ref},
			exchange.IRB: {IRB: ref}, exchange.ExecutedMTA: {ExecutedMTA: ref}}[slot])(h, by, request, requester)
	}
}

func review(slot exchange.Slot, accept bool) step {
	return func(h *hearing, by string, request int64, _ string) error {
		_, err := h.app.ReviewDocument(h.Context(), h.people[by], request, slot, accept, "page 4", nil)
		return err
	}
}

func address(h *hearing, by string, request int64, requester string) error {
	who := h.people[requester]
	a, err := h.app.CreateAddress(h.Context(), who, who.ID,
		exchange.AddressPatch{Name: exchange.Some("A"), Line1: exchange.Some("1 Waterman St"),
			Locality: exchange.Some("Providence"), Country: exchange.Some("US")})
	if err != nil {
		return err
	}
	return patch(exchange.RequestPatch{Address: exchange.NullOf(exchange.Ref(a.ID))})(h, by, request, requester)
}

func issue(h *hearing, by string, request int64, _ string) error {
	_, err := h.app.OpenIssue(h.Context(), h.people[by], request, exchange.TextBody{Text: exchange.Some("It thawed")})
	return err
}

// solve closes the issue opened before, as the requester.
func solve(h *hearing, by string, request int64, requester string) error {
	part, err := h.app.Issues(h.Context(), h.people[requester], request, exchange.Page{Limit: 1})
	if err != nil {
		return err
	}
	_, err = h.app.CloseIssue(h.Context(), h.people[by], request, part.Items[0].ID)
	return err
}

func message(h *hearing, by string, request int64, _ string) error {
	_, err := h.app.SendMessage(h.Context(), h.people[by], request, exchange.TextBody{Text: exchange.Some("Hello")})
	return err
}

func ship(h *hearing, by string, request int64, _ string) error {
	_, err := h.app.ShipRequest(h.Context(), h.people[by], request,
		exchange.ShipmentPatch{Carrier: exchange.Some("UPS")}, nil)
	return err
}

func snooze(h *hearing, by string, request int64, _ string) error {
	_, err := h.app.SnoozeRequest(h.Context(), h.people[by], request,
		exchange.SnoozeNew{Until: exchange.Some(exchange.Until(h.now.Load().AddDate(0, 0, 9)))})
	return err
}

func unsnooze(h *hearing, by string, request int64, _ string) error {
	return h.app.UnsnoozeRequest(h.Context(), h.people[by], request, nil)
}

func remove(h *hearing, by string, request int64, _ string) error {
	return h.app.DeleteRequest(h.Context(), h.people[by], request, nil)
}

func giveToOwner(h *hearing, by string, request int64, requester string) error {
	return patch(exchange.RequestPatch{AssignedTo: exchange.Some(exchange.UserRef(h.people["owner"].ID))})(h, by,
		request, requester)
}

var (
	approved   = by("owner", status(exchange.Approved))
	fulfilling = by("owner", status(exchange.InFulfillment))
	fulfilled  = by("owner", status(exchange.Fulfilled))
	sent       = by("owner", ship)
	signed     = by("requester", document(exchange.SignedMTA))
	executed   = by("owner", document(exchange.ExecutedMTA))

	acts = []act{
		{"approves", exchange.StatusChanged, nil, status(exchange.Approved)},
		{"rejects", exchange.StatusChanged, nil, status(exchange.Rejected)},
		{"returns for correction", exchange.StatusChanged, []step{approved}, status(exchange.Open)},
		{"begins to fulfill", exchange.StatusChanged, []step{approved}, status(exchange.InFulfillment)},
		{"fulfills", exchange.StatusChanged, []step{approved, fulfilling}, status(exchange.Fulfilled)},
		{"confirms", exchange.StatusChanged, []step{approved, fulfilled}, status(exchange.Verified)},
		{"cancels", exchange.StatusChanged, nil, status(exchange.Cancelled)},
		{"invalidates", exchange.StatusChanged, nil, status(exchange.Invalid)},
		{"gives it to the owner", exchange.Assigned, nil, giveToOwner},
		{"adds a signed MTA", exchange.DocumentAdded, nil, document(exchange.SignedMTA)},
		{"adds an IRB document", exchange.DocumentAdded, nil, document(exchange.IRB)},
		{"adds an executed MTA", exchange.DocumentAdded, nil, document(exchange.ExecutedMTA)},
		{"withdraws a signed MTA", exchange.DocumentWithdrawn, []step{signed},
			patch(exchange.RequestPatch{SignedMTA: exchange.Cleared[exchange.Ref]()})},
		{"accepts the signed MTA", exchange.DocumentAccepted, []step{signed}, review(exchange.SignedMTA, true)},
		{"returns the signed MTA", exchange.DocumentReturned, []step{signed}, review(exchange.SignedMTA, false)},
		{"accepts the executed MTA", exchange.DocumentAccepted, []step{executed}, review(exchange.ExecutedMTA, true)},
		{"returns the executed MTA", exchange.DocumentReturned, []step{executed}, review(exchange.ExecutedMTA, false)},
		{"changes the abstract", exchange.AbstractChanged, nil,
			patch(exchange.RequestPatch{Abstract: exchange.Some("Another why")})},
		{"changes the address", exchange.AddressChanged, nil, address},
		{"changes the payment", exchange.PaymentChanged, nil,
			patch(exchange.RequestPatch{Notes: exchange.Some("Cost centre 7")})},
		{"gives a reason", exchange.DetailsChanged, nil,
			patch(exchange.RequestPatch{Rejection: exchange.Some("too many")})},
		{"writes a message", exchange.Messaged, nil, message},
		{"reports an issue", exchange.IssueOpened, []step{sent}, issue},
		{"solves an issue", exchange.IssueClosed, []step{sent, by("requester", issue)}, solve},
		{"ships", exchange.ShipmentChanged, nil, ship},
		{"closes", exchange.Closed, nil, patch(exchange.RequestPatch{Active: exchange.Some(false)})},
		{"reopens", exchange.Reopened, []step{by("owner", patch(exchange.RequestPatch{Active: exchange.Some(false)}))},
			patch(exchange.RequestPatch{Active: exchange.Some(true)})},
		{"snoozes the lab's turn", exchange.Snoozed, nil, snooze},
		{"ends the lab's snooze", exchange.Unsnoozed, []step{by("owner", snooze)}, unsnooze},
		{"deletes", exchange.Deleted, nil, remove},
	}
)
