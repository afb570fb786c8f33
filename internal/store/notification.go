package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/sqldb"

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

var notifications = sqldb.Listing[notify.Notification]{
	Columns: notificationColumns,
	Table:   "notifications",
	Joins:   notificationJoins,
	Scan:    scanNotification,
	ID:      func(n notify.Notification) int64 { return n.ID },
	Sorts:   map[string]string{"kind": "COALESCE(e.kind, n.kind)", "request": "e.request_id"},
	Filters: map[string]sqldb.Condition{
		"read": func(f *sqldb.Filter, read any) { f.And("(o.read_at IS NOT NULL) = ?", read) },
		"actor": func(f *sqldb.Filter, by any) {
			f.And("(EXISTS (SELECT 1 FROM request_events e WHERE e.id = o.event_id AND e.actor_id = ?) OR EXISTS "+
				"(SELECT 1 FROM news n WHERE n.id = o.news_id AND n.actor_id = ?))", by, by)
		},
		"material": func(f *sqldb.Filter, id any) {
			f.And("o.event_id IN (SELECT e.id FROM request_events e JOIN material_requests r ON r.id = e.request_id "+
				"WHERE r.material_id = ?)", id)
		},
		"event":      sqldb.Equals("o.event_id"),
		"invitation": ofNews("invitation"), "join_request": ofNews("join_request"), "webhook": ofNews("webhook"),
		"saved_search": ofNews("saved_search"), "inquiry": ofNews("inquiry"),
		"agreement": ofNews("agreement"),
	},
}

// ofNews holds where the detail of the news has an id under a key. No text in it looks like that: quotes in texts
// are escaped.
func ofNews(key string) sqldb.Condition {
	return func(f *sqldb.Filter, id any) {
		part := fmt.Sprintf("%%%q:%d", key, id)
		f.And("EXISTS (SELECT 1 FROM news n WHERE n.id = o.news_id AND (n.detail LIKE ? OR n.detail LIKE ?))", part+
			",%", part+"}%")
	}
}

func scanNotification(r sqldb.Row, n *notify.Notification) error {
	var kind, detail string
	var by uuid.UUID
	var event, news *int64
	var happened, known *time.Time // of the event; of the news
	var actor person.User
	e := request.Event{}
	fields := append([]any{&n.ID, &n.User, &n.Category, sqldb.UTC(&n.CreatedAt), sqldb.UTCOrNull(&n.ReadAt), &n.Mail,
		&kind, &by,
		&detail,
		&event, sqldb.UTCOrNull(&happened), &e.RequestID, &e.Seq, &n.Material, &n.Title,
		&news, sqldb.UTCOrNull(&known), &n.Organization, &n.OrganizationName}, userFields(&actor)...)
	if err := r.Scan(fields...); err != nil {
		return err
	}
	if by != uuid.Nil {
		n.Actor = &actor
	}
	if news != nil {
		n.Announcement = &notify.Announcement{ID: *news, Kind: notify.AnnouncementKind(kind), Actor: by,
			Organization: n.Organization, At: *known}
		return json.Unmarshal([]byte(detail), &n.Announcement.Detail)
	}
	e.ID, e.Kind, e.Actor, e.At, e.Raw = *event, request.EventKind(kind), by, *happened, detail
	n.Event = e
	return json.Unmarshal([]byte(detail), &n.Event.Detail)
}

// List lists a person's notifications.
func (st Notifications) List(ctx context.Context, user uuid.UUID, by notify.NotificationFilter,
	p exchange.Page) (exchange.ListPage[notify.Notification], error) {
	f := sqldb.Where("o.user_id = ?", user)
	switch {
	case by.Unread == nil:
	case *by.Unread:
		f.And("o.read_at IS NULL")
	default:
		f.And("o.read_at IS NOT NULL")
	}
	sqldb.AndEqual(f, "o.category", by.Category)
	if by.Since != nil {
		f.And("o.created_at >= ?", time.Time(*by.Since))
	}
	const ofEvent, ofNews = "EXISTS (SELECT 1 FROM request_events e WHERE e.id = o.event_id AND ",
		"EXISTS (SELECT 1 FROM news n WHERE n.id = o.news_id AND "
	if by.Kind != nil {
		f.And("("+ofEvent+"e.kind = ?) OR "+ofNews+"n.kind = ?))", string(*by.Kind), string(*by.Kind))
	}
	if by.Request != nil {
		f.And(ofEvent+"e.request_id = ?)", *by.Request)
	}
	if by.Organization != nil {
		f.And("("+ofEvent+`EXISTS (SELECT 1 FROM material_requests r JOIN materials m ON m.id = r.material_id
			WHERE r.id = e.request_id AND m.organization_id = ?))
			OR `+ofNews+"n.organization_id = ?))", *by.Organization, *by.Organization)
	}
	return notifications.Page(ctx, st.conn, p, f)
}

// Get reads one notification.
func (st Notifications) Get(ctx context.Context, id int64) (notify.Notification, error) {
	return sqldb.One(ctx, st.conn, scanNotification, "SELECT "+notificationColumns+" FROM notifications o "+
		notificationJoins+
		" WHERE o.id = $1", id)
}

// ByIDs reads those of the notifications that exist, the oldest first.
func (st Notifications) ByIDs(ctx context.Context, ids []int64) (list []notify.Notification, err error) {
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		found, err := sqldb.All(ctx, st.conn, scanNotification, "SELECT "+notificationColumns+" FROM notifications o "+
			notificationJoins+" WHERE o.id IN ("+places+") ORDER BY o.id", args...)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// ForUpdate reads one notification and locks it until commit.
func (st Notifications) ForUpdate(ctx context.Context, id int64) (notify.Notification, error) {
	lock := ""
	if st.conn.Dialect().ForUpdate != "" {
		lock = st.conn.Dialect().ForUpdate + " OF o"
	}
	return sqldb.One(ctx, st.conn, scanNotification, "SELECT "+notificationColumns+" FROM notifications o "+
		notificationJoins+
		" WHERE o.id = $1"+lock, id)
}

// Unread counts a person's unread notifications.
func (st Notifications) Unread(ctx context.Context, user uuid.UUID) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COUNT(*) FROM notifications WHERE user_id = $1 AND "+
		"read_at IS NULL",
		user)
}

// MarkRead marks one notification of a person as read; unread undoes that. NotFound when that
// person has no such notification.
func (st Notifications) MarkRead(ctx context.Context, user uuid.UUID, id int64, read bool) error {
	var at *time.Time
	if read {
		at = &st.conn.Now
	}
	n, err := st.conn.Exec(ctx, "UPDATE notifications SET read_at = $3 WHERE user_id = $1 AND id = $2", user, id, at)
	if err != nil || n > 0 {
		return st.marked(ctx, user, err)
	}
	return &exchange.Error{Code: exchange.NotFound, Message: "There is no such notification."}
}

// MarkGroupRead marks one notification of a person as read, and those with a lower id about the same request. NotFound
// when that person has no such notification.
func (st Notifications) MarkGroupRead(ctx context.Context, user uuid.UUID, id int64) error {
	if err := st.MarkRead(ctx, user, id, true); err != nil {
		return err
	}
	_, err := st.conn.Exec(ctx, `UPDATE notifications SET read_at = $3
		WHERE user_id = $1 AND id < $2 AND read_at IS NULL
		AND event_id IN (SELECT e.id FROM request_events e WHERE e.request_id = (SELECT f.request_id
		FROM request_events f JOIN notifications n ON n.event_id = f.id WHERE n.id = $2))`, user, id, st.conn.Now)
	return err
}

// MarkAllRead marks those of a person's notifications as read that are unread and have an id up to until.
func (st Notifications) MarkAllRead(ctx context.Context, user uuid.UUID, until int64) error {
	_, err := st.conn.Exec(ctx, "UPDATE notifications SET read_at = $3 WHERE user_id = $1 AND id <= $2 AND read_at "+
		"IS NULL",
		user, until, st.conn.Now)
	return st.marked(ctx, user, err)
}

// marked lets the streams of every process know that a person's count changed, unless err.
func (st Notifications) marked(ctx context.Context, user uuid.UUID, err error) error {
	if err == nil {
		*st.conn.Notified = true
		_, err = st.conn.Exec(ctx, "UPDATE users SET marks = marks + 1 WHERE id = $1", user)
	}
	return err
}

// Behind reads the first notifications of a person with an id above after.
func (st Notifications) Behind(ctx context.Context, user uuid.UUID, after int64, limit int) ([]notify.Notification,
	error) {
	return sqldb.All(ctx, st.conn, scanNotification, "SELECT "+notificationColumns+" FROM notifications o "+
		notificationJoins+
		`
		WHERE o.user_id = $1 AND o.id > $2 ORDER BY o.id LIMIT $3`, user, after, limit)
}

// NotificationStamp is when a notification was created, and whose it is.
type NotificationStamp struct {
	ID   int64
	User uuid.UUID
	At   time.Time
}

func scanStamp(r sqldb.Row, s *NotificationStamp) error {
	return r.Scan(&s.ID, &s.User, sqldb.UTC(&s.At))
}

// Newest are those of a person, the newest first.
func (st Notifications) Newest(ctx context.Context, user uuid.UUID, limit int) ([]NotificationStamp, error) {
	return sqldb.All(ctx, st.conn, scanStamp, "SELECT id, user_id, created_at FROM notifications WHERE user_id = $1 "+
		"ORDER BY id DESC LIMIT $2", user, limit)
}

// Added are everybody's notifications with an id above after, by id.
func (st Notifications) Added(ctx context.Context, after int64) ([]NotificationStamp, error) {
	return sqldb.All(ctx, st.conn, scanStamp, "SELECT id, user_id, created_at FROM notifications WHERE id > $1 "+
		"ORDER BY id",
		after)
}

// AddedBefore is the highest id of those of the newest notifications that were made before a moment, or the lowest of
// the newest; 0 if there is none.
func (st Notifications) AddedBefore(ctx context.Context, moment time.Time, newest int) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `SELECT COALESCE(MAX(CASE WHEN created_at < $1 THEN id END),
		MIN(id) - 1, 0)
		FROM (SELECT id, created_at FROM notifications ORDER BY id DESC LIMIT $2) newest`, moment, newest)
}

// Marks returns how often each of some people had notifications marked as read or unread.
func (st Notifications) Marks(ctx context.Context, users []uuid.UUID) (map[uuid.UUID]int64, error) {
	type mark struct {
		user uuid.UUID
		n    int64
	}
	marks := map[uuid.UUID]int64{}
	for some := range slices.Chunk(users, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		list, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, m *mark) error { return r.Scan(&m.user, &m.n) },
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

// InsertAnnouncement adds news and returns their id.
func (st Notifications) InsertAnnouncement(ctx context.Context, n notify.Announcement) (int64, error) {
	detail, err := sqldb.JSON(n.Detail)
	if err != nil {
		return 0, err
	}
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO news (kind, actor_id, organization_id, at, detail,
		organization_name)
		VALUES ($1, $2, NULLIF(CAST($3 AS BIGINT), 0), $4, $5, (SELECT name FROM organizations
		WHERE id = $3)) RETURNING id`,
		string(n.Kind), uuid.NullUUID{UUID: n.Actor, Valid: n.Actor != uuid.Nil}, n.Organization, st.conn.Now, detail)
}

// Announcement reads one.
func (st Notifications) Announcement(ctx context.Context, id int64) (n notify.Announcement, err error) {
	return sqldb.One(ctx, st.conn, func(r sqldb.Row, n *notify.Announcement) error {
		var detail string
		if err := r.Scan(&n.ID, &n.Kind, &n.Actor, &n.Organization, sqldb.UTC(&n.At), &detail); err != nil {
			return err
		}
		return json.Unmarshal([]byte(detail), &n.Detail)
	}, "SELECT id, kind, COALESCE(actor_id, $2), COALESCE(organization_id, 0), at, detail FROM news WHERE id = $1", id,
		uuid.Nil)
}

// Announce notifies users of news. The actor is not notified of their own act; the unique index keeps it to
// one message per person and news.
func (st Notifications) Announce(ctx context.Context, n notify.Announcement, users ...uuid.UUID) error {
	for some := range slices.Chunk(users, sqldb.MaxIn) {
		places, args := sqldb.In([]any{n.ID, string(n.Kind.Category()), st.conn.Now, n.Actor}, some)
		added, err := st.conn.Exec(ctx, `INSERT INTO notifications (news_id, category, created_at, mail, user_id)
			SELECT CAST($1 AS BIGINT), $2, $3, 'NEW', u.id FROM users u WHERE u.id <> $4
			AND u.id IN (`+places+`) ORDER BY u.id
			ON CONFLICT (user_id, news_id) DO NOTHING`, args...)
		if err != nil {
			return err
		}
		*st.conn.Notified = *st.conn.Notified || added > 0
	}
	return nil
}

// notifyAtOnce is how many members a lab may have who are notified of an event in the transaction of the act
// itself. Larger ones would slow the act down; a job notifies their recipients.
const notifyAtOnce = 25

// notify holds one statement for each audience, so that telling any number of people is one
// statement; the unique index keeps it to one message per person and event.
var notifyQueries = func() map[notify.Audience]string {
	from := map[notify.Group]string{
		// CROSS JOIN: SQLite looks whether the lab is small before it goes through its members.
		notify.ToMembers: fmt.Sprintf(`(SELECT 1 AS one WHERE (SELECT COUNT(*) FROM (SELECT 1 FROM memberships o
			WHERE o.organization_id = $5 AND o.left_at IS NULL LIMIT %d) few) <= %d) small
			CROSS JOIN memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL`, notifyAtOnce+1, notifyAtOnce),
		notify.ToAssignee: "memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL AND m.user_id = $6",
		notify.ToOwner: "memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL AND m.user_id = " +
			"(SELECT owner_id FROM organizations WHERE id = $5)",
		notify.ToRequester: "(SELECT id AS user_id FROM users WHERE id = $6) m WHERE CAST($5 AS BIGINT) > 0",
	}
	statements := map[notify.Audience]string{}
	for _, category := range mailing.Categories {
		for group, who := range from {
			query := insertNotification + who + " AND m.user_id <> $4"
			if group != notify.ToRequester { // a requester has no switch
				query += " AND m." + string(category)
			}
			statements[notify.Audience{Category: category, To: group}] = query + once
		}
	}
	return statements
}()

// The beginning and the end of statements that notify people of an event.
const (
	insertNotification = "INSERT INTO notifications (event_id, category, created_at, mail, user_id) " +
		"SELECT $1, $2, $3, 'NEW', m.user_id FROM "
	once = " ON CONFLICT (user_id, event_id) DO NOTHING"
)

// Notify notifies one audience of an event; person is the requester or the assignee, where the
// audience is one of them. The actor is not notified of their own act, nor are the members of a
// large lab: NotifyMembers does that.
func (st Notifications) Notify(ctx context.Context, a notify.Audience, e request.Event, organization int64,
	person uuid.UUID) error {
	args := []any{e.ID, string(a.Category), st.conn.Now, e.Actor, organization}
	if a.To == notify.ToAssignee || a.To == notify.ToRequester {
		args = append(args, person)
	}
	n, err := st.conn.Exec(ctx, notifyQueries[a], args...)
	*st.conn.Notified = *st.conn.Notified || n > 0
	return err
}

// MembersAfter reads the ids of members of an organization after one, in their order.
func (st Organizations) MembersAfter(ctx context.Context, organization int64, after uuid.UUID, limit int) ([]uuid.UUID,
	error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[uuid.UUID], `SELECT user_id FROM memberships WHERE organization_id = $1
		AND user_id > $2
		AND left_at IS NULL
		ORDER BY user_id LIMIT $3`, organization, after, limit)
}

// NotifyMembers notifies of an event those members after one of them and up to another who have not been
// told, by their switches.
func (st Notifications) NotifyMembers(ctx context.Context, category mailing.Category, e request.Event,
	organization int64, after, upTo uuid.UUID) error {
	n, err := st.conn.Exec(ctx, insertNotification+`memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL
		AND m.user_id <> $4 AND m.`+string(category)+` AND m.user_id > $6 AND m.user_id <= $7`+once,
		e.ID, string(category), st.conn.Now, e.Actor, organization, after, upTo)
	*st.conn.Notified = *st.conn.Notified || n > 0
	return err
}
