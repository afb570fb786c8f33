package request

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// bulkForm is the form around an inbox's checkboxes.
type bulkForm struct {
	Back   string // the address of the list
	Reason string // for declining
	Assign string
	Until  string
	Report []ui.BulkOutcome // the requests that were not changed
	Done   int
	Acted  string // what was done, as "accepted"
}

// bulkAct is an action on many requests.
type bulkAct struct {
	did   string // as "3 requests were reminded"
	field string // a field that the action requires
	needs string
	do    func(v *pageRequest, id int64, f bulkForm) error // nil: it has its own page
}

var bulkActs = map[string]bulkAct{
	"accept": {did: "will be accepted", do: func(v *pageRequest, id int64, _ bulkForm) error {
		_, err := v.App.Schedule(v.Context(), v.Who.Actor,
			transfer.PendingAction{Request: id, Status: request.Approved, From: request.Open}, nil)
		return err
	}},
	"decline": {did: "will be declined", field: "reason", needs: "Enter a reason for the requesters.",
		do: func(v *pageRequest, id int64, f bulkForm) error {
			_, err := v.App.Schedule(v.Context(), v.Who.Actor, transfer.PendingAction{Request: id,
				Status: request.Rejected, From: request.Open, Reason: f.Reason}, nil)
			return err
		}},
	"assign": {did: "assigned", field: "assign", needs: "Choose a person.",
		do: func(v *pageRequest, id int64, f bulkForm) error {
			to, err := v.Person(f.Assign, v.Who.Organizations...)
			if fields, wrong := ui.FieldErrorsIn(err); wrong {
				return exchange.FieldErrors{"assign": ui.AsSentences(fields["person"])}.Err()
			} else if err != nil {
				return err
			}
			_, err = v.App.Requests.UpdateRequest(v.Context(), v.Who.Actor, id,
				request.Patch{AssignedTo: exchange.Some(exchange.UserRef(to))}, nil)
			return err
		}},
	"remind": {did: "reminded", do: func(v *pageRequest, id int64, _ bulkForm) error {
		return v.App.Requests.RemindRequest(v.Context(), v.Who.Actor, id)
	}},
	"snooze": {did: "snoozed", field: "until", needs: "Choose a date.",
		do: func(v *pageRequest, id int64, f bulkForm) error {
			day, err := time.ParseInLocation(time.DateOnly, f.Until, v.Who.Zone)
			if err != nil {
				return exchange.FieldErrors{"until": {"Enter a date, for example 2026-03-12."}}.Err()
			}
			_, err = v.App.Requests.SnoozeRequest(v.Context(), v.Who.Actor, id,
				request.SnoozeNew{Until: exchange.Some(exchange.Until(day))})
			return err
		}},
	"labels": {},
}

// inboxBulk applies one action to several requests, each by its use case, and reports those that it failed for.
func (v *pageRequest) inboxBulk() (ui.Response, error) {
	f := bulkForm{Back: ui.LocalAddress(v.PostFormValue("back")), Reason: strings.TrimSpace(v.PostFormValue("reason")),
		Assign: v.PostFormValue("assign"), Until: v.PostFormValue("until")}
	name := v.PostFormValue("do")
	act, known := bulkActs[name]
	ids := ui.ChosenIDs(v.PostForm)
	if one, rest, is := strings.Cut(name, " "); is { // the button of one row
		act, known = bulkActs[one]
		ids = ui.ChosenIDs(url.Values{"id": {rest}})
	}
	problems := ui.FieldErrors{}
	typed := map[string]string{"reason": f.Reason, "assign": f.Assign, "until": f.Until}
	switch {
	case !known:
		problems["id"] = []string{"Choose an action."}
	case len(ids) == 0:
		problems["id"] = []string{"Select at least one request."}
	case len(ids) > ui.MaxInBulk:
		problems["id"] = []string{"Select at most " + strconv.Itoa(ui.MaxInBulk) + " requests."}
	case act.field != "" && typed[act.field] == "":
		problems[act.field] = []string{act.needs}
	}
	if len(problems) == 0 && act.do == nil {
		return ui.SeeOther("/requests/labels?" + chosenAgain(ids).Encode()), nil
	}
	if len(problems) == 0 {
		for _, id := range ids {
			err := act.do(v, id, f)
			if fields, is := ui.FieldErrorsIn(err); is {
				for field, texts := range fields {
					if _, ours := typed[field]; ours {
						problems[field] = texts
					}
				}
			}
			if err == nil {
				f.Done++
				continue
			}
			why, isRefusal := bulkWhy(err)
			if !isRefusal {
				return ui.Response{}, err
			}
			v.NoteRefusal(err)
			f.Report = append(f.Report, ui.BulkOutcome{ID: id, Why: why})
		}
		if len(f.Report) == 0 {
			return ui.SeeOther(f.Back).Saying(f.said(name, act)), nil
		}
	}
	return v.inboxAgain(f, act, ids, problems)
}

// said returns the message about what was done.
func (f bulkForm) said(name string, act bulkAct) string {
	if name == "accept" || name == "decline" {
		return ui.Plural(f.Done, "request") + " " + act.did + " in 10 seconds. Until then you can undo each."
	}
	return ui.Plural(f.Done, "request") + " " + act.did + "."
}

// inboxAgain shows the list as it was left, with the requests that were not changed and why.
func (v *pageRequest) inboxAgain(f bulkForm, act bulkAct, ids []int64, problems ui.FieldErrors) (ui.Response, error) {
	back, err := url.Parse(f.Back)
	if err != nil {
		return ui.Response{}, err
	}
	p, err := v.inboxPage(back.Query())
	if err != nil {
		return ui.Response{}, err
	}
	if f.Until == "" {
		f.Until = p.Bulk.Until
	}
	f.Acted = act.did
	p.Bulk, p.Errors = f, problems
	for i := range p.Rows {
		r := &p.Rows[i]
		for j, o := range f.Report {
			if o.ID == r.ID {
				r.Problem, r.Checked, f.Report[j].Name = o.Why, true, r.Material
			}
		}
		r.Checked = r.Checked || len(f.Report) == 0 && slices.Contains(ids, r.ID)
	}
	if len(f.Report) > 0 {
		p.Title = ui.Plural(len(f.Report), "request") + " could not be changed"
	}
	return ui.Invalid("inbox", p)
}

// chosenAgain returns the ids that ui.ChosenIDs read.
func chosenAgain(ids []int64) url.Values {
	form := url.Values{}
	for _, id := range ids {
		form.Add("id", number(id))
	}
	return form
}

// bulkWhy explains why a use case refused; isRefusal is false for an internal error.
func bulkWhy(err error) (why string, isRefusal bool) {
	why, isRefusal = ui.WhyRefused(err)
	e, is := errors.AsType[*exchange.Error](err)
	if !is || e.Code != exchange.InvalidTransition {
		return why, isRefusal
	}
	if status, is := e.Details["status"].(request.Status); is {
		why = "Only new requests can be accepted or declined together; the status of this one is “" +
			request.StatusName(status) + "”."
	}
	return why, true
}
