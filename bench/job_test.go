package bench

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

const (
	jobRounds = 20  // of each side, in turn
	jobCount  = 500 // in a round
	slots     = 8   // of the worker, as by default; the bare side has as many goroutines
	taken     = 32  // jobs at once, for those slots
)

// jobBars are in jobs per second.
var jobBars = map[string]float64{storetest.SQLite: 2000, storetest.PostgreSQL: 400}

// The texts of the statements are those of internal/store.
const (
	claimJobs = `WITH free AS (SELECT id FROM jobs WHERE heavy = $6 AND due_at <= $1 AND kind IN ($5) ORDER BY place, id LIMIT $3%s)
		UPDATE jobs SET failures = failures + CASE WHEN state = $4 THEN 1 ELSE 0 END, state = $4, due_at = $2, lease = lease + 1
		WHERE id IN (SELECT id FROM free) RETURNING id, kind, key, user_id, args, state, due_at, lease, failures, error, done, total, note,
		checkpoint, result, created_at, ended_at, heavy, turn`
	saveJob = `UPDATE jobs SET state = $1, due_at = $2, failures = $3, error = $4, done = $5, total = $6, note = $7,
		checkpoint = $8, result = $9, ended_at = $10, place = COALESCE($14, place) WHERE id = $11 AND lease = $12 AND state = $13`
)

// BenchmarkJobs runs jobs without any effect: claimed 16 at a time, and a transaction of one statement for each.
func BenchmarkJobs(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		b.Run(kind, func(b *testing.B) {
			db := storetest.Open(b, kind)
			var rates [2]float64
			for range b.N { // once: it takes longer than -benchtime
				rates = race(b, db, kind)
			}
			b.ReportMetric(rates[ours], "ours/s")
			b.ReportMetric(rates[bare], "bare/s")
			b.ReportMetric(rates[ours]/rates[bare], "ratio")
			b.ReportMetric(0, "ns/op")
			if rates[ours] < jobBars[kind] {
				b.Errorf("%.0f jobs a second, not %.0f; bare does %.0f", rates[ours], jobBars[kind], rates[bare])
			}
			if ratio := rates[ours] / rates[bare]; ratio < 0.5 {
				b.Errorf("%.2f of the bare limit, not 0.5", ratio)
			}
		})
	}
}

// race returns the jobs per second of both sides.
func race(b *testing.B, db *store.DB, kind string) (rates [2]float64) {
	logFile, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer logFile.Close()
	var left sync.WaitGroup
	kinds := [2]job.Kind[int]{ours: {Name: "ours"}, bare: {Name: "bare"}}
	stop := jobtest.Start(b,
		job.Config{DB: db, Log: slog.New(slog.NewJSONHandler(logFile, nil)), Slots: slots, Lease: 30 * time.Second,
			Handlers: []job.Handler{kinds[ours].Handle(func(ctx context.Context, r *job.Run, _ int) error {
				defer left.Done()
				return r.Finish(ctx, func(context.Context, store.Conn) (any, error) { return nil, nil })
			})}})
	defer stop()
	limit := newBareQueue(b, db, kind)
	var spent [2]time.Duration
	for range jobRounds {
		left.Add(jobCount)
		before, began := db.Queries(), time.Now()
		enqueue(b, db, kinds[ours])
		enqueued := time.Since(began)
		left.Wait()
		spent[ours] += time.Since(began) - enqueued
		if n := db.Queries() - before; n < 2*jobCount+jobCount/taken || n > 2*jobCount+jobCount/taken*2 {
			b.Fatalf("ours ran %d statements for %d jobs: bring the bare side up to date", n, jobCount)
		}
		enqueue(b, db, kinds[bare])
		began = time.Now()
		limit.drain(b)
		spent[bare] += time.Since(began)
	}
	for side := range rates {
		rates[side] = jobRounds * jobCount / spent[side].Seconds()
	}
	return rates
}

// enqueue enqueues the jobs of a round.
func enqueue(b *testing.B, db *store.DB, kind job.Kind[int]) {
	err := db.Tx(b.Context(), func(ctx context.Context, tx store.Conn) error {
		for i := range jobCount {
			if _, err := kind.Enqueue(ctx, tx, i, job.EnqueueOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// bareQueue is database/sql with nothing around it.
type bareQueue struct {
	db          *sql.DB
	claim, save *sql.Stmt
}

func newBareQueue(b *testing.B, db *store.DB, kind string) bareQueue {
	pool, skip := durable(b, kind, storetest.Where(db)), ""
	if kind == storetest.PostgreSQL {
		skip = " FOR UPDATE SKIP LOCKED"
	}
	return bareQueue{pool, prepare(b, pool, fmt.Sprintf(claimJobs, skip)), prepare(b, pool, saveJob)}
}

// held is what the bare side reads of a job that it took.
type held struct{ id, lease int64 }

// drain does all jobs that there are.
func (q bareQueue) drain(b *testing.B) {
	jobs := make(chan held)
	var working sync.WaitGroup
	for range slots {
		working.Go(func() {
			for j := range jobs {
				if err := q.finish(b.Context(), j); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for {
		list, err := q.take(b.Context())
		if err != nil {
			b.Error(err)
		}
		for _, j := range list {
			jobs <- j
		}
		if len(list) == 0 {
			break
		}
	}
	close(jobs)
	working.Wait()
}

func (q bareQueue) take(ctx context.Context) (list []held, err error) {
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	now := time.Now().UTC().Truncate(time.Microsecond)
	rows, err := within(ctx, tx)(q.claim).QueryContext(ctx, now, now.Add(30*time.Second), taken, "RUNNING", "bare",
		false)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var j held
		var kind, args, state, wrong, note string
		var failures, done, total int64
		var key, user, checkpoint, result, turn *string
		var heavy bool
		var due, created time.Time
		var ended *time.Time
		if err := rows.Scan(&j.id, &kind, &key, &user, &args, &state, &due, &j.lease, &failures, &wrong, &done, &total,
			&note,
			&checkpoint, &result, &created, &ended, &heavy, &turn); err != nil {
			return nil, err
		}
		list = append(list, j)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return list, tx.Commit()
}

func (q bareQueue) finish(ctx context.Context, j held) error {
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	now := time.Now().UTC().Truncate(time.Microsecond)
	_, err = within(ctx, tx)(q.save).ExecContext(ctx, string(exchange.JobDone), nil, 0, "", 0, 0, "", nil, nil, now,
		j.id, j.lease, "RUNNING", nil)
	if err != nil {
		return err
	}
	return tx.Commit()
}
