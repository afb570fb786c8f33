package request

import (
	"time"

	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
)

// Need names one requirement of a request.
type Need string

// The requirements, in the order in which they are met.
const (
	NeedAbstract    Need = "abstract"
	NeedSignedMTA   Need = "requester_signed_mta"
	NeedIRB         Need = "irb"
	NeedAddress     Need = "address"
	NeedPayment     Need = "payment"
	NeedExecutedMTA Need = "executed_mta"
)

// Due is the state of a requirement, and who owes it.
type Due string

// The states of a requirement.
const (
	NotNeeded       Due = "not_needed"
	OwedByRequester Due = "owed_by_requester"
	OwedByLab       Due = "owed_by_lab"
	Done            Due = "done"
)

// Requirement is one thing that a request needs.
type Requirement struct {
	Need  Need
	State Due
	Note  string // why a document was returned
}

// Terms are what a material requires: its own switches and its lab's shipping requirements.
type Terms struct {
	MTA, IRB, Abstract, Address, Payment bool
}

// Requirements is the one function that decides what a request still needs and who owes it. The API, pages, reminders
// and the guards of the life cycle use it.
func Requirements(t Terms, r Request) []Requirement {
	documentOf := func(n Need, s document.Slot, needed bool, owed Due) Requirement {
		q := require(n, needed, false, owed)
		if d := r.Current(s); needed && d != nil {
			if d.State == document.Returned {
				q.Note = d.Reason
			} else {
				q.State = Done
			}
		}
		return q
	}
	return []Requirement{
		require(NeedAbstract, t.Abstract, r.Abstract != "", OwedByRequester),
		documentOf(NeedSignedMTA, document.SignedMTA, t.MTA, OwedByRequester),
		documentOf(NeedIRB, document.IRB, t.IRB, OwedByRequester),
		require(NeedAddress, t.Address, r.Address != nil, OwedByRequester),
		require(NeedPayment, t.Payment, r.Payment != "", OwedByRequester),
		documentOf(NeedExecutedMTA, document.ExecutedMTA, t.MTA, OwedByLab),
	}
}

func require(n Need, needed, have bool, owed Due) Requirement {
	switch {
	case !needed:
		return Requirement{Need: n, State: NotNeeded}
	case have:
		return Requirement{Need: n, State: Done}
	default:
		return Requirement{Need: n, State: owed}
	}
}

// Missing returns the needs that are owed by one of owed; by either side if owed is empty.
func Missing(list []Requirement, owed ...Due) []Need {
	if len(owed) == 0 {
		owed = []Due{OwedByRequester, OwedByLab}
	}
	missing := []Need{}
	for _, q := range list {
		for _, o := range owed {
			if q.State == o {
				missing = append(missing, q.Need)
			}
		}
	}
	return missing
}

// Side is a party of a request.
type Side string

// The two sides.
const (
	RequesterSide Side = "requester"
	LabSide       Side = "lab"
)

// Turn is whose move it is: what that side owes, since when, and by when it is due.
type Turn struct {
	Side  Side
	What  []string
	Since time.Time
	Due   *time.Time
}

// The steps of a turn besides the requirements themselves.
const (
	StepCorrection = "correction" // answer why the request was returned
	StepDecision   = "decision"   // accept or decline
	StepShipment   = "shipment"   // start, pack and send
	StepIssue      = "issue"      // solve the reported problem
	StepReceipt    = "receipt"    // confirm the receipt
)

// WaitingOn returns whose turn it is; nil if the request is resolved. The abstract can only be written while OPEN, so
// after that a missing one is for the lab to return or to waive.
func WaitingOn(t Terms, targets lab.Targets, r Request) *Turn {
	if !r.Active {
		return nil
	}
	list := Requirements(t, r)
	requester := func(what ...string) *Turn { return &Turn{Side: RequesterSide, What: what, Since: r.WaitingSince} }
	lab := func(days int, what ...string) *Turn {
		due := r.WaitingSince.AddDate(0, 0, days)
		return &Turn{Side: LabSide, What: what, Since: r.WaitingSince, Due: &due}
	}
	owed := names(Missing(list, OwedByRequester), NeedAbstract)
	switch r.Status {
	case Open:
		if r.Correction != "" {
			return requester(StepCorrection)
		}
		if list[0].State == OwedByRequester {
			return requester(string(NeedAbstract))
		}
		return lab(targets.Decide, StepDecision)
	case Approved, InFulfillment:
		if r.OpenIssues > 0 {
			return lab(targets.Ship, StepIssue)
		}
		if r.Override == "" {
			if len(owed) > 0 {
				return requester(owed...)
			}
			if list[len(list)-1].State == OwedByLab {
				return lab(targets.Countersign, string(NeedExecutedMTA))
			}
		}
		return lab(targets.Ship, StepShipment)
	default: // FULFILLED; the others are not active
		return requester(StepReceipt)
	}
}

func names(needs []Need, without Need) []string {
	var list []string
	for _, n := range needs {
		if n != without {
			list = append(list, string(n))
		}
	}
	return list
}
