package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// CheckStructure has the database check its own structure, and passes what is wrong to fault. Without the extension
// amcheck, or the right to use it, PostgreSQL cannot; then checked is false.
func (db *DB) CheckStructure(ctx context.Context, fault func(error)) (checked bool, err error) {
	if db.Postgres() {
		return db.amcheck(ctx, fault)
	}
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		if err := db.pragma(ctx, pragma, fault); err != nil {
			return false, err
		}
	}
	return true, nil
}

// pragma runs a check of SQLite. It stops at its first error, which is a fault too.
func (db *DB) pragma(ctx context.Context, name string, fault func(error)) error {
	rows, err := db.read.QueryContext(ctx, "PRAGMA "+name)
	if err != nil {
		return db.damaged(ctx, name, err, fault)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		switch {
		case name == "foreign_key_check":
			fault(fmt.Errorf("database: row %s of %s refers to a row of %s that is missing", values[1].String,
				values[0].String, values[2].String))
		case values[0].String != "ok":
			fault(fmt.Errorf("database: %s", values[0].String))
		}
	}
	return db.damaged(ctx, name, rows.Err(), fault)
}

func (db *DB) damaged(ctx context.Context, name string, err error, fault func(error)) error {
	if err == nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	fault(fmt.Errorf("database: %s: %w", name, err))
	return nil
}

// amcheck checks each table and each B-tree index of PostgreSQL.
func (db *DB) amcheck(ctx context.Context, fault func(error)) (bool, error) {
	c := db.Read()
	var there bool
	there, err := One(ctx, c, Value[bool], "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'amcheck')")
	if err != nil || !there {
		return false, err
	}
	for _, kind := range []struct{ of, check string }{
		{"relkind = 'r'", "SELECT 'block ' || blkno || ': ' || msg FROM verify_heapam($1::text::regclass)"},
		{"relkind = 'i' AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree')",
			"SELECT '' FROM (SELECT bt_index_check($1::text::regclass, true)) checked"},
	} {
		names, err := All(ctx, c, Value[string], "SELECT oid::regclass::text FROM pg_class WHERE "+kind.of+
			" AND relnamespace = current_schema()::regnamespace AND relpersistence = 'p' ORDER BY 1")
		if err != nil {
			return false, err
		}
		for _, name := range names {
			found, err := All(ctx, c, Value[string], kind.check, name)
			if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" { // it may not
				return false, nil
			} else if ctx.Err() != nil {
				return false, ctx.Err()
			} else if err != nil {
				fault(fmt.Errorf("database: %s: %w", name, err))
			}
			for _, what := range found {
				if what != "" {
					fault(fmt.Errorf("database: %s, %s", name, what))
				}
			}
		}
	}
	return true, nil
}
