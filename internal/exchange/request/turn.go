package request

import (
	"maps"
	"slices"
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

// Nobody is the side in a request that is closed or resolved.
const Nobody Side = ""

// TurnRecord is one entry in a request's account of turns: a period in which its status, whose turn it was and for
// what stayed the same. The entries of a request have no gaps and never overlap.
type TurnRecord struct {
	ID        int64
	RequestID int64
	Seq       int64 // 1, 2, 3, ... within a request
	Status    Status
	Side      Side // may be Nobody
	What      []string
	BeganAt   time.Time
	EndedAt   *time.Time // when the next one began; nil: the current one

	Organization int64 // owner of the material; only set when the entry is written
}

// Clock sums up the account of a request up to the beginning of its current entry, in whole seconds. So it does not
// change while nothing happens, and its sum is exactly the time between CreatedAt and Since.
type Clock struct {
	Turn   int64            // Seq of the current entry
	Since  time.Time        // when the current entry began
	Sides  map[Side]int64   `json:",omitempty"` // time by side; those without any are left out
	Stages map[Status]int64 `json:",omitempty"` // time by status; those without any are left out
}

// PresentTurn returns the current entry in the account of r.
func (r Request) PresentTurn(t Terms) TurnRecord {
	present := TurnRecord{RequestID: r.ID, Seq: r.Clock.Turn, Status: r.Status, Side: Nobody, What: []string{},
		BeganAt: r.Clock.Since}
	if turn := WaitingOn(t, lab.DefaultTargets, r); turn != nil {
		present.Side, present.What = turn.Side, turn.What
	}
	return present
}

// Begin returns r at the beginning of its first turn.
func (r Request) Begin(t Terms, now time.Time) Request {
	r.begin(r.PresentTurn(t), now)
	r.Clock = Clock{Turn: 1, Since: now}
	return r
}

// begin begins a turn, with its reminders.
func (r *Request) begin(turn TurnRecord, now time.Time) {
	r.Party, r.Step = turn.Side, ""
	if len(turn.What) > 0 {
		r.Step = turn.What[0]
	}
	r.WaitingSince, r.Reminded, r.Escalates, r.SnoozedUntil = now, 0, turn.Side == LabSide, nil
}

// TermsChanged returns r after the requirements of its material changed. If that results in another turn, it begins
// now, and other is true.
func (r Request) TermsChanged(was, is Terms, now time.Time) (_ Request, other bool) {
	return r.turned(r.PresentTurn(was), is, now)
}

// turned returns r after an entry in its account: if it is another turn now, it begins now, and other is true.
func (r Request) turned(was TurnRecord, t Terms, now time.Time) (_ Request, other bool) {
	is := r.PresentTurn(t)
	if other = was.Side != is.Side || !slices.Equal(was.What, is.What); other {
		r.begin(is, now)
	}
	if other || was.Status != is.Status {
		r.Clock = r.Clock.after(was, now)
	}
	return r, other
}

// after returns c after its current entry ended. If the machine's clock was set back meanwhile, the entry ends when it
// began.
func (c Clock) after(was TurnRecord, now time.Time) Clock {
	if now.Before(c.Since) {
		now = c.Since
	}
	seconds := now.Unix() - c.Since.Unix()
	return Clock{Turn: c.Turn + 1, Since: now, Sides: added(c.Sides, was.Side, seconds),
		Stages: added(c.Stages, was.Status, seconds)}
}

// added returns a copy of a map with n added at key.
func added[K comparable](to map[K]int64, key K, n int64) map[K]int64 {
	if n == 0 {
		return to
	}
	sum := map[K]int64{key: to[key] + n}
	for k, v := range to {
		if k != key {
			sum[k] = v
		}
	}
	return sum
}

// Agrees reports whether the entries of an account, in order and without gaps, are those of a request that was made at
// a moment, and c is their sum.
func (c Clock) Agrees(made time.Time, turns []TurnRecord) bool {
	if len(turns) == 0 || !turns[0].BeganAt.Equal(made) {
		return false
	}
	sum := Clock{Turn: 1, Since: made}
	for i, t := range turns {
		if i > 0 {
			sum = sum.after(turns[i-1], t.BeganAt)
		}
		if t.Seq != sum.Turn || !t.BeganAt.Equal(sum.Since) {
			return false
		}
	}
	return c.Turn == sum.Turn && c.Since.Equal(sum.Since) && maps.Equal(c.Sides, sum.Sides) &&
		maps.Equal(c.Stages, sum.Stages)
}
