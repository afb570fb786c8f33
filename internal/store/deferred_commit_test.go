package store_test

import (
	"errors"
	"testing"

	"aliquot/internal/store"
)

func TestDeferredCommit_CommitsWithTheLastStep(t *testing.T) {
	t.Parallel()
	add := func(ctx context, tx store.Conn) error { return tx.Users.Insert(ctx, newUser()) }
	fail := func(context, store.Conn) error { return errors.New("changed my mind") }
	for name, c := range map[string]struct {
		do   func(ctx context, h *store.DeferredCommit) error
		want int64 // users made
	}{
		"rolled back": {func(ctx context, h *store.DeferredCommit) error {
			err := h.Tx(ctx, add)
			h.Rollback(ctx)
			return err
		}, 0},
		"committed": {func(ctx context, h *store.DeferredCommit) error {
			return errors.Join(h.Tx(ctx, add), h.Commit(ctx, add))
		}, 2},
		"the last act fails": {func(ctx context, h *store.DeferredCommit) error {
			if err := h.Tx(ctx, add); err != nil {
				return err
			}
			if h.Commit(ctx, fail) == nil {
				return errors.New("committed")
			}
			return nil
		}, 0},
		"the first act fails": {func(ctx context, h *store.DeferredCommit) error {
			if h.Tx(ctx, fail) == nil {
				return errors.New("no error")
			}
			return h.Commit(ctx, add)
		}, 1},
		"nothing was done before": {func(ctx context, h *store.DeferredCommit) error {
			return h.Commit(ctx, add)
		}, 1},
		"a second one is refused": {func(ctx context, h *store.DeferredCommit) error {
			if err := h.Tx(ctx, add); err != nil {
				return err
			}
			if h.Tx(ctx, add) == nil {
				return errors.New("it ran")
			}
			return h.Commit(ctx, add)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, l testLab) {
				held := l.db.DeferCommit()
				if err := c.do(l.ctx, held); err != nil {
					t.Fatal(err)
				}
				if got := l.rows("users"); got != c.want {
					t.Errorf("%d users, want %d", got, c.want)
				}
				l.user() // the one writer of SQLite is free again
			})
		})
	}
}
