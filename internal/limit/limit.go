// Package limit limits how often a caller may call (contract.md section 9): one token bucket per caller, in the memory
// of this process. Where several processes serve an installation, each of them allows its part.
package limit

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"
)

// Rule is one kind of limit: a rate in calls per second, and a burst that is allowed after a pause.
type Rule struct {
	Name    string
	Rate    float64 // calls a second
	Burst   int
	Callers int // how many callers are remembered; the ones least seen are forgotten first
}

// Policy returns the rule in the form of the RateLimit-Policy header: the burst, and the number of seconds in which it
// fills up again.
func (r Rule) Policy() string {
	return fmt.Sprintf("%q;q=%d;w=%d", r.Name, r.Burst, int(math.Ceil(float64(r.Burst)/r.Rate)))
}

// The limits of the contract. A login may come in a small burst, so that the people of a lab
// who sit behind one address can start their day together.
var (
	User    = Rule{Name: "user", Rate: 20, Burst: 100, Callers: 100_000}
	Address = Rule{Name: "address", Rate: 5, Burst: 30, Callers: 100_000}
	Login   = Rule{Name: "login", Rate: 1, Burst: 10, Callers: 100_000}
)

// divided returns the part of the rule that one of so many processes allows: at least one call at once.
func (r Rule) divided(processes int) Rule {
	r.Rate /= float64(processes)
	r.Burst = max(1, r.Burst/processes)
	return r
}

// Gate holds the buckets of one rule.
type Gate struct {
	whole   Rule                 // of all processes
	rule    atomic.Pointer[Rule] // of this one
	buckets *otter.Cache[string, *rate.Limiter]
}

// NewGate returns a gate without callers. A bucket that was not used for as long as it takes to fill up again is
// dropped, which changes nothing for its caller.
func NewGate(r Rule) (*Gate, error) {
	full := time.Duration(float64(r.Burst)/r.Rate*float64(time.Second)) + time.Second
	c, err := otter.New(&otter.Options[string, *rate.Limiter]{
		MaximumSize:      r.Callers,
		ExpiryCalculator: otter.ExpiryAccessing[string, *rate.Limiter](full),
	})
	g := &Gate{whole: r, buckets: c}
	g.rule.Store(&r)
	return g, err
}

// Divide has the gate allow the part of one of so many processes. Calls that come to one of them more often than to the
// others, as those of a connection that is kept, meet the limit earlier; no caller gets more than the rule.
func (g *Gate) Divide(processes int) {
	rule := g.whole.divided(max(1, processes))
	g.rule.Store(&rule)
}

// Decision is the decision of a gate about one call.
type Decision struct {
	Rule  Rule
	OK    bool
	Left  int           // calls that the caller has left at once
	Retry time.Duration // until the next call may come; 0 where OK
}

// Pass takes one call from a caller's bucket.
func (g *Gate) Pass(caller string, now time.Time) Decision {
	rule := *g.rule.Load()
	bucket, ok := g.buckets.GetIfPresent(caller)
	if !ok {
		bucket, _ = g.buckets.ComputeIfAbsent(caller, func() (*rate.Limiter, bool) {
			return rate.NewLimiter(rate.Limit(rule.Rate), rule.Burst), false
		})
	}
	if bucket.Burst() != rule.Burst || bucket.Limit() != rate.Limit(rule.Rate) {
		bucket.SetLimitAt(now, rate.Limit(rule.Rate))
		bucket.SetBurstAt(now, rule.Burst)
	}
	v := Decision{Rule: rule, OK: bucket.AllowN(now, 1)}
	tokens := bucket.TokensAt(now)
	v.Left = max(0, int(tokens))
	if !v.OK {
		v.Retry = time.Duration(math.Ceil((1-tokens)/rule.Rate)) * time.Second
	}
	return v
}
