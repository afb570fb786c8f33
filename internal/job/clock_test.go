package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestLease_SurvivesAClockJumpWhileWaitingForTheDatabase: what the clock showed before the
// wait does not mention leases that were given during it. Where such a lease ends, its job runs twice at once.
func TestLease_SurvivesAClockJumpWhileWaitingForTheDatabase(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		c := b.clocked()
		again := storetest.Again(b.T, b.db)
		var looked atomic.Int64
		again.Clock = func() time.Time { looked.Add(1); return c.now() }
		other := job.Kind[struct{}]{Name: "other"}
		id := jobtest.Enqueue(b.T, b.db, other, struct{}{}, job.EnqueueOptions{})
		b.tx(func(ctx context.Context, tx store.Conn) error { // SQLite has no other writer meanwhile
			jobtest.Start(b.T, job.Config{DB: again, Handlers: []job.Handler{short.Handle(doShort)},
				Lease: time.Minute})
			jobtest.Poll(b.T, "the worker looked at its clock", func() bool { return looked.Load() > 0 })
			c.jump(7 * 24 * time.Hour)
			_, err := tx.Jobs.Claim(ctx, false, 0, []string{"other"}, c.now().Add(time.Minute), 1)
			return err
		})
		before := again.Queries()
		jobtest.Poll(b.T, "the worker went on", func() bool { return again.Queries() > before+3 })
		if j := b.job(id); j.State != exchange.JobRunning || j.DueAt == nil || j.DueAt.Before(c.now()) {
			b.Errorf("the job is %s, its lease ends %v, want it to stay", j.State, j.DueAt)
		}
	})
}
