package sqldb

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aliquot/internal/exchange"
)

// Group commit. SQLite has one writer, and each commit waits until the disk has flushed it. So transactions that wait
// for the writer share a commit: they run one after the other inside one transaction of SQLite, the group, each but the
// first as a savepoint. All of them return once the group is committed. One that fails is rolled back alone. A
// transaction for which no other waits is a group of its own and is committed at once.

// Bounds of a group. Its members wait for each other, so nobody joins one that is full or old.
const (
	maxMembers  = 64
	maxGroupAge = 10 * time.Millisecond // as long as a flush takes on a slow disk
)

// group is a transaction of SQLite that transactions of ours share, its members.
type group struct {
	tx      *sql.Tx
	wanted  map[string]*sql.Stmt // statements to keep prepared once it is over
	members int
	began   time.Time
	alone   bool          // nobody may join
	empty   bool          // its only member failed
	err     error         // why nothing of it was committed; set before over is closed
	over    chan struct{} // closed once it is committed or rolled back
}

// writer passes the writing connection of SQLite from one transaction to the next, in the order in which they came.
type writer struct {
	waits  atomic.Int64 // how often a transaction waited
	waited atomic.Int64 // for how long all of them together, in nanoseconds

	mu    sync.Mutex
	busy  bool // a transaction has the connection
	queue []*waiter
	group *group // passed on with the connection; nil: the next transaction begins one
}

// waiter is a transaction that waits for the connection.
type waiter struct {
	turn  chan struct{} // closed when it has the connection
	alone bool
}

// take waits for the connection and returns the group that comes with it, nil if the caller is to begin one. After an
// error the caller does not have the connection.
func (w *writer) take(ctx context.Context, alone bool) (*group, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	if !w.busy {
		w.busy = true
		w.mu.Unlock()
		return nil, nil
	}
	me := &waiter{make(chan struct{}), alone}
	w.queue = append(w.queue, me)
	w.mu.Unlock()
	w.waits.Add(1)
	defer func(began time.Time) { w.waited.Add(int64(time.Since(began))) }(time.Now())
	select {
	case <-me.turn:
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		if at := slices.Index(w.queue, me); at >= 0 {
			w.queue = slices.Delete(w.queue, at, at+1)
			return nil, ctx.Err()
		} // else its turn came at the same moment; its first statement fails
	}
	return w.group, nil
}

// pass hands the connection to the transaction that waits longest, if any, with the group if that may join it. If not,
// it ends the group first.
func (db *DB) pass(ctx context.Context, g *group) {
	w := &db.writer
	w.mu.Lock()
	joins := g != nil && g.err == nil && !g.empty && !g.alone && len(w.queue) > 0 && !w.queue[0].alone &&
		g.members < maxMembers && time.Since(g.began) < maxGroupAge
	if g != nil && !joins {
		w.mu.Unlock()
		db.end(ctx, g)
		g = nil
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	if w.group = g; len(w.queue) == 0 {
		w.busy = false
		return
	}
	next := w.queue[0]
	w.queue = w.queue[1:]
	close(next.turn)
}

// end commits a group, or rolls it back if the database has given it up, and keeps the statements that it prepared.
func (db *DB) end(ctx context.Context, g *group) {
	if g.err == nil && !g.empty {
		g.err = g.tx.Commit()
	}
	_ = g.tx.Rollback() // does nothing after a commit
	db.keepAll(ctx, g.wanted)
	close(g.over)
}

// join waits until a transaction may run, and returns the group in which it does. The caller leaves it afterwards.
func (db *DB) join(ctx context.Context, alone bool) (*group, error) {
	g, err := db.writer.take(ctx, alone)
	if err != nil {
		return nil, err
	}
	if g == nil {
		g = &group{wanted: map[string]*sql.Stmt{}, began: time.Now(), alone: alone, over: make(chan struct{})}
		if g.tx, err = db.write.BeginTx(context.WithoutCancel(ctx), nil); err != nil {
			db.pass(ctx, nil)
			return nil, err
		}
	} else if _, err = g.tx.ExecContext(context.WithoutCancel(ctx), "SAVEPOINT member"); err != nil {
		g.err = err
		db.pass(ctx, g)
		return nil, err
	}
	g.members++
	return g, nil
}

// leave keeps or rolls back what the last member of a group did, passes the connection on, and returns once the group
// is over: with an error if what should be kept of it was not committed.
func (db *DB) leave(ctx context.Context, g *group, keep bool) error {
	ctx = context.WithoutCancel(ctx)
	if g.members > 1 {
		statement := "RELEASE member"
		if !keep {
			statement = "ROLLBACK TO member; RELEASE member"
		}
		// SQLite rolled back all of it, as when the disk is full
		if _, err := g.tx.ExecContext(ctx, statement); err != nil {
			g.err = &exchange.Error{Code: exchange.Unavailable, Message: "The database is busy; try again.", Cause: err}
		}
	}
	g.empty = g.members == 1 && !keep
	db.pass(ctx, g)
	<-g.over
	return g.err
}
