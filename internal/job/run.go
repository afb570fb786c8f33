package job

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Run is one attempt at a job; its handler receives it.
type Run struct {
	w       *Worker
	id      int64
	kind    string
	handler Handler
	ctx     context.Context // the handler's
	cancel  context.CancelCauseFunc
	slow    *time.Timer // ends ctx when the last step was too long ago

	mu   sync.Mutex // held during a transaction
	job  exchange.Job
	over bool // whatever comes now, this run must not change the job: it is done, lost, or nobody knows
}

// ID is the id of the job.
func (r *Run) ID() int64 { return r.id }

// User returns the user who enqueued the job, or uuid.Nil for Aliquot itself.
func (r *Run) User() (id uuid.UUID) {
	if r.job.User != nil {
		id = *r.job.User
	}
	return id
}

// Turn is on whose account the job is; uuid.Nil: on nobody's.
func (r *Run) Turn() (id uuid.UUID) {
	if r.job.Turn != nil {
		id = *r.job.Turn
	}
	return id
}

// Progress returns the progress that the last step reported, in this run or an earlier one.
func (r *Run) Progress() exchange.Progress { return r.job.Progress }

// Resume reads the state that the last step saved, in this run or an earlier one, into what state points to; before the
// first step it leaves that unchanged.
func (r *Run) Resume(state any) error {
	if r.job.Checkpoint == nil {
		return nil
	}
	return json.Unmarshal(r.job.Checkpoint, state)
}

// Step runs a part of the job. The effects of do, the progress of the job, and the state that Resume returns to the
// next run, should this one die, are committed in one transaction. If the process is to stop, Step returns ErrStopping
// before it does anything. Like every transaction it may run do again, so do must change nothing but the database and
// its own results.
func (r *Run) Step(ctx context.Context,
	do func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error)) error {
	return r.Part(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, state any, more bool, err error) {
		p, state, err = do(ctx, tx)
		return p, state, true, err
	})
}

// Part is Step, but where do reports that there is no more to do, it ends the job, without a result.
func (r *Run) Part(ctx context.Context,
	do func(ctx context.Context, tx store.Conn) (p exchange.Progress, state any, more bool, err error)) error {
	select {
	case <-r.w.stopping:
		return ErrStopping
	default:
	}
	return r.save(ctx, func(ctx context.Context, tx store.Conn) (exchange.Job, error) {
		p, state, more, err := do(ctx, tx)
		if err != nil || !more {
			ended := r.job
			ended.Progress = p
			return ended.Finish(nil, tx.Now), err
		}
		raw, err := json.Marshal(state)
		return r.job.Step(p, raw, tx.Now.Add(r.w.Lease)), err
	})
}

// Finish runs the last part of the job, or all of it. The effects of do, its result and the job's state "done" are
// committed in one transaction. A nil result means none.
func (r *Run) Finish(ctx context.Context, do func(ctx context.Context, tx store.Conn) (result any, err error)) error {
	return r.save(ctx, func(ctx context.Context, tx store.Conn) (exchange.Job, error) {
		result, err := do(ctx, tx)
		if err != nil || result == nil {
			return r.job.Finish(nil, tx.Now), err
		}
		raw, err := json.Marshal(result)
		return r.job.Finish(raw, tx.Now), err
	})
}

// save commits what do did together with the job that do returns, provided that this run still has the job.
func (r *Run) save(ctx context.Context, do func(ctx context.Context, tx store.Conn) (exchange.Job, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return errLost
	}
	var next exchange.Job
	var refused error
	run := r.w.DB.Tx
	if r.handler.heavy {
		run = r.w.DB.TxAlone
	}
	err := run(ctx, func(ctx context.Context, tx store.Conn) error {
		if next, refused = do(ctx, tx); refused != nil {
			return refused
		}
		saved, err := tx.Jobs.Save(ctx, exchange.JobRunning, next)
		if err == nil && !saved {
			err = errLost
		}
		return err
	})
	switch {
	case err == nil:
		if r.job, r.over = next, next.State.Over(); !r.over {
			r.slow.Reset(r.handler.time)
		}
	case refused == nil: // the job is lost, or the commit failed and may yet have taken effect
		r.over = true
	}
	return err
}

// run runs the handler and records the result.
func (r *Run) run() {
	began := time.Now()
	for _, o := range r.w.Observers {
		r.ctx = o.BeginJob(r.ctx, r.kind)
	}
	r.slow = time.AfterFunc(r.handler.time, func() {
		r.cancel(exchange.Errorf(exchange.Unavailable, "It took longer than %s.", r.handler.time))
	})
	ended := make(chan error, 1)
	go func() { ended <- r.call() }()
	var err error
	select {
	case err = <-ended:
	case <-r.ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(grace): // it does not listen; what it still does with the job is refused
			err = r.ctx.Err()
		}
	}
	if cause := context.Cause(r.ctx); err != nil && cause != nil {
		err = cause
	}
	r.slow.Stop()
	state, settleErr := r.settle(err)
	took := time.Since(began)
	for _, o := range slices.Backward(r.w.Observers) {
		o.EndJob(r.ctx, r.kind, string(state), took, err)
	}
	level, attrs := slog.LevelInfo,
		[]slog.Attr{slog.Int64("id", r.id), slog.String("kind", r.kind), slog.String("state", string(state)),
			slog.Int64("duration_ms", took.Milliseconds())}
	if err = errors.Join(err, settleErr); err != nil { // where settling failed, the lease ends and it is run again
		attrs = append(attrs, slog.Any("error", err))
		if !errors.Is(err, ErrStopping) && !errors.Is(err, errLost) {
			level = slog.LevelWarn
		}
	}
	r.w.Log.LogAttrs(r.ctx, level, "job", attrs...)
}

// grace is how long a handler may take to notice that its context ended.
const grace = 2 * time.Second

// call calls the handler and turns a panic into an error.
func (r *Run) call() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	if r.job.Failures >= r.handler.maxAttempts {
		return GiveUp(exchange.Errorf(exchange.Unavailable, "Each process that tried it ended before it was done."))
	}
	return r.handler.do(r.ctx, r)
}

// settle ends a run that came to err: where the handler did not finish the job, the job is done now,
// or failed, or released. It returns the state that the job is in then, or has with the worker that took it.
func (r *Run) settle(err error) (exchange.JobState, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), settleTime)
	defer cancel()
	if err == nil { // refused where the handler finished the job itself
		err = r.Finish(ctx, func(context.Context, store.Conn) (any, error) { return nil, nil })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over = true; r.job.State.Over() {
		return r.job.State, nil
	}
	var now exchange.Job
	settled := r.w.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) (failed error) {
		if now, failed = tx.Jobs.ForUpdate(ctx, r.id); failed != nil {
			return failed
		}
		if now.State != exchange.JobRunning || now.Lease != r.job.Lease {
			return errLost
		}
		if errors.Is(err, ErrStopping) {
			now = now.Release(tx.Now)
		} else {
			now = now.Fail(message(err), r.again(now, err, tx.Now), tx.Now)
		}
		_, failed = tx.Jobs.Save(ctx, exchange.JobRunning, now)
		return failed
	})
	return now.State, settled
}

const settleTime = 10 * time.Second

// again returns when a job that failed with err is tried again; nil means never.
func (r *Run) again(j exchange.Job, err error, now time.Time) *time.Time {
	if _, hopeless := errors.AsType[permanentError](err); hopeless || j.Failures+1 >= r.handler.maxAttempts {
		return nil
	}
	return new(now.Add(pause(j.Failures + 1)))
}

// The pauses after failures: 1 s, 2 s, 4 s and so on, up to an hour.
const (
	firstPause = time.Second
	maxPause   = time.Hour
)

// pause returns how long to wait after the given number of failures in a row: a random time between half of the full
// pause and all of it, so that jobs that failed together are not retried together.
func pause(failures int) time.Duration {
	whole := maxPause
	if failures < 20 {
		whole = min(maxPause, firstPause<<(failures-1))
	}
	return whole/2 + rand.N(whole/2)
}
