// Package sqldb is the plumbing of the store: connections, transactions, retries, kept statements, errors and the few
// words in which SQLite and PostgreSQL differ.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"aliquot/internal/exchange"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

// DB is an open database.
type DB struct {
	dialect          Dialect
	where            string
	write            *sql.DB // SQLite: one connection, BEGIN IMMEDIATE; PostgreSQL: the same pool as read
	read             *sql.DB // SQLite: many connections that cannot write
	lessSafe         bool    // the address of PostgreSQL says how safe commits are
	prepared         [2]sync.Map
	queries          atomic.Int64
	key              *Key                                           // of the secrets
	proof            string                                         // the stored proof of key; "": there is none
	watch            atomic.Pointer[func(query string, args []any)] // nil: nobody
	newNotifications chan struct{}
	// when the disk of the database took no write, in nanoseconds from 1970; 0: it takes them
	fullAt atomic.Int64
	health health
	slow   atomic.Int64 // statements that took SlowAfter or longer

	Sampling     Sampling
	longLists    longLists
	observed     map[string][]string // tables whose changes transactions collect, with the columns
	observations observations
	writer       writer // of SQLite
	standbys     standbys

	mu       sync.Mutex
	enqueued []chan struct{} // one for each worker

	// RehearseTx has each transaction run once and rolled back before it counts, as after a serialization failure;
	// tests set it to find a transaction that cannot run again.
	RehearseTx bool
	// Clock returns the time of day: of PostgreSQL its own, of SQLite that of this process. Tests set another before
	// they use the database.
	Clock func() time.Time
	// Log takes a record of each audit event once it is committed, and of each slow statement; nil: none does.
	Log *slog.Logger
	// SlowAfter is how long a statement may take before it is logged, without the values in it; 0: none is.
	SlowAfter time.Duration
	// Observer watches the statements; nil: nobody does. It is set before the database is used.
	Observer Observer
}

// Sampling bounds the work of a search: up to ExactUpTo hits are read one by one, and all hits where no id is above
// ExactIn; Sampled of them stand for more, and testing one object for being a hit takes as long as reading
// ProbeCost hits. No more than CountLimit are counted.
type Sampling struct {
	ExactUpTo, Sampled, ExactIn int
	CountLimit                  int64
	ProbeCost                   float64
}

// Close closes every connection.
func (db *DB) Close() error {
	var errs []error
	for i := range db.prepared {
		db.prepared[i].Range(func(_, stmt any) bool {
			errs = append(errs, stmt.(*sql.Stmt).Close())
			return true
		})
	}
	if db.standbys.db != nil {
		errs = append(errs, db.standbys.db.Close())
	}
	if db.read != nil && db.read != db.write {
		errs = append(errs, db.read.Close())
	}
	if db.write != nil {
		errs = append(errs, db.write.Close())
	}
	return errors.Join(errs...)
}

// Postgres reports whether the database is PostgreSQL; otherwise it is SQLite.
func (db *DB) Postgres() bool { return db.dialect.name == goose.DialectPostgres }

// Queries returns the number of statements run so far; tests check that an endpoint needs a constant number.
func (db *DB) Queries() int64 { return db.queries.Load() }

// Pools returns the state of each pool of connections by name: of PostgreSQL "all", of SQLite "read" and "write", which
// is the one writing connection, for which transactions wait.
func (db *DB) Pools() map[string]sql.DBStats {
	if db.Postgres() {
		return map[string]sql.DBStats{"all": db.write.Stats()}
	}
	write := db.write.Stats()
	write.WaitCount, write.WaitDuration = db.writer.waits.Load(), time.Duration(db.writer.waited.Load())
	return map[string]sql.DBStats{"read": db.read.Stats(), "write": write}
}

// WriteWaits returns how often a writer waited for a connection so far; on SQLite, for the one writer before it.
func (db *DB) WriteWaits() int64 { return db.writer.waits.Load() + db.write.Stats().WaitCount }

// Watch calls note with each reading statement before it runs; nil stops that. Benchmarks use it to compare a page with
// its queries alone.
func (db *DB) Watch(note func(query string, args []any)) {
	if note == nil {
		db.watch.Store(nil)
		return
	}
	db.watch.Store(&note)
}

// Conn runs queries, on the pool or in a transaction.
type Conn struct {
	DB      *DB
	tx      *sql.Tx
	group   *group               // in which it runs on SQLite
	over    bool                 // it was committed or rolled back
	wanted  map[string]*sql.Stmt // queries to keep prepared once the transaction is over; nil: none
	session *sql.Conn            // of a snapshot
	Now     time.Time

	Loader        any      // collects what is to be indexed while a new database is loaded; nil otherwise
	skipStmtCache bool     // its queries have too many texts to keep each prepared
	Acts          *[][]any // for the log, once the transaction is committed
	Changes       *Changes // what the transaction changed; nil: nobody asks
	Enqueued      *bool    // set where the transaction makes a job ready
	Notified      *bool    // set where it changes what someone's notifications are
}

// Read returns a connection that reads committed data.
func (db *DB) Read() *Conn { return &Conn{DB: db, Now: db.instant()} }

// instant returns the present in the precision that both databases store: UTC, microseconds.
func (db *DB) instant() time.Time { return db.Clock().UTC().Truncate(time.Microsecond) }

// Enqueued returns a new channel for each caller. It receives a signal after a commit that made jobs ready in this
// process; one signal may stand for several commits.
func (db *DB) Enqueued() <-chan struct{} {
	worker := make(chan struct{}, 1)
	db.mu.Lock()
	defer db.mu.Unlock()
	db.enqueued = append(db.enqueued, worker)
	return worker
}

// NewNotifications returns a channel that receives a signal after a commit that changed people's notifications in this
// process; one signal may stand for several commits.
func (db *DB) NewNotifications() <-chan struct{} { return db.newNotifications }

type inTx struct{}

// MaxTries is how often a transaction is tried when it conflicts with others.
const MaxTries = 5

// Tx runs do in one transaction and commits when do returns nil. On PostgreSQL a serialization failure or deadlock runs
// do again after a short random pause, so do must change nothing but the database and its own results. Transactions do
// not nest.
func (db *DB) Tx(ctx context.Context, do func(ctx context.Context, tx *Conn) error) error {
	return db.tx(ctx, do, false, nil)
}

// TxAlone is Tx for a transaction that may take long: on SQLite it shares its commit with no other, so that none waits
// for it that has run already.
func (db *DB) TxAlone(ctx context.Context, do func(ctx context.Context, tx *Conn) error) error {
	return db.tx(ctx, do, true, nil)
}

// tx is Tx or TxAlone, but it leaves the commit to held, unless that is nil.
func (db *DB) tx(ctx context.Context, do func(ctx context.Context, tx *Conn) error, alone bool,
	held *DeferredCommit) error {
	if ctx.Value(inTx{}) != nil {
		return errors.New("a transaction inside a transaction")
	}
	ctx = context.WithValue(ctx, inTx{}, true)
	if db.RehearseTx {
		_ = db.runTx(ctx, func(ctx context.Context, tx *Conn) error {
			return errors.Join(do(ctx, tx), errors.New("only a rehearsal"))
		}, alone, nil)
	}
	for attempt := 1; ; attempt++ {
		err := db.runTx(ctx, do, alone, held)
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && attempt < MaxTries &&
			(pg.Code == "40001" || pg.Code == "40P01") {
			select {
			// so that rivals do not meet again
			case <-time.After(rand.N(time.Duration(attempt) * 20 * time.Millisecond)):
				continue
			case <-ctx.Done():
			}
		}
		err = Translate(err)
		db.noteFull(err)
		return err
	}
}

func (db *DB) runTx(ctx context.Context, do func(ctx context.Context, tx *Conn) error, alone bool,
	held *DeferredCommit) error {
	waiting, ran := db.run(ctx, beginText)
	c, err := db.begin(waiting, alone)
	ran.end(waiting, err)
	if err != nil {
		return err
	}
	defer func() {
		if held == nil || held.conn == nil {
			_ = c.finish(ctx, false) // after a panic; otherwise it is over
		}
	}()
	switch err = do(ctx, c); {
	case err != nil:
		err = c.rollback(ctx, err)
	case held != nil:
		held.conn = c
	default:
		err = c.commit(ctx)
	}
	return withContextErr(ctx, err)
}

// begin begins a transaction; alone is for TxAlone.
func (db *DB) begin(ctx context.Context, alone bool) (*Conn, error) {
	c := &Conn{DB: db, wanted: map[string]*sql.Stmt{}, Acts: new([][]any), Changes: &Changes{},
		Enqueued: new(bool), Notified: new(bool)}
	var err error
	if db.Postgres() {
		c.tx, err = db.write.BeginTx(ctx, nil)
	} else if c.group, err = db.join(ctx, alone); err == nil {
		c.tx, c.wanted = c.group.tx, c.group.wanted
	}
	c.Now = db.instant()
	return c, err
}

// finish ends a transaction, unless it is over.
func (c *Conn) finish(ctx context.Context, keep bool) error {
	if c.over {
		return nil
	}
	c.over = true
	switch {
	case c.group != nil:
		return c.DB.leave(ctx, c.group, keep)
	case keep:
		return c.tx.Commit()
	default:
		_ = c.tx.Rollback()
		return nil
	}
}

// rollback rolls back a transaction that failed with err, and returns why. If it failed because of what others of its
// group did, and that was not committed either, this is the error of the group.
func (c *Conn) rollback(ctx context.Context, err error) error {
	failed := c.finish(ctx, false)
	if e, ok := errors.AsType[*exchange.Error](err); failed != nil && ok && !e.Code.ServerFault() {
		return failed
	}
	return err
}

// commit commits the transaction, then wakes the workers if it made a job ready, and the notification streams if it
// changed notifications.
func (c *Conn) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return c.rollback(ctx, err)
	}
	committing, ran := c.DB.run(ctx, commitText)
	err := c.finish(committing, true)
	ran.end(committing, err)
	if err != nil {
		return err
	}
	if c.DB.Log != nil {
		for _, act := range *c.Acts {
			c.DB.Log.Info("audit", act...)
		}
	}
	signal(c.DB.newNotifications, *c.Notified)
	if *c.Enqueued {
		c.DB.wake()
	}
	return nil
}

// Final makes the commit of the transaction as safe as the server of PostgreSQL makes commits, such as on a standby,
// where the address of the database has others safe on the primary alone (synchronous_commit=local).
func (c *Conn) Final(ctx context.Context) error {
	if !c.DB.lessSafe {
		return nil
	}
	_, err := c.Exec(ctx, "SET LOCAL synchronous_commit = on")
	return err
}

func (db *DB) wake() {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, worker := range db.enqueued {
		signal(worker, true)
	}
}

func signal(to chan struct{}, due bool) {
	if !due {
		return
	}
	select {
	case to <- struct{}{}:
	default: // the last signal was not taken yet
	}
}

// withContextErr adds the error of the context, if any: when the caller went away, database/sql reports only that the
// connection or transaction was closed.
func withContextErr(ctx context.Context, err error) error {
	if err != nil {
		err = errors.Join(err, ctx.Err())
	}
	return err
}

// keepAll keeps statements that a transaction prepared, once it is over.
func (db *DB) keepAll(ctx context.Context, wanted map[string]*sql.Stmt) {
	for query := range wanted {
		// Where it fails, the statement is prepared again.
		_, _ = db.keep(ctx, 1, db.write, query) //nolint:sqlclosecheck // kept until DB.Close
	}
}

// Erasing is Tx for a change of which nothing that it overwrites may stay in the file of SQLite, where it would lie in
// free parts. PostgreSQL's vacuum removes it.
func (db *DB) Erasing(ctx context.Context, do func(ctx context.Context, tx *Conn) error) error {
	if db.Postgres() {
		return db.Tx(ctx, do)
	}
	if _, err := db.write.ExecContext(ctx, "PRAGMA secure_delete = ON"); err != nil {
		return Translate(err)
	}
	defer func() { _, _ = db.write.ExecContext(context.WithoutCancel(ctx), "PRAGMA secure_delete = OFF") }()
	err := db.Tx(ctx, do)
	if err == nil {
		_, err = db.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return Translate(err)
}
