// Package queue is the SQL of the queue of jobs.
package queue

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Jobs stores the queue of jobs.
type Jobs struct{ conn *sqldb.Conn }

// NewJobs returns the store on a connection.
func New(c *sqldb.Conn) Jobs { return Jobs{c} }

const jobColumns = `id, kind, key, user_id, args, state, due_at, lease, failures, error, done, total, note,
	checkpoint, result, created_at, ended_at, heavy, turn`

func scanJob(r sqldb.Row, j *exchange.Job) error {
	return r.Scan(&j.ID, &j.Kind, &j.Key, &j.User, (*sqldb.RawText)(&j.Args), &j.State, sqldb.UTCOrNull(&j.DueAt),
		&j.Lease, &j.Failures, &j.Error, &j.Progress.Done, &j.Progress.Total, &j.Progress.Note,
		(*sqldb.RawText)(&j.Checkpoint), (*sqldb.RawText)(&j.Result), sqldb.UTC(&j.CreatedAt),
		sqldb.UTCOrNull(&j.EndedAt), &j.Heavy, &j.Turn)
}

var jobs = sqldb.Listing[exchange.Job]{Columns: jobColumns, Table: "jobs", Scan: scanJob,
	ID:      func(j exchange.Job) int64 { return j.ID },
	Filters: map[string]sqldb.Condition{"user": sqldb.Equals("o.user_id")}}

// Insert adds a job that is due at a moment and returns its id. If there is one of that kind with that key it returns
// the id of that one and adds none.
func (st Jobs) Insert(ctx context.Context, j exchange.Job) (int64, error) {
	return st.insert(ctx, j, "key = excluded.key")
}

// Restart is Jobs.Insert, but if there is one with that key, in whatever state, it begins again; whoever has it loses
// it.
func (st Jobs) Restart(ctx context.Context, j exchange.Job) (int64, error) {
	return st.insert(ctx, j, restart)
}

// restart are the changes to a job that begins again.
const restart = `args = excluded.args, state = excluded.state, due_at = excluded.due_at, lease = jobs.lease + 1,
	failures = 0, error = '', done = 0, total = 0, note = '', checkpoint = NULL, result = NULL, ended_at = NULL,
	turn = excluded.turn, place = excluded.place`

func (st Jobs) insert(ctx context.Context, j exchange.Job, other string) (int64, error) {
	due, step := j.DueAt.UnixMicro(), lineStep(j)
	id, err := sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO jobs (kind, key, user_id, args, state, due_at,
		lease,
		failures,
		error, done, total, note,
			created_at, heavy, turn, place)
		VALUES ($1, $2, $3, $4, $5, $6, 0, 0, '', 0, 0, '', $7, $8, $9,
			(SELECT CASE WHEN MAX(q.place) + $10 > $11 THEN MAX(q.place) + $10 ELSE $11 END
			FROM `+lineOf("$8", "$9", "$12")+`))
		ON CONFLICT (kind, key) DO UPDATE SET `+other+" RETURNING id",
		j.Kind, j.Key, j.User, string(j.Args), string(exchange.JobReady), j.DueAt, st.conn.Now, j.Heavy, j.Turn, step,
		due,
		due+maxSteps*step)
	if err == nil {
		*st.conn.Enqueued = true
	}
	return id, err
}

// A job that is on someone's account stands in line a step after their last one, as if each took so long, and at most
// maxSteps after the moment when it is due. So jobs of many people are taken by turns, whoever has how many, and the
// queue stays one index.
const (
	quickStep = 100 * time.Millisecond
	heavyStep = time.Minute
	maxSteps  = 1000
)

// lineStep is the step of a job's lane in microseconds.
func lineStep(j exchange.Job) int64 {
	if j.Heavy {
		return heavyStep.Microseconds()
	}
	return quickStep.Microseconds()
}

// lineOf is FROM for the jobs q that wait or run in a lane on someone's account, in front of a place.
func lineOf(heavy, turn, before string) string {
	return "jobs q WHERE q.heavy = " + heavy + " AND q.turn = " + turn + " AND q.due_at IS NOT NULL AND q.place < " +
		before
}

// InsertAll adds many jobs, but for those of a kind and a key that there is one of.
func (st Jobs) InsertAll(ctx context.Context, jobs []exchange.Job) error {
	return st.insertAll(ctx, jobs, "NOTHING")
}

// RestartAll is Jobs.Restart for many jobs, no two of which have the same key.
func (st Jobs) RestartAll(ctx context.Context, jobs []exchange.Job) error {
	return st.insertAll(ctx, jobs, "UPDATE SET "+restart)
}

func (st Jobs) insertAll(ctx context.Context, jobs []exchange.Job, other string) error {
	last := map[uuid.UUID]int64{} // places
	for some := range sqldb.Batches(jobs, st.conn.Dialect().AtOnce) {
		args := make([]any, 0, 16*len(some))
		for _, j := range some {
			place, err := st.place(ctx, j, last)
			if err != nil {
				return err
			}
			args = append(args, j.Kind, j.Key, j.User, string(j.Args), string(exchange.JobReady), j.DueAt, 0, 0, "", 0,
				0, "", st.conn.Now, j.Heavy, j.Turn, place)
		}
		_, err := st.conn.Exec(ctx, `INSERT INTO jobs (kind, key, user_id, args, state, due_at, lease, failures, error,
			done,
			total, note,
				created_at, heavy, turn, place)
			VALUES `+sqldb.Places(len(some), 16)+" ON CONFLICT (kind, key) DO "+other, args...)
		if err != nil {
			return err
		}
		*st.conn.Enqueued = true
	}
	return nil
}

// place is the place of one of many jobs in its line, after those in last, which it is noted in.
func (st Jobs) place(ctx context.Context, j exchange.Job, last map[uuid.UUID]int64) (int64, error) {
	due, step := j.DueAt.UnixMicro(), lineStep(j)
	if j.Turn == nil {
		return due, nil
	}
	before, known := last[*j.Turn]
	if !known {
		var err error
		if before, err = sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COALESCE(MAX(q.place), 0) FROM "+
			lineOf("$1", "$2", "$3"),
			j.Heavy, j.Turn, due+maxSteps*step); err != nil {
			return 0, err
		}
	}
	last[*j.Turn] = min(max(before+step, due), due+maxSteps*step)
	return last[*j.Turn], nil
}

// Get reads one job.
func (st Jobs) Get(ctx context.Context, id int64) (exchange.Job, error) {
	return sqldb.One(ctx, st.conn, scanJob, "SELECT "+jobColumns+" FROM jobs WHERE id = $1", id)
}

// ByKey reads the job of a kind with a key.
func (st Jobs) ByKey(ctx context.Context, kind, key string) (exchange.Job, error) {
	return sqldb.One(ctx, st.conn, scanJob, "SELECT "+jobColumns+" FROM jobs WHERE kind = $1 AND key = $2", kind, key)
}

// ByKeys reads those of the jobs of a kind with some keys that there are.
func (st Jobs) ByKeys(ctx context.Context, kind string, keys []string) ([]exchange.Job, error) {
	var list []exchange.Job
	for some := range slices.Chunk(keys, sqldb.MaxIn) {
		places, args := sqldb.In([]any{kind}, some)
		found, err := sqldb.All(ctx, st.conn, scanJob, "SELECT "+jobColumns+" FROM jobs WHERE kind = $1 AND key IN ("+
			places+
			")",
			args...)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// ForUpdate reads one job and locks it until commit.
func (st Jobs) ForUpdate(ctx context.Context, id int64) (exchange.Job, error) {
	return sqldb.One(ctx, st.conn, scanJob, "SELECT "+jobColumns+" FROM jobs WHERE id = $1"+st.conn.Dialect().ForUpdate,
		id)
}

// List lists the jobs of a user, nil: of everybody.
func (st Jobs) List(ctx context.Context, p exchange.Page, user *uuid.UUID,
	f exchange.JobFilter) (exchange.ListPage[exchange.Job], error) {
	w := sqldb.Where("1 = 1")
	sqldb.AndEqual(w, "o.user_id", user)
	sqldb.AndEqual(w, "o.state", f.State)
	sqldb.AndEqual(w, "o.kind", f.Kind)
	return jobs.Page(ctx, st.conn, p, w)
}

// Due reports whether a job of a lane and of one of the kinds is due.
func (st Jobs) Due(ctx context.Context, heavy bool, kinds []string) (bool, error) {
	places, args := sqldb.In([]any{st.conn.Now, heavy}, kinds)
	return sqldb.One(ctx, st.conn, sqldb.Value[bool], "SELECT EXISTS (SELECT 1 FROM jobs WHERE heavy = $2 AND due_at "+
		"<= $1 AND kind IN ("+
		places+"))", args...)
}

// Waiting is how many jobs of a kind wait: they are due, and no worker has them.
type Waiting struct {
	Kind  string
	Heavy bool
	Jobs  int64
	Since time.Time // since when the oldest is due
}

// Lane is the name of the lane of such jobs.
func (w Waiting) Lane() string {
	if w.Heavy {
		return "heavy"
	}
	return "quick"
}

// maxCounted is how many waiting jobs of a lane are counted, the oldest first, so that counting is always cheap.
const maxCounted = "10000"

// Waiting counts the jobs that wait, by kind.
func (st Jobs) Waiting(ctx context.Context) ([]Waiting, error) {
	var all []Waiting
	for _, heavy := range []bool{false, true} {
		list, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, w *Waiting) error {
			w.Heavy = heavy
			return r.Scan(&w.Kind, &w.Jobs, sqldb.UTC(&w.Since))
		}, `SELECT w.kind, w.jobs, w.due_at FROM (SELECT q.kind, q.due_at, COUNT(*) OVER (PARTITION BY q.kind) AS jobs,
			ROW_NUMBER() OVER (PARTITION BY q.kind ORDER BY q.due_at) AS place
			FROM (SELECT kind, due_at FROM jobs WHERE heavy = $1 AND due_at <= $2
				ORDER BY due_at LIMIT `+maxCounted+`) q) w
			WHERE w.place = 1 ORDER BY w.kind`, heavy, st.conn.Now)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// Claim takes jobs of a lane and of the kinds that are due, at most limit of them, and leases them until a moment.
// Where each is not 0 it passes over those of accounts that have so many running, which then have to be claimed one by
// one. A lease that ended before its job did is a failure of that job.
func (st Jobs) Claim(ctx context.Context, heavy bool, each int, kinds []string, until time.Time,
	limit int) ([]exchange.Job, error) {
	alone := ""
	args := []any{st.conn.Now, until, limit, string(exchange.JobRunning), heavy}
	if each > 0 {
		alone = ` AND (turn IS NULL OR turn NOT IN (SELECT q.turn FROM jobs q WHERE q.heavy = $5 AND q.due_at > $1
			AND q.due_at <= $2
			AND q.state = $4 AND q.turn IS NOT NULL GROUP BY q.turn HAVING COUNT(*) >= $6))`
		args = append(args, each)
	}
	places, args := sqldb.In(args, kinds)
	list, err := sqldb.All(ctx, st.conn, scanJob, `WITH free AS (SELECT id FROM jobs WHERE heavy = $5 AND due_at <= $1
		AND kind IN (`+places+`)`+alone+`
			ORDER BY place, id LIMIT $3`+st.conn.Dialect().SkipLocked+`)
		UPDATE jobs SET failures = failures + CASE WHEN state = $4 THEN 1 ELSE 0 END, state = $4, due_at = $2,
		lease = lease + 1
		WHERE id IN (SELECT id FROM free) RETURNING `+jobColumns, args...)
	slices.SortFunc(list, func(a, b exchange.Job) int { return int(a.ID - b.ID) })
	return list, err
}

// Save saves a job that was in a state, under the lease it has; saved is false where it is in
// another state by now, or was taken by another.
func (st Jobs) Save(ctx context.Context, was exchange.JobState, j exchange.Job) (saved bool, err error) {
	var place *int64 // as it was
	if j.State == exchange.JobReady {
		place = new(j.DueAt.UnixMicro())
	}
	n, err := st.conn.Exec(ctx, `UPDATE jobs SET state = $1, due_at = $2, failures = $3, error = $4, done = $5,
		total = $6,
		note = $7,
		checkpoint = $8, result = $9, ended_at = $10, place = COALESCE($14, place) WHERE id = $11 AND lease = $12
		AND state = $13`,
		string(j.State), j.DueAt, j.Failures, j.Error, j.Progress.Done, j.Progress.Total, j.Progress.Note,
		orNull(j.Checkpoint), orNull(j.Result), j.EndedAt, j.ID, j.Lease, string(was), place)
	if n == 1 && j.State == exchange.JobReady {
		*st.conn.Enqueued = true
	}
	return n == 1, err
}

// orNull is JSON for a column that may be NULL.
func orNull(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	return new(string(raw))
}

// Renew leases running jobs until a moment and returns the lease that each has; those that are no longer running are
// left out. To prolong another's lease does no harm: it is alive, or it is waited for a little longer.
func (st Jobs) Renew(ctx context.Context, ids []int64, until time.Time) (map[int64]int64, error) {
	type held struct{ id, lease int64 }
	leases := map[int64]int64{}
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		places, args := sqldb.In([]any{until, string(exchange.JobRunning)}, some)
		list, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, h *held) error { return r.Scan(&h.id, &h.lease) },
			"UPDATE jobs SET due_at = $1 WHERE state = $2 AND id IN ("+places+") RETURNING id, lease", args...)
		if err != nil {
			return nil, err
		}
		for _, h := range list {
			leases[h.id] = h.lease
		}
	}
	return leases, nil
}

// EndLeases ends the leases that end later than any can: the clock was set back since.
func (st Jobs) EndLeases(ctx context.Context, latest time.Time) error {
	_, err := st.conn.Exec(ctx, "UPDATE jobs SET due_at = $1 WHERE heavy IN (TRUE, FALSE) AND due_at > $2 AND "+
		"state = $3",
		st.conn.Now, latest, string(exchange.JobRunning))
	return err
}

// DeleteUntil deletes jobs that ended until a moment, and with them their keys.
func (st Jobs) DeleteUntil(ctx context.Context, until time.Time) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM jobs WHERE ended_at <= $1", until)
	return err
}
