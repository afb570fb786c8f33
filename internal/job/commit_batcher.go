package job

import (
	"context"
	"runtime"
	"sync"

	"aliquot/internal/store"
)

// commitBatcher runs the transactions of a worker. SQLite has one writer, and most of the cost of a short job there is
// waiting for the disk, so transactions that arrive while another commits are committed together. On PostgreSQL each is
// committed on its own.
type commitBatcher struct {
	db      *store.DB
	mu      sync.Mutex
	leading bool // somebody commits
	waiting []*batchedTx
}

// batchedTx is one of the transactions that are committed together.
type batchedTx struct {
	ctx  context.Context
	do   func(ctx context.Context, tx store.Conn) error
	done chan error
}

// Tx is store.DB.Tx, but that it may run do again for the sake of others too.
func (t *commitBatcher) Tx(ctx context.Context, do func(ctx context.Context, tx store.Conn) error) error {
	if t.db.Postgres() {
		return t.db.Tx(ctx, do)
	}
	p := &batchedTx{ctx, unpanicked(do), make(chan error, 1)}
	t.mu.Lock()
	t.waiting = append(t.waiting, p)
	lead := !t.leading
	t.leading = true
	t.mu.Unlock()
	if lead {
		go t.lead()
	}
	return <-p.done
}

// lead commits the waiting transactions until none is left.
func (t *commitBatcher) lead() {
	for {
		runtime.Gosched() // those that are about to end come along
		t.mu.Lock()
		parts := t.waiting
		t.waiting, t.leading = nil, len(parts) > 0
		t.mu.Unlock()
		if len(parts) == 0 {
			return
		}
		if len(parts) == 1 || !t.all(parts) {
			for _, p := range parts {
				p.done <- t.db.Tx(p.ctx, p.do)
			}
		}
	}
}

// all commits all parts in one transaction, unless one of them fails: then nothing is changed.
func (t *commitBatcher) all(parts []*batchedTx) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parts[0].ctx), settleTime)
	defer cancel()
	refused := false
	err := t.db.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		for _, p := range parts {
			err := p.ctx.Err()
			if err == nil {
				err = p.do(ctx, tx)
			}
			if err != nil {
				refused = true
				return err
			}
		}
		return nil
	})
	if refused {
		return false
	}
	for _, p := range parts {
		p.done <- err
	}
	return true
}

// unpanicked turns a panic of do into an error, because do runs in another caller's goroutine.
func unpanicked(do func(context.Context, store.Conn) error) func(context.Context, store.Conn) error {
	return func(ctx context.Context, tx store.Conn) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = panicked(p)
			}
		}()
		return do(ctx, tx)
	}
}
