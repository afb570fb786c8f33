package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
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
		session, err := db.caughtUp(ctx)
		if err != nil && ctx.Err() == nil {
			s.usable.Store(time.Now().Add(avoidedFor).UnixNano())
		}
		if session != nil {
			err := s.db.readIn(ctx, session, do)
			if err == nil || ctx.Err() != nil {
				return err
			} // otherwise the primary decides: it may have been the standby
		}
	}
	return do(ctx, db.Read())
}

// caughtUp returns a session of a standby that has what was written before the call, nil if it has not in time.
func (db *DB) caughtUp(ctx context.Context) (_ *sql.Conn, err error) {
	var written string
	if err := db.write.QueryRowContext(ctx, "SELECT pg_current_wal_insert_lsn()").Scan(&written); err != nil {
		return nil, err
	}
	session, err := db.standbys.db.read.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(catchUpTime); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var follows, has bool
		err := session.QueryRowContext(ctx, "SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() >= $1::pg_lsn",
			written).Scan(&follows, &has)
		switch {
		case err != nil:
			return nil, errors.Join(err, session.Close())
		case !follows: // it was promoted: the pool is not to keep the connection
			_ = session.Raw(func(any) error { return driver.ErrBadConn })
			return nil, errors.New("the server is no standby any more")
		case has:
			return session, nil
		}
	}
	return nil, session.Close()
}

// readIn runs do in a session, and closes that.
func (db *DB) readIn(ctx context.Context, session *sql.Conn, do func(ctx context.Context, c *Conn) error) error {
	defer func() { _ = session.Close() }()
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
