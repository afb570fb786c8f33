package sqldb

import (
	"context"
	"errors"
)

// DeferredCommit is a transaction that stays open after the use case that ran in it, so that the response of the call
// is committed together with its effects. It begins when Tx is called.
type DeferredCommit struct {
	db   *DB
	conn *Conn // of the transaction that is open
}

// DeferCommit returns a deferredCommit. The caller must call its Commit or Rollback.
func (db *DB) DeferCommit() *DeferredCommit { return &DeferredCommit{db: db} }

// Tx is DB.Tx, but when do returns nil the transaction stays open. A second transaction is refused, since only one
// could commit with the response.
func (h *DeferredCommit) Tx(ctx context.Context, do func(ctx context.Context, tx *Conn) error) error {
	if h.conn != nil {
		return errors.New("a second transaction in a call whose commit is deferred")
	}
	return h.db.tx(ctx, do, false, h)
}

// Commit runs last in the open transaction, or in a new one if none is open, and commits if last returns nil.
func (h *DeferredCommit) Commit(ctx context.Context, last func(ctx context.Context, tx *Conn) error) error {
	if h.conn == nil {
		return h.db.Tx(ctx, last)
	}
	defer h.Rollback(ctx)
	err := last(ctx, h.conn)
	if err == nil {
		err = h.conn.commit(ctx)
	} else {
		err = h.conn.rollback(ctx, err)
	}
	err = Translate(withContextErr(ctx, err))
	h.db.noteFull(err)
	return err
}

// Rollback rolls back the open transaction, if any.
func (h *DeferredCommit) Rollback(ctx context.Context) {
	if c := h.conn; c != nil {
		h.conn = nil
		_ = c.finish(ctx, false)
	}
}
