package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

const (
	notificationColumns = `o.id, o.user_id, o.category, o.created_at, o.read_at, o.mail, COALESCE(e.kind, n.kind),
		COALESCE(e.actor_id, n.actor_id), COALESCE(e.detail, n.detail),
		e.id, e.at, COALESCE(e.request_id, 0), COALESCE(e.seq, 0), COALESCE(m.id, 0), COALESCE(e.title, m.title, ''),
		n.id, n.at, COALESCE(g.id, 0), COALESCE(n.organization_name, g.name, ''), ` + userColumns
	// Where Aliquot itself did it, the person stands in for the actor, and scanNotification leaves them out.
	notificationJoins = `LEFT JOIN request_events e ON e.id = o.event_id LEFT JOIN material_requests r
		ON r.id = e.request_id LEFT JOIN materials m ON m.id = r.material_id
		LEFT JOIN news n ON n.id = o.news_id LEFT JOIN organizations g ON g.id = COALESCE(m.organization_id,
		n.organization_id)
		JOIN users u ON u.id = COALESCE(e.actor_id, n.actor_id, o.user_id)`
)

var notifications = listing[exchange.Notification]{
	columns: notificationColumns,
	table:   "notifications",
	joins:   notificationJoins,
	scan:    scanNotification,
	id:      func(n exchange.Notification) int64 { return n.ID },
	sorts:   map[string]string{"kind": "COALESCE(e.kind, n.kind)", "request": "e.request_id"},
	filters: map[string]condition{
		"read": func(f *filter, read any) { f.and("(o.read_at IS NOT NULL) = ?", read) },
		"actor": func(f *filter, by any) {
			f.and("(EXISTS (SELECT 1 FROM request_events e WHERE e.id = o.event_id AND e.actor_id = ?) OR EXISTS "+
				"(SELECT 1 FROM news n WHERE n.id = o.news_id AND n.actor_id = ?))", by, by)
		},
		"material": func(f *filter, id any) {
			f.and("o.event_id IN (SELECT e.id FROM request_events e JOIN material_requests r ON r.id = e.request_id "+
				"WHERE r.material_id = ?)", id)
		},
		"event":      equals("o.event_id"),
		"invitation": ofNews("invitation"), "join_request": ofNews("join_request"), "webhook": ofNews("webhook"),
		"saved_search": ofNews("saved_search"),
	},
}

// ofNews holds where the detail of the news has an id under a key. No text in it looks like that: quotes in texts
// are escaped.
func ofNews(key string) condition {
	return func(f *filter, id any) {
		part := fmt.Sprintf("%%%q:%d", key, id)
		f.and("EXISTS (SELECT 1 FROM news n WHERE n.id = o.news_id AND (n.detail LIKE ? OR n.detail LIKE ?))", part+
			",%", part+"}%")
	}
}

func scanNotification(r row, n *exchange.Notification) error {
	var kind, detail string
	var by uuid.UUID
	var event, news *int64
	var happened, known *time.Time // of the event; of the news
	var actor exchange.User
	e := exchange.Event{}
	fields := append([]any{&n.ID, &n.User, &n.Category, utc{&n.CreatedAt}, utcNull{&n.ReadAt}, &n.Mail, &kind, &by,
		&detail,
		&event, utcNull{&happened}, &e.RequestID, &e.Seq, &n.Material, &n.Title,
		&news, utcNull{&known}, &n.Organization, &n.OrganizationName}, userFields(&actor)...)
	if err := r.Scan(fields...); err != nil {
		return err
	}
	if by != uuid.Nil {
		n.Actor = &actor
	}
	if news != nil {
		n.News = &exchange.Announcement{ID: *news, Kind: exchange.AnnouncementKind(kind), Actor: by,
			Organization: n.Organization, At: *known}
		return json.Unmarshal([]byte(detail), &n.News.Detail)
	}
	e.ID, e.Kind, e.Actor, e.At, e.Raw = *event, exchange.EventKind(kind), by, *happened, detail
	n.Event = e
	return json.Unmarshal([]byte(detail), &n.Event.Detail)
}

// List lists a person's notifications.
func (st Notifications) List(ctx context.Context, user uuid.UUID, by exchange.NotificationFilter,
	p exchange.Page) (exchange.ListPage[exchange.Notification], error) {
	f := where("o.user_id = ?", user)
	switch {
	case by.Unread == nil:
	case *by.Unread:
		f.and("o.read_at IS NULL")
	default:
		f.and("o.read_at IS NOT NULL")
	}
	andEqual(f, "o.category", by.Category)
	if by.Since != nil {
		f.and("o.created_at >= ?", time.Time(*by.Since))
	}
	const ofEvent, ofNews = "EXISTS (SELECT 1 FROM request_events e WHERE e.id = o.event_id AND ",
		"EXISTS (SELECT 1 FROM news n WHERE n.id = o.news_id AND "
	if by.Kind != nil {
		f.and("("+ofEvent+"e.kind = ?) OR "+ofNews+"n.kind = ?))", string(*by.Kind), string(*by.Kind))
	}
	if by.Request != nil {
		f.and(ofEvent+"e.request_id = ?)", *by.Request)
	}
	if by.Organization != nil {
		f.and("("+ofEvent+`EXISTS (SELECT 1 FROM material_requests r JOIN materials m ON m.id = r.material_id
			WHERE r.id = e.request_id AND m.organization_id = ?))
			OR `+ofNews+"n.organization_id = ?))", *by.Organization, *by.Organization)
	}
	return notifications.page(ctx, st.conn, p, f)
}

// Get reads one notification.
func (st Notifications) Get(ctx context.Context, id int64) (exchange.Notification, error) {
	return one(ctx, st.conn, scanNotification, "SELECT "+notificationColumns+" FROM notifications o "+notificationJoins+
		" WHERE o.id = $1", id)
}

// ByIDs reads those of the notifications that exist, the oldest first.
func (st Notifications) ByIDs(ctx context.Context, ids []int64) (list []exchange.Notification, err error) {
	for some := range slices.Chunk(ids, maxIn) {
		places, args := in(nil, some)
		found, err := all(ctx, st.conn, scanNotification, "SELECT "+notificationColumns+" FROM notifications o "+
			notificationJoins+" WHERE o.id IN ("+places+") ORDER BY o.id", args...)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// ForUpdate reads one notification and keeps others from changing it until commit.
func (st Notifications) ForUpdate(ctx context.Context, id int64) (exchange.Notification, error) {
	lock := ""
	if st.conn.db.dialect.forUpdate != "" {
		lock = st.conn.db.dialect.forUpdate + " OF o"
	}
	return one(ctx, st.conn, scanNotification, "SELECT "+notificationColumns+" FROM notifications o "+notificationJoins+
		" WHERE o.id = $1"+lock, id)
}

// Unread counts a person's unread notifications.
func (st Notifications) Unread(ctx context.Context, user uuid.UUID) (int64, error) {
	return one(ctx, st.conn, value[int64], "SELECT COUNT(*) FROM notifications WHERE user_id = $1 AND read_at IS NULL",
		user)
}

// MarkRead marks one notification of a person as read; unread takes it back. NotFound when that
// person has no such notification.
func (st Notifications) MarkRead(ctx context.Context, user uuid.UUID, id int64, read bool) error {
	var at *time.Time
	if read {
		at = &st.conn.Now
	}
	n, err := st.conn.exec(ctx, "UPDATE notifications SET read_at = $3 WHERE user_id = $1 AND id = $2", user, id, at)
	if err != nil || n > 0 {
		return st.marked(ctx, user, err)
	}
	return &exchange.Error{Code: exchange.NotFound, Message: "There is no such notification."}
}

// MarkAllRead marks those of a person's notifications as read that are unread and have an id up to until.
func (st Notifications) MarkAllRead(ctx context.Context, user uuid.UUID, until int64) error {
	_, err := st.conn.exec(ctx, "UPDATE notifications SET read_at = $3 WHERE user_id = $1 AND id <= $2 AND read_at "+
		"IS NULL",
		user, until, st.conn.Now)
	return st.marked(ctx, user, err)
}

// marked lets the streams of every process know that a person's count changed, unless err.
func (st Notifications) marked(ctx context.Context, user uuid.UUID, err error) error {
	if err == nil {
		*st.conn.news = true
		_, err = st.conn.exec(ctx, "UPDATE users SET marks = marks + 1 WHERE id = $1", user)
	}
	return err
}

// Behind reads the first notifications of a person with an id above after.
func (st Notifications) Behind(ctx context.Context, user uuid.UUID, after int64, limit int) ([]exchange.Notification,
	error) {
	return all(ctx, st.conn, scanNotification, "SELECT "+notificationColumns+" FROM notifications o "+notificationJoins+
		`
		WHERE o.user_id = $1 AND o.id > $2 ORDER BY o.id LIMIT $3`, user, after, limit)
}

// NotificationStamp is when a notification was created, and whose it is.
type NotificationStamp struct {
	ID   int64
	User uuid.UUID
	At   time.Time
}

func scanStamp(r row, s *NotificationStamp) error { return r.Scan(&s.ID, &s.User, utc{&s.At}) }

// Newest are those of a person, the newest first.
func (st Notifications) Newest(ctx context.Context, user uuid.UUID, limit int) ([]NotificationStamp, error) {
	return all(ctx, st.conn, scanStamp, "SELECT id, user_id, created_at FROM notifications WHERE user_id = $1 "+
		"ORDER BY id "+
		"DESC LIMIT $2", user, limit)
}

// Added are everybody's notifications with an id above after, by id.
func (st Notifications) Added(ctx context.Context, after int64) ([]NotificationStamp, error) {
	return all(ctx, st.conn, scanStamp, "SELECT id, user_id, created_at FROM notifications WHERE id > $1 ORDER BY id",
		after)
}

// AddedBefore is the highest id of those of the newest notifications that were made before a moment,
// or the lowest of the newest; 0 where there is none.
func (st Notifications) AddedBefore(ctx context.Context, moment time.Time, newest int) (int64, error) {
	return one(ctx, st.conn, value[int64], `SELECT COALESCE(MAX(CASE WHEN created_at < $1 THEN id END), MIN(id) - 1, 0)
		FROM (SELECT id, created_at FROM notifications ORDER BY id DESC LIMIT $2) newest`, moment, newest)
}

// Marks says how often each of some people had notifications marked as read or unread.
func (st Notifications) Marks(ctx context.Context, users []uuid.UUID) (map[uuid.UUID]int64, error) {
	type mark struct {
		user uuid.UUID
		n    int64
	}
	marks := map[uuid.UUID]int64{}
	for some := range slices.Chunk(users, maxIn) {
		places, args := in(nil, some)
		list, err := all(ctx, st.conn, func(r row, m *mark) error { return r.Scan(&m.user, &m.n) },
			"SELECT id, marks FROM users WHERE id IN ("+places+")", args...)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			marks[m.user] = m.n
		}
	}
	return marks, nil
}

// Valid are those of some tokens that are not revoked or expired, each with whether its user is an admin.
func (st Tokens) Valid(ctx context.Context, tokens []int64) (map[int64]bool, error) {
	type token struct {
		id    int64
		admin bool
	}
	valid := map[int64]bool{}
	for some := range slices.Chunk(tokens, maxIn) {
		places, args := in([]any{st.conn.Now}, some)
		list, err := all(ctx, st.conn, func(r row, t *token) error { return r.Scan(&t.id, &t.admin) },
			"SELECT t.id, u.is_admin FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.expires_at > $1 AND "+
				"t.id IN ("+places+")", args...)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			valid[t.id] = t.admin
		}
	}
	return valid, nil
}
