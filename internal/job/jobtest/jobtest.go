// Package jobtest runs jobs in tests.
package jobtest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// Patience is how long a test waits for what takes milliseconds on a quiet machine, and much longer on a busy one.
const Patience = 2 * time.Minute

// Enqueue enqueues in a transaction of its own and returns the id.
func Enqueue[Args any](t testing.TB, db *store.DB, k job.Kind[Args], args Args, o job.EnqueueOptions) (id int64) {
	t.Helper()
	err := db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) (err error) {
		id, err = k.Enqueue(ctx, tx, args, o)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Start runs a worker until stop is called or t ends. Stop waits until it ended.
func Start(t testing.TB, cfg job.Config) (stop func()) {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	if cfg.Slots == 0 {
		cfg.Slots = 4
	}
	if cfg.Lease == 0 {
		cfg.Lease = time.Minute
	}
	if cfg.Drain == 0 {
		cfg.Drain = Patience
	}
	w, err := job.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var ended sync.WaitGroup
	ended.Go(func() { w.Run(ctx) })
	stop = func() {
		cancel()
		ended.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// Poll asks until the answer is yes.
func Poll(t testing.TB, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !yes(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited without success: %s", what)
		}
	}
}

// Wait waits until a job is in a state, and returns it. Another state in which it is over fails t.
func Wait(t testing.TB, db *store.DB, id int64, state exchange.JobState) (j exchange.Job) {
	t.Helper()
	Poll(t, "the job is "+string(state), func() bool {
		var err error
		if j, err = db.Read().Jobs.Get(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if j.State != state && j.State.Over() {
			t.Fatalf("job %d (%s) is %s, not %s: %s", id, j.Kind, j.State, state, j.Error)
		}
		return j.State == state
	})
	return j
}
