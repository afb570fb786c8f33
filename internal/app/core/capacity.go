package core

import (
	"context"
	"slices"
	"sync"
	"time"

	"aliquot/internal/exchange"
)

// Capacity limits the expensive reads of all processes together: searches, suggestions and lists with filters. The zero
// Capacity sets no limit.
type Capacity struct {
	Slots int           // how many run at once
	Share int           // how many of them one caller may have
	Queue int           // how many calls of one caller may wait
	Wait  time.Duration // how long a call waits for its turn
	Time  time.Duration // how long a read may take
}

// Divide limits the expensive reads of this process to the part of one of so many: they share one database.
func (a *Core) Divide(processes int) { a.processes.Store(int32(max(1, processes))) }

// capacity returns the part of this process.
func (a *Core) capacity() Capacity {
	c := a.Capacity
	if n := int(a.processes.Load()); n > 1 && c.Slots > 0 {
		c.Slots, c.Share = max(1, c.Slots/n), max(1, c.Share/n)
	}
	return c
}

// busyRetry is the Retry-After, in seconds, for a caller who got no turn or whose read took too long.
const busyRetry = 2

// queue hands out the slots of a Capacity. Waiting callers take turns, however many calls each of them has.
type queue struct {
	mu      sync.Mutex
	used    int
	running map[string]int             // number of running reads by caller
	waiting map[string][]chan struct{} // by caller; a channel is closed when its turn has come
	order   []string                   // waiting callers, the next one first
}

// Expensive runs a read that may take long when it is the turn of its caller, a user or an address. It returns
// RateLimited if too many calls of the caller wait, and Unavailable if no turn came or the read took too long.
func (a *Core) Expensive(ctx context.Context, caller string, do func(ctx context.Context) error) error {
	if a.Capacity.Slots == 0 {
		return do(ctx)
	}
	if err := a.reads.enter(ctx, a.capacity(), caller); err != nil {
		return err
	}
	defer func() { a.reads.leave(a.capacity(), caller) }()
	limited, cancel := context.WithTimeout(ctx, a.Capacity.Time)
	defer cancel()
	err := do(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return &exchange.Error{Code: exchange.Unavailable, Cause: err,
			Details: map[string]any{"retry_after": busyRetry},
			Message: "This took longer than the server allows. Please ask for less: fewer words or filters."}
	}
	return err
}

// Turns runs one part of an export or report when it is its turn.
type Turns func(ctx context.Context, do func(ctx context.Context) error) error

// Parts returns turns that run each part of an export or report when it is its caller's turn, so that a slow reader
// holds no slot. Expensive admitted the call before, and the response has begun: a part that gets no turn tries again
// for as long as the client stays. A command on the command line has no caller and does not wait.
func (a *Core) Parts(caller string) Turns {
	return func(ctx context.Context, do func(ctx context.Context) error) error {
		if caller == "" {
			return do(ctx)
		}
		for {
			ran := false
			err := a.Expensive(ctx, caller, func(ctx context.Context) error {
				ran = true
				return do(ctx)
			})
			if err == nil || ran {
				return err
			}
			select {
			case <-time.After(busyRetry * time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// enter waits for the turn of a caller.
func (q *queue) enter(ctx context.Context, c Capacity, caller string) error {
	q.mu.Lock()
	if q.running == nil {
		q.running, q.waiting = map[string]int{}, map[string][]chan struct{}{}
	}
	if q.used < c.Slots && q.running[caller] < c.Share {
		q.used++
		q.running[caller]++
		q.mu.Unlock()
		return nil
	}
	if len(q.waiting[caller]) >= c.Queue {
		q.mu.Unlock()
		return exchange.Errorf(exchange.RateLimited,
			"%d of your searches and lists are already waiting; try again when they have finished.", c.Queue).
			With("limit", c.Queue).With("retry_after", busyRetry)
	}
	turn := make(chan struct{})
	if len(q.waiting[caller]) == 0 {
		q.order = append(q.order, caller)
	}
	q.waiting[caller] = append(q.waiting[caller], turn)
	q.mu.Unlock()
	patience := time.NewTimer(c.Wait)
	defer patience.Stop()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	case <-patience.C:
	}
	if q.giveUp(caller, turn) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return exchange.Errorf(exchange.Unavailable,
			"The server is busy with searches; try again in a moment.").With("retry_after", busyRetry)
	}
	return nil // the turn came at the last moment
}

// giveUp takes a call out of the queue; it returns false if its turn has come already.
func (q *queue) giveUp(caller string, turn chan struct{}) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting[caller], turn)
	if i < 0 {
		return false
	}
	q.remove(caller, i)
	return true
}

// remove takes the call i of a caller out of the queue.
func (q *queue) remove(caller string, i int) {
	q.waiting[caller] = slices.Delete(q.waiting[caller], i, i+1)
	if len(q.waiting[caller]) == 0 {
		delete(q.waiting, caller)
		q.order = slices.DeleteFunc(q.order, func(other string) bool { return other == caller })
	}
}

// leave ends the turn of a caller and passes the slot to the next caller who may have it.
func (q *queue) leave(c Capacity, caller string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.used--
	if q.running[caller]--; q.running[caller] == 0 {
		delete(q.running, caller)
	}
	for q.used < c.Slots {
		i := slices.IndexFunc(q.order, func(next string) bool { return q.running[next] < c.Share })
		if i < 0 {
			return
		}
		next := q.order[i]
		turn := q.waiting[next][0]
		q.order = append(slices.Delete(q.order, i, i+1), next) // behind the other waiting callers
		q.remove(next, 0)
		q.used++
		q.running[next]++
		close(turn)
	}
}

// RetryTime is how long the response to an Idempotency-Key is kept (contract.md section 1).
const RetryTime = 24 * time.Hour

// Batch is how many rows are read at once when every row is visited.
const Batch = 500
