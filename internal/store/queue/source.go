package queue

import (
	"context"
	"time"

	"aliquot/internal/store/sqldb"
)

// SourceCalls stores when the newest calls of outside sources were sent.
type SourceCalls struct{ conn *sqldb.Conn }

// NewSourceCalls returns the store on a connection.
func NewSourceCalls(c *sqldb.Conn) SourceCalls { return SourceCalls{c} }

// ForUpdate returns when the newest calls of a source were sent, the oldest first, and locks them.
func (st SourceCalls) ForUpdate(ctx context.Context, source string) (calls []time.Time, err error) {
	sent, err := sqldb.One(ctx, st.conn, func(r sqldb.Row, sent *[]int64) error {
		return r.Scan(sqldb.FromJSON(sent))
	}, `INSERT INTO source_calls (source, sent_at)
		VALUES ($1, '[]') ON CONFLICT (source) DO UPDATE SET sent_at = source_calls.sent_at RETURNING sent_at`, source)
	for _, at := range sent {
		calls = append(calls, time.UnixMicro(at))
	}
	return calls, err
}

// Save replaces the calls of a source.
func (st SourceCalls) Save(ctx context.Context, source string, calls []time.Time) error {
	sent := make([]int64, len(calls))
	for i, at := range calls {
		sent[i] = at.UnixMicro()
	}
	text, err := sqldb.JSON(sent)
	if err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, "UPDATE source_calls SET sent_at = $1 WHERE source = $2", text, source)
	return err
}
