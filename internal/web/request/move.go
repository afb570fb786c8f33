package request

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// moveWords are the texts about a change of status.
type moveWords struct {
	Do     string // the label of the button
	Icon   string
	Ask    string // the question on the confirmation page
	Text   string // what the change means
	Reason string // the label of the reason's field; "": no reason
	Must   bool   // the reason is required
	Bad    bool   // it ends the request
	Said   string // the message after it is done
	Soon   string // the message while it can still be undone
}

// soon inserts the id of the request.
func (w moveWords) soon(request int64) string {
	if w.Soon == "" {
		return w.Do
	}
	return fmt.Sprintf(w.Soon, request)
}

// words returns the texts about a change of the request to a status.
func (p *requestPage) words(to request.Status) moveWords {
	from, sent := p.R.Status, "Ship it"
	if !ui.Travels(p.R.Detail) {
		sent = "Mark as delivered"
	}
	switch to {
	case request.Approved:
		if from == request.InFulfillment || from == request.Fulfilled {
			return moveWords{Do: "Back to documents", Icon: "undo", Ask: "Go back to the documents?",
				Text: "Preparation stops until the documents are complete.",
				Said: "The request is back at the documents."}
		}
		return moveWords{Do: "Accept", Icon: "check", Ask: "Accept this request?",
			Text:   "The requester is notified that you will share the material, and what you need from them.",
			Reason: "Message to the requester (optional)", Soon: "Request %d will be accepted."}
	case request.Rejected:
		return moveWords{Do: "Decline", Icon: "declined", Ask: "Decline this request?",
			Text:   "The request ends, and the requester will see your reason. You can reopen it later.",
			Reason: "Why do you decline?", Must: true, Bad: true, Soon: "Request %d will be declined."}
	case request.Cancelled:
		return moveWords{Do: "Cancel this request", Icon: "cancelled", Ask: "Cancel this request?",
			Text:   "The lab is notified that you no longer need the material. A cancelled request cannot be reopened.",
			Reason: "Why do you no longer need it? (optional)", Bad: true, Said: "Request cancelled."}
	case request.Invalid:
		return moveWords{Do: "Withdraw as invalid", Icon: "cancelled", Ask: "Withdraw this request as invalid?",
			Text:   "For requests sent by mistake or twice. The request ends without a decision.",
			Reason: "What is wrong with it? (optional)", Bad: true, Said: "Request withdrawn."}
	case request.Open:
		if from == request.Approved {
			return moveWords{Do: "Return for correction", Icon: "undo", Ask: "Return this request for correction?",
				Text:   "The requester can change the abstract and the details again. Then you decide again.",
				Reason: "What needs to be corrected?", Must: true, Said: "Request returned for correction."}
		}
		return moveWords{Do: "Reopen", Icon: "undo", Ask: "Reopen this request?",
			Text: "It will wait for a decision like a new request. Documents and messages are kept.",
			Said: "Request reopened."}
	case request.InFulfillment:
		if from == request.Fulfilled {
			return moveWords{Do: "Back to preparation", Icon: "undo", Ask: "Was it not shipped after all?",
				Text: "The request goes back to preparation.", Said: "The request is back in preparation."}
		}
		return moveWords{Do: "Start preparing", Icon: "truck", Ask: "Start preparing the shipment?",
			Text: "Everything needed is there, or the lab continues without it.",
			Said: "The shipment is in preparation."}
	case request.Fulfilled:
		return moveWords{Do: sent, Icon: "truck", Ask: sent + "?",
			Text: "The requester is notified that it is on its way, and confirms receipt.",
			Soon: "Request %d will be marked as shipped."}
	default:
		return moveWords{Do: "Confirm receipt", Icon: "done", Ask: "Did it arrive?",
			Text: "The lab is notified that the transfer is complete.",
			Said: "Receipt confirmed. The transfer is complete."}
	}
}

// moveLink links to the page that confirms a change of status.
type moveLink struct {
	moveWords
	Link string
}

// moveLinks returns the possible changes of status other than the next step.
func (p *requestPage) moveLinks() []moveLink {
	if p.Pending() != "" {
		return nil
	}
	var list []moveLink
	for _, to := range request.Statuses {
		if p.R.Offers.Can(to) && (to != p.Next.To || p.Next.Button == "") {
			list = append(list, moveLink{p.words(to), p.Path + "/move?to=" + string(to)})
		}
	}
	return list
}

// movePage asks for confirmation of a change of status.
type movePage struct {
	*requestPage
	To    request.Status
	Words moveWords
	Reply string // the text of the chosen reply
	Waive bool   // a reason is needed to continue without what is missing
	Ship  bool   // the form has the shipping details
}

// Inner returns the page of the request.
func (p *movePage) Inner() *requestPage { return p.requestPage }

// MissingWords returns what is missing, in words.
func (p *movePage) MissingWords() string { return owedNeeds(p.R.Offers.Missing) }

func (v *pageRequest) movePage(to request.Status) (*movePage, error) {
	r, err := v.requestPage()
	if err != nil {
		return nil, err
	}
	if by := r.PendingOf(); by != "" {
		return nil, exchange.Errorf(exchange.Conflict, "%s decided about this request a moment ago.", by)
	}
	if !r.R.Offers.Can(to) {
		return nil, exchange.Errorf(exchange.InvalidTransition, "%s", r.standing())
	}
	p := &movePage{requestPage: r, To: to, Words: r.words(to), Waive: r.R.Offers.Waives(to)}
	p.Ship = to == request.Fulfilled && r.R.Offers.Ship
	p.Title, p.Narrow = p.Words.Ask+" Request "+fmt.Sprint(r.R.ID), true
	return p, nil
}

func (v *pageRequest) askMove() (ui.Response, error) {
	p, err := v.movePage(request.Status(v.URL.Query().Get("to")))
	if err != nil {
		return ui.Response{}, err
	}
	p.Reply = p.reply(v.URL.Query())
	return ui.Show("request-move", p)
}

// move changes the status of a request: at once, or after the time in which it can be undone.
func (v *pageRequest) move(id int64) (ui.Response, error) {
	d := transfer.PendingAction{Request: id, Status: request.Status(v.PostFormValue("to")),
		Reason:   strings.TrimSpace(v.PostFormValue("reason")),
		Override: strings.TrimSpace(v.PostFormValue("override"))}
	p, err := v.movePage(d.Status)
	if err != nil {
		return v.refused("move", err)
	}
	d.From = p.R.Status
	f := exchange.FieldErrors{}
	if p.Words.Must && d.Reason == "" {
		f.Add("reason", "enter a reason; the requester will see it")
	}
	if p.Waive && d.Override == "" {
		f.Add("override", "explain why you continue without %s", p.MissingWords())
	}
	if p.Ship && v.PostForm.Has("carrier") {
		patch, err := v.shipment(p.R.Shipment)
		var s request.Shipment
		if err == nil {
			s, err = patch.Patch(request.Shipment{})
		}
		if wrong, is := ui.FieldErrorsIn(err); is {
			for field, texts := range wrong {
				f[field] = texts
			}
		}
		d.Shipment = &s
	}
	if err := f.Err(); err != nil {
		return v.askAgain(p, err)
	}
	if p.Words.Soon != "" {
		action, err := v.App.Schedule(v.Context(), v.Who.Actor, d, v.asSeen())
		if err != nil {
			return v.askAgain(p, err)
		}
		return ui.SeeOther(requestPath(id)).Undoable(p.Words.soon(p.R.ID), action), nil
	}
	patch := request.Patch{Status: exchange.Some(d.Status), Reason: exchange.Some(d.Reason)}
	if d.Override != "" {
		patch.Override = exchange.Some(d.Override)
	}
	if _, err := v.App.Requests.UpdateRequest(v.Context(), v.Who.Actor, id, patch, v.asSeen()); err != nil {
		return v.askAgain(p, err)
	}
	return ui.SeeOther(requestPath(id)).Saying(p.Words.Said), nil
}

// askAgain shows the confirmation page again, with errors.
func (v *pageRequest) askAgain(p *movePage, err error) (ui.Response, error) {
	fields, wrong := ui.FieldErrorsIn(err)
	if !wrong {
		return v.refused("move", err)
	}
	p.form, p.typed, p.Errors = "move", v.PostForm, ui.FieldErrors{}
	for field, texts := range fields {
		if field == "rejection_reason" {
			field = "reason"
		}
		p.Errors["move-"+strings.TrimSuffix(field, "_reason")] = ui.AsSentences(texts)
	}
	return ui.Invalid("request-move", p)
}

// shipment returns the shipping details in a form; now are the present ones.
func (v *pageRequest) shipment(now *request.Shipment) (request.ShipmentPatch, error) {
	p := request.ShipmentPatch{Carrier: exchange.Some(v.PostFormValue("carrier")),
		Tracking:   exchange.Some(v.PostFormValue("tracking")),
		Conditions: exchange.Some(v.PostFormValue("conditions")), SentAt: exchange.Cleared[exchange.Instant]()}
	day := v.PostFormValue("sent_at")
	if day == "" {
		return p, nil
	}
	at, err := time.ParseInLocation(time.DateOnly, day, v.Who.Zone)
	if err != nil {
		return p, exchange.FieldErrors{"sent_at": {"enter a date, for example 2026-03-12"}}.Err()
	}
	if now != nil && now.SentAt != nil && now.SentAt.In(v.Who.Zone).Format(time.DateOnly) == day {
		at = *now.SentAt // keep the time of day
	}
	p.SentAt = exchange.NullOf(exchange.Instant(at))
	return p, nil
}

// askDelete asks for confirmation before a request is deleted.
func (v *pageRequest) askDelete() (ui.Response, error) {
	p, err := v.requestPage()
	if err != nil {
		return ui.Response{}, err
	}
	if !p.R.Offers.Delete {
		return ui.Response{}, exchange.Errorf(exchange.Forbidden,
			"Only an admin can delete requests. You can end this one in other ways.")
	}
	p.Title, p.Narrow = fmt.Sprintf("Delete request %d?", p.R.ID), true
	return ui.Show("request-delete", p)
}

func (v *pageRequest) deleteRequest(id int64) (ui.Response, error) {
	if err := v.App.Requests.DeleteRequest(v.Context(), v.Who.Actor, id, v.asSeen()); err != nil {
		return v.refused("delete", err)
	}
	return ui.Response{Status: http.StatusSeeOther,
		Location: "/requests"}.Saying(fmt.Sprintf("Request %d deleted.", id)), nil
}
