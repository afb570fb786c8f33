// Package job is the job queue: background work as rows of the database, enqueued in the transaction that needs it and
// done once, by whichever process is free. A process may die at any moment, so a job's effects on the database and the
// record that it is done are committed in one transaction.
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

// Kind is a kind of job, with the type of its handler's arguments.
type Kind[Args any] struct {
	Name        string        // as "sweep.content"; it is kept with each job, so it never changes
	MaxAttempts int           // failures in a row after which a job is given up; 0: 10
	Timeout     time.Duration // that a job may take between two steps; 0: 10 minutes
	// jobs may be long: they have slots of their own, of which each account has a few at a time
	Heavy bool
}

// EnqueueOptions say how to enqueue a job; the zero value means at once, on behalf of Aliquot itself.
type EnqueueOptions struct {
	Key  string     // there is at most one job of a kind with a key, as long as it is kept; "": any number
	User *uuid.UUID // who may see and cancel it in addition to admins
	Turn uuid.UUID  // on whose account it is: jobs of one person take turns with those of others; uuid.Nil: User's
	At   time.Time  // zero: at once
}

// Enqueue adds a job in the caller's transaction, with one statement, and returns its id. If a job with that key
// exists, even a finished one, it returns the id of that job and adds none.
func (k Kind[Args]) Enqueue(ctx context.Context, tx store.Conn, args Args, o EnqueueOptions) (int64, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return 0, fmt.Errorf("job %s: %w", k.Name, err)
	}
	return tx.Jobs.Insert(ctx, k.job(tx, raw, o))
}

// Restart is Enqueue, except that an existing job with that key, in whatever state, starts again with args: what a run
// of it has saved stays, and what that run has not saved yet is refused.
func (k Kind[Args]) Restart(ctx context.Context, tx store.Conn, args Args, o EnqueueOptions) (int64, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return 0, fmt.Errorf("job %s: %w", k.Name, err)
	}
	return tx.Jobs.Restart(ctx, k.job(tx, raw, o))
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

// Queued is one of many jobs to enqueue at once.
type Queued[Args any] struct {
	Args Args
	EnqueueOptions
}

// EnqueueAll adds many jobs in the caller's transaction with few statements. A job whose key exists already is not
// added.
func (k Kind[Args]) EnqueueAll(ctx context.Context, tx store.Conn, list []Queued[Args]) error {
	jobs, err := k.jobs(tx, list)
	if err != nil {
		return err
	}
	return tx.Jobs.InsertAll(ctx, jobs)
}

// RestartAll is EnqueueAll, except that jobs that exist already start again, as with Restart. Each key is in list once.
func (k Kind[Args]) RestartAll(ctx context.Context, tx store.Conn, list []Queued[Args]) error {
	jobs, err := k.jobs(tx, list)
	if err != nil {
		return err
	}
	return tx.Jobs.RestartAll(ctx, jobs)
}

func (k Kind[Args]) jobs(tx store.Conn, list []Queued[Args]) ([]exchange.Job, error) {
	jobs := make([]exchange.Job, len(list))
	for i, q := range list {
		raw, err := json.Marshal(q.Args)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", k.Name, err)
		}
		jobs[i] = k.job(tx, raw, q.EnqueueOptions)
	}
	return jobs, nil
}

// Handler runs the jobs of one kind.
type Handler struct {
	kind        string
	maxAttempts int
	time        time.Duration
	heavy       bool
	every       time.Duration // 0: only when it is enqueued
	do          func(context.Context, *Run) error
}

// Handle returns a handler that runs do. do changes the database only in Run.Finish or, in a long job, part by part in
// Run.Step, so that each effect happens once even if a process dies; anything else that it does may be repeated. When
// it returns nil without Finish, the job is done without a result. When it fails or exceeds its time, it is run again
// later.
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

// Every enqueues a job with zero arguments once in each period, however many processes there are. A period in which no
// process ran is skipped.
func (h Handler) Every(period time.Duration) Handler {
	h.every = period
	return h
}

// GiveUp marks a failure that retrying cannot repair.
func GiveUp(err error) error { return permanentError{err} }

type permanentError struct{ error }

func (h permanentError) Unwrap() error { return h.error }

// ErrStopping is returned by Step when the process is about to stop; a handler returns it, and another process
// continues the job after its last step.
var ErrStopping = errors.New("the process is asked to stop")

// errLost is the error of a run whose job was cancelled or taken over by another worker.
var errLost = errors.New("the job was taken by another worker, or cancelled")

// message returns the text of a failure that people see; its cause is in the log.
func message(err error) string {
	if e, ok := errors.AsType[*exchange.Error](err); ok {
		return e.Message
	}
	return "Something went wrong on our side; the error is logged under the id of this job."
}
