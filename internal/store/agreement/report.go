package agreement

import (
	"context"
	"fmt"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/store/sqldb"
)

// Course is how a letter of an institution went.
type Course struct {
	Instrument   string
	Counterparty int64
	State        letter.State
	CreatedAt    time.Time
	EndedAt      *time.Time
}

// MaxCourses is how many letters a report counts at most.
const MaxCourses = 100_000

// Courses reads how the letters of an institution went that were drafted in a period, the oldest first.
func (st Agreements) Courses(ctx context.Context, institution int64, from, to time.Time) ([]Course, error) {
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, c *Course) error {
		return r.Scan(&c.Instrument, &c.Counterparty, &c.State, sqldb.UTC(&c.CreatedAt), sqldb.UTCOrNull(&c.EndedAt))
	}, fmt.Sprintf(`SELECT o.instrument, CASE WHEN o.provider = $1 THEN o.recipient ELSE o.provider END, o.state,
		o.created_at, o.ended_at FROM agreements o WHERE %s AND o.created_at >= $2 AND o.created_at < $3
		ORDER BY o.id LIMIT %d`, ofInstitution, MaxCourses), institution, from, to)
}
