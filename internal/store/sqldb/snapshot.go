package sqldb

import (
	"context"
	"database/sql"
)

// Snapshot runs do on one state of the database, as it was when do began, however long it takes. do only reads; others
// may write meanwhile. On SQLite the journal grows by what they write.
func (db *DB) Snapshot(ctx context.Context, do func(ctx context.Context, c *Conn) error) error {
	var options *sql.TxOptions
	if db.Postgres() {
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	session, err := db.read.Conn(ctx)
	if err != nil {
		return Translate(err)
	}
	defer func() { _ = session.Close() }()
	tx, err := session.BeginTx(ctx, options)
	if err != nil {
		return Translate(err)
	}
	defer func() { _ = tx.Rollback() }()
	return withContextErr(ctx, do(ctx, &Conn{DB: db, tx: tx, session: session, Now: db.instant()}))
}
