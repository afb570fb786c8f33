// Package cellosaurus is the SQL of the cell lines that were loaded from the Cellosaurus.
package cellosaurus

import (
	"context"
	"time"

	"aliquot/internal/exchange/material"
	"aliquot/internal/store/sqldb"
)

// CellLines stores cell lines of the Cellosaurus.
type CellLines struct{ conn *sqldb.Conn }

// New returns the store on a connection.
func New(c *sqldb.Conn) CellLines { return CellLines{c} }

// maxFound is how many cell lines of one key are read.
const maxFound = 5

// ByKey reads the cell lines of a key of material.NumberKey, five at most.
func (st CellLines) ByKey(ctx context.Context, key string) ([]material.CellLine, error) {
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, l *material.CellLine) error { return r.Scan(sqldb.FromJSON(l)) },
		`SELECT l.entry FROM cell_line_keys k JOIN cell_lines l ON l.accession = k.accession
		WHERE k.key = $1 ORDER BY k.accession LIMIT $2`, key, maxFound)
}

// Loaded reports whether any cell lines were loaded.
func (st CellLines) Loaded(ctx context.Context) (bool, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[bool], "SELECT EXISTS (SELECT 1 FROM cell_lines)")
}

// Put stores a cell line in place of the one with the same accession.
func (st CellLines) Put(ctx context.Context, l material.CellLine, loaded time.Time) error {
	entry, err := sqldb.JSON(l)
	if err != nil {
		return err
	}
	keys, err := sqldb.JSON(l.Keys())
	if err != nil {
		return err
	}
	if _, err := st.conn.Exec(ctx, `INSERT INTO cell_lines (accession, entry, loaded_at) VALUES ($1, $2, $3)
		ON CONFLICT (accession) DO UPDATE SET entry = excluded.entry, loaded_at = excluded.loaded_at`,
		l.Accession, entry, loaded); err != nil {
		return err
	}
	if _, err := st.conn.Exec(ctx, "DELETE FROM cell_line_keys WHERE accession = $1", l.Accession); err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, "INSERT INTO cell_line_keys (key, accession) SELECT value, $2 FROM "+
		st.conn.Dialect().List, keys, l.Accession)
	return err
}

// DeleteLoadedBefore deletes the cell lines that were loaded before a moment, and not since.
func (st CellLines) DeleteLoadedBefore(ctx context.Context, loaded time.Time) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM cell_lines WHERE loaded_at < $1", loaded)
	return err
}
