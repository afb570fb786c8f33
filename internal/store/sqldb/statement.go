package sqldb

import (
	"context"
	"strings"
	"time"
)

// Observer watches statements for traces.
type Observer interface {
	// BeginStatement is called before a statement runs, and returns the context that it runs in. The text has
	// placeholders for all values.
	BeginStatement(ctx context.Context, query string) context.Context
	// EndStatement is called with that context once the statement ran.
	EndStatement(ctx context.Context, err error)
}

// running is a statement that runs.
type running struct {
	db    *DB
	query string
	began time.Time
}

// The texts under which waiting for a connection or for the one writer, and committing, are watched like statements.
const (
	beginText  = "BEGIN"
	commitText = "COMMIT"
)

// run begins a statement.
func (db *DB) run(ctx context.Context, query string) (context.Context, running) {
	if db.Observer != nil {
		ctx = db.Observer.BeginStatement(ctx, query)
	}
	return ctx, running{db, query, time.Now()}
}

// end ends a statement: it is logged if it was slow, and the database counts as damaged if that is what err means.
func (r running) end(ctx context.Context, err error) {
	took := time.Since(r.began)
	if r.db.Observer != nil {
		r.db.Observer.EndStatement(ctx, err)
	}
	if err != nil {
		r.db.noteDamage(err)
	}
	if r.db.SlowAfter == 0 || took < r.db.SlowAfter {
		return
	}
	r.db.slow.Add(1)
	if r.db.Log != nil {
		r.db.Log.WarnContext(ctx, "slow statement", "duration_ms", took.Milliseconds(), "statement",
			strings.Join(strings.Fields(r.query), " "))
	}
}

// SlowStatements returns how many statements took SlowAfter or longer so far.
func (db *DB) SlowStatements() int64 { return db.slow.Load() }
