package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"
)

// serverClock shows the time of a PostgreSQL server, so that all processes have the same, even if the clock of a
// machine is wrong or somebody sets it: otherwise a job that such a process enqueues is due an hour late. Between two
// readings it continues with the monotonic clock of this process, which nobody can set.
type serverClock struct {
	server  *sql.DB
	last    atomic.Pointer[clockReading]
	reading atomic.Bool
}

// clockReading is what the server's clock showed at a moment of this process.
type clockReading struct{ at, shown time.Time }

const (
	clockEvery = 30 * time.Second // how long a reading is used
	clockDelay = 2 * time.Second  // of a reading, at most: it is wrong by up to half of that
)

// newServerClock reads the clock of a server for the first time.
func newServerClock(ctx context.Context, server *sql.DB) (*serverClock, error) {
	c := &serverClock{server: server}
	return c, c.read(ctx)
}

// now returns the time of the server. While the server does not answer, the last reading is used.
func (c *serverClock) now() time.Time {
	last := c.last.Load()
	passed := time.Since(last.at)
	if passed > clockEvery && c.reading.CompareAndSwap(false, true) {
		go func() {
			defer c.reading.Store(false)
			_ = c.read(context.Background()) // the next call tries again
		}()
	}
	return last.shown.Add(passed)
}

// read reads the server's clock.
func (c *serverClock) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clockDelay)
	defer cancel()
	conn, err := c.server.Conn(ctx)
	if err != nil {
		return fmt.Errorf("the clock of the database: %w", err)
	}
	defer func() { _ = conn.Close() }()
	var shown time.Time
	asked := time.Now()
	if err := conn.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&shown); err != nil {
		return fmt.Errorf("the clock of the database: %w", err)
	}
	c.last.Store(&clockReading{at: asked, shown: shown.Add(-time.Since(asked) / 2)})
	return nil
}
