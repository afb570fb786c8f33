package request

import (
	"slices"
	"time"
)

// Pace is how long requests take from their creation: the medians of the requests so far.
type Pace struct {
	Decided   int // requests that were decided; with fewer than FewestPaced the medians mean nothing
	Received  int // requests that were received
	Decision  time.Duration
	Documents time.Duration // until everything is submitted and signed
	Sent      time.Duration
	Receipt   time.Duration
}

// FewestPaced is the number of requests from which on a median is shown.
const FewestPaced = 3

// Decides reports whether the time to a decision is known.
func (p Pace) Decides() bool { return p.Decided >= FewestPaced }

// Receives reports whether the times up to the receipt are known.
func (p Pace) Receives() bool { return p.Received >= FewestPaced }

// Timed holds the times of a request that was decided.
type Timed struct {
	Organization int64
	Status       Status
	CreatedAt    time.Time
	Clock        Clock
}

// TimedStatuses lists the statuses of requests that were decided.
var TimedStatuses = []Status{Approved, InFulfillment, Fulfilled, Verified, Rejected}

// Paces returns the pace of each organization, and that of all of them under 0.
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

// median returns the median of spans in seconds; of an even number, the shorter of the two in the middle.
func median(spans []int64) time.Duration {
	if len(spans) == 0 {
		return 0
	}
	slices.Sort(spans)
	return time.Duration(spans[(len(spans)-1)/2]) * time.Second
}
