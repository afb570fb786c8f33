package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// MailCount is how much mail one person has caused to one recipient.
type MailCount struct {
	Recipient string
	Since     time.Time  // the beginning of the present span of time
	Sent      int        // messages since then
	Met       *time.Time // when the person last turned to them first; nil: never
}

// Count counts one message of a person to each recipient, in spans of time that begin with their first message;
// first: the person turns to them first, which counts once a day.
func (st Mail) Count(ctx context.Context, actor uuid.UUID, recipients []string, span, day time.Duration,
	first bool) (list []MailCount, err error) {
	var met *time.Time
	if first {
		met = &st.conn.Now
	}
	scan := func(r row, m *MailCount) error { return r.Scan(&m.Recipient, utc{&m.Since}, &m.Sent, utcNull{&m.Met}) }
	// those who count at the same time lock rows in the same order
	recipients = slices.Sorted(slices.Values(recipients))
	for some := range inBatches(recipients, maxIn) {
		args := []any{actor, st.conn.Now, met, st.conn.Now.Add(-span), st.conn.Now.Add(-day)}
		rows := make([]string, len(some))
		for i, recipient := range some {
			args = append(args, recipient)
			rows[i] = fmt.Sprintf("($1, $%d, $2, 1, $3)", len(args))
		}
		counted, err := all(ctx, st.conn, scan, "INSERT INTO mail_counts (actor_id, recipient, since, sent, met) "+
			"VALUES "+
			strings.Join(rows, ", ")+`
			ON CONFLICT (actor_id, recipient) DO UPDATE SET
				sent = CASE WHEN mail_counts.since > $4 THEN mail_counts.sent + 1 ELSE 1 END,
				since = CASE WHEN mail_counts.since > $4 THEN mail_counts.since ELSE excluded.since END,
				met = CASE WHEN excluded.met IS NULL OR mail_counts.met > $5 THEN mail_counts.met ELSE excluded.met END
			RETURNING recipient, since, sent, met`, args...)
		if err != nil {
			return nil, err
		}
		list = append(list, counted...)
	}
	return list, nil
}

// Contacts counts the people whom somebody turned to first since a moment.
func (st Mail) Contacts(ctx context.Context, actor uuid.UUID, since time.Time) (int, error) {
	return one(ctx, st.conn, value[int], "SELECT COUNT(*) FROM mail_counts WHERE actor_id = $1 AND met > $2", actor,
		since)
}

// DeleteCounts forgets what counts for no limit any more.
func (st Mail) DeleteCounts(ctx context.Context, before time.Time) error {
	_, err := st.conn.exec(ctx, "DELETE FROM mail_counts WHERE since < $1 AND (met IS NULL OR met < $1)", before)
	return err
}
