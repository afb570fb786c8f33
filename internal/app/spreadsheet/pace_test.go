package spreadsheet

import (
	"testing"
	"time"
)

// TestPace_FindsHowManyRowsATransactionMayHave from how long the one before took.
func TestPace_FindsHowManyRowsATransactionMayHave(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		postgres bool
		took     time.Duration // each of ten transactions
		shared   bool
		want     int
	}{
		"SQLite: short ones grow":                           {took: 2 * ms, want: bulkStep},
		"SQLite: long ones shrink":                          {took: 40 * ms, want: leastPace},
		"SQLite: while others wait, sooner":                 {took: 10 * ms, shared: true, want: leastPace},
		"PostgreSQL: on a busy machine they do not shrink":  {postgres: true, took: 90 * ms, shared: true, want: firstPace},
		"PostgreSQL: those that hold rows for long, shrink": {postgres: true, took: 300 * ms, want: leastPace},
	} {
		p := newPace(c.postgres)
		for range 10 {
			p.took(c.took, c.shared)
		}
		if p.rows() != c.want {
			t.Errorf("%s: %d rows, not %d", name, p.rows(), c.want)
		}
	}
}
