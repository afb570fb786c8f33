package exchange_test

import (
	"testing"

	"aliquot/internal/exchange"
)

func active(yes bool) exchange.RequestPatch {
	return exchange.RequestPatch{Active: exchange.Some(yes)}
}

// shut returns a request that a member closed by is_active at a status.
func shut(s exchange.Status) exchange.Request {
	r := given(s)
	r.Active = false
	return r
}

var activeStatuses = []exchange.Status{exchange.Open, exchange.Approved, exchange.InFulfillment, exchange.Fulfilled}

func TestTheLabClosesAndReopensByIsActive(t *testing.T) {
	t.Parallel()
	for _, who := range []part{asMember, asAdmin, asBoth} {
		for _, s := range activeStatuses {
			r, events, err := apply(given(s), who, active(false), everything)
			wantKinds(t, events, err, exchange.Closed)
			if r.Active || r.Status != s {
				t.Errorf("%s closed %s: got %s, is_active %t", who.name, s, r.Status, r.Active)
			}
			r, events, err = apply(r, who, active(true), everything)
			wantKinds(t, events, err, exchange.Reopened)
			if !r.Active || r.Status != s {
				t.Errorf("%s reopened %s: got %s, is_active %t", who.name, s, r.Status, r.Active)
			}
		}
	}
}

func TestNobodyElseClosesOrReopensByIsActive(t *testing.T) {
	t.Parallel()
	for _, who := range []part{asRequester, asStranger} {
		for _, s := range exchange.Statuses {
			_, _, err := apply(given(s), who, active(!s.Active()), everything)
			wantCode(t, err, exchange.FieldForbidden, "is_active")
		}
		_, _, err := apply(shut(exchange.Approved), who, active(true), everything)
		wantCode(t, err, exchange.FieldForbidden, "is_active")
	}
}

func TestTheValueThatIsActiveHasIsNoChange(t *testing.T) {
	t.Parallel()
	for _, who := range parts {
		for _, r := range []exchange.Request{given(exchange.Open), shut(exchange.Open), given(exchange.Rejected),
			given(exchange.Verified)} {
			after, events, err := apply(r, who, active(r.Active), everything)
			wantKinds(t, events, err)
			same(t, "the request", after, r)
		}
	}
}

// A client that reads a request, changes its status and sends all of it back also sends the old is_active.
func TestIsActiveSentBackDoesNotUndoAMove(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		who      part
		from, to exchange.Status
	}{
		{asMember, exchange.Open, exchange.Rejected},
		{asMember, exchange.InFulfillment, exchange.Invalid},
		{asMember, exchange.Rejected, exchange.Open},
		{asRequester, exchange.Approved, exchange.Cancelled},
		{asRequester, exchange.Fulfilled, exchange.Verified},
		{asAdmin, exchange.Cancelled, exchange.Approved},
	} {
		p := whole(given(test.from))
		p.Status = exchange.Some(test.to)
		r, events, err := apply(given(test.from), test.who, p, everything)
		wantKinds(t, events, err, exchange.StatusChanged)
		if r.Status != test.to || r.Active != test.to.Active() {
			t.Errorf("%s PUT %s over %s: got %s, is_active %t", test.who.name, test.to, test.from, r.Status, r.Active)
		}
	}
}

func TestAMoveMayCloseInTheSamePatch(t *testing.T) {
	t.Parallel()
	p := to(exchange.Approved)
	p.Active = exchange.Some(false)
	r, events, err := apply(given(exchange.Open), asMember, p, everything)
	wantKinds(t, events, err, exchange.StatusChanged, exchange.Closed)
	if r.Status != exchange.Approved || r.Active {
		t.Errorf("got %s, is_active %t, want APPROVED and closed", r.Status, r.Active)
	}
	p = to(exchange.Rejected)
	p.Active = exchange.Some(false)
	_, events, err = apply(given(exchange.Open), asMember, p, everything)
	wantKinds(t, events, err, exchange.StatusChanged)
}

func TestIsActiveOpensADeclinedRequestAgain(t *testing.T) {
	t.Parallel()
	for _, s := range []exchange.Status{exchange.Rejected, exchange.Invalid} {
		r := given(s)
		r.Rejection = "no stock"
		r, events, err := apply(r, asMember, active(true), everything)
		wantKinds(t, events, err, exchange.StatusChanged)
		if r.Status != exchange.Open || !r.Active || r.Rejection != "" {
			t.Errorf("%s: got %s, is_active %t, rejection_reason %q, want an OPEN request without one", s, r.Status,
				r.Active, r.Rejection)
		}
	}
	for _, s := range []exchange.Status{exchange.Cancelled, exchange.Verified} {
		_, _, err := apply(given(s), asMember, active(true), everything)
		wantCode(t, err, exchange.InvalidTransition, "")
		r, _, err := apply(given(s), asAdmin, active(true), everything)
		if err != nil || r.Status != exchange.Open || !r.Active {
			t.Errorf("admin on %s: got %s, is_active %t, %v, want OPEN", s, r.Status, r.Active, err)
		}
	}
}

func TestFieldsOfAClosedRequestAreRefused(t *testing.T) {
	t.Parallel()
	for _, r := range []exchange.Request{
		shut(exchange.Open), shut(exchange.Fulfilled), given(exchange.Verified), given(exchange.Rejected),
		given(exchange.Cancelled), given(exchange.Invalid),
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
			wantCode(t, err, exchange.RequestClosed, "")
			same(t, "the closed request", after, r)
		}
	}
}

func TestARequesterMovesNothingThatTheLabClosed(t *testing.T) {
	t.Parallel()
	_, _, err := apply(shut(exchange.Approved), asRequester, to(exchange.Cancelled), everything)
	wantCode(t, err, exchange.RequestClosed, "")
	r, events, err := apply(shut(exchange.Approved), asMember, to(exchange.InFulfillment), everything)
	wantKinds(t, events, err, exchange.StatusChanged)
	if !r.Active {
		t.Error("a member moved a closed request on: got is_active false, want it derived from the status again")
	}
}

func TestRejectionReasonIsKeptUntilTheRequestOpensAgain(t *testing.T) {
	t.Parallel()
	p := to(exchange.Rejected)
	p.Rejection = exchange.Some("no stock")
	r, events, err := apply(given(exchange.Open), asMember, p, everything)
	wantKinds(t, events, err, exchange.StatusChanged)
	if r.Rejection != "no stock" || events[0].Detail.Reason != "no stock" {
		t.Errorf("got %q, event reason %q, want no stock", r.Rejection, events[0].Detail.Reason)
	}
	r, events, err = apply(r, asMember, exchange.RequestPatch{Rejection: exchange.Some("no stock until May")},
		everything)
	wantKinds(t, events, err, exchange.DetailsChanged)
	if r.Rejection != "no stock until May" {
		t.Errorf("got %q after it was put differently", r.Rejection)
	}
	p = whole(r)
	p.Status = exchange.Some(exchange.Open)
	r, events, err = apply(r, asMember, p, everything)
	wantKinds(t, events, err, exchange.StatusChanged)
	if r.Rejection != "" {
		t.Errorf("got %q on an opened request, want none", r.Rejection)
	}
}

func TestAMemberMayWriteTheRejectionReasonBeforeTheDecision(t *testing.T) {
	t.Parallel()
	r, events, err := apply(given(exchange.Open), asMember, exchange.RequestPatch{Rejection: exchange.Some("no stock")},
		everything)
	wantKinds(t, events, err, exchange.DetailsChanged)
	if r.Rejection != "no stock" {
		t.Errorf("got %q, want what was sent", r.Rejection)
	}
}

func TestEveryFieldOfOnePatchIsInAnEvent(t *testing.T) {
	t.Parallel()
	p := exchange.RequestPatch{AssignedTo: exchange.Some(exchange.UserRef(ownerID)),
		Rejection: exchange.Some("no stock")}
	_, events, err := apply(given(exchange.Rejected), asMember, exchange.RequestPatch{Rejection: p.Rejection},
		everything)
	wantKinds(t, events, err, exchange.DetailsChanged)
	_, events, err = apply(given(exchange.Approved), asMember, p, everything)
	wantKinds(t, events, err, exchange.Assigned, exchange.DetailsChanged)
}
