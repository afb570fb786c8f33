package exchange

import (
	"slices"
	"time"
)

// Pace is how long requests take, from when they are made: the medians of those that came so far.
type Pace struct {
	Decided   int // how many requests were decided; with fewer than FewestPaced the medians tell nothing
	Received  int // how many were received
	Decision  time.Duration
	Documents time.Duration // until all is handed in and signed
	Sent      time.Duration
	Receipt   time.Duration
}

// FewestPaced is how many requests a median is told of.
const FewestPaced = 3

// Decides reports whether the time to a decision is known, Receives whether that to receipt is.
func (p Pace) Decides() bool { return p.Decided >= FewestPaced }

// Receives reports whether the times up to receipt are known.
func (p Pace) Receives() bool { return p.Received >= FewestPaced }

// Timed is a request that was decided, as far as its pace goes.
type Timed struct {
	Organization int64
	Status       Status
	CreatedAt    time.Time
	Clock        Clock
}

// TimedStatuses are those of requests that were decided.
var TimedStatuses = []Status{Approved, InFulfillment, Fulfilled, Verified, Rejected}

// Paces are the paces of each organization, and that of all under 0.
func Paces(list []Timed) map[int64]Pace {
	type spans struct{ decision, documents, sent, receipt []int64 }
	of := map[int64]*spans{}
	for _, t := range list {
		decision := t.Clock.Stages[Open]
		documents := decision + t.Clock.Stages[Approved]
		sent := documents + t.Clock.Stages[InFulfillment]
		for _, organization := range []int64{0, t.Organization} {
			s := of[organization]
			if s == nil {
				s = &spans{}
				of[organization] = s
			}
			s.decision = append(s.decision, decision)
			if t.Status == Verified {
				s.documents, s.sent = append(s.documents, documents), append(s.sent, sent)
				s.receipt = append(s.receipt, t.Clock.Since.Unix()-t.CreatedAt.Unix())
			}
		}
	}
	paces := map[int64]Pace{}
	for organization, s := range of {
		paces[organization] = Pace{
			Decided: len(s.decision), Received: len(s.receipt),
			Decision: median(s.decision), Documents: median(s.documents), Sent: median(s.sent),
			Receipt: median(s.receipt),
		}
	}
	return paces
}

// median of spans in seconds: of an even number of them, the shorter of the two in the middle.
func median(spans []int64) time.Duration {
	if len(spans) == 0 {
		return 0
	}
	slices.Sort(spans)
	return time.Duration(spans[(len(spans)-1)/2]) * time.Second
}
