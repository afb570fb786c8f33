package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// damagedFor is how long a database counts as damaged after a statement failed because it is.
const damagedFor = time.Minute

// health is what is known of whether the database works.
type health struct {
	damagedAt atomic.Int64 // when a statement found damage, in nanoseconds from 1970; 0: none did
	damage    atomic.Pointer[error]

	mu     sync.Mutex
	tables []Table // that there were at the first check
}

// Ready returns an error unless the database works: it answers, each of its tables can be read, and no statement of the
// last minute failed because the database is damaged. On SQLite it reads the file, and not what a connection remembers
// of it.
func (db *DB) Ready(ctx context.Context) error {
	h := &db.health
	if at := h.damagedAt.Load(); at != 0 && time.Since(time.Unix(0, at)) < damagedFor {
		return fmt.Errorf("the database is damaged: %w", *h.damage.Load())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return db.check(ctx)
}

// check reads a row of each table.
func (db *DB) check(ctx context.Context) error {
	pool := db.read
	if !db.Postgres() {
		var err error
		if pool, err = sql.Open("sqlite", sqliteURL(db.where)+
			"?mode=rw&_pragma=busy_timeout(1000)&_pragma=query_only(1)"); err != nil {
			return err
		}
		defer func() { _ = pool.Close() }()
	}
	if db.health.tables == nil {
		tables, err := db.Read().Tables(ctx)
		if err != nil {
			return err
		}
		db.health.tables = tables
	}
	reads := []string{"0"}
	for _, table := range db.health.tables {
		reads = append(reads, "(SELECT COUNT(*) FROM (SELECT 1 FROM "+table.Name+" LIMIT 1) r)")
	}
	var n int64
	return pool.QueryRowContext(ctx, "SELECT "+strings.Join(reads, " + ")).Scan(&n)
}

// noteDamage notes that a statement failed, if it did so because the database is damaged.
func (db *DB) noteDamage(err error) {
	damaged := false
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		primary := e.Code() & 0xff
		damaged = primary == 11 || primary == 26 || e.Code() == 522 // SQLITE_CORRUPT, _NOTADB, _IOERR_SHORT_READ
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		// data_corrupted, index_corrupted, undefined_table
		damaged = e.Code == "XX001" || e.Code == "XX002" || e.Code == "42P01"
	}
	if damaged {
		db.health.damage.Store(&err)
		db.health.damagedAt.Store(time.Now().UnixNano())
	}
}

// CountRows counts the rows of each table. Those that it cannot count are left out, and err is why.
func (db *DB) CountRows(ctx context.Context) (map[string]int64, error) {
	tables, err := db.Read().Tables(ctx)
	errs := []error{err}
	rows := map[string]int64{}
	for _, table := range tables {
		var n int64
		if err := db.read.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table.Name).Scan(&n); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", table.Name, err))
			continue
		}
		rows[table.Name] = n
	}
	return rows, errors.Join(errs...)
}
