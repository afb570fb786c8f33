package request_test

import (
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/request"
)

func active(yes bool) request.Patch {
	return request.Patch{Active: exchange.Some(yes)}
}

// shut returns a request that a member closed by is_active at a status.
func shut(s request.Status) request.Request {
	r := given(s)
	r.Active = false
	return r
}

var activeStatuses = []request.Status{request.Open, request.Approved, request.InFulfillment, request.Fulfilled}

func TestIsActive_LabClosesAndReopens(t *testing.T) {
	t.Parallel()
	for _, who := range []part{asMember, asAdmin, asBoth} {
		for _, s := range activeStatuses {
			r, events, err := apply(given(s), who, active(false), everything)
			wantKinds(t, events, err, request.Closed)
			if r.Active || r.Status != s {
				t.Errorf("%s closed %s: got %s, is_active %t", who.name, s, r.Status, r.Active)
			}
			r, events, err = apply(r, who, active(true), everything)
			wantKinds(t, events, err, request.Reopened)
			if !r.Active || r.Status != s {
				t.Errorf("%s reopened %s: got %s, is_active %t", who.name, s, r.Status, r.Active)
			}
		}
	}
}

func TestIsActive_IsRefusedToOthers(t *testing.T) {
	t.Parallel()
	for _, who := range []part{asRequester, asStranger} {
		for _, s := range request.Statuses {
			_, _, err := apply(given(s), who, active(!s.Active()), everything)
			exchangetest.WantCode(t, err, exchange.FieldForbidden, "is_active")
		}
		_, _, err := apply(shut(request.Approved), who, active(true), everything)
		exchangetest.WantCode(t, err, exchange.FieldForbidden, "is_active")
	}
}

func TestIsActive_SameValueIsNoChange(t *testing.T) {
	t.Parallel()
	for _, who := range parts {
		for _, r := range []request.Request{given(request.Open), shut(request.Open), given(request.Rejected),
			given(request.Verified)} {
			after, events, err := apply(r, who, active(r.Active), everything)
			wantKinds(t, events, err)
			exchangetest.Same(t, "the request", after, r)
		}
	}
}

// A client that reads a request, changes its status and sends all of it back also sends the old is_active.
func TestIsActive_SentBackDoesNotUndoAMove(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		who      part
		from, to request.Status
	}{
		{asMember, request.Open, request.Rejected},
		{asMember, request.InFulfillment, request.Invalid},
		{asMember, request.Rejected, request.Open},
		{asRequester, request.Approved, request.Cancelled},
		{asRequester, request.Fulfilled, request.Verified},
		{asAdmin, request.Cancelled, request.Approved},
	} {
		p := whole(given(test.from))
		p.Status = exchange.Some(test.to)
		r, events, err := apply(given(test.from), test.who, p, everything)
		wantKinds(t, events, err, request.StatusChanged)
		if r.Status != test.to || r.Active != test.to.Active() {
			t.Errorf("%s PUT %s over %s: got %s, is_active %t", test.who.name, test.to, test.from, r.Status, r.Active)
		}
	}
}

func TestPatch_MoveMayCloseToo(t *testing.T) {
	t.Parallel()
	p := to(request.Approved)
	p.Active = exchange.Some(false)
	r, events, err := apply(given(request.Open), asMember, p, everything)
	wantKinds(t, events, err, request.StatusChanged, request.Closed)
	if r.Status != request.Approved || r.Active {
		t.Errorf("got %s, is_active %t, want APPROVED and closed", r.Status, r.Active)
	}
	p = to(request.Rejected)
	p.Active = exchange.Some(false)
	_, events, err = apply(given(request.Open), asMember, p, everything)
	wantKinds(t, events, err, request.StatusChanged)
}

func TestIsActive_ReopensADeclinedRequest(t *testing.T) {
	t.Parallel()
	for _, s := range []request.Status{request.Rejected, request.Invalid} {
		r := given(s)
		r.Rejection = "no stock"
		r, events, err := apply(r, asMember, active(true), everything)
		wantKinds(t, events, err, request.StatusChanged)
		if r.Status != request.Open || !r.Active || r.Rejection != "" {
			t.Errorf("%s: got %s, is_active %t, rejection_reason %q, want an OPEN request without one", s, r.Status,
				r.Active, r.Rejection)
		}
	}
	for _, s := range []request.Status{request.Cancelled, request.Verified} {
		_, _, err := apply(given(s), asMember, active(true), everything)
		exchangetest.WantCode(t, err, exchange.InvalidTransition, "")
		r, _, err := apply(given(s), asAdmin, active(true), everything)
		if err != nil || r.Status != request.Open || !r.Active {
			t.Errorf("admin on %s: got %s, is_active %t, %v, want OPEN", s, r.Status, r.Active, err)
		}
	}
}

func TestClosing_FieldsOfAClosedRequestAreRefused(t *testing.T) {
	t.Parallel()
	for _, r := range []request.Request{
		shut(request.Open), shut(request.Fulfilled), given(request.Verified), given(request.Rejected),
		given(request.Cancelled), given(request.Invalid),
	} {
		for field, p := range changes() {
			if field == "rejection_reason" {
				continue // the reason can be added to a declined request
			}
			who := asRequester
			if field == "executed_mta_attachment" || field == "assigned_to" {
				who = asMember
			}
			after, _, err := apply(r, who, p, everything)
			exchangetest.WantCode(t, err, exchange.RequestClosed, "")
			exchangetest.Same(t, "the closed request", after, r)
		}
	}
}

func TestClosing_RequesterCannotMoveWhatTheLabClosed(t *testing.T) {
	t.Parallel()
	_, _, err := apply(shut(request.Approved), asRequester, to(request.Cancelled), everything)
	exchangetest.WantCode(t, err, exchange.RequestClosed, "")
	r, events, err := apply(shut(request.Approved), asMember, to(request.InFulfillment), everything)
	wantKinds(t, events, err, request.StatusChanged)
	if !r.Active {
		t.Error("a member moved a closed request on: got is_active false, want it derived from the status again")
	}
}

func TestRejectionReason_IsKeptUntilReopened(t *testing.T) {
	t.Parallel()
	p := to(request.Rejected)
	p.Rejection = exchange.Some("no stock")
	r, events, err := apply(given(request.Open), asMember, p, everything)
	wantKinds(t, events, err, request.StatusChanged)
	if r.Rejection != "no stock" || events[0].Detail.Reason != "no stock" {
		t.Errorf("got %q, event reason %q, want no stock", r.Rejection, events[0].Detail.Reason)
	}
	r, events, err = apply(r, asMember, request.Patch{Rejection: exchange.Some("no stock until May")},
		everything)
	wantKinds(t, events, err, request.DetailsChanged)
	if r.Rejection != "no stock until May" {
		t.Errorf("got %q after it was put differently", r.Rejection)
	}
	p = whole(r)
	p.Status = exchange.Some(request.Open)
	r, events, err = apply(r, asMember, p, everything)
	wantKinds(t, events, err, request.StatusChanged)
	if r.Rejection != "" {
		t.Errorf("got %q on an opened request, want none", r.Rejection)
	}
}

func TestRejectionReason_MayPrecedeTheDecision(t *testing.T) {
	t.Parallel()
	r, events, err := apply(given(request.Open), asMember, request.Patch{Rejection: exchange.Some("no stock")},
		everything)
	wantKinds(t, events, err, request.DetailsChanged)
	if r.Rejection != "no stock" {
		t.Errorf("got %q, want what was sent", r.Rejection)
	}
}

func TestPatch_EveryFieldIsInAnEvent(t *testing.T) {
	t.Parallel()
	p := request.Patch{AssignedTo: exchange.Some(exchange.UserRef(exchangetest.OwnerID)),
		Rejection: exchange.Some("no stock")}
	_, events, err := apply(given(request.Rejected), asMember, request.Patch{Rejection: p.Rejection},
		everything)
	wantKinds(t, events, err, request.DetailsChanged)
	_, events, err = apply(given(request.Approved), asMember, p, everything)
	wantKinds(t, events, err, request.Assigned, request.DetailsChanged)
}
