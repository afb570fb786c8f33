package request

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// messageDraft returns the key of the draft of a message in a request.
func messageDraft(request int64) string { return "message " + strconv.FormatInt(request, 10) }

// act does one thing to the request whose id is in the path. If it succeeds, the page shows said, at an anchor; if
// it fails, the page shows the form again.
func (v *pageRequest) act(form, place, said string, do func(id int64) error) (ui.Response, error) {
	id, err := v.PathID("id")
	if err != nil {
		return ui.Response{}, err
	}
	if err := do(id); err != nil {
		return v.refused(form, err)
	}
	return ui.SeeOther(requestPath(id) + place).Saying(said), nil
}

func (v *pageRequest) sendMessage() (ui.Response, error) {
	send, said := v.App.Requests.SendMessage, "Message sent."
	if v.PostFormValue("question") != "" {
		send, said = v.App.Requests.AskRequester, "Question sent. It is the requester’s turn until they answer."
	}
	return v.act("message", "#timeline", said, func(id int64) error {
		if _, err := send(v.Context(), v.Who.Actor, id,
			request.TextBody{Text: exchange.Some(v.PostFormValue("text"))}); err != nil {
			return err
		}
		return v.App.Materials.DeleteDraft(v.Context(), v.Who.Actor, messageDraft(id))
	})
}

// changeDetails changes the requester's part: the abstract, the address or the payment of shipping.
func (v *pageRequest) changeDetails() (ui.Response, error) {
	var p request.Patch
	form, place := v.PostFormValue("form"), "#"
	text := func(field string) exchange.Opt[string] {
		return exchange.Some(strings.TrimSpace(v.PostFormValue(field)))
	}
	switch form {
	case "abstract":
		p.Abstract, place = text("abstract"), place+anchor(string(request.NeedAbstract))
	case "address":
		id, err := strconv.ParseInt(v.PostFormValue("address"), 10, 64)
		if err != nil {
			return v.refused(form, exchange.FieldErrors{"address": {"choose one of your addresses"}}.Err())
		}
		p.Address, place = exchange.NullOf(exchange.Ref(id)), place+anchor(string(request.NeedAddress))
	case "payment":
		p.Payment, place = text("payment"), place+anchor(string(request.NeedPayment))
		if notes := text("notes"); notes.Value != "" || v.PostFormValue("forget") != "" {
			p.Notes = notes
		}
	default:
		_, err := v.requestPage() // who may not see the request must not learn about its forms
		if err == nil {
			err = ui.ErrNotWhole
		}
		return ui.Response{}, err
	}
	return v.act(form, place, "Saved.", func(id int64) error {
		_, err := v.App.Requests.UpdateRequest(v.Context(), v.Who.Actor, id, p, v.asSeen())
		return renamed(err, map[string]string{"requester_abstract": "abstract", "payment_method": "payment",
			"payment_method_notes": "notes"})
	})
}

// renamed returns an error with its fields renamed to those of a form.
func renamed(err error, names map[string]string) error {
	fields, wrong := ui.FieldErrorsIn(err)
	if !wrong {
		return err
	}
	f := exchange.FieldErrors{}
	for field, texts := range fields {
		if name, other := names[field]; other {
			field = name
		}
		f[field] = texts
	}
	return f.Err()
}

func (v *pageRequest) changeShipment() (ui.Response, error) {
	return v.act("shipment", "#shipping", "Saved.", func(id int64) error {
		r, err := v.App.Requests.Request(v.Context(), v.Who.Actor, id)
		if err != nil {
			return err
		}
		p, wrong := v.shipment(r.Shipment)
		if wrong != nil {
			p = request.ShipmentPatch{} // an empty change, which is refused to those who may not change it
		}
		if _, err = v.App.Requests.ShipRequest(v.Context(), v.Who.Actor, id, p, v.asSeen()); err != nil {
			return err
		}
		return wrong
	})
}

func (v *pageRequest) assign() (ui.Response, error) {
	return v.act("assign", "", "Saved.", func(id int64) error {
		q, err := v.App.Requests.Request(v.Context(), v.Who.Actor, id)
		if err != nil {
			return err
		}
		user, unknown := v.Person(v.PostFormValue("assigned_to"), q.Organization)
		_, err = v.App.Requests.UpdateRequest(v.Context(), v.Who.Actor, id,
			request.Patch{AssignedTo: exchange.Some(exchange.UserRef(user))}, nil)
		switch _, wrong := ui.FieldErrorsIn(err); { // who may not assign gets that error, not one about the name
		case wrong && unknown != nil:
			return renamed(unknown, map[string]string{"person": "assigned_to"})
		case wrong:
			return exchange.FieldErrors{"assigned_to": {"choose a member of the lab"}}.Err()
		}
		return err
	})
}

func (v *pageRequest) openIssue() (ui.Response, error) {
	return v.act("issue", "#issues", "Problem reported. The other side will be notified.", func(id int64) error {
		_, err := v.App.Requests.OpenIssue(v.Context(), v.Who.Actor, id,
			request.TextBody{Text: exchange.Some(v.PostFormValue("text"))})
		return err
	})
}

func (v *pageRequest) closeIssue() (ui.Response, error) {
	issue, err := v.PathID("issue")
	if err != nil {
		return ui.Response{}, err
	}
	const said = "Problem resolved. The other side sees your answer."
	return v.act(closeForm(issue), "#issues", said, func(id int64) error {
		answer, err := request.TextBody{Text: exchange.Some(v.PostFormValue("text"))}.Check()
		if err != nil {
			return err
		}
		done := request.Resolution{Answer: answer}
		if v.PostFormValue("tracking") != "" || v.PostFormValue("carrier") != "" {
			patch := request.ShipmentPatch{Carrier: exchange.Some(v.PostFormValue("carrier")),
				Tracking: exchange.Some(v.PostFormValue("tracking")),
				SentAt:   exchange.NullOf(exchange.Instant(v.App.DB.Read().Now))}
			done.Shipment = &patch
		}
		_, err = v.App.Requests.CloseIssue(v.Context(), v.Who.Actor, id, issue, done)
		return err
	})
}

// closeForm returns the name of the form that closes an issue.
func closeForm(issue int64) string { return "close-" + strconv.FormatInt(issue, 10) }

// CloseForm is closeForm.
func (l issueLine) CloseForm() string { return closeForm(l.ID) }

// Resends reports whether the visitor may say how something was sent again.
func (p *requestPage) Resends() bool { return p.R.Offers.Ship && ui.Travels(p.R.Detail) }

func (v *pageRequest) snooze() (ui.Response, error) {
	until, err := time.ParseInLocation(time.DateOnly, v.PostFormValue("until"), v.Who.Zone)
	if err != nil {
		return v.refused("snooze", exchange.FieldErrors{"until": {"enter a date, for example 2026-03-12"}}.Err())
	}
	n := request.SnoozeNew{Until: exchange.Some(exchange.Until(until)),
		Reason: exchange.Some(v.PostFormValue("reason"))}
	return v.act("snooze", "#pace", fmt.Sprintf("No reminders before %s.", until.Format("Mon 2 Jan")),
		func(id int64) error {
			_, err := v.App.Requests.SnoozeRequest(v.Context(), v.Who.Actor, id, n)
			return err
		})
}

func (v *pageRequest) unsnooze() (ui.Response, error) {
	return v.act("snooze", "#pace", "Reminders are on again.", func(id int64) error {
		return v.App.Requests.UnsnoozeRequest(v.Context(), v.Who.Actor, id, nil)
	})
}

func (v *pageRequest) remind() (ui.Response, error) {
	return v.act("remind", "", "Reminder sent.", func(id int64) error {
		return v.App.Requests.RemindRequest(v.Context(), v.Who.Actor, id)
	})
}

// setActive closes a request, or reopens a closed one.
func (v *pageRequest) setActive() (ui.Response, error) {
	active, said := v.PostFormValue("active") == "true", "The request is closed."
	if active {
		said = "Request reopened."
	}
	return v.act("active", "", said, func(id int64) error {
		_, err := v.App.Requests.UpdateRequest(v.Context(), v.Who.Actor, id,
			request.Patch{Active: exchange.Some(active)}, v.asSeen())
		return err
	})
}

// review accepts a document, or returns it with a reason.
func (v *pageRequest) review() (ui.Response, error) {
	slot, err := v.slot()
	if err != nil {
		return ui.Response{}, err
	}
	accept, said := v.PostFormValue("accept") == "true", "Document returned. The requester will see your reason."
	if accept {
		said = "Document accepted."
	}
	return v.act("review-"+string(slot), "#"+anchor(string(slot)), said, func(id int64) error {
		_, err := v.App.Requests.ReviewDocument(v.Context(), v.Who.Actor, id, slot, accept,
			strings.TrimSpace(v.PostFormValue("reason")), v.asSeen())
		return err
	})
}

// withdraw withdraws the current version of a document.
func (v *pageRequest) withdraw() (ui.Response, error) {
	slot, err := v.slot()
	if err != nil {
		return ui.Response{}, err
	}
	p := map[document.Slot]request.Patch{
		document.SignedMTA:   {SignedMTA: exchange.Cleared[exchange.Ref]()},
		document.IRB:         {IRB: exchange.Cleared[exchange.Ref]()},
		document.ExecutedMTA: {ExecutedMTA: exchange.Cleared[exchange.Ref]()},
	}[slot]
	return v.act("withdraw-"+string(slot), "#"+anchor(string(slot)), "Document withdrawn. It stays on record.",
		func(id int64) error {
			_, err := v.App.Requests.UpdateRequest(v.Context(), v.Who.Actor, id, p, v.asSeen())
			return err
		})
}

// slot returns the document slot in the path.
func (v *pageRequest) slot() (document.Slot, error) {
	s := document.Slot(v.PathValue("slot"))
	if !s.Valid() {
		return s, exchange.Errorf(exchange.NotFound, "There is no page at this address.")
	}
	return s, nil
}
