package job_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestEnqueue_IsOneInsertInTheCallersTransaction(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		before := b.db.Queries()
		refused := errors.New("no")
		err := b.db.Tx(b.Context(), func(ctx context.Context, tx store.Conn) error {
			if _, err := short.Enqueue(ctx, tx, "a", job.EnqueueOptions{Key: "k"}); err != nil {
				return err
			}
			return refused
		})
		if n := b.db.Queries() - before; !errors.Is(err, refused) || n != 1 {
			b.Fatalf("%d statements, %v", n, err)
		}
		if states := b.states("short"); len(states) != 0 {
			b.Errorf("what was rolled back left %v", states)
		}
	})
}

func TestJob_KeyIsUniquePerKind(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		ids := make([]int64, 8)
		var all sync.WaitGroup
		for i := range ids {
			all.Go(func() {
				ids[i] = jobtest.Enqueue(b.T, b.db, short, fmt.Sprint("rival ", i), job.EnqueueOptions{Key: "k"})
			})
		}
		all.Wait()
		b.work(short.Handle(doShort))
		jobtest.Wait(b.T, b.db, ids[0], exchange.JobDone)
		ids = append(ids, jobtest.Enqueue(b.T, b.db, short, "later", job.EnqueueOptions{Key: "k"}))
		for _, id := range ids {
			if id != ids[0] {
				b.Errorf("one key has the jobs %v", ids)
			}
		}
		if other := jobtest.Enqueue(b.T, b.db, long, "long", job.EnqueueOptions{Key: "k"}); other == ids[0] {
			b.Error("another kind has the same job")
		}
		if first, second := jobtest.Enqueue(b.T, b.db, periodic, "", job.EnqueueOptions{}),
			jobtest.Enqueue(b.T, b.db, periodic, "", job.EnqueueOptions{}); first == second {
			b.Error("without a key there is one job too")
		}
		b.once(1)
	})
}

// TestJob_RestartedBeginsAnew while it runs, and when it is done: what its run had not saved is refused.
func TestJob_RestartedBeginsAnew(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		restart := func(args string) (id int64) {
			err := b.db.Tx(b.Context(), func(ctx context.Context, tx store.Conn) (err error) {
				id, err = long.Restart(ctx, tx, args, job.EnqueueOptions{Key: "k"})
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			return id
		}
		stepped, restarted := make(chan struct{}), make(chan struct{})
		b.work(long.Handle(func(ctx context.Context, r *job.Run, object string) error {
			if object != "first" {
				return doLong(ctx, r, object)
			}
			step := func(n int) error {
				return r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
					return exchange.Progress{}, n, effect(ctx, tx, fmt.Sprint(object, " step ", n))
				})
			}
			if err := step(4); err != nil {
				return err
			}
			close(stepped)
			<-restarted
			if err := step(5); err == nil {
				b.Error("the run that lost the job made a step")
			}
			return nil
		}))
		id := restart("first")
		<-stepped
		again := restart("second")
		close(restarted)
		jobtest.Wait(b.T, b.db, id, exchange.JobDone)
		if third := restart("third"); again != id || third != id {
			b.Errorf("one key has the jobs %d, %d and %d", id, again, third)
		}
		if j := jobtest.Wait(b.T, b.db, id, exchange.JobDone); j.Progress.Done != steps || string(j.Args) != `"third"` {
			b.Errorf("%+v", j)
		}
		want := map[string]int{"first step 4": 1, "second end": 1, "third end": 1}
		for i := range steps {
			want[fmt.Sprint("second step ", i)], want[fmt.Sprint("third step ", i)] = 1, 1
		}
		if got := b.effects(); !maps.Equal(got, want) {
			b.Errorf("%v, want %v", got, want)
		}
	})
}

// TestJob_ManyRestartTogether whether they are there already or not.
func TestJob_ManyRestartTogether(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.work(short.Handle(doShort))
		one := jobtest.Enqueue(b.T, b.db, short, "one", job.EnqueueOptions{Key: "one"})
		jobtest.Wait(b.T, b.db, one, exchange.JobDone)
		b.tx(func(ctx context.Context, tx store.Conn) error {
			return short.RestartAll(ctx, tx, []job.Queued[string]{
				{Args: "one again", EnqueueOptions: job.EnqueueOptions{Key: "one"}},
				{Args: "another", EnqueueOptions: job.EnqueueOptions{Key: "another"}}})
		})
		jobtest.Poll(b.T, "all are done", func() bool { return b.states("short")[exchange.JobDone] == 2 })
		jobtest.Wait(b.T, b.db, one, exchange.JobDone)
		if got, want := b.effects(), (map[string]int{"one": 1, "one again": 1, "another": 1}); !maps.Equal(got, want) {
			b.Errorf("%v, want %v", got, want)
		}
	})
}

// TestJob_OfThisProcessDoesNotWaitForThePoll would take twenty polls otherwise, ten seconds at least.
func TestJob_OfThisProcessDoesNotWaitForThePoll(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		jobtest.Start(b.T, job.Config{DB: b.db, Handlers: []job.Handler{short.Handle(doShort)}})
		began := time.Now()
		for i := range 20 {
			jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, short, fmt.Sprint(i), job.EnqueueOptions{}),
				exchange.JobDone)
		}
		if took := time.Since(began); took > 5*time.Second {
			b.Errorf("twenty jobs took %s", took)
		}
		b.once(20)
	})
}

func TestJob_ForLaterWaits(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		c := b.clocked()
		later := jobtest.Enqueue(b.T, b.db, short, "later", job.EnqueueOptions{At: c.now().Add(time.Hour)})
		jobtest.Start(b.T, job.Config{DB: b.db, Handlers: []job.Handler{short.Handle(doShort)}})
		jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, short, "now", job.EnqueueOptions{}), exchange.JobDone)
		if j := b.job(later); j.State != exchange.JobReady {
			b.Errorf("it is %s an hour before", j.State)
		}
		c.jump(time.Hour + time.Second)
		jobtest.Wait(b.T, b.db, later, exchange.JobDone)
	})
}

func TestJob_OfAnUnknownKindIsLeftToNewerProcesses(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		unknown := jobtest.Enqueue(b.T, b.db, long, "a", job.EnqueueOptions{})
		b.work(short.Handle(doShort))
		jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, short, "b", job.EnqueueOptions{}), exchange.JobDone)
		if j := b.job(unknown); j.State != exchange.JobReady || j.Lease != 0 {
			b.Errorf("it is %s, taken %d times", j.State, j.Lease)
		}
	})
}

func TestJobs_RunOnceByTwoWorkers(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		const jobs = 150
		b.work(short.Handle(doShort), long.Handle(doLong))
		b.work(short.Handle(doShort), long.Handle(doLong))
		for i := range jobs {
			jobtest.Enqueue(b.T, b.db, short, fmt.Sprint("short ", i), job.EnqueueOptions{})
			if i%10 == 0 {
				jobtest.Enqueue(b.T, b.db, long, fmt.Sprint("long ", i), job.EnqueueOptions{})
			}
		}
		jobtest.Poll(b.T, "all are done", func() bool {
			return b.states("short")[exchange.JobDone] == jobs && b.states("long")[exchange.JobDone] == jobs/10
		})
		b.once(jobs + jobs/10*(steps+1))
	})
}

func TestJob_ReportsProgressAndResult(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		id := jobtest.Enqueue(b.T, b.db, long, "a", job.EnqueueOptions{})
		b.work(long.Handle(doLong))
		j := jobtest.Wait(b.T, b.db, id, exchange.JobDone)
		want := exchange.Progress{Done: steps, Total: steps, Note: "stepping"}
		if j.Progress != want || string(j.Result) != `{"steps":5}` || j.EndedAt == nil || j.DueAt != nil ||
			j.Error != "" {
			b.Errorf("%+v", j)
		}
	})
}

func TestPeriodicJob_RunsOnceForEightWorkers(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		c := b.clocked()
		var runs atomic.Int64
		handler := periodic.Handle(func(ctx context.Context, r *job.Run, args string) error {
			runs.Add(1)
			return doShort(ctx, r, fmt.Sprint("period ", r.ID()))
		}).Every(24 * time.Hour)
		start := func(want int64) {
			var stops []func()
			var pools []*store.DB
			for range 8 {
				again := storetest.Again(b.T, b.db)
				again.Clock = c.now
				pools = append(pools, again)
				stops = append(stops, jobtest.Start(b.T, job.Config{DB: again, Handlers: []job.Handler{handler}}))
			}
			jobtest.Poll(b.T, "each has enqueued, and the job of the period is done", func() bool {
				return runs.Load() >= want &&
					!slices.ContainsFunc(pools, func(db *store.DB) bool { return db.Queries() < 2 })
			})
			for _, stop := range stops {
				stop()
			}
			if s := b.states("periodic"); runs.Load() != want || len(s) != 1 || int64(s[exchange.JobDone]) != want {
				b.Errorf("%d runs of jobs that are %v, want %d", runs.Load(), s, want)
			}
		}
		const day = 24 * time.Hour
		for _, at := range []struct {
			jump time.Duration
			want int64
		}{{0, 1}, {0, 1}, {day, 2}, {-day, 2}, {day, 2}, {10 * day, 3}, {-9 * day, 4}} {
			c.jump(at.jump)
			start(at.want)
		}
	})
}
