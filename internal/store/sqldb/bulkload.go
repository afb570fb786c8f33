package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Loader writes the rows of a new database, many at once and in the background, so that the next rows are made
// meanwhile; an error of theirs comes back from a later call, or from loadNew.
type Loader struct {
	Conn    *Conn
	session *sql.Conn // that of Conn; of PostgreSQL
	work    chan func() error
	ids     map[string]bool // the tables whose rows were given with their ids
}

// NewDB is how a new database is loaded. Begin sees it empty; indexes and references are made again when all rows of
// Fill are in, before End.
type NewDB struct {
	Begin func(context.Context, *Loader) error
	Fill  []func(context.Context) error
	End   func(context.Context) error
}

// ErrTaken reports that a database that is to be loaded is not new.
var ErrTaken = errors.New("the database is in use already; a new one is needed")

// Load makes a database in one transaction. On SQLite nobody may have made the file: the rows go into another one
// beside it, without journal and without waiting for the disk, which takes its name once it is safely there; what an
// interruption leaves of it the next call writes again.
func Load(ctx context.Context, where string, steps NewDB) error {
	if isPostgres(where) {
		db, err := Open(ctx, where)
		if err != nil {
			return err
		}
		err = db.load(ctx, steps)
		if err == nil { // a table of a million rows is not left without statistics until somebody passes
			_, err = db.write.ExecContext(ctx, "VACUUM (ANALYZE)")
		}
		return errors.Join(err, db.Close())
	}
	if _, err := os.Lstat(where); err == nil {
		return ErrTaken
	}
	path := where + "-loading"
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	db := &DB{dialect: sqliteDialect, where: path, newNotifications: make(chan struct{}, 1), Clock: time.Now}
	err := ownFile(path)
	if err != nil {
		return err
	}
	if db.write, err = sql.Open("sqlite", sqliteURL(path)+"?_time_format=sqlite&_timezone=UTC&_dqs=0"+
		"&_txlock=immediate&_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)"+
		"&_pragma=cache_size(-65536)"); err != nil {
		return err
	}
	db.write.SetMaxOpenConns(1)
	db.read = db.write
	if err := errors.Join(db.load(ctx, steps), db.Close(), os.Remove(path+"-migrate")); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return settle(path, where)
}

// settle renames a file once its content and its name are on the disk.
func settle(path, name string) error {
	for _, step := range []func() error{
		func() error { return synced(path) },
		func() error { return os.Link(path, name) }, // fails where somebody made one meanwhile
		func() error { return os.Remove(path) },
		func() error { return synced(filepath.Dir(name)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func synced(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func (db *DB) load(ctx context.Context, steps NewDB) error {
	if _, err := db.Migrate(ctx, false); err != nil {
		return err
	}
	session, err := db.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	tx, err := session.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if db.Postgres() { // a plan made while a table was empty reads all of it, for as long as the transaction lasts
		if _, err := tx.ExecContext(ctx, "SET LOCAL plan_cache_mode = force_custom_plan"); err != nil {
			return err
		}
	}
	c := &Conn{DB: db, tx: tx, wanted: map[string]*sql.Stmt{}, Enqueued: new(bool), Notified: new(bool),
		Now: db.instant()}
	l := &Loader{Conn: c, session: session, ids: map[string]bool{}}
	if err := steps.Begin(ctx, l); err != nil {
		return err
	}
	type pair struct{ off, on string }
	later, err := All(ctx, c, func(r Row, p *pair) error { return r.Scan(&p.off, &p.on) }, db.dialect.later)
	if err != nil {
		return err
	}
	for _, p := range later {
		if _, err := tx.ExecContext(ctx, p.off); err != nil {
			return fmt.Errorf("%s: %w", p.off, err)
		}
	}
	for _, fill := range append(steps.Fill, l.number) {
		if err := l.run(ctx, fill); err != nil {
			return err
		}
	}
	for i := range later {
		on := later[len(later)-1-i].on
		if _, err := tx.ExecContext(ctx, on); err != nil {
			return fmt.Errorf("%s: %w", on, err)
		}
	}
	if db.Postgres() { // or each query of End reads whole tables, of which nothing says how large they are
		if _, err := tx.ExecContext(ctx, "ANALYZE"); err != nil {
			return err
		}
	}
	if err := steps.End(ctx); err != nil {
		return err
	}
	return tx.Commit()
}

// run writes in the background what fill adds, until all is written or something failed.
func (l *Loader) run(ctx context.Context, fill func(context.Context) error) error {
	filling, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.work = make(chan func() error, 4)
	written := make(chan error)
	go func() {
		var err error
		for write := range l.work {
			if err != nil {
				continue
			}
			if err = write(); err != nil {
				stop(err)
			}
		}
		written <- err
	}()
	err := fill(filling)
	close(l.work)
	return errors.Join(<-written, err)
}

// Add runs a piece of work in the background.
func (l *Loader) Add(ctx context.Context, write func() error) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case l.work <- write:
		return nil
	}
}

// Do runs a piece of work after those that were added before, and waits for it.
func (l *Loader) Do(ctx context.Context, work func() error) error {
	var err error
	done := make(chan struct{})
	if err := l.Add(ctx, func() error {
		defer close(done)
		err = work()
		return err
	}); err != nil {
		return err
	}
	select {
	case <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// perStatement is how many values one INSERT of SQLite takes; more make it no faster.
const perStatement = 400

// Rows adds rows to a table.
func (l *Loader) Rows(ctx context.Context, table string, columns []string, rows [][]any) error {
	if columns[0] == "id" {
		l.ids[table] = true
	}
	return l.Put(ctx, table, columns, rows, perRound(len(columns)))
}

// Put adds rows to a table: by COPY on PostgreSQL, on SQLite by INSERTs of so many rows at once. Before a
// statement of several rows FTS5 writes out all that it has in memory, so while words are written it is one.
func (l *Loader) Put(ctx context.Context, table string, columns []string, rows [][]any, atOnce int) error {
	return l.Add(ctx, func() error {
		if l.Conn.DB.Postgres() {
			return l.session.Raw(func(driver any) error {
				_, err := driver.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns,
					pgx.CopyFromRows(rows))
				return err
			})
		}
		for some := range Batches(rows, atOnce) {
			// Without numbers: SQLite would look for each placeholder among all others.
			place := ", (" + strings.Repeat("?, ", len(columns)-1) + "?)"
			if _, err := l.Conn.Exec(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES "+
				strings.Repeat(place, len(some))[2:], slices.Concat(some...)...); err != nil {
				return err
			}
		}
		return nil
	})
}

// perRound is how many rows of so many columns go into one statement, a power of two.
func perRound(columns int) int {
	n := 1
	for 2*n*columns <= perStatement {
		n *= 2
	}
	return n
}

// number sees to it that the next rows of tables have ids after those that were given.
func (l *Loader) number(ctx context.Context) error {
	if !l.Conn.DB.Postgres() {
		return nil // SQLite watches
	}
	for table := range l.ids {
		if err := l.Add(ctx, func() error {
			_, err := One(ctx, l.Conn, Value[int64], "SELECT setval(pg_get_serial_sequence('"+table+
				"', 'id'), MAX(id)) FROM "+table)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
