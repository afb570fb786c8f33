package store

import "context"

type deferredCommitKey struct{}

// Held keeps the transaction of a call open after its use case is done, so that what the call is
// answered commits with what it did.
type DeferredCommit struct {
	db   *DB
	conn *Conn // of the transaction that is open
}

// Hold gives a context in which Tx does not commit: its transaction stays open until Commit or Rollback,
// one of which must be called. A second one is refused, since only one could commit with the answer.
func (db *DB) DeferCommit(ctx context.Context) (context.Context, *DeferredCommit) {
	h := &DeferredCommit{db: db}
	return context.WithValue(ctx, deferredCommitKey{}, h), h
}

// Apart gives a context in which Tx commits although the call is held: before the transaction that is held, or after it
// failed.
func Apart(ctx context.Context) context.Context {
	return context.WithValue(ctx, deferredCommitKey{}, (*DeferredCommit)(nil))
}

// Commit runs last in the transaction that is open, or in a new one where there is none, and commits
// where it returns nil.
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

// Rollback takes back what is not committed.
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
