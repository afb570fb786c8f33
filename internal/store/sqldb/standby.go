package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"sync/atomic"
	"time"
)

// standbys are the servers of PostgreSQL that follow the one that is written to.
type standbys struct {
	db     *DB          // its connections are to any of them
	usable atomic.Int64 // from when on, in nanoseconds from 1970, after one could not be read
}

const (
	catchUpTime = 50 * time.Millisecond // for a standby to have what was written before a read
	avoidedFor  = 5 * time.Second       // after a standby could not be read
)

// UseStandbys has ReadCaughtUp read from the standbys among the servers in the address of the database. There need not
// be one yet. It is called once the fields of the DB are set, before the database is used.
func (db *DB) UseStandbys() error {
	u, err := url.Parse(db.where)
	if err != nil || !db.Postgres() {
		return errors.Join(err, errors.New("only PostgreSQL has standbys"))
	}
	query := u.Query()
	query.Set("target_session_attrs", "standby")
	u.RawQuery = query.Encode()
	pool, _, err := openPostgres(u.String())
	if err != nil {
		return err
	}
	db.standbys.db = &DB{dialect: db.dialect, where: u.String(), write: pool, read: pool, Clock: db.Clock,
		Sampling: db.Sampling, Log: db.Log, SlowAfter: db.SlowAfter, Observer: db.Observer}
	return nil
}

// ReadCaughtUp runs do, which only reads, on committed data, all that was committed before the call among it. It reads
// from a standby, if standbys are in use and one has all of that within 50 ms; otherwise, and again if that fails, as
// Read does. The small statements that this takes are worth it for reads that take much longer than they do.
func (db *DB) ReadCaughtUp(ctx context.Context, do func(ctx context.Context, c *Conn) error) error {
	s := &db.standbys
	if s.db != nil && time.Now().UnixNano() >= s.usable.Load() {
		var written string
		err := db.write.QueryRowContext(ctx, "SELECT pg_current_wal_insert_lsn()").Scan(&written)
		if err == nil {
			err = s.db.readFrom(ctx, written, do)
		}
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, errBehind):
			s.usable.Store(time.Now().Add(avoidedFor).UnixNano())
		}
	}
	return do(ctx, db.Read())
}

var errBehind = errors.New("the standby does not have yet what was written")

// readFrom runs do on one standby, once that has replayed what was written.
func (db *DB) readFrom(ctx context.Context, written string, do func(ctx context.Context, c *Conn) error) error {
	session, err := db.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	for deadline := time.Now().Add(catchUpTime); ; time.Sleep(time.Millisecond) {
		var caughtUp bool
		if err := session.QueryRowContext(ctx, "SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn", written).
			Scan(&caughtUp); err != nil {
			return err
		}
		if caughtUp {
			break
		}
		if time.Now().After(deadline) {
			return errBehind
		}
	}
	tx, err := session.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return do(ctx, &Conn{DB: db, tx: tx, session: session, Now: db.instant()})
}

// StandbyQueries returns the number of statements of ReadCaughtUp that standbys ran so far.
func (db *DB) StandbyQueries() int64 {
	if db.standbys.db == nil {
		return 0
	}
	return db.standbys.db.Queries()
}
