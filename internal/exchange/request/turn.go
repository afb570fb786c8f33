package request

import (
	"maps"
	"slices"
	"time"

	"aliquot/internal/exchange/lab"
)

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
