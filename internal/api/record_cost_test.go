package api_test

import (
	"database/sql"
	"math/bits"
	"testing"

	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// recordCost counts the statements by which the record of what calls change is written.
type recordCost struct {
	t     *testing.T
	sql   *sql.DB
	batch uint64 // rows that one statement writes
	last  int64  // the newest event that was counted
}

func newRecordCost(t *testing.T, db *store.DB) *recordCost {
	c := &recordCost{t: t, sql: storetest.SQL(t, db), batch: 8}
	if db.Postgres() {
		c.batch = 32
	}
	c.next()
	return c
}

// next returns how many statements the events since the last call took in one transaction: their chains are read, then
// written, and the events are added. Three, unless there are more rows than one statement writes.
func (c *recordCost) next() int64 {
	c.t.Helper()
	var events, chains uint64
	var last int64
	if err := c.sql.QueryRowContext(c.t.Context(), `SELECT COUNT(*), COUNT(DISTINCT chain_id), COALESCE(MAX(id), 0)
		FROM chain_events WHERE id > $1`, c.last).Scan(&events, &chains, &last); err != nil {
		c.t.Fatal(err)
	}
	if events == 0 {
		return 0
	}
	c.last = last
	statements := func(n uint64) int64 { return int64(n/c.batch) + int64(bits.OnesCount64(n%c.batch)) }
	return 1 + statements(chains) + statements(events)
}
