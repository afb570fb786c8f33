package job

import (
	"context"
	"runtime"
	"sync"

	"aliquot/internal/store"
)

// together runs the transactions of a worker. SQLite has one writer, and to wait for the disk is most
// of what a short job costs there, so those that come while another commits are committed as one.
// On PostgreSQL each is its own.
type commitBatcher struct {
	db      *store.DB
	mu      sync.Mutex
	leading bool // somebody commits
	waiting []*batchedTx
}

// part is one transaction among others.
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

// lead commits what waits until nothing does.
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

// all commits all parts at once, unless one of them fails: then nothing happened.
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

// unpanicked makes a panic of do an error: it would happen in nobody's goroutine.
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
