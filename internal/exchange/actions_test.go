package exchange_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

func review(r exchange.Request, who part, s exchange.Slot, accept bool, reason string) (exchange.Request,
	[]exchange.Event, error) {
	return r.ReviewDocument(who.roles, who.by, s, accept, reason, everything, later)
}

func stateOf(r exchange.Request, n exchange.Need) exchange.Requirement {
	for _, q := range exchange.Requirements(everything, r) {
		if q.Need == n {
			return q
		}
	}
	return exchange.Requirement{}
}

var slotFields = map[exchange.Slot]func(exchange.Null[exchange.Ref]) exchange.RequestPatch{
	exchange.SignedMTA: func(r exchange.Null[exchange.Ref]) exchange.RequestPatch { return exchange.RequestPatch{SignedMTA: r} },
	exchange.IRB:       func(r exchange.Null[exchange.Ref]) exchange.RequestPatch { return exchange.RequestPatch{IRB: r} },
	exchange.ExecutedMTA: func(r exchange.Null[exchange.Ref]) exchange.RequestPatch {
		return exchange.RequestPatch{ExecutedMTA: r}
	},
}

func TestANewVersionSupersedesTheOldWhichStaysOnRecord(t *testing.T) {
	t.Parallel()
	for slot, patch := range slotFields {
		before := given(exchange.Approved)
		old := *before.Current(slot)
		r, events, err := apply(before, asMember, patch(exchange.NullOf(exchange.Ref(555))), everything)
		wantKinds(t, events, err, exchange.DocumentAdded)
		same(t, "the event", events[0].Detail,
			exchange.Detail{Slot: slot, Attachment: 555, Supersedes: old.AttachmentID})
		want := exchange.Document{RequestID: 31, Slot: slot, AttachmentID: 555, State: exchange.Delivered,
			AddedBy: memberID, AddedAt: later}
		same(t, "the new version", *r.Current(slot), want)
		if got := *r.AttachmentIn(slot); got != 555 {
			t.Errorf("%s: got attachment %d, want 555", slot, got)
		}
		old.State = exchange.Superseded
		found := false
		for _, d := range r.Documents {
			found = found || d == old
		}
		if !found || len(r.Documents) != len(before.Documents)+1 {
			t.Errorf("%s: got documents %+v, want the old version still there", slot, r.Documents)
		}
	}
}

func TestAWithdrawnDocumentIsOwedAgain(t *testing.T) {
	t.Parallel()
	for slot, patch := range slotFields {
		r, events, err := apply(given(exchange.Approved), asMember, patch(exchange.Cleared[exchange.Ref]()), everything)
		wantKinds(t, events, err, exchange.DocumentWithdrawn)
		if events[0].Detail.Supersedes == 0 || events[0].Detail.Attachment != 0 {
			t.Errorf("%s: got detail %+v, want the version that is withdrawn", slot, events[0].Detail)
		}
		if r.AttachmentIn(slot) != nil || len(r.Documents) != 3 {
			t.Errorf("%s: got documents %+v, want none present and all on record", slot, r.Documents)
		}
		if q := stateOf(r, exchange.Need(slot)); q.State == exchange.Done {
			t.Errorf("%s: got %s, want it owed", slot, q.State)
		}
	}
}

func TestAReturnedDocumentIsOwedAgainWithItsReason(t *testing.T) {
	t.Parallel()
	for slot, who := range map[exchange.Slot]part{exchange.SignedMTA: asMember, exchange.IRB: asAdmin,
		exchange.ExecutedMTA: asRequester} {
		r, events, err := review(given(exchange.Approved), who, slot, false, "page 2 is not signed")
		wantKinds(t, events, err, exchange.DocumentReturned)
		same(t, "the event", events[0].Detail,
			exchange.Detail{Slot: slot, Attachment: *r.AttachmentIn(slot), Reason: "page 2 is not signed"})
		owed := exchange.OwedByRequester
		if slot == exchange.ExecutedMTA {
			owed = exchange.OwedByLab
		}
		same(t, "the requirement", stateOf(r, exchange.Need(slot)),
			exchange.Requirement{Need: exchange.Need(slot), State: owed, Note: "page 2 is not signed"})
		if d := r.Current(slot); d.ReviewedAt == nil || !d.ReviewedAt.Equal(later) {
			t.Errorf("%s: got reviewed at %v, want %s", slot, d.ReviewedAt, later)
		}
		again, events, err := review(r, who, slot, false, "page 2 is not signed")
		wantKinds(t, events, err)
		same(t, "a document returned twice", again, r)
		r, events, err = apply(r, asBoth, slotFields[slot](exchange.NullOf(exchange.Ref(556))), everything)
		wantKinds(t, events, err, exchange.DocumentAdded)
		if q := stateOf(r, exchange.Need(slot)); q.State != exchange.Done || q.Note != "" {
			t.Errorf("%s given again: got %+v, want done without a note", slot, q)
		}
	}
}

func TestAnAcceptedDocumentIsDone(t *testing.T) {
	t.Parallel()
	r, _, err := review(given(exchange.Approved), asMember, exchange.IRB, false, "blurred")
	if err != nil {
		t.Fatal(err)
	}
	r, events, err := review(r, asMember, exchange.IRB, true, "a reason is for a return alone")
	wantKinds(t, events, err, exchange.DocumentAccepted)
	if d := r.Current(exchange.IRB); d.State != exchange.Accepted || d.Reason != "" {
		t.Errorf("got %s with reason %q, want accepted without one", d.State, d.Reason)
	}
	if q := stateOf(r, exchange.NeedIRB); q.State != exchange.Done || q.Note != "" {
		t.Errorf("got %+v, want done", q)
	}
	_, events, err = review(r, asMember, exchange.IRB, true, "")
	wantKinds(t, events, err)
}

func TestEachSideReviewsWhatTheOtherGave(t *testing.T) {
	t.Parallel()
	for _, row := range rows(`
		| slot | requester | member | admin | requester+member | stranger |
		| requester_signed_mta | n | y | y | y | n |
		| irb | n | y | y | y | n |
		| executed_mta | y | n | y | y | n |`)[1:] {
		for i, who := range parts {
			for _, accept := range []bool{true, false} {
				_, _, err := review(given(exchange.Approved), who, exchange.Slot(row[0]), accept, "unsigned")
				if row[1+i] == "y" && err != nil {
					t.Errorf("%s reviews %s: got %v, want nil", who.name, row[0], err)
				} else if row[1+i] == "n" {
					wantCode(t, err, exchange.Forbidden, "")
				}
			}
		}
	}
}

func TestAReviewNeedsADocumentAReasonAndAnActiveRequest(t *testing.T) {
	t.Parallel()
	_, _, err := review(at(exchange.Approved), asMember, exchange.IRB, true, "")
	wantCode(t, err, exchange.Conflict, "")
	_, _, err = review(given(exchange.Approved), asMember, exchange.IRB, false, "")
	wantCode(t, err, exchange.InvalidInput, "reason")
	for _, s := range []exchange.Status{exchange.Verified, exchange.Rejected, exchange.Cancelled, exchange.Invalid} {
		_, _, err = review(given(s), asMember, exchange.IRB, true, "")
		wantCode(t, err, exchange.RequestClosed, "")
	}
}

func openIssue(t *testing.T, r exchange.Request, who part) (exchange.Request, []exchange.Event) {
	t.Helper()
	r, events, err := r.OpenIssue(who.roles, who.by, "thawed", everything, later)
	if err != nil {
		t.Fatal(err)
	}
	return r, events
}

func closeIssue(r exchange.Request, who part, by uuid.UUID) (exchange.Request, []exchange.Event, error) {
	return r.CloseIssue(who.roles, who.by, exchange.Issue{ID: 5, Text: "thawed", OpenedBy: by}, everything, later)
}

func TestAnOpenIssuePutsFulfilledBackAndClosingTheLastReturnsIt(t *testing.T) {
	t.Parallel()
	r, events := openIssue(t, given(exchange.Fulfilled), asRequester)
	wantKinds(t, events, nil, exchange.IssueOpened, exchange.StatusChanged)
	same(t, "the move", events[1].Detail,
		exchange.Detail{From: exchange.Fulfilled, To: exchange.InFulfillment, Reason: "thawed"})
	if r.Status != exchange.InFulfillment || !r.PutBack || turn(everything, r) != "lab issue" {
		t.Fatalf("got %s, put back %t, turn %q", r.Status, r.PutBack, turn(everything, r))
	}
	r, events = openIssue(t, r, asMember)
	wantKinds(t, events, nil, exchange.IssueOpened)
	r, events, err := closeIssue(r, asMember, requesterID)
	wantKinds(t, events, err, exchange.IssueClosed)
	if r.Status != exchange.InFulfillment || r.OpenIssues != 1 {
		t.Errorf("one of two closed: got %s with %d open", r.Status, r.OpenIssues)
	}
	r, events, err = closeIssue(r, asMember, requesterID)
	wantKinds(t, events, err, exchange.IssueClosed, exchange.StatusChanged)
	same(t, "the move", events[1].Detail,
		exchange.Detail{From: exchange.InFulfillment, To: exchange.Fulfilled, Issue: 5})
	if r.Status != exchange.Fulfilled || r.PutBack || r.OpenIssues != 0 || turn(everything, r) != "requester receipt" {
		t.Errorf("both closed: got %s, put back %t, %d open, turn %q", r.Status, r.PutBack, r.OpenIssues,
			turn(everything, r))
	}
}

func TestAnIssueElsewhereMovesNothing(t *testing.T) {
	t.Parallel()
	for _, s := range []exchange.Status{exchange.Open, exchange.Approved, exchange.InFulfillment} {
		r := given(s)
		r.Shipment = &exchange.Shipment{Carrier: "DHL"}
		r, events := openIssue(t, r, asRequester)
		wantKinds(t, events, nil, exchange.IssueOpened)
		r, events, err := closeIssue(r, asRequester, requesterID)
		wantKinds(t, events, err, exchange.IssueClosed)
		if r.Status != s {
			t.Errorf("got %s after an issue of %s", r.Status, s)
		}
	}
}

func TestAnIssueIsOnlyOfWhatWasSent(t *testing.T) {
	t.Parallel()
	for _, s := range []exchange.Status{exchange.Open, exchange.Approved, exchange.InFulfillment} {
		_, _, err := given(s).OpenIssue(asRequester.roles, asRequester.by, "it thawed", everything, later)
		wantCode(t, err, exchange.Conflict, "")
	}
	back := given(exchange.InFulfillment) // the lab moved it back from FULFILLED
	back.Clock.Stages = map[exchange.Status]int64{exchange.Fulfilled: 60}
	_, events := openIssue(t, back, asRequester)
	wantKinds(t, events, nil, exchange.IssueOpened)
}

func TestNothingIsFulfilledWhileAnIssueIsOpen(t *testing.T) {
	t.Parallel()
	r, _ := openIssue(t, given(exchange.Fulfilled), asRequester)
	for _, who := range []part{asMember, asAdmin} {
		_, _, err := apply(r, who, to(exchange.Fulfilled), everything)
		wantCode(t, err, exchange.Conflict, "")
	}
	back, _, err := apply(r, asMember, to(exchange.Approved), everything)
	if err != nil || back.PutBack {
		t.Fatalf("got put back %t, %v, want a lab that starts over", back.PutBack, err)
	}
	back, events, err := closeIssue(back, asMember, requesterID)
	wantKinds(t, events, err, exchange.IssueClosed)
	if back.Status != exchange.Approved {
		t.Errorf("got %s, want APPROVED: the lab moved it since", back.Status)
	}
}

func TestIssuesAreOfThePartiesAndOfActiveRequests(t *testing.T) {
	t.Parallel()
	open := func(r exchange.Request, who part) error {
		_, _, err := r.OpenIssue(who.roles, who.by, "thawed", everything, later)
		return err
	}
	wantCode(t, open(given(exchange.Fulfilled), asStranger), exchange.FieldForbidden, "")
	for _, r := range []exchange.Request{
		shut(exchange.Fulfilled), given(exchange.Verified), given(exchange.Rejected), given(exchange.Cancelled),
		given(exchange.Invalid),
	} {
		wantCode(t, open(r, asRequester), exchange.RequestClosed, "")
		_, _, err := closeIssue(r, asMember, requesterID)
		wantCode(t, err, exchange.RequestClosed, "")
	}
	r, _ := openIssue(t, given(exchange.Fulfilled), asMember)
	_, _, err := closeIssue(r, asRequester, memberID)
	wantCode(t, err, exchange.FieldForbidden, "")
	_, _, err = closeIssue(r, asMember, requesterID)
	if err != nil {
		t.Errorf("a member closes any issue: got %v", err)
	}
}

func ship(r exchange.Request, who part, p exchange.ShipmentPatch) (exchange.Request, []exchange.Event, error) {
	return r.Ship(who.roles, who.by, p, everything, later)
}

func TestAShipmentIsSetByTheLab(t *testing.T) {
	t.Parallel()
	sent := exchange.Instant(start)
	p := exchange.ShipmentPatch{
		Carrier: exchange.Some(" DHL "), Tracking: exchange.Some("JD01"), Conditions: exchange.Some("dry ice\n-78 °C"),
		SentAt: exchange.NullOf(sent),
	}
	for _, who := range parts {
		r, events, err := ship(given(exchange.InFulfillment), who, p)
		if !who.lab() {
			wantCode(t, err, exchange.FieldForbidden, "shipment")
			continue
		}
		wantKinds(t, events, err, exchange.ShipmentChanged)
		same(t, "the shipment", *r.Shipment,
			exchange.Shipment{Carrier: "DHL", Tracking: "JD01", Conditions: "dry ice\n-78 °C", SentAt: &start})
		for _, anyone := range parts {
			again, events, err := ship(r, anyone, p)
			wantKinds(t, events, err)
			same(t, "the same shipment again", again, r)
		}
		elsewhere := start.In(time.FixedZone("CET", 3600))
		_, events, err = ship(r, who, exchange.ShipmentPatch{SentAt: exchange.NullOf(exchange.Instant(elsewhere))})
		wantKinds(t, events, err)
		r, events, err = ship(r, who, exchange.ShipmentPatch{SentAt: exchange.Cleared[exchange.Instant]()})
		wantKinds(t, events, err, exchange.ShipmentChanged)
		if r.Shipment.SentAt != nil || r.Shipment.Carrier != "DHL" {
			t.Errorf("got %+v, want only sent_at cleared", r.Shipment)
		}
	}
}

func TestAnEmptyShipmentOfNoShipmentIsNoChange(t *testing.T) {
	t.Parallel()
	r, events, err := ship(given(exchange.InFulfillment), asMember, exchange.ShipmentPatch{Carrier: exchange.Some(" ")})
	wantKinds(t, events, err)
	same(t, "the request", r, given(exchange.InFulfillment))
}

func TestAClosedRequestShipsNothing(t *testing.T) {
	t.Parallel()
	_, _, err := ship(given(exchange.Verified), asMember, exchange.ShipmentPatch{Carrier: exchange.Some("DHL")})
	wantCode(t, err, exchange.RequestClosed, "")
	_, _, err = ship(given(exchange.Approved), asMember,
		exchange.ShipmentPatch{Carrier: exchange.Some("a\nb"), Tracking: exchange.Some("\x00")})
	wantFaults(t, err, "carrier", "tracking")
}

func TestAnyAnswerOfTheRequesterEndsACorrection(t *testing.T) {
	t.Parallel()
	returned := given(exchange.Open)
	returned.Correction = "which strain?"
	message := func(who part) (exchange.Request, []exchange.Event, error) {
		return returned.Message(who.roles, who.by, "C57BL/6J", everything, later)
	}
	r, events, err := message(asRequester)
	wantKinds(t, events, err, exchange.Messaged)
	if r.Correction != "" || turn(everything, r) != "lab decision" || !r.WaitingSince.Equal(later) ||
		events[0].Detail.Text != "C57BL/6J" {
		t.Errorf("got correction %q, turn %q since %s, text %q", r.Correction, turn(everything, r), r.WaitingSince,
			events[0].Detail.Text)
	}
	if r, _, _ = message(asMember); r.Correction == "" || !r.WaitingSince.Equal(start) {
		t.Errorf("a member's message: got correction %q, since %s, want both as before", r.Correction, r.WaitingSince)
	}
	for _, field := range []string{"requester_abstract", "irb_attachment", "requester_signed_mta_attachment", "address",
		"payment_method"} {
		if r, _, err = apply(returned, asRequester, changes()[field], everything); err != nil || r.Correction != "" {
			t.Errorf("%s: got correction %q, %v, want none", field, r.Correction, err)
		}
	}
}

// Someone on both sides who provides what the lab owes has not answered as the requester.
func TestTheLabsDocumentEndsNoCorrection(t *testing.T) {
	t.Parallel()
	returned := given(exchange.Open)
	returned.Correction = "which strain?"
	r, _, err := apply(returned, asBoth, changes()["executed_mta_attachment"], everything)
	if err != nil || r.Correction != "which strain?" {
		t.Errorf("got correction %q, %v, want it kept", r.Correction, err)
	}
}

func TestAClosedRequestCanStillBeWrittenAbout(t *testing.T) {
	t.Parallel()
	r, events, err := given(exchange.Rejected).Message(asRequester.roles, requesterID, "Thank you.", everything, later)
	wantKinds(t, events, err, exchange.Messaged)
	if r.Active || r.Status != exchange.Rejected {
		t.Errorf("got %s, is_active %t", r.Status, r.Active)
	}
}

func TestADeletedRequestIsInactive(t *testing.T) {
	t.Parallel()
	r, events, err := given(exchange.Open).Delete(asAdmin.roles, adminID, everything, later)
	wantKinds(t, events, err, exchange.Deleted)
	if r.Active {
		t.Error("got is_active true")
	}
}
