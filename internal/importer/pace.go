package importer

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Calls keeps when the newest calls of each source were sent, or will be: in the memory of a process, or for all
// processes of a database.
type Calls interface {
	// Change replaces the calls of a source by what change returns; no other Change of it runs meanwhile. If change
	// fails, its error is returned, and the calls stay. It may be called again.
	Change(ctx context.Context, source string, change func(calls []time.Time) ([]time.Time, error)) error
}

// memory are the calls of one process.
type memory struct {
	mu    sync.Mutex
	calls map[string][]time.Time
}

// Change implements Calls.
func (m *memory) Change(_ context.Context, source string,
	change func(calls []time.Time) ([]time.Time, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls, err := change(m.calls[source])
	if err == nil {
		m.calls[source] = calls
	}
	return err
}

// pace lets at most so many calls of a source through in any span. A token bucket of the same rate would let twice as
// many through in the span after a pause, which NCBI answers with 429.
type pace struct {
	most int
	span time.Duration
}

func newPace(calls int, span time.Duration) pace {
	return pace{calls, span + span/20} // calls arrive less evenly than they are sent
}

var errBusy = errors.New("too many calls wait already")

// wait sleeps until a call of the source may be sent. The error is errBusy if that takes longer than a caller waits.
func (p pace) wait(ctx context.Context, source string, sent Calls) error {
	var pause time.Duration
	if err := sent.Change(ctx, source, func(calls []time.Time) ([]time.Time, error) {
		at := time.Now()
		pause = 0
		if n := len(calls) - p.most; n >= 0 {
			if pause = calls[n].Add(p.span).Sub(at); pause > longestWait {
				return nil, errBusy
			}
			pause = max(pause, 0)
			calls = calls[n+1:]
		}
		return append(calls, at.Add(pause)), nil
	}); err != nil || pause == 0 {
		return err
	}
	return sleep(ctx, pause)
}
