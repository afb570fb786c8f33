package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// Config configures a Worker.
type Config struct {
	DB       *store.DB
	Log      *slog.Logger
	Handlers []Handler     // of each kind of job that there is
	Slots    int           // jobs at once
	Heavy    Heavy         // and heavy ones in addition
	Lease    time.Duration // after which another worker takes the job of a process that died
	Drain    time.Duration // that running jobs have when the process is asked to stop
	// Observers watch the runs, for metrics and traces.
	Observers []Observer
}

// Observer watches runs of jobs.
type Observer interface {
	// BeginJob is called before a run of a job of a kind, and returns the context that it runs in.
	BeginJob(ctx context.Context, kind string) context.Context
	// EndJob is called with that context after the run, which left the job in a state; err is why it failed, if it did.
	EndJob(ctx context.Context, kind, state string, took time.Duration, err error)
}

// Heavy is how many heavy jobs run at once; the zero value is half of Config.Slots, and one of each account.
type Heavy struct {
	Slots int
	Each  int // of one account, however many processes there are (one each more at worst)
}

// Worker runs jobs in this process.
type Worker struct {
	Config
	handlers map[string]Handler
	kinds    []string
	lanes    []lane
	stopping chan struct{} // closed when the process is asked to stop

	mu   sync.Mutex
	held map[*Run]bool // leased by this worker, begun or not
}

// lane holds the slots for quick jobs or for heavy ones; they are separate so that mail does not wait for spreadsheets.
type lane struct {
	heavy    bool
	slots    chan struct{}   // has an entry for each that is taken
	each     int             // how many of one account run at once; 0: any number
	ahead    int             // how many jobs are taken at once
	enqueued <-chan struct{} // has a signal when there may be a job to take
	freed    chan struct{}   // likewise, because a heavy job of someone ended
}

// New returns a worker, whose Run may be called once.
func New(cfg Config) (*Worker, error) {
	w := &Worker{Config: cfg, handlers: map[string]Handler{},
		stopping: make(chan struct{}), held: map[*Run]bool{}}
	heavy := false
	for _, h := range cfg.Handlers {
		if _, twice := w.handlers[h.kind]; twice || h.kind == "" {
			return nil, fmt.Errorf("jobs: two handlers, or no name, of the kind %q", h.kind)
		}
		w.handlers[h.kind] = h
		heavy = heavy || h.heavy
	}
	w.kinds = slices.Sorted(maps.Keys(w.handlers))
	if cfg.Slots < 1 || cfg.Lease <= 0 {
		return nil, errors.New("jobs: a worker needs a slot and a lease")
	}
	w.lanes = []lane{{slots: make(chan struct{}, cfg.Slots), ahead: cfg.Slots * ahead, enqueued: cfg.DB.Enqueued()}}
	if heavy {
		slots := cmp.Or(cfg.Heavy.Slots, (cfg.Slots+1)/2)
		w.lanes = append(w.lanes,
			lane{heavy: true, slots: make(chan struct{}, slots), each: cmp.Or(cfg.Heavy.Each, 1), ahead: 1,
				enqueued: cfg.DB.Enqueued(), freed: make(chan struct{}, 1)})
	}
	return w, nil
}

// pollEvery is how often a worker looks for jobs of other processes and for those that became due;
// of jobs that its own process enqueues it hears at once.
const pollEvery = time.Second

// ahead is how many quick jobs are taken at once for each slot, so that short ones do not wait for the
// taking; patience is how long they wait for a slot before others may have them.
const (
	ahead    = 4
	patience = time.Second
)

// Run runs jobs until ctx ends. Then it takes no more jobs, waits up to Drain for those that are running, and releases
// those that are unfinished.
func (w *Worker) Run(ctx context.Context) {
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	renewing, stop := context.WithCancel(running)
	var jobs, beside sync.WaitGroup
	beside.Go(func() { w.renew(renewing) })
	beside.Go(func() { w.schedule(ctx) })
	var lanes sync.WaitGroup
	for _, l := range w.lanes {
		lanes.Go(func() { w.take(ctx, running, l, &jobs) })
	}
	lanes.Wait()
	close(w.stopping)
	slow := time.AfterFunc(w.Drain, func() { cancel(ErrStopping) })
	jobs.Wait()
	slow.Stop()
	stop()
	beside.Wait()
}

// take claims jobs of a lane and starts them, each in a slot, until ctx ends.
func (w *Worker) take(ctx, running context.Context, l lane, jobs *sync.WaitGroup) {
	for {
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		runs := w.claim(ctx, running, l)
		for i, r := range runs {
			if i > 0 && !l.slot(ctx) {
				w.giveBack(ctx, runs[i:])
				break
			}
			jobs.Go(func() {
				r.run()
				w.drop(r)
				<-l.slots
				select {
				case l.freed <- struct{}{}:
				default: // nobody waits for that, or the last signal was not taken yet
				}
			})
		}
		if len(runs) == 0 {
			if <-l.slots; !w.wait(ctx, l) {
				return
			}
		}
	}
}

// slot waits briefly for a slot.
func (l lane) slot(ctx context.Context) bool {
	select {
	case l.slots <- struct{}{}:
		return true
	case <-time.After(patience):
	case <-ctx.Done():
	}
	return false
}

// claim takes jobs of a lane that are due. It is not cut off by the end of ctx, which might come between
// the commit and its answer.
func (w *Worker) claim(ctx, running context.Context, l lane) []*Run {
	if ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	var list []exchange.Job
	err := w.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) (err error) {
		list, err = tx.Jobs.Claim(ctx, l.heavy, l.each, w.kinds, tx.Now.Add(w.Lease), l.ahead)
		return err
	})
	if err != nil {
		w.Log.ErrorContext(ctx, "take jobs", "error", err)
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	runs := make([]*Run, len(list))
	for i, j := range list {
		r := &Run{w: w, id: j.ID, kind: j.Kind, handler: w.handlers[j.Kind], job: j}
		r.ctx, r.cancel = context.WithCancelCause(running)
		runs[i], w.held[r] = r, true
	}
	return runs
}

// giveBack releases jobs that were claimed but not started.
func (w *Worker) giveBack(ctx context.Context, runs []*Run) {
	for _, r := range runs {
		if _, err := r.settle(ErrStopping); err != nil && !errors.Is(err, errLost) {
			w.Log.ErrorContext(ctx, "give a job back", "id", r.id, "error", err)
		}
		w.drop(r)
	}
}

// drop removes a run from those that the worker has.
func (w *Worker) drop(r *Run) {
	r.cancel(nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.held, r)
}

// wait waits until a job of the lane may be due; it returns false if ctx ended.
func (w *Worker) wait(ctx context.Context, l lane) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-l.enqueued:
			if !l.heavy {
				return true
			}
		case <-l.freed:
		case <-time.After(pollEvery/2 + rand.N(pollEvery/2)):
		}
		due, err := w.DB.Read().Jobs.Due(ctx, l.heavy, w.kinds)
		if err != nil && ctx.Err() == nil {
			w.Log.ErrorContext(ctx, "look for jobs", "error", err)
		}
		if due {
			return true
		}
	}
}

// renew extends the leases of this worker's jobs until ctx ends, and stops runs whose job was cancelled or belongs to
// another worker now.
func (w *Worker) renew(ctx context.Context) {
	tick := time.NewTicker(w.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.mu.Lock()
		held := slices.Collect(maps.Keys(w.held))
		w.mu.Unlock()
		if len(held) == 0 {
			continue
		}
		ids := make([]int64, len(held))
		for i, r := range held {
			ids[i] = r.id
		}
		var leases map[int64]int64
		err := w.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) (err error) {
			leases, err = tx.Jobs.Renew(ctx, ids, tx.Now.Add(w.Lease))
			return err
		})
		if err != nil {
			if ctx.Err() == nil {
				w.Log.ErrorContext(ctx, "renew leases", "error", err)
			}
			continue
		}
		for _, r := range held {
			r.check(leases[r.id])
		}
	}
}

// check stops a run if its job has a different lease; 0 means that the job has none.
func (r *Run) check(lease int64) {
	if !r.mu.TryLock() { // in the midst of a step, which finds out by itself; the others do not wait for it
		return
	}
	defer r.mu.Unlock()
	if !r.over && lease != r.job.Lease {
		r.over = true
		r.cancel(errLost)
	}
}

// The clocks of two machines differ by less than skew; scheduleEvery is how often a worker looks at
// its clock, which may jump.
const (
	skew          = 10 * time.Minute
	scheduleEvery = 30 * time.Second
)

// schedule enqueues the periodic jobs until ctx ends.
func (w *Worker) schedule(ctx context.Context) {
	last := map[string]time.Time{}
	for {
		now := w.DB.Read().Now
		next := now.Add(scheduleEvery)
		err := w.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
			for _, h := range w.handlers {
				if h.every == 0 {
					continue
				}
				period := now.Truncate(h.every)
				if end := period.Add(h.every); end.Before(next) {
					next = end
				}
				if last[h.kind].Equal(period) {
					continue
				}
				key := period.Format(time.RFC3339Nano)
				if _, err := tx.Jobs.Insert(ctx,
					exchange.Job{Kind: h.kind, Key: &key, Args: []byte("null"), DueAt: &period}); err != nil {
					return err
				}
			}
			// not now: the clock may have jumped while this waited
			return tx.Jobs.EndLeases(ctx, tx.Now.Add(w.Lease+skew))
		})
		if err == nil {
			for _, h := range w.handlers {
				if h.every > 0 {
					last[h.kind] = now.Truncate(h.every)
				}
			}
		} else if ctx.Err() == nil {
			w.Log.ErrorContext(ctx, "enqueue periodic jobs", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(next.Sub(now) + time.Millisecond):
		}
	}
}

func panicked(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }
