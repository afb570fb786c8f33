// Package job is the queue: work behind the scenes as rows of the database, enqueued in the
// transaction that wants it and done once in whichever process is free. A process may die at any
// moment: what a job did to the database and the word that it did are one transaction.
package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Kind is one kind of job, and what its handler is told.
type Kind[Args any] struct {
	Name        string        // as "sweep.content"; it is kept with each job, so it never changes
	MaxAttempts int           // failures in a row after which a job is given up; 0: 10
	Timeout     time.Duration // that a job may take between two steps; 0: 10 minutes
	// jobs may be long: they have slots of their own, of which each account has a few at a time
	Heavy bool
}

// Order says how a job is to be enqueued; the zero value is at once, for Aliquot itself.
type EnqueueOptions struct {
	Key  string     // there is at most one job of a kind with a key, as long as it is kept; "": any number
	User *uuid.UUID // who may see and cancel it beside admins
	Turn uuid.UUID  // on whose account it is: jobs of one person take turns with those of others; uuid.Nil: User's
	At   time.Time  // zero: at once
}

// Enqueue adds a job in the caller's transaction, with one statement, and gives its id. Where there is
// one with that key already, also one that is over, it gives the id of that one.
func (k Kind[Args]) Enqueue(ctx context.Context, tx store.Conn, args Args, o EnqueueOptions) (int64, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return 0, fmt.Errorf("job %s: %w", k.Name, err)
	}
	return tx.InsertJob(ctx, k.job(tx, raw, o))
}

// Restart is Enqueue, but where there is a job with that key, in whatever state, it begins anew with args:
// what a run of it saved stays, and what that has not saved yet is refused.
func (k Kind[Args]) Restart(ctx context.Context, tx store.Conn, args Args, o EnqueueOptions) (int64, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return 0, fmt.Errorf("job %s: %w", k.Name, err)
	}
	return tx.RestartJob(ctx, k.job(tx, raw, o))
}

// job is the job of an order.
func (k Kind[Args]) job(tx store.Conn, args json.RawMessage, o EnqueueOptions) exchange.Job {
	j := exchange.Job{Kind: k.Name, User: o.User, Turn: o.User, Heavy: k.Heavy, Args: args, DueAt: &tx.Now}
	if o.Turn != uuid.Nil {
		j.Turn = &o.Turn
	}
	if o.Key != "" {
		j.Key = &o.Key
	}
	if !o.At.IsZero() {
		j.DueAt = &o.At
	}
	return j
}

// Queued is one of many jobs that are enqueued at once.
type Queued[Args any] struct {
	Args Args
	EnqueueOptions
}

// EnqueueAll adds many jobs in the caller's transaction with few statements. Where there is one with the
// key of one of them already, that one is not added.
func (k Kind[Args]) EnqueueAll(ctx context.Context, tx store.Conn, list []Queued[Args]) error {
	jobs := make([]exchange.Job, len(list))
	for i, q := range list {
		raw, err := json.Marshal(q.Args)
		if err != nil {
			return fmt.Errorf("job %s: %w", k.Name, err)
		}
		jobs[i] = k.job(tx, raw, q.EnqueueOptions)
	}
	return tx.InsertJobs(ctx, jobs)
}

// Handler does the jobs of one kind.
type Handler struct {
	kind        string
	maxAttempts int
	time        time.Duration
	heavy       bool
	every       time.Duration // 0: only when it is enqueued
	do          func(context.Context, *Run) error
}

// Handle makes a handler of do. It does the effects of a job on the database in Run.Finish, and
// those of a long one part by part in Run.Step, so that each happens once whatever dies meanwhile;
// what it does outside of these it may do again. When it returns nil without Finish the job is
// done without a result. When it fails, or takes too long, it is run again later.
func (k Kind[Args]) Handle(do func(context.Context, *Run, Args) error) Handler {
	h := Handler{kind: k.Name, maxAttempts: k.MaxAttempts, time: k.Timeout, heavy: k.Heavy}
	if h.maxAttempts == 0 {
		h.maxAttempts = 10
	}
	if h.time == 0 {
		h.time = 10 * time.Minute
	}
	h.do = func(ctx context.Context, r *Run) error {
		var args Args
		if err := json.Unmarshal(r.job.Args, &args); err != nil {
			return GiveUp(fmt.Errorf("arguments of job %s: %w", k.Name, err))
		}
		return do(ctx, r, args)
	}
	return h
}

// Every has a job, with arguments that are zero, enqueued once in each period, however many
// processes there are. A period in which no process ran is left out.
func (h Handler) Every(period time.Duration) Handler {
	h.every = period
	return h
}

// GiveUp marks a failure that no further try mends.
func GiveUp(err error) error { return permanentError{err} }

type permanentError struct{ error }

func (h permanentError) Unwrap() error { return h.error }

// ErrStopping is what Step says when the process is asked to stop; a handler returns it, and the
// job goes on elsewhere from its last step.
var ErrStopping = errors.New("the process is asked to stop")

// errLost says that the job is another worker's by now, or was cancelled.
var errLost = errors.New("the job was taken by another worker, or cancelled")

// message is what a person reads of a failure; its cause is in the log.
func message(err error) string {
	if e, ok := errors.AsType[*exchange.Error](err); ok {
		return e.Message
	}
	return "Something went wrong on our side; it is in the log under the id of this job."
}
