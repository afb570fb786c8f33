// Package library is the SQL of the instruments that an operator installed.
package library

import (
	"context"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/store/sqldb"
)

// Instruments stores installed instruments.
type Instruments struct{ conn *sqldb.Conn }

// New returns the store on a connection.
func New(c *sqldb.Conn) Instruments { return Instruments{c} }

// Count counts the installed instruments. None is ever changed or removed, so that all are the same while it is.
func (st Instruments) Count(ctx context.Context) (int, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int], "SELECT COALESCE(MAX(number), 0) FROM instruments")
}

// All reads the installed instruments in the order of their installation.
func (st Instruments) All(ctx context.Context) ([]instrument.Installed, error) {
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, i *instrument.Installed) error {
		var file string
		err := r.Scan(&file, &i.By, sqldb.UTC(&i.At))
		if i.File = []byte(file); err == nil {
			i.Instrument, err = instrument.Parse(i.File)
		}
		return err
	}, "SELECT file, installed_by, installed_at FROM instruments ORDER BY number")
}

// Insert adds an instrument as the one with a number, and returns Conflict if somebody else added one in the meantime.
func (st Instruments) Insert(ctx context.Context, number int, i instrument.Installed) error {
	_, err := st.conn.Exec(ctx, `INSERT INTO instruments (number, id, version, file, sha256, installed_by, installed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, number, i.ID, i.Version, string(i.File), instrument.Hash(string(i.File)),
		i.By, st.conn.Now)
	return err
}
