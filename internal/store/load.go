package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Loader takes in the rows of a new database, many at once. It writes in the background what it was
// given, so that the next rows are made meanwhile; an error of theirs comes back from a later call,
// or from Load. Rows come with their own times and are believed: no index and no reference is
// checked before all are in.
type Loader struct {
	c    *conn
	conn *sql.Conn // that of c; of PostgreSQL
	work chan func() error
	ids  map[string]bool // the tables whose rows were given with their ids
	held map[string]*pendingEntries
	said map[string]bool // what mistyped words are compared to
}

// pendingEntries are entries that are indexed in the order of their ranks once all rows are loaded.
type pendingEntries struct {
	index
	rows []indexRow
}

// indexRow is a row of an index, and that of the words beside it.
type indexRow struct {
	rank       int64
	row, words []any
}

func (l *Loader) indexRow(ix index, e entry) indexRow {
	row := indexRow{rank: e.rank, row: l.c.indexRow(ix, e, e.digest())}
	if !l.c.db.Postgres() {
		row.words = []any{e.rank, ftsText(e.Doc.Tokens)}
	}
	return row
}

// hold keeps entries of an index of few things until all are there.
func (l *Loader) hold(ix index, entries []entry) {
	if l.held[ix.name] == nil {
		l.held[ix.name] = &pendingEntries{index: ix}
	}
	for _, e := range entries {
		l.held[ix.name].rows = append(l.held[ix.name].rows, l.indexRow(ix, e))
	}
}

// last writes what is held, and counts on from the ids that were given.
func last(ctx context.Context, l *Loader) error {
	for table := range l.ids {
		if err := l.number(ctx, table); err != nil {
			return err
		}
	}
	for _, h := range l.held {
		slices.SortFunc(h.rows, func(a, b indexRow) int { return cmp.Compare(a.rank, b.rank) })
		for some := range slices.Chunk(h.rows, heldAtOnce) {
			if err := l.index(ctx, h.index, some); err != nil {
				return err
			}
		}
	}
	return l.add(ctx, func() error { return l.c.addWords(ctx, slices.Collect(maps.Keys(l.said))) })
}

const heldAtOnce = 512

// index adds rows to an index, in the order of their ranks.
func (l *Loader) index(ctx context.Context, ix index, list []indexRow) error {
	rows, words := make([][]any, len(list)), make([][]any, len(list))
	for i, r := range list {
		rows[i], words[i] = r.row, r.words
	}
	err := l.put(ctx, ix.name+"_index", l.c.indexColumns(ix), rows, 1)
	if err != nil || l.c.db.Postgres() {
		return err
	}
	return l.put(ctx, ix.name+"_words", []string{"rowid", "words"}, words, 1)
}

// parallel does something for each number below n, on all processors.
func parallel(n int, do func(i int)) {
	var all sync.WaitGroup
	for first := range runtime.NumCPU() {
		all.Go(func() {
			for i := first; i < n; i += runtime.NumCPU() {
				do(i)
			}
		})
	}
	all.Wait()
}

// The settings of SQLite's index of words while it is loaded: few large parts, which are merged when all
// is there; and what they are otherwise, which are its defaults.
var (
	ftsLoad  = []string{"'hashsize', 16777216", "'automerge', 0", "'crisismerge', 1000"}
	ftsUsual = []string{"'hashsize', 1048576", "'automerge', 4", "'crisismerge', 16"}
)

func (c *conn) configureWords(ctx context.Context, settings []string) error {
	for _, ix := range []index{materialIndex, organizationIndex, userIndex} {
		for _, setting := range settings {
			if _, err := c.exec(ctx,
				fmt.Sprintf("INSERT INTO %[1]s_words (%[1]s_words, rank) VALUES (%[2]s)", ix.name,
					setting)); err != nil {
				return err
			}
		}
	}
	return nil
}

// mergeWords makes one part of all parts of SQLite's index of words.
func (c *conn) mergeWords(ctx context.Context) error {
	for _, ix := range []index{materialIndex, organizationIndex, userIndex} {
		if _, err := c.exec(ctx,
			fmt.Sprintf("INSERT INTO %[1]s_words (%[1]s_words) VALUES ('optimize')", ix.name)); err != nil {
			return err
		}
	}
	return c.configureWords(ctx, ftsUsual)
}

// ErrTaken says that Load found a database that is not new.
var ErrTaken = errors.New("the database is in use already; a new one is needed")

// Load makes a database of what fill gives to the loader: all of it or nothing. It notes label, which
// Loaded reads. On PostgreSQL it is one transaction on a database without users. On SQLite nobody may
// have made the file: the rows go into another one beside it, without journal and without waiting for
// the disk, which takes its name once it is safely there; what an interruption leaves of it the next
// Load writes anew.
func Load(ctx context.Context, where, label string, fill func(context.Context, *Loader) error) error {
	if isPostgres(where) {
		db, err := Open(ctx, where)
		if err != nil {
			return err
		}
		err = db.load(ctx, label, fill)
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
	if db.write, err = sql.Open("sqlite", sqliteURL(path)+"?_time_format=sqlite&_timezone=UTC&_dqs=0&_txlock=immediate"+
		"&_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)&_pragma=cache_size(-65536)"); err != nil {
		return err
	}
	db.write.SetMaxOpenConns(1)
	db.read = db.write
	if err := errors.Join(db.load(ctx, label, fill), db.Close(), os.Remove(path+"-migrate")); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return settle(path, where)
}

// settle gives a file its name once its content and its name are on the disk.
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

// Loaded is the label of the Load that made the database; NotFound where it grew otherwise.
func (st Secrets) Loaded(ctx context.Context) (string, error) { return st.stored(ctx, loaded) }

const loaded = "loaded"

// load fills a database in one transaction. Indexes and references are made again when all rows are in.
func (db *DB) load(ctx context.Context, label string, fill func(context.Context, *Loader) error) error {
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
	l := &Loader{conn: session, ids: map[string]bool{}, held: map[string]*pendingEntries{}, said: map[string]bool{}}
	l.c = &conn{db: db, tx: tx, wanted: map[string]*sql.Stmt{}, enqueued: new(bool), news: new(bool), Now: db.instant(),
		loader: l}
	c := l.c
	if taken, err := one(ctx, c, value[bool], "SELECT EXISTS (SELECT 1 FROM users)"); err != nil || taken {
		return errors.Join(err, ErrTaken)
	}
	if db.Postgres() { // what failed before took numbers
		if _, err := tx.ExecContext(ctx, "TRUNCATE organizations, addresses RESTART IDENTITY CASCADE"); err != nil {
			return err
		}
	}
	type pair struct{ off, on string }
	later, err := all(ctx, c, func(r row, p *pair) error { return r.Scan(&p.off, &p.on) }, db.dialect.later)
	if err != nil {
		return err
	}
	for _, p := range later {
		if _, err := tx.ExecContext(ctx, p.off); err != nil {
			return fmt.Errorf("%s: %w", p.off, err)
		}
	}
	if !db.Postgres() {
		err = c.configureWords(ctx, ftsLoad)
	}
	for _, do := range []func(context.Context, *Loader) error{fill, last} {
		if err == nil {
			err = l.run(ctx, do)
		}
	}
	if err != nil {
		return err
	}
	if !db.Postgres() {
		if err := c.mergeWords(ctx); err != nil {
			return err
		}
	}
	for i := range later {
		on := later[len(later)-1-i].on
		if _, err := tx.ExecContext(ctx, on); err != nil {
			return fmt.Errorf("%s: %w", on, err)
		}
	}
	if err := (Requests{c}).indexAll(ctx); err != nil {
		return err
	}
	if _, err := (Secrets{c}).store(ctx, loaded, label); err != nil {
		return err
	}
	return tx.Commit()
}

// run writes in the background what fill gives, until all is written or something failed.
func (l *Loader) run(ctx context.Context, fill func(context.Context, *Loader) error) error {
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
	err := fill(filling, l)
	close(l.work)
	return errors.Join(<-written, err)
}

// add gives a piece of work to the background.
func (l *Loader) add(ctx context.Context, write func() error) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case l.work <- write:
		return nil
	}
}

// perStatement is how many values one INSERT of SQLite takes; more make it no faster.
const perStatement = 400

// rows adds rows to a table.
func (l *Loader) rows(ctx context.Context, table string, columns []string, rows [][]any) error {
	if columns[0] == "id" {
		l.ids[table] = true
	}
	return l.put(ctx, table, columns, rows, perRound(len(columns)))
}

// put adds rows to a table: by COPY on PostgreSQL, on SQLite by INSERTs of so many rows at once. Before a
// statement of several rows FTS5 writes out all that it has in memory, so while words are written it is one.
func (l *Loader) put(ctx context.Context, table string, columns []string, rows [][]any, atOnce int) error {
	return l.add(ctx, func() error {
		if l.c.db.Postgres() {
			return l.conn.Raw(func(driver any) error {
				_, err := driver.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns,
					pgx.CopyFromRows(rows))
				return err
			})
		}
		for some := range inBatches(rows, atOnce) {
			// Without numbers: SQLite would look for each placeholder among all others.
			place := ", (" + strings.Repeat("?, ", len(columns)-1) + "?)"
			if _, err := l.c.exec(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES "+
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

// number sees to it that the next row of a table has an id behind those that were given.
func (l *Loader) number(ctx context.Context, table string) error {
	return l.add(ctx, func() error {
		if !l.c.db.Postgres() {
			return nil // SQLite watches
		}
		_, err := one(ctx, l.c, value[int64], "SELECT setval(pg_get_serial_sequence('"+table+"', 'id'), MAX(id)) FROM "+
			table)
		return err
	})
}
