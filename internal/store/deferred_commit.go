package store

import "context"

type deferredCommitKey struct{}

// DeferredCommit keeps the transaction of a call open after its use case returns, so that the response of the call is
// committed together with its effects.
type DeferredCommit struct {
	db   *DB
	conn *Conn // of the transaction that is open
}

// DeferCommit returns a context in which Tx does not commit: its transaction stays open until Commit or Rollback, one
// of which must be called. A second transaction is refused, since only one could commit with the response.
func (db *DB) DeferCommit(ctx context.Context) (context.Context, *DeferredCommit) {
	h := &DeferredCommit{db: db}
	return context.WithValue(ctx, deferredCommitKey{}, h), h
}

// Apart returns a context in which Tx commits even if the commit of the call is deferred: before the deferred
// transaction began, or after it failed.
func Apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, deferredCommitKey{}, (*DeferredCommit)(nil))
}

// Commit runs last in the open transaction, or in a new one if none is open, and commits if last returns nil.
func (h *DeferredCommit) Commit(ctx context.Context, last func(ctx context.Context, tx Conn) error) error {
	var err error
	if h.conn == nil {
		err = h.db.Tx(ctx, last)
	} else if err = last(ctx, *h.conn); err != nil {
		h.Rollback(ctx)
	}
	if err == nil {
		err = h.commit(ctx)
	}
	err = translate(withContextErr(ctx, err))
	h.db.noteFull(err)
	return err
}

// Rollback rolls back the open transaction, if any.
func (h *DeferredCommit) Rollback(ctx context.Context) {
	if c := h.conn; c != nil {
		h.conn = nil
		c.cleanup(ctx)
	}
}

func (h *DeferredCommit) commit(ctx context.Context) error {
	if h.conn == nil {
		return nil
	}
	err := h.conn.commit()
	h.Rollback(ctx)
	return err
}
