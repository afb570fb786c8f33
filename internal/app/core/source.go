package core

import (
	"context"
	"time"

	"aliquot/internal/store"
)

// SourceCalls keeps in the database when outside sources were called, so that all processes on it together keep their
// pace (importer.Calls). Each call of a source is a transaction.
type SourceCalls struct{ DB *store.DB }

// Change implements importer.Calls.
func (s SourceCalls) Change(ctx context.Context, source string,
	change func(calls []time.Time) ([]time.Time, error)) error {
	return s.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		calls, err := tx.SourceCalls.ForUpdate(ctx, source)
		if err != nil {
			return err
		}
		if calls, err = change(calls); err != nil {
			return err
		}
		return tx.SourceCalls.Save(ctx, source, calls)
	})
}
