package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// messageDraft is the key of the draft of a message in a request.
func messageDraft(request int64) string { return "message " + strconv.FormatInt(request, 10) }

// act does one thing to the request in the address: said when it is done, shown at a place of the page; the
// form that asked for it is shown again where it could not be done.
func (v *visit) act(form, place, said string, do func(id int64) error) (reply, error) {
	id, err := v.id("id")
	if err != nil {
		return reply{}, err
	}
	if err := do(id); err != nil {
		return v.refused(form, err)
	}
	return seeOther(requestPath(id) + place).saying(said), nil
}

func (v *visit) sendMessage() (reply, error) {
	return v.act("message", "#timeline", "Your message is sent.", func(id int64) error {
		if _, err := v.app.SendMessage(v.Context(), v.who.Actor, id, exchange.Words{Text: exchange.Some(v.PostFormValue("text"))}); err != nil {
			return err
		}
		return v.app.DeleteDraft(v.Context(), v.who.Actor, messageDraft(id))
	})
}

// changeDetails changes what the requester says: the abstract, the address or how the shipment is paid.
func (v *visit) changeDetails() (reply, error) {
	var p exchange.RequestPatch
	form, place := v.PostFormValue("form"), "#"
	text := func(field string) exchange.Opt[string] {
		return exchange.Some(strings.TrimSpace(v.PostFormValue(field)))
	}
	switch form {
	case "abstract":
		p.Abstract, place = text("abstract"), place+anchor(string(exchange.NeedAbstract))
	case "address":
		id, err := strconv.ParseInt(v.PostFormValue("address"), 10, 64)
		if err != nil {
			return v.refused(form, exchange.Faults{"address": {"choose one of your addresses"}}.Err())
		}
		p.Address, place = exchange.NullOf(exchange.Ref(id)), place+anchor(string(exchange.NeedAddress))
	case "payment":
		p.Payment, place = text("payment"), place+anchor(string(exchange.NeedPayment))
		if notes := text("notes"); notes.Value != "" || v.PostFormValue("forget") != "" {
			p.Notes = notes
		}
	default:
		_, err := v.requestPage() // who may not see it is not told of its forms
		if err == nil {
			err = errNotWhole
		}
		return reply{}, err
	}
	return v.act(form, place, "Saved.", func(id int64) error {
		_, err := v.app.UpdateRequest(v.asSeen().Context(), v.who.Actor, id, p)
		return renamed(err, map[string]string{"requester_abstract": "abstract", "payment_method": "payment", "payment_method_notes": "notes"})
	})
}

// renamed is an error about fields under the names that a form has for them.
func renamed(err error, names map[string]string) error {
	fields, wrong := faults(err)
	if !wrong {
		return err
	}
	f := exchange.Faults{}
	for field, texts := range fields {
		if name, other := names[field]; other {
			field = name
		}
		f[field] = texts
	}
	return f.Err()
}

func (v *visit) changeShipment() (reply, error) {
	return v.act("shipment", "#shipping", "Saved.", func(id int64) error {
		r, err := v.app.Request(v.Context(), v.who.Actor, id)
		if err != nil {
			return err
		}
		p, wrong := v.shipment(r.Shipment)
		if wrong != nil {
			p = exchange.ShipmentPatch{} // which changes nothing, and is refused to who may not
		}
		if _, err = v.app.ShipRequest(v.asSeen().Context(), v.who.Actor, id, p); err != nil {
			return err
		}
		return wrong
	})
}

func (v *visit) assign() (reply, error) {
	return v.act("assign", "", "Saved.", func(id int64) error {
		user, _ := uuid.Parse(v.PostFormValue("assigned_to")) // what is no id is nobody's
		_, err := v.app.UpdateRequest(v.Context(), v.who.Actor, id, exchange.RequestPatch{AssignedTo: exchange.Some(exchange.UserRef(user))})
		if _, wrong := faults(err); wrong {
			err = exchange.Faults{"assigned_to": {"choose a member of the lab"}}.Err()
		}
		return err
	})
}

func (v *visit) openIssue() (reply, error) {
	return v.act("issue", "#issues", "The problem is reported. The other side hears of it.", func(id int64) error {
		_, err := v.app.OpenIssue(v.Context(), v.who.Actor, id, exchange.Words{Text: exchange.Some(v.PostFormValue("text"))})
		return err
	})
}

func (v *visit) closeIssue() (reply, error) {
	issue, err := v.id("issue")
	if err != nil {
		return reply{}, err
	}
	return v.act("close", "#issues", "The problem is closed.", func(id int64) error {
		_, err := v.app.CloseIssue(v.Context(), v.who.Actor, id, issue)
		return err
	})
}

func (v *visit) snooze() (reply, error) {
	until, err := time.ParseInLocation(time.DateOnly, v.PostFormValue("until"), v.who.Zone)
	if err != nil {
		return v.refused("snooze", exchange.Faults{"until": {"use a date, for example 2026-03-12"}}.Err())
	}
	n := exchange.SnoozeNew{Until: exchange.Some(exchange.Until(until)), Reason: exchange.Some(v.PostFormValue("reason"))}
	return v.act("snooze", "#pace", fmt.Sprintf("No reminders before %s.", until.Format("Mon 2 Jan")), func(id int64) error {
		_, err := v.app.SnoozeRequest(v.Context(), v.who.Actor, id, n)
		return err
	})
}

func (v *visit) unsnooze() (reply, error) {
	return v.act("snooze", "#pace", "Reminders come again.", func(id int64) error {
		return v.app.UnsnoozeRequest(v.Context(), v.who.Actor, id)
	})
}

func (v *visit) remind() (reply, error) {
	return v.act("remind", "", "The reminder is on its way.", func(id int64) error {
		return v.app.RemindRequest(v.Context(), v.who.Actor, id)
	})
}

// setActive closes a request, or opens one that was closed.
func (v *visit) setActive() (reply, error) {
	active, said := v.PostFormValue("active") == "true", "The request is closed."
	if active {
		said = "The request is open again."
	}
	return v.act("active", "", said, func(id int64) error {
		_, err := v.app.UpdateRequest(v.asSeen().Context(), v.who.Actor, id, exchange.RequestPatch{Active: exchange.Some(active)})
		return err
	})
}

// review accepts a document, or returns it with a reason.
func (v *visit) review() (reply, error) {
	slot, err := v.slot()
	if err != nil {
		return reply{}, err
	}
	accept, said := v.PostFormValue("accept") == "true", "The document is returned. They read your reason."
	if accept {
		said = "The document is accepted."
	}
	return v.act("review-"+string(slot), "#"+anchor(string(slot)), said, func(id int64) error {
		_, err := v.app.ReviewDocument(v.asSeen().Context(), v.who.Actor, id, slot, accept, strings.TrimSpace(v.PostFormValue("reason")))
		return err
	})
}

// withdraw takes the present version of a document back.
func (v *visit) withdraw() (reply, error) {
	slot, err := v.slot()
	if err != nil {
		return reply{}, err
	}
	p := map[exchange.Slot]exchange.RequestPatch{
		exchange.SignedMTA:   {SignedMTA: exchange.Cleared[exchange.Ref]()},
		exchange.IRB:         {IRB: exchange.Cleared[exchange.Ref]()},
		exchange.ExecutedMTA: {ExecutedMTA: exchange.Cleared[exchange.Ref]()},
	}[slot]
	return v.act("withdraw-"+string(slot), "#"+anchor(string(slot)), "The document is withdrawn. It stays on record.", func(id int64) error {
		_, err := v.app.UpdateRequest(v.asSeen().Context(), v.who.Actor, id, p)
		return err
	})
}

// slot is the slot of a document in the address.
func (v *visit) slot() (exchange.Slot, error) {
	s := exchange.Slot(v.PathValue("slot"))
	if !s.Valid() {
		return s, exchange.Fail(exchange.NotFound, "There is no page at this address.")
	}
	return s, nil
}
