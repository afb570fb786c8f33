package store

import (
	"context"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// failedMail are the notifications o whose mail did not get through; there is an index of these alone.
const failedMail = "o.mail IN ('REFUSED', 'IN_DOUBT')"

// Overview counts what an admin looks after; requests count as stuck whose turn began before a moment.
func (st Admin) Overview(ctx context.Context, stuck time.Time) (exchange.Overview, error) {
	return one(ctx, st.conn, func(r row, o *exchange.Overview) error {
		return r.Scan(&o.Users, &o.Organizations, &o.Waiting, &o.Failed, &o.Stuck, &o.Mail)
	}, `SELECT (SELECT COUNT(*) FROM users), (SELECT COUNT(*) FROM organizations), (SELECT COUNT(*) FROM jobs
		WHERE due_at IS NOT NULL),
		(SELECT COUNT(*) FROM jobs WHERE ended_at IS NOT NULL AND state = 'FAILED'),
		(SELECT COUNT(*) FROM material_requests o WHERE o.party <> '' AND o.waiting_since < $1), (SELECT COUNT(*)
		FROM notifications o WHERE `+failedMail+")", stuck)
}

// StuckRequests lists the requests in which it is somebody's turn.
func (st Admin) StuckRequests(ctx context.Context, p exchange.Page,
	f exchange.StuckFilter) (exchange.ListPage[exchange.RequestDetail], error) {
	w := where("o.party <> ''")
	andEqual(w, "o.party", f.Party)
	if f.Escalated != nil {
		andEqual(w, "o.escalates", new(!*f.Escalated))
		andEqual(w, "o.party", new(exchange.LabSide))
	}
	if f.Before != nil {
		w.and("o.waiting_since < ?", *f.Before)
	}
	l := listing[exchange.RequestDetail]{columns: requestColumns, table: "material_requests", joins: requestJoins,
		scan: scanRequest,
		id:   func(q exchange.RequestDetail) int64 { return q.ID }}
	part, err := l.page(ctx, st.conn, p, w)
	if err != nil {
		return part, err
	}
	return part, Requests(st).addDocuments(ctx, part.Items)
}

// FailedMail lists the notifications whose mail was refused, or may have been lost.
func (st Admin) FailedMail(ctx context.Context, p exchange.Page) (exchange.ListPage[exchange.FailedMail], error) {
	l := listing[exchange.FailedMail]{columns: notificationColumns, table: "notifications", joins: notificationJoins,
		scan: func(r row, m *exchange.FailedMail) error { return scanNotification(r, &m.Notification) },
		id:   func(m exchange.FailedMail) int64 { return m.ID }}
	part, err := l.page(ctx, st.conn, p, where(failedMail))
	if err != nil {
		return part, err
	}
	var people []uuid.UUID
	for _, m := range part.Items {
		people = append(people, m.User)
	}
	readers, err := Mail(st).readers(ctx, people)
	for i := range part.Items {
		m := &part.Items[i]
		m.To, m.Refused = readers[m.User].User, readers[m.User].Mail.Refused
	}
	return part, err
}

// readers reads people with how they want mail.
func (st Mail) readers(ctx context.Context, people []uuid.UUID) (map[uuid.UUID]Reader, error) {
	byID := map[uuid.UUID]Reader{}
	places, args := in(nil, people)
	list, err := all(ctx, st.conn, scanReader, "SELECT "+userColumns+", "+mailColumns+
		` FROM users u LEFT JOIN mail_settings s ON s.user_id = u.id
		WHERE u.id IN (`+places+")", args...)
	for _, p := range list {
		byID[p.ID] = p
	}
	return byID, err
}
