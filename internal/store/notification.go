package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// InsertNews adds news and gives their id.
func (c Conn) InsertNews(ctx context.Context, n exchange.News) (int64, error) {
	detail, err := text(n.Detail)
	if err != nil {
		return 0, err
	}
	return one(ctx, c, value[int64], "INSERT INTO news (kind, actor_id, organization_id, at, detail) VALUES ($1, $2, NULLIF(CAST($3 AS BIGINT), 0), $4, $5) RETURNING id",
		string(n.Kind), uuid.NullUUID{UUID: n.Actor, Valid: n.Actor != uuid.Nil}, n.Organization, c.Now, detail)
}

// NotifyOf tells users of news and gives the ids of their notifications. The actor hears nothing of
// their own act; the unique index keeps it to one message per person and news.
func (c Conn) NotifyOf(ctx context.Context, n exchange.News, users []uuid.UUID) (ids []int64, err error) {
	for some := range slices.Chunk(users, mostIn) {
		places, args := in([]any{n.ID, string(n.Kind.Category()), c.Now, n.Actor}, some)
		told, err := all(ctx, c, value[int64], `INSERT INTO notifications (news_id, category, created_at, user_id)
			SELECT CAST($1 AS BIGINT), $2, $3, u.id FROM users u WHERE u.id <> $4 AND u.id IN (`+places+`) ORDER BY u.id
			ON CONFLICT (user_id, news_id) DO NOTHING RETURNING id`, args...)
		if err != nil {
			return nil, err
		}
		ids = append(ids, told...)
	}
	return ids, nil
}

var notifications = listing[exchange.Notification]{
	columns: `o.id, o.category, o.created_at, o.read_at, COALESCE(e.kind, n.kind), COALESCE(e.actor_id, n.actor_id), COALESCE(e.detail, n.detail),
		e.id, e.at, COALESCE(e.request_id, 0), COALESCE(e.seq, 0), COALESCE(m.id, 0), COALESCE(m.title, ''),
		n.id, n.at, COALESCE(g.id, 0), COALESCE(g.name, ''), ` + userColumns,
	table: "notifications",
	// Where Aliquot itself did it, the person stands in for the actor, and scanNotification leaves them out.
	joins: `LEFT JOIN request_events e ON e.id = o.event_id LEFT JOIN material_requests r ON r.id = e.request_id LEFT JOIN materials m ON m.id = r.material_id
		LEFT JOIN news n ON n.id = o.news_id LEFT JOIN organizations g ON g.id = COALESCE(m.organization_id, n.organization_id)
		JOIN users u ON u.id = COALESCE(e.actor_id, n.actor_id, o.user_id)`,
	scan:  scanNotification,
	id:    func(n exchange.Notification) int64 { return n.ID },
	sorts: map[string]string{"kind": "COALESCE(e.kind, n.kind)", "request": "e.request_id"},
}

func scanNotification(r row, n *exchange.Notification) error {
	var kind, detail string
	var by uuid.UUID
	var event, news *int64
	var happened, known *time.Time // of the event; of the news
	var actor exchange.User
	e := exchange.Event{}
	fields := append([]any{&n.ID, &n.Category, utc{&n.CreatedAt}, utcNull{&n.ReadAt}, &kind, &by, &detail,
		&event, utcNull{&happened}, &e.RequestID, &e.Seq, &n.Material, &n.Title,
		&news, utcNull{&known}, &n.Organization, &n.OrganizationName}, userFields(&actor)...)
	if err := r.Scan(fields...); err != nil {
		return err
	}
	if by != uuid.Nil {
		n.Actor = &actor
	}
	if news != nil {
		n.News = &exchange.News{ID: *news, Kind: exchange.NewsKind(kind), Actor: by, Organization: n.Organization, At: *known}
		return json.Unmarshal([]byte(detail), &n.News.Detail)
	}
	e.ID, e.Kind, e.Actor, e.At, e.Raw = *event, exchange.EventKind(kind), by, *happened, detail
	n.Event = e
	return json.Unmarshal([]byte(detail), &n.Event.Detail)
}

// Notifications lists a person's notifications.
func (c Conn) Notifications(ctx context.Context, user uuid.UUID, unread bool, p exchange.Page) (exchange.Part[exchange.Notification], error) {
	f := where("o.user_id = ?", user)
	if unread {
		f.and("o.read_at IS NULL")
	}
	return notifications.page(ctx, c, p, f)
}

// Unread counts a person's unread notifications.
func (c Conn) Unread(ctx context.Context, user uuid.UUID) (int64, error) {
	return one(ctx, c, value[int64], "SELECT COUNT(*) FROM notifications WHERE user_id = $1 AND read_at IS NULL", user)
}

// MarkRead marks one notification of a person as read, or all of them where id is 0; unread
// takes it back. NotFound when that person has no such notification.
func (c Conn) MarkRead(ctx context.Context, user uuid.UUID, id int64, read bool) error {
	var at *time.Time
	if read {
		at = &c.Now
	}
	n, err := c.exec(ctx, "UPDATE notifications SET read_at = $3 WHERE user_id = $1 AND (CAST($2 AS BIGINT) = 0 OR id = $2)", user, id, at)
	if err == nil && n == 0 && id != 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "There is no such notification."}
	}
	return err
}
