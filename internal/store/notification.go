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

// notifyAtOnce is how many members hear of an event in the transaction of the act itself.
const notifyAtOnce = 100

// notify holds one statement for each audience, so that telling any number of people is one
// statement; the unique index keeps it to one message per person and event.
var notify = func() map[exchange.Audience]string {
	from := map[exchange.Group]string{
		exchange.ToMembers:   "memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL",
		exchange.ToAssignee:  "memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL AND m.user_id = $6",
		exchange.ToRequester: "(SELECT id AS user_id FROM users WHERE id = $6) m WHERE CAST($5 AS BIGINT) > 0",
	}
	statements := map[exchange.Audience]string{}
	for _, category := range exchange.Categories {
		for group, who := range from {
			query := told + who + " AND m.user_id <> $4"
			if group != exchange.ToRequester { // a requester has no switch
				query += " AND m." + string(category)
			}
			if group == exchange.ToMembers {
				query += fmt.Sprintf(" ORDER BY m.user_id LIMIT %d", notifyAtOnce)
			}
			statements[exchange.Audience{Category: category, To: group}] = query + once
		}
	}
	return statements
}()

// The beginning and the end of statements that tell of an event.
const (
	told = "INSERT INTO notifications (event_id, category, created_at, mail, user_id) SELECT $1, $2, $3, 'NEW', m.user_id FROM "
	once = " ON CONFLICT (user_id, event_id) DO NOTHING"
)

// Notify tells one audience of an event; person is the requester or the assignee, where the
// audience is one of them. The actor hears nothing of their own act. Of the members it tells the
// first hundred; NotifyMembers tells the rest.
func (c Conn) Notify(ctx context.Context, a exchange.Audience, e exchange.Event, organization int64, person uuid.UUID) error {
	args := []any{e.ID, string(a.Category), c.Now, e.Actor, organization}
	if a.To != exchange.ToMembers {
		args = append(args, person)
	}
	_, err := c.exec(ctx, notify[a], args...)
	return err
}

// MembersAfter reads the ids of members of an organization behind one, in their order.
func (c Conn) MembersAfter(ctx context.Context, organization int64, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return all(ctx, c, value[uuid.UUID], `SELECT user_id FROM memberships WHERE organization_id = $1 AND user_id > $2 AND left_at IS NULL
		ORDER BY user_id LIMIT $3`, organization, after, limit)
}

// NotifyMembers tells of an event those members behind one of them and up to another who have not been
// told, by their switches.
func (c Conn) NotifyMembers(ctx context.Context, category exchange.Category, e exchange.Event, organization int64, after, upTo uuid.UUID) error {
	_, err := c.exec(ctx, told+"memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL AND m.user_id <> $4 AND m."+string(category)+
		" AND m.user_id > $6 AND m.user_id <= $7"+once, e.ID, string(category), c.Now, e.Actor, organization, after, upTo)
	return err
}

var notifications = listing[exchange.Notification]{
	columns: "o.id, o.user_id, o.category, o.created_at, o.read_at, o.mail, m.id, m.title, m.organization_id, e.id, e.request_id, e.seq, e.kind, e.actor_id, e.at, e.detail, " + userColumns,
	table:   "notifications",
	// Where Aliquot itself did it, the person stands in for the actor, and scanNotification leaves them out.
	joins: `JOIN request_events e ON e.id = o.event_id JOIN users u ON u.id = COALESCE(e.actor_id, o.user_id)
		JOIN material_requests r ON r.id = e.request_id JOIN materials m ON m.id = r.material_id`,
	scan:  scanNotification,
	id:    func(n exchange.Notification) int64 { return n.ID },
	sorts: map[string]string{"kind": "e.kind", "request": "e.request_id"},
}

func scanNotification(r row, n *exchange.Notification) error {
	e := &n.Event
	var actor exchange.User
	fields := append([]any{&n.ID, &n.User, &n.Category, utc{&n.CreatedAt}, utcNull{&n.ReadAt}, &n.Mail, &n.Material, &n.Title, &n.Organization,
		&e.ID, &e.RequestID, &e.Seq, &e.Kind, &e.Actor, utc{&e.At}, &e.Raw}, userFields(&actor)...)
	if err := r.Scan(fields...); err != nil {
		return err
	}
	if e.Actor != uuid.Nil {
		n.Actor = &actor
	}
	return json.Unmarshal([]byte(e.Raw), &e.Detail)
}

// Notifications lists a person's notifications.
func (c Conn) Notifications(ctx context.Context, user uuid.UUID, unread bool, p exchange.Page) (exchange.Part[exchange.Notification], error) {
	f := where("o.user_id = ?", user)
	if unread {
		f.and("o.read_at IS NULL")
	}
	return notifications.page(ctx, c, p, f)
}

// Notification reads one notification.
func (c Conn) Notification(ctx context.Context, id int64) (exchange.Notification, error) {
	return one(ctx, c, scanNotification, "SELECT "+notifications.columns+" FROM notifications o "+notifications.joins+" WHERE o.id = $1", id)
}

// NotificationsByID reads those of the notifications that exist, the oldest first.
func (c Conn) NotificationsByID(ctx context.Context, ids []int64) (list []exchange.Notification, err error) {
	for some := range slices.Chunk(ids, mostIn) {
		places, args := in(nil, some)
		found, err := all(ctx, c, scanNotification, "SELECT "+notifications.columns+" FROM notifications o "+notifications.joins+" WHERE o.id IN ("+places+") ORDER BY o.id", args...)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// NotificationForUpdate reads one notification and keeps others from changing it until commit.
func (c Conn) NotificationForUpdate(ctx context.Context, id int64) (exchange.Notification, error) {
	lock := ""
	if c.db.dialect.forUpdate != "" {
		lock = c.db.dialect.forUpdate + " OF o"
	}
	return one(ctx, c, scanNotification, "SELECT "+notifications.columns+" FROM notifications o "+notifications.joins+" WHERE o.id = $1"+lock, id)
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
