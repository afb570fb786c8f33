package importer

import (
	"context"
	"errors"
	"sync"
	"time"
)

// pace lets at most len(calls) calls through in any span. A token bucket of the same rate would let twice as many
// through in the span after a pause, which NCBI answers with 429.
type pace struct {
	mu    sync.Mutex
	span  time.Duration
	calls []time.Time // the newest, as a ring
	next  int
}

func newPace(calls int, span time.Duration) *pace {
	return &pace{span: span + span/20, calls: make([]time.Time, calls)} // calls arrive less evenly than they are sent
}

var errBusy = errors.New("too many calls wait already")

// wait sleeps until a call may be sent. The error is errBusy if that takes longer than a caller waits.
func (p *pace) wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	at := p.calls[p.next].Add(p.span)
	if at.Before(now) {
		at = now
	}
	if at.Sub(now) > longestWait {
		p.mu.Unlock()
		return errBusy
	}
	p.calls[p.next] = at
	p.next = (p.next + 1) % len(p.calls)
	p.mu.Unlock()
	if at.Equal(now) {
		return nil
	}
	return sleep(ctx, at.Sub(now))
}
