package request_test

import (
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/request"
)

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// states calls see with every request that differs in what is required and what was provided: each document missing,
// delivered, accepted or returned, each text present or not.
func states(see func(request.Terms, request.Request)) {
	bools := []bool{false, true}
	docs := []document.Review{"", document.Delivered, document.Accepted, document.Returned}
	for bits := range 32 {
		terms := request.Terms{MTA: bits&1 > 0, IRB: bits&2 > 0, Abstract: bits&4 > 0, Address: bits&8 > 0,
			Payment: bits&16 > 0}
		for _, mta := range docs {
			for _, irb := range docs {
				for _, executed := range docs {
					for _, texts := range bools {
						for _, address := range bools {
							see(terms, made(mta, irb, executed, texts, address))
						}
					}
				}
			}
		}
	}
}

func made(mta, irb, executed document.Review, texts, addressed bool) request.Request {
	r := fresh()
	for slot, state := range map[document.Slot]document.Review{document.SignedMTA: mta, document.IRB: irb,
		document.ExecutedMTA: executed} {
		if state != "" {
			r.Documents = append(r.Documents, documentIn(slot, 101, document.Superseded), documentIn(slot, 201, state))
		}
	}
	if texts {
		r.Abstract, r.Payment = "To map receptors.", "OTHER"
	}
	if addressed {
		r.Address = address(4)
	}
	return r
}

func TestRequirement_HasOneOfFourStates(t *testing.T) {
	t.Parallel()
	states(func(terms request.Terms, r request.Request) {
		documentOf := func(s document.Slot) bool { d := r.Current(s); return d != nil && d.State != document.Returned }
		want := map[request.Need]struct {
			needed, have bool
			owed         request.Due
		}{
			"abstract":             {terms.Abstract, r.Abstract != "", "owed_by_requester"},
			"requester_signed_mta": {terms.MTA, documentOf("requester_signed_mta"), "owed_by_requester"},
			"irb":                  {terms.IRB, documentOf("irb"), "owed_by_requester"},
			"address":              {terms.Address, r.Address != nil, "owed_by_requester"},
			"payment":              {terms.Payment, r.Payment != "", "owed_by_requester"},
			"executed_mta":         {terms.MTA, documentOf("executed_mta"), "owed_by_lab"},
		}
		got := request.Requirements(terms, r)
		if len(got) != len(want) {
			t.Fatalf("got %d requirements, want %d", len(got), len(want))
		}
		var missing []request.Need
		for i, q := range got {
			w, state := want[q.Need], request.Due("done")
			if !w.needed {
				state = "not_needed"
			} else if !w.have {
				state = w.owed
				missing = append(missing, q.Need)
			}
			if q.State != state || q.Need != allNeeds[i] {
				t.Fatalf("terms %+v, documents %+v: got %s %s, want %s %s", terms, r.Documents, q.Need, q.State,
					allNeeds[i], state)
			}
			d := r.Current(document.Slot(q.Need))
			if note := w.needed && d != nil && d.State == document.Returned; note != (q.Note != "") {
				t.Fatalf("%s: got note %q, want one: %t", q.Need, q.Note, note)
			}
		}
		if m := request.Missing(got); !slices.Equal(m, missing) {
			t.Fatalf("got missing %v, want %v", m, missing)
		}
		byRequester, byLab := request.Missing(got, request.OwedByRequester), request.Missing(got, request.OwedByLab)
		if len(byRequester)+len(byLab) != len(missing) || slices.Contains(byRequester, request.NeedExecutedMTA) {
			t.Fatalf("got %v owed by the requester and %v by the lab of %v", byRequester, byLab, missing)
		}
	})
}

// Every active request in every combination of requirements has, for each party, something to do or a way out, and the
// party whose turn it is can take that turn (contract.md section 6).
func TestRequest_ActiveHasAWayOnForBothParties(t *testing.T) {
	t.Parallel()
	states(func(terms request.Terms, r request.Request) {
		for _, s := range activeStatuses {
			r.Status = s
			for _, bits := range []int{0, 1, 2, 4} {
				r.Override, r.Correction, r.OpenIssues = "", "", 0
				switch {
				case bits == 1:
					r.Override = "agreed by phone"
				case bits == 2 && s == request.Open:
					r.Correction = "which strain?"
				case bits == 4 && s != request.Fulfilled:
					r.OpenIssues = 1
				case bits > 0:
					continue
				}
				checkWayOut(t, r, terms)
				checkTurnCanBeTaken(t, r, terms)
			}
		}
	})
}

// checkWayOut checks that each party has an allowed transition or something to provide.
func checkWayOut(t fataler, r request.Request, terms request.Terms) {
	t.Helper()
	for _, who := range []part{asRequester, asMember} {
		ways := []request.Patch{
			{SignedMTA: exchange.NullOf(exchange.Ref(901))}, {IRB: exchange.NullOf(exchange.Ref(902))},
			{ExecutedMTA: exchange.NullOf(exchange.Ref(903))},
		}
		for _, s := range request.AllowedStatuses(who.roles, r.Status) {
			p := to(s)
			ways = append(ways, p)
			if who.lab() {
				p.Override = exchange.Some("there is a way out")
				ways = append(ways, p)
			}
		}
		if !slices.ContainsFunc(ways, func(p request.Patch) bool {
			_, events, err := apply(r, who, p, terms)
			return err == nil && len(events) > 0 && (p.Status.Set || needed(terms, r, p))
		}) {
			t.Fatalf("the %s has nothing to do and no way out: terms %+v, request %+v", who.name, terms, r)
		}
	}
}

// needed reports whether a document in a patch is owed.
func needed(terms request.Terms, r request.Request, p request.Patch) bool {
	missing := request.Missing(request.Requirements(terms, r))
	return slices.ContainsFunc(document.Slots, func(s document.Slot) bool {
		return p.Document(s).Set && slices.Contains(missing, request.Need(s))
	})
}

// checkTurnCanBeTaken checks that the side whose turn it is can do each thing that it owes, and that it no longer owes
// it then.
func checkTurnCanBeTaken(t fataler, r request.Request, terms request.Terms) {
	t.Helper()
	w := request.WaitingOn(terms, lab.DefaultTargets, r)
	if w == nil {
		t.Fatalf("nobody's turn in %+v", r)
	}
	who := asRequester
	if w.Side == request.LabSide {
		who = asMember
	}
	for _, what := range w.What {
		var after request.Request
		var events []request.Event
		var err error
		switch what {
		case request.StepCorrection:
			after, events, err = r.Message(who.roles, who.by, "C57BL/6J", terms, exchangetest.Later)
		case request.StepIssue:
			after, err = r, error(nil)
			for after.OpenIssues > 0 && err == nil {
				after, events, err = after.CloseIssue(who.roles, who.by,
					request.Issue{ID: 1, OpenedBy: exchangetest.RequesterID},
					terms, exchangetest.Later)
			}
		default:
			after, events, err = apply(r, who, taking(what, r, terms), terms)
		}
		if err != nil || len(events) == 0 {
			t.Fatalf("the %s cannot do %s: %v; terms %+v, request %+v", w.Side, what, err, terms, r)
		}
		if next := request.WaitingOn(terms, lab.DefaultTargets, after); next != nil &&
			slices.Contains(next.What, what) {
			t.Fatalf("the %s did %s and is waited for it again; terms %+v, request %+v", w.Side, what, terms, r)
		}
	}
}

// taking returns the patch that takes one step of a turn.
func taking(what string, r request.Request, terms request.Terms) request.Patch {
	ref := exchange.NullOf(exchange.Ref(901))
	switch what {
	case request.StepDecision:
		return to(request.Approved)
	case request.StepReceipt:
		return to(request.Verified)
	case request.StepShipment:
		p := to(request.Fulfilled)
		if len(request.Missing(request.Requirements(terms, r))) > 0 && r.Override == "" {
			p.Override = exchange.Some("sent without")
		}
		return p
	}
	return map[string]request.Patch{
		"abstract": {Abstract: exchange.Some("To map receptors.")}, "requester_signed_mta": {SignedMTA: ref},
		"irb":     {IRB: ref},
		"address": {Address: ref}, "payment": {Payment: exchange.Some("OTHER")}, "executed_mta": {ExecutedMTA: ref},
	}[what]
}

func TestTurn_WhoseItIs(t *testing.T) {
	t.Parallel()
	for _, row := range exchangetest.Rows(`
		| OPEN, abstract owed | requester abstract |
		| OPEN | lab decision |
		| OPEN, returned | requester correction |
		| APPROVED, all owed | requester requester_signed_mta irb address payment |
		| APPROVED, executed MTA owed | lab executed_mta |
		| APPROVED | lab shipment |
		| APPROVED, overridden, all owed | lab shipment |
		| IN_FULFILLMENT | lab shipment |
		| IN_FULFILLMENT, issue | lab issue |
		| FULFILLED | requester receipt |
		| VERIFIED_FULFILLED | |
		| REJECTED | |
		| CANCELLED | |
		| INVALID | |
		| APPROVED, closed | |`) {
		status, _, _ := strings.Cut(row[0], ",")
		has := func(s string) bool { return strings.Contains(row[0], s) }
		r := given(request.Status(status))
		switch {
		case has("executed MTA owed"):
			r = uncountersigned(r.Status)
		case has("all owed"):
			r = at(r.Status)
		case has("abstract owed"):
			r.Abstract = ""
		}
		if has("returned") {
			r.Correction = "which strain?"
		}
		if has("overridden") {
			r.Override = "agreed by phone"
		}
		if has("issue") {
			r.OpenIssues = 1
		}
		r.Active = r.Active && !has("closed")
		if got := turn(everything, r); got != row[1] {
			t.Errorf("%s: got %q, want %q", row[0], got, row[1])
		}
	}
}

func TestTurn_OfTheLabIsDueByItsTargets(t *testing.T) {
	t.Parallel()
	targets := lab.Targets{Decide: 3, Countersign: 5, Ship: 9}
	for days, r := range map[int]request.Request{3: given(request.Open), 5: uncountersigned(request.Approved),
		9: given(request.InFulfillment)} {
		if w := request.WaitingOn(everything, targets, r); w == nil || w.Due == nil ||
			!w.Due.Equal(exchangetest.Start.AddDate(0, 0, days)) {
			t.Errorf("%s: got %+v, want due in %d days", r.Status, w, days)
		}
	}
}
