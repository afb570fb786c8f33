package job_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// databaseOfWorker names the database on which this test binary is to be nothing but a worker, which
// the parent process kills.
const databaseOfWorker = "ALIQUOT_TEST_WORKER"

func TestMain(m *testing.M) {
	if where := os.Getenv(databaseOfWorker); where != "" {
		workUntilKilled(where)
	}
	os.Exit(m.Run())
}

func workUntilKilled(where string) {
	ctx := context.Background()
	db, err := store.Open(ctx, where)
	if err == nil {
		var w *job.Worker
		w, err = job.New(job.Config{DB: db, Log: slog.New(slog.DiscardHandler), Slots: 4, Lease: 300 * time.Millisecond,
			Handlers: []job.Handler{short.Handle(doShort), long.Handle(doLong),
				periodic.Handle(doShort).Every(time.Hour)}})
		if err == nil {
			fmt.Println("working")
			w.Run(ctx)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// The kinds of jobs of the tests. Their effects are audit events of the object they are given.
var (
	short    = job.Kind[string]{Name: "short", MaxAttempts: 100}
	long     = job.Kind[string]{Name: "long", MaxAttempts: 100}
	periodic = job.Kind[string]{Name: "periodic"}
)

// steps is how many a long job has.
const steps = 5

func effect(ctx context.Context, tx store.Conn, object string) error {
	return tx.Audit.Insert(ctx, nil, "test", object, false, nil)
}

func doShort(ctx context.Context, r *job.Run, object string) error {
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) { return nil, effect(ctx, tx, object) })
}

func doLong(ctx context.Context, r *job.Run, object string) error {
	next := 0
	if err := r.Resume(&next); err != nil {
		return err
	}
	for ; next < steps; next++ {
		time.Sleep(rand.N(3 * time.Millisecond))
		err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
			return exchange.Progress{Done: int64(next + 1), Total: steps, Note: "stepping"}, next + 1,
				effect(ctx, tx, fmt.Sprint(object, " step ", next))
		})
		if err != nil {
			return err
		}
	}
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		return map[string]int{"steps": next}, effect(ctx, tx, object+" end")
	})
}

// bench is one database, and workers on it.
type bench struct {
	*testing.T
	db *store.DB
}

func each(t *testing.T, test func(b bench)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db *store.DB) { test(bench{t, db}) })
}

// work starts a worker on a pool of its own, as another process would.
func (b bench) work(handlers ...job.Handler) {
	b.Helper()
	jobtest.Start(b.T, job.Config{DB: storetest.Again(b.T, b.db), Handlers: handlers})
}

// effects counts the audit events of each object.
func (b bench) effects() map[string]int {
	b.Helper()
	rows, err := storetest.SQL(b.T, b.db).QueryContext(b.Context(),
		"SELECT object, COUNT(*) FROM audit_events WHERE action = 'test' GROUP BY object")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	list := map[string]int{}
	for rows.Next() {
		var object string
		var n int
		if err := rows.Scan(&object, &n); err != nil {
			b.Fatal(err)
		}
		list[object] = n
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return list
}

// once fails unless each effect that there is happened once, and there are so many.
func (b bench) once(want int) {
	b.Helper()
	effects := b.effects()
	for object, n := range effects {
		if n != 1 {
			b.Errorf("%s happened %d times", object, n)
		}
	}
	if len(effects) != want {
		b.Errorf("%d effects, want %d", len(effects), want)
	}
}

// job reads a job.
func (b bench) job(id int64) exchange.Job {
	b.Helper()
	j, err := b.db.Read().Jobs.Get(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	return j
}

// tx runs a transaction that must go well.
func (b bench) tx(do func(ctx context.Context, tx store.Conn) error) {
	b.Helper()
	if err := b.db.Tx(b.Context(), do); err != nil {
		b.Fatal(err)
	}
}

// states counts the jobs of a kind in each state.
func (b bench) states(kind string) map[exchange.JobState]int {
	b.Helper()
	part, err := b.db.Read().Jobs.List(b.Context(), exchange.Page{}, nil, exchange.JobFilter{Kind: &kind})
	if err != nil {
		b.Fatal(err)
	}
	states := map[exchange.JobState]int{}
	for _, j := range part.Items {
		states[j.State]++
	}
	return states
}

// clock is one that tests set.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time       { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) jump(d time.Duration) { c.ahead.Add(int64(d)) }
func (b bench) clocked() (c *clock)   { c = &clock{}; b.db.Clock = c.now; return c }
