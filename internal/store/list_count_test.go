package store_test

import (
	"testing"

	"aliquot/internal/exchange"
)

// TestList_CountsUpToTheLimit and no further, unless all are to be counted. A list of little more rows is counted again
// each time, since a few that go make it short.
func TestList_CountsUpToTheLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		rows := int64(0)
		grow := func(to int64) {
			l.exec(`INSERT INTO audit_events (action, object, as_admin, at, state)
				WITH RECURSIVE n (i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $2)
				SELECT 'test', 'row ' || i, false, $3, '{}' FROM n`, rows+1, to, start)
			rows = to
		}
		check := func(all bool, want exchange.Count) {
			t.Helper()
			page := exchange.Page{Limit: 10, CountAll: all}
			part, err := l.db.Read().Audit.List(t.Context(), page, exchange.AuditFilter{Action: new("test")})
			if err != nil || part.Total != want || len(part.Items) != 10 {
				t.Errorf("%d rows, counting all %v: %d items of %+v, %v, want %+v", rows, all, len(part.Items), part.Total,
					err, want)
			}
		}
		many := exchange.Count{N: exchange.CountLimit, AtLeast: true}
		grow(exchange.CountLimit)
		check(false, exchange.Count{N: rows})
		grow(exchange.CountLimit + 1)
		check(false, many)
		check(true, exchange.Count{N: rows})
		l.exec("DELETE FROM audit_events WHERE object = 'row 1'")
		check(false, exchange.Count{N: exchange.CountLimit})
		grow(exchange.CountLimit + 2000)
		check(false, many)
		check(false, many)
		check(true, exchange.Count{N: rows - 1})
	})
}
