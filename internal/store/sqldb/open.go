package sqldb

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aliquot/internal/exchange"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite" // and the driver "sqlite"
)

// Open opens the database at a postgres:// URL, or the SQLite file at any other path, which it creates if missing. It
// does not migrate.
func Open(ctx context.Context, where string) (*DB, error) {
	db := &DB{where: where, newNotifications: make(chan struct{}, 1), Clock: time.Now,
		Sampling: Sampling{ExactUpTo: exchange.ExactUpTo, Sampled: 1000, ExactIn: exchange.ExactIn,
			CountLimit: exchange.CountLimit, ProbeCost: 40}}
	var err error
	if isPostgres(where) {
		db.dialect = postgresDialect
		if db.write, db.lessSafe, err = openPostgres(where); err != nil {
			return nil, fmt.Errorf("open %s: %w", redacted(where), err)
		}
		db.read = db.write
	} else {
		db.dialect = sqliteDialect
		if err = ownFile(where); err != nil {
			return nil, fmt.Errorf("open database %s: %w", where, err)
		}
		if db.write, err = sql.Open("sqlite", sqliteName(where, "_txlock=immediate")); err != nil {
			return nil, err
		}
		db.write.SetMaxOpenConns(1)
		if db.read, err = sql.Open("sqlite", sqliteName(where, "_pragma=query_only(1)")); err != nil {
			return nil, err
		}
		db.read.SetMaxOpenConns(readers())
		db.read.SetMaxIdleConns(readers())
	}
	if err = db.answer(ctx); db.release(err) {
		err = db.answer(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", redacted(where), err), db.Close())
	}
	if db.Postgres() {
		clock, err := newServerClock(ctx, db.write)
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
		db.Clock = clock.now
	}
	db.setAside()
	return db, nil
}

// connectTime is how long a server of PostgreSQL has to take a connection, unless the address says connect_timeout;
// then the next one in the address is tried.
const connectTime = 3 * time.Second

// openPostgres returns a connection pool, and whether the address sets synchronous_commit. Of several servers in the
// address, it connects to the one that can be written to, unless the address asks for others with target_session_attrs.
// Parallel workers and JIT compilation are off: each takes some milliseconds to start, as long as a whole statement of
// ours should take.
func openPostgres(where string) (pool *sql.DB, lessSafe bool, err error) {
	config, err := pgx.ParseConfig(where)
	if err != nil {
		return nil, false, err
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTime)
	if config.ValidateConnect == nil && len(config.Fallbacks) > 0 {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	_, lessSafe = config.RuntimeParams["synchronous_commit"]
	pool = stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET max_parallel_workers_per_gather = 0; SET jit = off",
			pgx.QueryExecModeSimpleProtocol)
		return err
	}))
	pool.SetMaxOpenConns(32)
	pool.SetMaxIdleConns(32)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return pool, lessSafe, nil
}

// servingName begins the name under which a process that serves connects to PostgreSQL.
const servingName = "aliquot-serving-"

// Serving returns the address of a database for a process that serves people and API clients, so that the others can
// count it; the path of an SQLite file is returned as it is.
func Serving(where string) string {
	u, err := url.Parse(where)
	if err != nil || !isPostgres(where) {
		return where // Open says what is wrong
	}
	query := u.Query()
	query.Set("application_name", servingName+rand.Text())
	u.RawQuery = query.Encode()
	return u.String()
}

// CountServing returns how many processes serve people and API clients with this database now: those that have a
// connection to PostgreSQL.
func (db *DB) CountServing(ctx context.Context) (processes int, err error) {
	if !db.Postgres() {
		return 1, nil
	}
	err = db.read.QueryRowContext(ctx, `SELECT COUNT(DISTINCT application_name) FROM pg_stat_activity
		WHERE datname = current_database() AND starts_with(application_name, $1)`, servingName).Scan(&processes)
	return processes, err
}

func isPostgres(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

// sqliteName returns the DSN of one pool. The busy timeout comes before the journal mode, so that two processes can
// start at once. With synchronous=FULL, what was answered survives a power cut.
func sqliteName(path, more string) string {
	return sqliteURL(path) +
		"?_time_format=sqlite&_timezone=UTC&_dqs=0&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=cache_size(-8000)&" + more
}

// ownFile creates the file, readable by its owner alone, if it does not exist: SQLite itself leaves the mode to the
// system's umask. The files that SQLite creates next to a database get the mode of the database.
func ownFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

func sqliteURL(path string) string {
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
}

// answer waits for the first response of the database. Several processes that open a new SQLite file at once get in
// each other's way when each turns on WAL, because SQLite's busy timeout does not cover that.
func (db *DB) answer(ctx context.Context) error {
	for pause := time.Millisecond; ; pause *= 2 {
		err := db.write.PingContext(ctx)
		if e, ok := errors.AsType[*sqlite.Error](err); !ok || e.Code()&0xff != busy || pause > 4*time.Second {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// busy is the primary result code SQLITE_BUSY.
const busy = 5

func redacted(where string) string {
	if u, err := url.Parse(where); err == nil {
		return u.Redacted()
	}
	return "the database"
}
