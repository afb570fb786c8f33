package exchange

import (
	"maps"
	"slices"
	"time"
)

// Nobody is the side whose turn it is in a request that is closed or resolved.
const Nobody Side = ""

// RequestTurn is one entry in the account of a request's turns: a time through which its status, whose
// turn it was and for what stayed the same. The entries of a request leave no gap and never overlap.
type RequestTurn struct {
	ID        int64
	RequestID int64
	Seq       int64 // 1, 2, 3, ... within the request
	Status    Status
	Side      Side // Nobody's too
	What      []string
	BeganAt   time.Time
	EndedAt   *time.Time // when the next one began; nil: it is the present one

	Organization int64 // that of the material, only where the entry is written
}

// Clock sums up the account of a request until its present entry began, in whole seconds. So it stays
// as it is while nothing happens, and all of it is exactly what lies between CreatedAt and Since.
type Clock struct {
	Turn   int64            // Seq of the present entry
	Since  time.Time        // when that one began
	Sides  map[Side]int64   `json:",omitempty"` // how long it was whose turn; those of no time are left out
	Stages map[Status]int64 `json:",omitempty"` // how long it stood at which status; likewise
}

// PresentTurn is the present entry in the account of r.
func (r Request) PresentTurn(t Terms) RequestTurn {
	present := RequestTurn{RequestID: r.ID, Seq: r.Clock.Turn, Status: r.Status, Side: Nobody, What: []string{},
		BeganAt: r.Clock.Since}
	if turn := WaitingOn(t, DefaultTargets, r); turn != nil {
		present.Side, present.What = turn.Side, turn.What
	}
	return present
}

// Begin is r as it begins its first turn.
func (r Request) Begin(t Terms, now time.Time) Request {
	r.begin(r.PresentTurn(t), now)
	r.Clock = Clock{Turn: 1, Since: now}
	return r
}

// begin begins a turn, with the reminders that it will have.
func (r *Request) begin(turn RequestTurn, now time.Time) {
	r.Party, r.Step = turn.Side, ""
	if len(turn.What) > 0 {
		r.Step = turn.What[0]
	}
	r.WaitingSince, r.Reminded, r.Escalates, r.SnoozedUntil = now, 0, turn.Side == LabSide, nil
}

// Asked is r after its material asked for some things and now asks for others. Where that makes it
// another turn, it begins now, and other is true.
func (r Request) TermsChanged(was, is Terms, now time.Time) (_ Request, other bool) {
	return r.turned(r.PresentTurn(was), is, now)
}

// turned is r after an entry in its account: where it is another turn now, it begins now, and other
// is true.
func (r Request) turned(was RequestTurn, t Terms, now time.Time) (_ Request, other bool) {
	is := r.PresentTurn(t)
	if other = was.Side != is.Side || !slices.Equal(was.What, is.What); other {
		r.begin(is, now)
	}
	if other || was.Status != is.Status {
		r.Clock = r.Clock.after(was, now)
	}
	return r, other
}

// after is c once its present entry ended. Where the clock of the machine was set back meanwhile, it
// ended when it began.
func (c Clock) after(was RequestTurn, now time.Time) Clock {
	if now.Before(c.Since) {
		now = c.Since
	}
	seconds := now.Unix() - c.Since.Unix()
	return Clock{Turn: c.Turn + 1, Since: now, Sides: added(c.Sides, was.Side, seconds),
		Stages: added(c.Stages, was.Status, seconds)}
}

// added is a map in which n more stands at key; the map itself stays as it is.
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

// Agrees reports whether the entries of an account, in order, are without a gap those of a request that
// was made at a moment, and c sums them up.
func (c Clock) Agrees(made time.Time, turns []RequestTurn) bool {
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
