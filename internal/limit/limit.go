// Package limit limits how often a caller may call (contract.md section 9): one token bucket per caller, in the memory
// of this process.
package limit

import (
	"fmt"
	"math"
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

// Gate holds the buckets of one rule.
type Gate struct {
	rule    Rule
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
	return &Gate{r, c}, err
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
	bucket, ok := g.buckets.GetIfPresent(caller)
	if !ok {
		bucket, _ = g.buckets.ComputeIfAbsent(caller, func() (*rate.Limiter, bool) {
			return rate.NewLimiter(rate.Limit(g.rule.Rate), g.rule.Burst), false
		})
	}
	v := Decision{Rule: g.rule, OK: bucket.AllowN(now, 1)}
	tokens := bucket.TokensAt(now)
	v.Left = max(0, int(tokens))
	if !v.OK {
		v.Retry = time.Duration(math.Ceil((1-tokens)/g.rule.Rate)) * time.Second
	}
	return v
}
