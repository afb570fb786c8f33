package ui_test

import (
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

var (
	asking = exchange.Actor{ID: uuid.MustParse("01890000-0000-7000-8000-000000000001")}
	giving = exchange.Actor{ID: uuid.MustParse("01890000-0000-7000-8000-000000000002"), Organizations: []int64{4}}
)

// standing is a request of asking to the lab of giving, at a status, with documents.
func standing(s request.Status, documents ...document.Document) request.Detail {
	return request.Detail{Request: request.Request{ID: 7, Requester: asking.ID, Status: s, Active: s.Active(),
		Documents: documents, Abstract: "Why",
		Address: &person.Address{ID: 1}, Payment: "OTHER"}, Organization: 4,
		Terms: request.Terms{MTA: true, IRB: true, Abstract: true, Address: true, Payment: true}}
}

func doc(s document.Slot, state document.Review) document.Document {
	return document.Document{Slot: s, State: state, AttachmentID: 1}
}

// TestStatuses_HaveTheNamesOfTheDesign holds its table of statuses, for both sides.
func TestStatuses_HaveTheNamesOfTheDesign(t *testing.T) {
	t.Parallel()
	mta, irb, executed := document.SignedMTA, document.IRB, document.ExecutedMTA
	handed := []document.Document{doc(mta, document.Delivered), doc(irb, document.Accepted)}
	checked := []document.Document{doc(mta, document.Accepted), doc(irb, document.Accepted)}
	signed := []document.Document{doc(mta, document.Accepted), doc(irb, document.Accepted),
		doc(executed, document.Delivered)}
	with := func(q request.Detail, change func(*request.Detail)) request.Detail {
		change(&q)
		return q
	}
	for what, c := range map[string]struct {
		q                   request.Detail
		requester, lab      string // tone: words
		stages              string // + done, * current, - to come
		requesters, nobodys bool   // turn
	}{
		"open": {standing("OPEN"), "info: New", "turn: Accept or decline", "*-----", false, false},
		"open, to correct": {with(standing("OPEN"), func(q *request.Detail) { q.Correction = "Which?" }),
			"turn: Answer the lab", ": Waiting for an answer", "*-----", true, false},
		"open, no abstract": {with(standing("OPEN"), func(q *request.Detail) { q.Abstract = "" }),
			"turn: Abstract needed", ": Waiting for the abstract", "*-----", true, false},
		"documents owed": {standing("APPROVED"), "turn: Documents needed", ": Waiting for documents", "++*---",
			true, false},
		"one returned": {standing("APPROVED", doc(mta, document.Returned), doc(irb, document.Accepted)),
			"turn: Documents needed", ": Waiting for documents", "++*---", true, false},
		"address owed": {with(standing("APPROVED", checked...),
			func(q *request.Detail) { q.Address = nil }), "turn: Shipping details needed",
			": Waiting for shipping details", "++*---", true, false},
		"submitted": {standing("APPROVED", handed...), "info: The lab is checking it", "turn: Check it",
			"++*---", false, false},
		"to countersign": {standing("APPROVED", checked...), "info: Being countersigned",
			"turn: Countersign the MTA", "+++*--", false, false},
		"approved, all there": {standing("APPROVED", signed...), "info: Being prepared", "turn: Pack and ship",
			"++++*-", false, false},
		"in fulfillment": {standing("IN_FULFILLMENT", signed...), "info: Being prepared", "turn: Pack and ship",
			"++++*-", false, false},
		"in spite of it": {with(standing("IN_FULFILLMENT"),
			func(q *request.Detail) { q.Override = "so" }), "info: Being prepared", "turn: Pack and ship",
			"++++*-", false, false},
		"a problem": {with(standing("IN_FULFILLMENT", signed...),
			func(q *request.Detail) { q.OpenIssues = 1 }), "bad: Problem reported", "bad: Problem to resolve",
			"++++*-", false, false},
		"sent": {standing("FULFILLED", signed...), "turn: Confirm receipt", "info: Shipped", "+++++*",
			true, false},
		"received": {standing("VERIFIED_FULFILLED", signed...), "good: Completed", "good: Completed",
			"++++++", false, true},
		"declined":  {standing("REJECTED"), ": Declined", ": Declined", "", false, true},
		"cancelled": {standing("CANCELLED"), ": Cancelled", ": Cancelled", "", false, true},
		"invalid": {standing("INVALID"), ": Withdrawn", ": Withdrawn", "",
			false, true},
		"closed before its end": {with(standing("OPEN"), func(q *request.Detail) { q.Active = false }),
			": Closed by the lab", ": Closed by the lab", "", false, true},
		"data, accepted": {with(standing("APPROVED"),
			func(q *request.Detail) { q.Terms, q.Address = request.Terms{}, nil }),
			"info: Being prepared", "turn: Deliver it", "++*-", false, false},
	} {
		for name, side := range map[string]struct {
			viewer exchange.Actor
			want   string
			mine   bool
		}{"requester": {asking, c.requester, c.requesters && !c.nobodys},
			"lab": {giving, c.lab, !c.requesters && !c.nobodys}} {
			v := ui.StatusOf(c.q, side.viewer)
			if got := v.Tone + ": " + v.Words; got != side.want || v.Mine != side.mine || (v.Verb != "") != side.mine ||
				v.Sentence == "" || v.Icon == "" {
				t.Errorf("%s, to the %s: %q, want %q; %+v", what, name, got, side.want, v)
			}
			stages := ""
			for _, s := range ui.TrackOf(c.q, v) {
				stages += map[string]string{"ok": "+", "now": "*", "wait": "*", "": "-"}[s.State]
				if s.Name == "" || (s.State == "now") != (v.Mine && strings.HasSuffix(stages, "*")) {
					t.Errorf("%s, to the %s: %+v", what, name, s)
				}
			}
			if stages != c.stages {
				t.Errorf("%s, to the %s: the track is %s, want %s", what, name, stages, c.stages)
			}
		}
	}
}
