package store

import (
	"context"
	"strconv"
	"time"

	"aliquot/internal/exchange"
)

// ofTurn are the requests in which it is somebody's turn; what is remembered of their reminders is
// indexed for these alone.
const ofTurn = "o.is_active AND o.deleted_at IS NULL"

// Next is the first day behind day on which a side was reminded last in any request; false:
// there is no such request. Each is one step in the index, so that all of them are few.
func (st Reminders) Next(ctx context.Context, day int) (next int, some bool, err error) {
	days, err := all(ctx, st.conn, value[int], "SELECT o.reminded FROM material_requests o WHERE "+ofTurn+
		" AND o.reminded > $1 ORDER BY o.reminded LIMIT 1", day)
	if err != nil || len(days) == 0 {
		return 0, false, err
	}
	return days[0], true, nil
}

// ToRemind reads the requests behind after whose side was reminded last on a day of its turn, and
// whose turn began at a moment or before and is not snoozed, the longest waiting first. It locks them;
// those that others hold are left out.
func (st Reminders) ToRemind(ctx context.Context, day int, began time.Time, after exchange.Request,
	limit int) ([]exchange.RequestDetail, error) {
	return st.longWaiting(ctx, where("o.reminded = ?", day), began, after, limit)
}

// ToEscalate is Reminders.ToRemind of those turns of labs that their owners were not told of.
func (st Reminders) ToEscalate(ctx context.Context, began time.Time, after exchange.Request,
	limit int) ([]exchange.RequestDetail, error) {
	return st.longWaiting(ctx, where("o.escalates"), began, after, limit)
}

func (st Reminders) longWaiting(ctx context.Context, f *filter, began time.Time, after exchange.Request,
	limit int) ([]exchange.RequestDetail, error) {
	f.and(ofTurn)
	f.and("o.waiting_since <= ? AND (o.waiting_since, o.id) > (?, ?)", began, after.WaitingSince, after.ID)
	f.and("(o.snoozed_until IS NULL OR o.snoozed_until <= ?)", st.conn.Now)
	list, err := all(ctx, st.conn, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+" WHERE "+f.sql.String()+
		" ORDER BY o.waiting_since, o.id LIMIT "+strconv.Itoa(limit)+ofRequests(st.conn.db.dialect.skipLocked),
		f.args...)
	if err != nil {
		return nil, err
	}
	return list, Requests(st).addDocuments(ctx, list)
}

// Save keeps what the side whose turn it is was reminded of, or its owner was told, with the head
// of the events. The request counts as unchanged.
func (st Reminders) Save(ctx context.Context, q exchange.RequestDetail) error {
	_, err := st.conn.exec(ctx, "UPDATE material_requests SET reminded = $2, escalates = $3, last_seq = $4, "+
		"last_hash = $5 "+
		"WHERE id = $1",
		q.ID, q.Reminded, q.Escalates, q.Head.Seq, q.Head.Hash)
	return err
}
