package request_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

func review(r request.Request, who part, s document.Slot, accept bool, reason string) (request.Request,
	[]request.Event, error) {
	return r.ReviewDocument(who.roles, who.by, s, accept, reason, everything, exchangetest.Later)
}

func stateOf(r request.Request, n request.Need) request.Requirement {
	for _, q := range request.Requirements(everything, r) {
		if q.Need == n {
			return q
		}
	}
	return request.Requirement{}
}

var slotFields = map[document.Slot]func(exchange.Null[exchange.Ref]) request.Patch{
	document.SignedMTA: func(r exchange.Null[exchange.Ref]) request.Patch { return request.Patch{SignedMTA: r} },
	document.IRB:       func(r exchange.Null[exchange.Ref]) request.Patch { return request.Patch{IRB: r} },
	document.ExecutedMTA: func(r exchange.Null[exchange.Ref]) request.Patch {
		return request.Patch{ExecutedMTA: r}
	},
}

func TestDocument_NewVersionSupersedesTheOldOne(t *testing.T) {
	t.Parallel()
	for slot, patch := range slotFields {
		before := given(request.Approved)
		old := *before.Current(slot)
		r, events, err := apply(before, asMember, patch(exchange.NullOf(exchange.Ref(555))), everything)
		wantKinds(t, events, err, request.DocumentAdded)
		exchangetest.Same(t, "the event", events[0].Detail,
			request.EventDetail{Slot: slot, Attachment: 555, Supersedes: old.AttachmentID})
		want := document.Document{RequestID: 31, Slot: slot, AttachmentID: 555, State: document.Delivered,
			AddedBy: exchangetest.MemberID, AddedAt: exchangetest.Later}
		exchangetest.Same(t, "the new version", *r.Current(slot), want)
		if got := *r.AttachmentIn(slot); got != 555 {
			t.Errorf("%s: got attachment %d, want 555", slot, got)
		}
		old.State = document.Superseded
		found := false
		for _, d := range r.Documents {
			found = found || d == old
		}
		if !found || len(r.Documents) != len(before.Documents)+1 {
			t.Errorf("%s: got documents %+v, want the old version still there", slot, r.Documents)
		}
	}
}

func TestDocument_WithdrawnIsRequiredAgain(t *testing.T) {
	t.Parallel()
	for slot, patch := range slotFields {
		r, events, err := apply(given(request.Approved), asMember, patch(exchange.Cleared[exchange.Ref]()), everything)
		wantKinds(t, events, err, request.DocumentWithdrawn)
		if events[0].Detail.Supersedes == 0 || events[0].Detail.Attachment != 0 {
			t.Errorf("%s: got detail %+v, want the version that is withdrawn", slot, events[0].Detail)
		}
		if r.AttachmentIn(slot) != nil || len(r.Documents) != 3 {
			t.Errorf("%s: got documents %+v, want none present and all on record", slot, r.Documents)
		}
		if q := stateOf(r, request.Need(slot)); q.State == request.Done {
			t.Errorf("%s: got %s, want it owed", slot, q.State)
		}
	}
}

func TestReview_ReturnedDocumentIsRequiredAgain(t *testing.T) {
	t.Parallel()
	for slot, who := range map[document.Slot]part{document.SignedMTA: asMember, document.IRB: asAdmin,
		document.ExecutedMTA: asRequester} {
		r, events, err := review(given(request.Approved), who, slot, false, "page 2 is not signed")
		wantKinds(t, events, err, request.DocumentReturned)
		exchangetest.Same(t, "the event", events[0].Detail,
			request.EventDetail{Slot: slot, Attachment: *r.AttachmentIn(slot), Reason: "page 2 is not signed"})
		owed := request.OwedByRequester
		if slot == document.ExecutedMTA {
			owed = request.OwedByLab
		}
		exchangetest.Same(t, "the requirement", stateOf(r, request.Need(slot)),
			request.Requirement{Need: request.Need(slot), State: owed, Note: "page 2 is not signed"})
		if d := r.Current(slot); d.ReviewedAt == nil || !d.ReviewedAt.Equal(exchangetest.Later) {
			t.Errorf("%s: got reviewed at %v, want %s", slot, d.ReviewedAt, exchangetest.Later)
		}
		again, events, err := review(r, who, slot, false, "page 2 is not signed")
		wantKinds(t, events, err)
		exchangetest.Same(t, "a document returned twice", again, r)
		r, events, err = apply(r, asBoth, slotFields[slot](exchange.NullOf(exchange.Ref(556))), everything)
		wantKinds(t, events, err, request.DocumentAdded)
		if q := stateOf(r, request.Need(slot)); q.State != request.Done || q.Note != "" {
			t.Errorf("%s given again: got %+v, want done without a note", slot, q)
		}
	}
}

func TestReview_AcceptedDocumentIsDone(t *testing.T) {
	t.Parallel()
	r, _, err := review(given(request.Approved), asMember, document.IRB, false, "blurred")
	if err != nil {
		t.Fatal(err)
	}
	r, events, err := review(r, asMember, document.IRB, true, "a reason is for a return alone")
	wantKinds(t, events, err, request.DocumentAccepted)
	if d := r.Current(document.IRB); d.State != document.Accepted || d.Reason != "" {
		t.Errorf("got %s with reason %q, want accepted without one", d.State, d.Reason)
	}
	if q := stateOf(r, request.NeedIRB); q.State != request.Done || q.Note != "" {
		t.Errorf("got %+v, want done", q)
	}
	_, events, err = review(r, asMember, document.IRB, true, "")
	wantKinds(t, events, err)
}

func TestReview_IsForTheOtherSide(t *testing.T) {
	t.Parallel()
	for _, row := range exchangetest.Rows(`
		| slot | requester | member | admin | requester+member | stranger |
		| requester_signed_mta | n | y | y | y | n |
		| irb | n | y | y | y | n |
		| executed_mta | y | n | y | y | n |`)[1:] {
		for i, who := range parts {
			for _, accept := range []bool{true, false} {
				_, _, err := review(given(request.Approved), who, document.Slot(row[0]), accept, "unsigned")
				if row[1+i] == "y" && err != nil {
					t.Errorf("%s reviews %s: got %v, want nil", who.name, row[0], err)
				} else if row[1+i] == "n" {
					exchangetest.WantCode(t, err, exchange.Forbidden, "")
				}
			}
		}
	}
}

func TestReview_NeedsDocumentReasonAndActiveRequest(t *testing.T) {
	t.Parallel()
	_, _, err := review(at(request.Approved), asMember, document.IRB, true, "")
	exchangetest.WantCode(t, err, exchange.Conflict, "")
	_, _, err = review(given(request.Approved), asMember, document.IRB, false, "")
	exchangetest.WantCode(t, err, exchange.InvalidInput, "reason")
	for _, s := range []request.Status{request.Verified, request.Rejected, request.Cancelled, request.Invalid} {
		_, _, err = review(given(s), asMember, document.IRB, true, "")
		exchangetest.WantCode(t, err, exchange.RequestClosed, "")
	}
}

func openIssue(t *testing.T, r request.Request, who part) (request.Request, []request.Event) {
	t.Helper()
	r, events, err := r.OpenIssue(who.roles, who.by, "thawed", everything, exchangetest.Later)
	if err != nil {
		t.Fatal(err)
	}
	return r, events
}

func closeIssue(r request.Request, who part, by uuid.UUID) (request.Request, []request.Event, error) {
	return r.CloseIssue(who.roles, who.by, request.Issue{ID: 5, Text: "thawed", OpenedBy: by}, everything,
		exchangetest.Later)
}

func TestIssue_OpenReturnsFulfilledAndClosingTheLastRestoresIt(t *testing.T) {
	t.Parallel()
	r, events := openIssue(t, given(request.Fulfilled), asRequester)
	wantKinds(t, events, nil, request.IssueOpened, request.StatusChanged)
	exchangetest.Same(t, "the move", events[1].Detail,
		request.EventDetail{From: request.Fulfilled, To: request.InFulfillment, Reason: "thawed"})
	if r.Status != request.InFulfillment || !r.PutBack || turn(everything, r) != "lab issue" {
		t.Fatalf("got %s, put back %t, turn %q", r.Status, r.PutBack, turn(everything, r))
	}
	r, events = openIssue(t, r, asMember)
	wantKinds(t, events, nil, request.IssueOpened)
	r, events, err := closeIssue(r, asMember, exchangetest.RequesterID)
	wantKinds(t, events, err, request.IssueClosed)
	if r.Status != request.InFulfillment || r.OpenIssues != 1 {
		t.Errorf("one of two closed: got %s with %d open", r.Status, r.OpenIssues)
	}
	r, events, err = closeIssue(r, asMember, exchangetest.RequesterID)
	wantKinds(t, events, err, request.IssueClosed, request.StatusChanged)
	exchangetest.Same(t, "the move", events[1].Detail,
		request.EventDetail{From: request.InFulfillment, To: request.Fulfilled, Issue: 5})
	if r.Status != request.Fulfilled || r.PutBack || r.OpenIssues != 0 || turn(everything, r) != "requester receipt" {
		t.Errorf("both closed: got %s, put back %t, %d open, turn %q", r.Status, r.PutBack, r.OpenIssues,
			turn(everything, r))
	}
}

func TestIssue_OutsideOfFulfilledMovesNothing(t *testing.T) {
	t.Parallel()
	for _, s := range []request.Status{request.Open, request.Approved, request.InFulfillment} {
		r := given(s)
		r.Shipment = &request.Shipment{Carrier: "DHL"}
		r, events := openIssue(t, r, asRequester)
		wantKinds(t, events, nil, request.IssueOpened)
		r, events, err := closeIssue(r, asRequester, exchangetest.RequesterID)
		wantKinds(t, events, err, request.IssueClosed)
		if r.Status != s {
			t.Errorf("got %s after an issue of %s", r.Status, s)
		}
	}
}

func TestIssue_NeedsAShipment(t *testing.T) {
	t.Parallel()
	for _, s := range []request.Status{request.Open, request.Approved, request.InFulfillment} {
		_, _, err := given(s).OpenIssue(asRequester.roles, asRequester.by, "it thawed", everything, exchangetest.Later)
		exchangetest.WantCode(t, err, exchange.Conflict, "")
	}
	back := given(request.InFulfillment) // the lab moved it back from FULFILLED
	back.Clock.Stages = map[request.Status]int64{request.Fulfilled: 60}
	_, events := openIssue(t, back, asRequester)
	wantKinds(t, events, nil, request.IssueOpened)
}

func TestIssue_OpenPreventsFulfilled(t *testing.T) {
	t.Parallel()
	r, _ := openIssue(t, given(request.Fulfilled), asRequester)
	for _, who := range []part{asMember, asAdmin} {
		_, _, err := apply(r, who, to(request.Fulfilled), everything)
		exchangetest.WantCode(t, err, exchange.Conflict, "")
	}
	back, _, err := apply(r, asMember, to(request.Approved), everything)
	if err != nil || back.PutBack {
		t.Fatalf("got put back %t, %v, want a lab that starts over", back.PutBack, err)
	}
	back, events, err := closeIssue(back, asMember, exchangetest.RequesterID)
	wantKinds(t, events, err, request.IssueClosed)
	if back.Status != request.Approved {
		t.Errorf("got %s, want APPROVED: the lab moved it since", back.Status)
	}
}

func TestIssue_IsForPartiesOfActiveRequests(t *testing.T) {
	t.Parallel()
	open := func(r request.Request, who part) error {
		_, _, err := r.OpenIssue(who.roles, who.by, "thawed", everything, exchangetest.Later)
		return err
	}
	exchangetest.WantCode(t, open(given(request.Fulfilled), asStranger), exchange.FieldForbidden, "")
	for _, r := range []request.Request{
		shut(request.Fulfilled), given(request.Verified), given(request.Rejected), given(request.Cancelled),
		given(request.Invalid),
	} {
		exchangetest.WantCode(t, open(r, asRequester), exchange.RequestClosed, "")
		_, _, err := closeIssue(r, asMember, exchangetest.RequesterID)
		exchangetest.WantCode(t, err, exchange.RequestClosed, "")
	}
	r, _ := openIssue(t, given(request.Fulfilled), asMember)
	_, _, err := closeIssue(r, asRequester, exchangetest.MemberID)
	exchangetest.WantCode(t, err, exchange.FieldForbidden, "")
	_, _, err = closeIssue(r, asMember, exchangetest.RequesterID)
	if err != nil {
		t.Errorf("a member closes any issue: got %v", err)
	}
}

func ship(r request.Request, who part, p request.ShipmentPatch) (request.Request, []request.Event, error) {
	return r.Ship(who.roles, who.by, p, everything, exchangetest.Later)
}

func TestShipment_IsSetByTheLab(t *testing.T) {
	t.Parallel()
	sent := exchange.Instant(exchangetest.Start)
	p := request.ShipmentPatch{
		Carrier: exchange.Some(" DHL "), Tracking: exchange.Some("JD01"), Conditions: exchange.Some("dry ice\n-78 °C"),
		SentAt: exchange.NullOf(sent),
	}
	for _, who := range parts {
		r, events, err := ship(given(request.InFulfillment), who, p)
		if !who.lab() {
			exchangetest.WantCode(t, err, exchange.FieldForbidden, "shipment")
			continue
		}
		wantKinds(t, events, err, request.ShipmentChanged)
		exchangetest.Same(t, "the shipment", *r.Shipment,
			request.Shipment{Carrier: "DHL", Tracking: "JD01", Conditions: "dry ice\n-78 °C",
				SentAt: &exchangetest.Start})
		for _, anyone := range parts {
			again, events, err := ship(r, anyone, p)
			wantKinds(t, events, err)
			exchangetest.Same(t, "the same shipment again", again, r)
		}
		elsewhere := exchangetest.Start.In(time.FixedZone("CET", 3600))
		_, events, err = ship(r, who, request.ShipmentPatch{SentAt: exchange.NullOf(exchange.Instant(elsewhere))})
		wantKinds(t, events, err)
		r, events, err = ship(r, who, request.ShipmentPatch{SentAt: exchange.Cleared[exchange.Instant]()})
		wantKinds(t, events, err, request.ShipmentChanged)
		if r.Shipment.SentAt != nil || r.Shipment.Carrier != "DHL" {
			t.Errorf("got %+v, want only sent_at cleared", r.Shipment)
		}
	}
}

func TestShipment_EmptyIsNoChange(t *testing.T) {
	t.Parallel()
	r, events, err := ship(given(request.InFulfillment), asMember, request.ShipmentPatch{Carrier: exchange.Some(" ")})
	wantKinds(t, events, err)
	exchangetest.Same(t, "the request", r, given(request.InFulfillment))
}

func TestShipment_IsRefusedOnAClosedRequest(t *testing.T) {
	t.Parallel()
	_, _, err := ship(given(request.Verified), asMember, request.ShipmentPatch{Carrier: exchange.Some("DHL")})
	exchangetest.WantCode(t, err, exchange.RequestClosed, "")
	_, _, err = ship(given(request.Approved), asMember,
		request.ShipmentPatch{Carrier: exchange.Some("a\nb"), Tracking: exchange.Some("\x00")})
	exchangetest.WantFieldErrors(t, err, "carrier", "tracking")
}

func TestCorrection_EndsWithAnyAnswerOfTheRequester(t *testing.T) {
	t.Parallel()
	returned := given(request.Open)
	returned.Correction = "which strain?"
	message := func(who part) (request.Request, []request.Event, error) {
		return returned.Message(who.roles, who.by, "C57BL/6J", everything, exchangetest.Later)
	}
	r, events, err := message(asRequester)
	wantKinds(t, events, err, request.Messaged)
	if r.Correction != "" || turn(everything, r) != "lab decision" || !r.WaitingSince.Equal(exchangetest.Later) ||
		events[0].Detail.Text != "C57BL/6J" {
		t.Errorf("got correction %q, turn %q since %s, text %q", r.Correction, turn(everything, r), r.WaitingSince,
			events[0].Detail.Text)
	}
	if r, _, _ = message(asMember); r.Correction == "" || !r.WaitingSince.Equal(exchangetest.Start) {
		t.Errorf("a member's message: got correction %q, since %s, want both as before", r.Correction, r.WaitingSince)
	}
	for _, field := range []string{"requester_abstract", "irb_attachment", "requester_signed_mta_attachment", "address",
		"payment_method"} {
		if r, _, err = apply(returned, asRequester, changes()[field], everything); err != nil || r.Correction != "" {
			t.Errorf("%s: got correction %q, %v, want none", field, r.Correction, err)
		}
	}
}

func TestQuestion_IsForTheRequesterToAnswerBeforeTheLabDecides(t *testing.T) {
	t.Parallel()
	ask := func(r request.Request, who part) (request.Request, []request.Event, error) {
		return r.Question(who.roles, who.by, "which strain?", everything, exchangetest.Later)
	}
	r, events, err := ask(given(request.Open), asMember)
	wantKinds(t, events, err, request.Messaged)
	if r.Status != request.Open || r.Correction != "which strain?" || turn(everything, r) != "requester correction" ||
		!r.WaitingSince.Equal(exchangetest.Later) {
		t.Errorf("%s, %q, turn %q since %s", r.Status, r.Correction, turn(everything, r), r.WaitingSince)
	}
	_, _, err = ask(given(request.Open), asRequester)
	exchangetest.WantCode(t, err, exchange.FieldForbidden, "")
	for _, s := range request.Statuses[1:] {
		want := exchange.Conflict
		if !s.Active() {
			want = exchange.RequestClosed
		}
		_, _, err = ask(given(s), asMember)
		exchangetest.WantCode(t, err, want, "")
	}
}

// Someone on both sides who provides what the lab owes has not answered as the requester.
func TestCorrection_DoesNotEndWithADocumentOfTheLab(t *testing.T) {
	t.Parallel()
	returned := given(request.Open)
	returned.Correction = "which strain?"
	r, _, err := apply(returned, asBoth, changes()["executed_mta_attachment"], everything)
	if err != nil || r.Correction != "which strain?" {
		t.Errorf("got correction %q, %v, want it kept", r.Correction, err)
	}
}

func TestMessage_IsAcceptedOnAClosedRequest(t *testing.T) {
	t.Parallel()
	r, events, err := given(request.Rejected).Message(asRequester.roles, exchangetest.RequesterID, "Thank you.",
		everything, exchangetest.Later)
	wantKinds(t, events, err, request.Messaged)
	if r.Active || r.Status != request.Rejected {
		t.Errorf("got %s, is_active %t", r.Status, r.Active)
	}
}

func TestDelete_MakesARequestInactive(t *testing.T) {
	t.Parallel()
	r, events, err := given(request.Open).Delete(asAdmin.roles, exchangetest.AdminID, everything, exchangetest.Later)
	wantKinds(t, events, err, request.Deleted)
	if r.Active {
		t.Error("got is_active true")
	}
}

// The contract's form shows seconds, so whole seconds are stored: sending back what a GET shows is the same moment.
func TestShipment_TimestampSentBackIsNoChange(t *testing.T) {
	t.Parallel()
	sent := exchangetest.Body[request.ShipmentPatch](t, `{"sent_at": "2026-03-12T09:40:00.9995Z"}`)
	r, _, err := ship(given(request.InFulfillment), asMember, sent)
	if err != nil {
		t.Fatal(err)
	}
	shown := r.Shipment.SentAt.Format(exchange.TimeLayout)
	if shown != "2026-03-12T09:40:00+0000" {
		t.Errorf("got %s shown", shown)
	}
	_, events, err := ship(r, asMember, exchangetest.Body[request.ShipmentPatch](t, `{"sent_at": "`+shown+`"}`))
	wantKinds(t, events, err)
}
