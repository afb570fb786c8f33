package job_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// heavy jobs take as long as a test lets them.
var heavy = job.Kind[string]{Name: "heavy", Heavy: true}

// TestQueue_QuickJobsDoNotWaitForHeavyOnes of which one person has 100, and one at a time runs.
func TestQueue_QuickJobsDoNotWaitForHeavyOnes(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		person, other := uuid.New(), uuid.New()
		finish, others := make(chan struct{}), make(chan struct{})
		var running, most atomic.Int64
		slow := heavy.Handle(func(ctx context.Context, r *job.Run, object string) error {
			if r.Turn() == other {
				close(others)
				return doShort(ctx, r, object)
			}
			n := running.Add(1)
			if most.Load() < n {
				most.Store(n)
			}
			<-finish
			running.Add(-1) // before doShort finishes the job: the next may begin at once
			return doShort(ctx, r, object)
		})
		for i := range 100 {
			jobtest.Enqueue(b.T, b.db, heavy, fmt.Sprint("heavy ", i), job.EnqueueOptions{Turn: person})
		}
		jobtest.Start(b.T, job.Config{DB: b.db, Slots: 4, Handlers: []job.Handler{slow, short.Handle(doShort)}})
		jobtest.Poll(b.T, "a heavy job runs", func() bool { return running.Load() > 0 })
		began := time.Now()
		jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, short, "mail", job.EnqueueOptions{Turn: person}),
			exchange.JobDone)
		if took := time.Since(began); took > 2*time.Second {
			b.Errorf("a quick job behind 100 heavy ones took %s", took)
		}
		jobtest.Enqueue(b.T, b.db, heavy, "another's", job.EnqueueOptions{Turn: other})
		<-others
		close(finish)
		jobtest.Poll(b.T, "all are done", func() bool { return b.states("heavy")[exchange.JobDone] == 101 })
		if most.Load() != 1 {
			b.Errorf("%d heavy jobs of one person ran at once", most.Load())
		}
		b.once(102)
	})
}

// TestQueue_PeopleTakeTurns whether one enqueues many jobs at once or one after the other.
func TestQueue_PeopleTakeTurns(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		const many = 200
		at := uuid.New()
		b.tx(func(ctx context.Context, tx store.Conn) error {
			var list []job.Queued[string]
			for i := range many {
				list = append(list, job.Queued[string]{Args: fmt.Sprint("at once ", i),
					EnqueueOptions: job.EnqueueOptions{Turn: at}})
			}
			return short.EnqueueAll(ctx, tx, list)
		})
		one := uuid.New()
		for i := range many {
			jobtest.Enqueue(b.T, b.db, short, fmt.Sprint("one by one ", i), job.EnqueueOptions{Turn: one})
		}
		jobtest.Enqueue(b.T, b.db, short, "of another", job.EnqueueOptions{Turn: uuid.New()})
		var mu sync.Mutex
		var done []string
		jobtest.Start(b.T, job.Config{DB: b.db, Slots: 1,
			Handlers: []job.Handler{short.Handle(func(ctx context.Context, r *job.Run, object string) error {
				mu.Lock()
				done = append(done, object)
				mu.Unlock()
				return doShort(ctx, r, object)
			})}})
		jobtest.Poll(b.T, "all are done", func() bool { return b.states("short")[exchange.JobDone] == 2*many+1 })
		if place := slices.Index(done, "of another"); place > many {
			b.Errorf("the one job of a third person came after %d others", place)
		}
		if first := slices.Index(done, "one by one 0"); first > many/2 {
			b.Errorf("the first job of the second person came after %d others", first)
		}
	})
}

// TestQueue_AnAccountHasItsShareOfTheSlots, so that many slow jobs of one leave room for others.
func TestQueue_AnAccountHasItsShareOfTheSlots(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		slow, other, finish := uuid.New(), uuid.New(), make(chan struct{})
		var running, most atomic.Int64
		for i := range 40 {
			jobtest.Enqueue(b.T, b.db, heavy, fmt.Sprint("slow ", i), job.EnqueueOptions{Turn: slow})
		}
		jobtest.Start(b.T, job.Config{DB: b.db, Slots: 2, Heavy: job.Heavy{Slots: 4, Each: 2},
			Handlers: []job.Handler{heavy.Handle(func(ctx context.Context, r *job.Run, object string) error {
				if r.Turn() == slow {
					n := running.Add(1)
					if most.Load() < n {
						most.Store(n)
					}
					<-finish
					running.Add(-1) // before doShort finishes the job: the next may begin at once
				}
				return doShort(ctx, r, object)
			})}})
		jobtest.Poll(b.T, "two slow jobs run", func() bool { return running.Load() == 2 })
		for i := range 5 {
			jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, heavy, fmt.Sprint("another's ", i),
				job.EnqueueOptions{Turn: other}), exchange.JobDone)
		}
		close(finish)
		jobtest.Poll(b.T, "all are done", func() bool { return b.states("heavy")[exchange.JobDone] == 45 })
		if most.Load() != 2 {
			b.Errorf("%d jobs of one account ran at once", most.Load())
		}
		b.once(45)
	})
}
