package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

func TestFailure_IsRetriedWithBackOffThenGivenUp(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		c := b.clocked()
		kind := job.Kind[string]{Name: "hopeless", MaxAttempts: 4}
		var tries atomic.Int64
		jobtest.Start(b.T, job.Config{DB: b.db,
			Handlers: []job.Handler{kind.Handle(func(ctx context.Context, r *job.Run, object string) error {
				tries.Add(1)
				return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
					if err := effect(ctx, tx, object); err != nil {
						return nil, err
					}
					return nil, exchange.Errorf(exchange.Unavailable, "The source does not answer.")
				})
			})}})
		id := jobtest.Enqueue(b.T, b.db, kind, "a", job.EnqueueOptions{})
		for n, whole := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			jobtest.Poll(b.T, fmt.Sprint("failure ", n+1),
				func() bool { j := b.job(id); return j.Failures == n+1 && j.State == exchange.JobReady })
			wait := b.job(id).DueAt.Sub(c.now())
			if wait > whole || wait < whole/2-time.Second/2 {
				b.Errorf("after failure %d it waits for %s, want between %s and %s", n+1, wait, whole/2, whole)
			}
			c.jump(wait + time.Millisecond)
		}
		j := jobtest.Wait(b.T, b.db, id, exchange.JobFailed)
		if j.Error != "The source does not answer." || j.Failures != 4 || tries.Load() != 4 || j.EndedAt == nil {
			b.Errorf("after %d tries: %+v", tries.Load(), j)
		}
		b.once(0)
		b.tx(func(ctx context.Context, tx store.Conn) error {
			again, err := j.Retry(tx.Now)
			if err == nil {
				_, err = tx.Jobs.Save(ctx, exchange.JobFailed, again)
			}
			return err
		})
		jobtest.Poll(b.T, "it is tried again", func() bool { return tries.Load() == 5 })
	})
}

func TestFailure_PermanentIsGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		kind := job.Kind[string]{Name: "wrong"}
		b.work(kind.Handle(func(context.Context, *job.Run, string) error { return job.GiveUp(errors.New("secret")) }))
		j := jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, kind, "a", job.EnqueueOptions{}), exchange.JobFailed)
		if strings.Contains(j.Error, "secret") || !strings.Contains(j.Error, "the error is logged") {
			b.Errorf("a person reads %q", j.Error)
		}
		bad := jobtest.Enqueue(b.T, b.db, job.Kind[int]{Name: "wrong"}, 7, job.EnqueueOptions{})
		jobtest.Wait(b.T, b.db, bad, exchange.JobFailed)
	})
}

func TestHandler_ThatPanicsFailsOnlyItsJob(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		kind := job.Kind[string]{Name: "panics", MaxAttempts: 1}
		b.work(short.Handle(doShort), kind.Handle(func(ctx context.Context, r *job.Run, object string) error {
			return r.Finish(ctx, func(context.Context, store.Conn) (any,
				error) {
				panic("in a transaction: " + object)
			})
		}))
		j := jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, kind, "a", job.EnqueueOptions{}), exchange.JobFailed)
		if !strings.Contains(j.Error, "the error is logged") {
			b.Errorf("a person reads %q", j.Error)
		}
		jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, short, "b", job.EnqueueOptions{}), exchange.JobDone)
		b.once(1)
	})
}

// TestHandler_ThatHangsLosesJobAndSlot: what it does with the job when it wakes up is refused.
func TestHandler_ThatHangsLosesJobAndSlot(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		kind := job.Kind[string]{Name: "hangs", MaxAttempts: 1, Timeout: 20 * time.Millisecond}
		wake, late := make(chan struct{}), make(chan error, 1)
		jobtest.Start(b.T, job.Config{DB: b.db, Slots: 1, Handlers: []job.Handler{short.Handle(doShort),
			kind.Handle(func(ctx context.Context, r *job.Run, object string) error {
				<-wake
				late <- doShort(context.WithoutCancel(ctx), r, object)
				return nil
			})}})
		j := jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, kind, "late", job.EnqueueOptions{}), exchange.JobFailed)
		if !strings.Contains(j.Error, "20ms") {
			b.Errorf("a person reads %q", j.Error)
		}
		jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, short, "next", job.EnqueueOptions{}), exchange.JobDone)
		close(wake)
		if err := <-late; err == nil {
			b.Error("it finished a job that it had lost")
		}
		b.once(1)
	})
}

// take claims a job as a process does that dies then.
func (b bench) take(kind string, lease time.Duration) (j exchange.Job) {
	b.Helper()
	b.tx(func(ctx context.Context, tx store.Conn) error {
		list, err := tx.Jobs.Claim(ctx, false, 0, []string{kind}, tx.Now.Add(lease), 1)
		if err == nil && len(list) != 1 {
			err = fmt.Errorf("%d jobs are free", len(list))
		}
		if err == nil {
			j = list[0]
		}
		return err
	})
	return j
}

func TestLease_ExpiredPassesTheJobOn(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		c := b.clocked()
		id := jobtest.Enqueue(b.T, b.db, short, "a", job.EnqueueOptions{})
		dead := b.take("short", time.Minute)
		jobtest.Start(b.T, job.Config{DB: b.db, Handlers: []job.Handler{short.Handle(doShort)}})
		jobtest.Wait(b.T, b.db, jobtest.Enqueue(b.T, b.db, short, "b", job.EnqueueOptions{}), exchange.JobDone)
		if j := b.job(id); j.State != exchange.JobRunning || j.Lease != dead.Lease {
			b.Fatalf("before its lease ended it is %s under lease %d", j.State, j.Lease)
		}
		c.jump(time.Minute)
		if j := jobtest.Wait(b.T, b.db, id, exchange.JobDone); j.Lease != dead.Lease+1 {
			b.Errorf("it was taken %d times", j.Lease)
		}
		b.tx(func(ctx context.Context, tx store.Conn) error { // the dead one was only slow
			saved, err := tx.Jobs.Save(ctx, exchange.JobRunning, dead.Finish(nil, tx.Now))
			if saved {
				b.Error("who lost the job finished it again")
			}
			return err
		})
		b.once(2)
	})
}

func TestFailure_JobThatKillsItsProcessIsGivenUp(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		c := b.clocked()
		kind := job.Kind[string]{Name: "deadly", MaxAttempts: 3}
		id := jobtest.Enqueue(b.T, b.db, kind, "a", job.EnqueueOptions{})
		for range 3 {
			b.take("deadly", time.Minute)
			c.jump(time.Hour)
		}
		jobtest.Start(b.T, job.Config{DB: b.db, Handlers: []job.Handler{kind.Handle(doShort)}})
		if j := jobtest.Wait(b.T, b.db, id, exchange.JobFailed); !strings.Contains(j.Error, "process") {
			b.Errorf("a person reads %q", j.Error)
		}
		b.once(0)
	})
}

func TestLease_EndsThoughTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		c := b.clocked()
		c.jump(1000 * time.Hour)
		id := jobtest.Enqueue(b.T, b.db, short, "a", job.EnqueueOptions{At: time.Now()})
		b.take("short", time.Minute)
		c.jump(-1000 * time.Hour)
		jobtest.Start(b.T, job.Config{DB: b.db, Handlers: []job.Handler{short.Handle(doShort)}})
		jobtest.Wait(b.T, b.db, id, exchange.JobDone)
		b.once(1)
	})
}

func TestLease_IsRenewedWhileAJobRuns(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		var runs atomic.Int64
		slow := short.Handle(func(ctx context.Context, r *job.Run, object string) error {
			runs.Add(1)
			time.Sleep(time.Second) // several leases
			return doShort(ctx, r, object)
		})
		id := jobtest.Enqueue(b.T, b.db, short, "a", job.EnqueueOptions{})
		for range 2 {
			jobtest.Start(b.T, job.Config{DB: storetest.Again(b.T, b.db), Handlers: []job.Handler{slow},
				Lease: 250 * time.Millisecond})
		}
		jobtest.Wait(b.T, b.db, id, exchange.JobDone)
		if n := runs.Load(); n != 1 {
			b.Errorf("it ran %d times", n)
		}
	})
}

func TestCancel_StopsAJobAndKeepsItsWork(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		stepped, ended := make(chan struct{}), make(chan error, 1)
		id := jobtest.Enqueue(b.T, b.db, long, "a", job.EnqueueOptions{})
		jobtest.Start(b.T, job.Config{DB: b.db, Lease: 300 * time.Millisecond, Handlers: []job.Handler{
			long.Handle(func(ctx context.Context, r *job.Run, object string) error {
				step := func(n int) error {
					return r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
						return exchange.Progress{Done: int64(n)}, n, effect(ctx, tx, fmt.Sprint(object, n))
					})
				}
				err := step(1)
				close(stepped)
				<-ctx.Done() // told when the lease was to be renewed
				ended <- errors.Join(err, step(2))
				return err
			})}})
		<-stepped
		b.tx(func(ctx context.Context, tx store.Conn) error {
			j, err := tx.Jobs.ForUpdate(ctx, id)
			if err == nil {
				j, err = j.Cancel(tx.Now)
			}
			if err == nil {
				_, err = tx.Jobs.Save(ctx, exchange.JobRunning, j)
			}
			return err
		})
		if err := <-ended; err == nil {
			b.Error("a cancelled job went on")
		}
		if j := b.job(id); j.State != exchange.JobCancelled || j.Progress.Done != 1 {
			b.Errorf("%+v", j)
		}
		b.once(1)
	})
}

func TestStop_FinishesShortJobsAndReturnsTheRest(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		began, finish := make(chan struct{}, 2), make(chan struct{})
		brief := short.Handle(func(ctx context.Context, r *job.Run, object string) error {
			began <- struct{}{}
			<-finish
			return doShort(ctx, r, object)
		})
		endless := long.Handle(func(ctx context.Context, r *job.Run, object string) error {
			began <- struct{}{}
			for n := 0; ; n++ {
				err := r.Step(ctx, func(context.Context, store.Conn) (exchange.Progress, any, error) {
					return exchange.Progress{Done: int64(n)}, n, nil
				})
				if err != nil {
					return fmt.Errorf("step %d: %w", n, err)
				}
			}
		})
		first := jobtest.Enqueue(b.T, b.db, short, "a", job.EnqueueOptions{})
		second := jobtest.Enqueue(b.T, b.db, long, "b", job.EnqueueOptions{})
		var waiting []int64
		for i := range 5 {
			waiting = append(waiting,
				jobtest.Enqueue(b.T, b.db, short, fmt.Sprint("waiting ", i), job.EnqueueOptions{}))
		}
		stop := jobtest.Start(b.T, job.Config{DB: b.db, Slots: 2, Handlers: []job.Handler{brief, endless}})
		<-began
		<-began
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		jobtest.Poll(b.T, "the endless one is released",
			func() bool { return b.job(second).State == exchange.JobReady })
		close(finish)
		<-stopped
		if j := b.job(first); j.State != exchange.JobDone {
			b.Errorf("the short one is %s", j.State)
		}
		for _, id := range append(waiting, second) {
			if j := b.job(id); j.State != exchange.JobReady || j.Failures != 0 || j.Error != "" ||
				j.DueAt.After(time.Now()) {
				b.Errorf("job %d was not released: %+v", id, j)
			}
		}
		b.work(short.Handle(doShort), long.Handle(doLong))
		for _, id := range append(waiting, second) {
			jobtest.Wait(b.T, b.db, id, exchange.JobDone)
		}
	})
}

func TestStop_ReturnsAJobThatDoesNotEndInTime(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		began := make(chan struct{})
		id := jobtest.Enqueue(b.T, b.db, short, "a", job.EnqueueOptions{})
		stop := jobtest.Start(b.T, job.Config{DB: b.db, Drain: 10 * time.Millisecond, Handlers: []job.Handler{
			short.Handle(func(ctx context.Context, _ *job.Run, _ string) error {
				close(began)
				<-ctx.Done()
				return ctx.Err()
			})}})
		<-began
		stop()
		if j := b.job(id); j.State != exchange.JobReady || j.Failures != 0 {
			b.Errorf("it was not released: %+v", j)
		}
	})
}

func TestJobs_WaitingForASlotGoToAWorkerWithOne(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		began, finish := make(chan struct{}), make(chan struct{})
		first := jobtest.Enqueue(b.T, b.db, long, "a", job.EnqueueOptions{})
		var waiting []int64
		for i := range 3 {
			waiting = append(waiting, jobtest.Enqueue(b.T, b.db, short, fmt.Sprint(i), job.EnqueueOptions{}))
		}
		jobtest.Start(b.T, job.Config{DB: b.db, Slots: 1, Handlers: []job.Handler{short.Handle(doShort),
			long.Handle(func(context.Context, *job.Run, string) error {
				close(began)
				<-finish
				return nil
			})}})
		<-began
		b.work(short.Handle(doShort))
		for _, id := range waiting {
			jobtest.Wait(b.T, b.db, id, exchange.JobDone)
		}
		close(finish)
		jobtest.Wait(b.T, b.db, first, exchange.JobDone)
	})
}

// TestJobs_EndingTogetherFailAlone: on SQLite their transactions are committed as one.
func TestJobs_EndingTogetherFailAlone(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		const jobs = 8
		var meet sync.WaitGroup
		meet.Add(jobs)
		kind := job.Kind[int]{Name: "together", MaxAttempts: 1}
		var ids []int64
		b.tx(func(ctx context.Context, tx store.Conn) error {
			for n := range jobs {
				id, err := kind.Enqueue(ctx, tx, n, job.EnqueueOptions{})
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return nil
		})
		jobtest.Start(b.T, job.Config{DB: b.db, Slots: jobs, Handlers: []job.Handler{
			kind.Handle(func(ctx context.Context, r *job.Run, n int) error {
				meet.Done()
				meet.Wait()
				return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
					if err := effect(ctx, tx, fmt.Sprint(n)); err != nil {
						return nil, err
					}
					switch n {
					case 3:
						return nil, errors.New("no")
					case 5:
						panic("no")
					}
					return n, nil
				})
			})}})
		for n, id := range ids {
			want := exchange.JobDone
			if n == 3 || n == 5 {
				want = exchange.JobFailed
			}
			jobtest.Wait(b.T, b.db, id, want)
		}
		b.once(jobs - 2)
	})
}
