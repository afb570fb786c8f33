package store_test

import (
	stdcontext "context"
	"errors"
	"testing"
	"time"

	"aliquot/internal/store"
)

// TestQuery_ThatRunsTooLongIsCutOff by its deadline, though the database would count for minutes, and its connection
// serves the next ones.
func TestQuery_ThatRunsTooLongIsCutOff(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		const count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT " +
			"COUNT(*) FROM n"
		for range 10 { // more than there are connections for reading
			ctx, cancel := stdcontext.WithTimeout(l.ctx, 50*time.Millisecond)
			began := time.Now()
			_, err := store.Values[int64](ctx, l.db.Read(), count)
			if !errors.Is(err, stdcontext.DeadlineExceeded) || time.Since(began) > 20*time.Second {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
			cancel()
			if got, err := store.Values[int64](l.ctx, l.db.Read(), "SELECT 7"); err != nil || len(got) != 1 ||
				got[0] != 7 {
				t.Errorf("afterwards: %v, %v", got, err)
			}
		}
	})
}
