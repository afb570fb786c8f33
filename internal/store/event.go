package store

import (
	"context"
	"encoding/json"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// AppendEvents seals the events of one act behind those of the request, keeps them, and gives
// them with their ids. q is the request as it was locked by RequestForUpdate; UpdateRequest
// follows and keeps the new head of its chain.
func (c Conn) AppendEvents(ctx context.Context, q *exchange.Requested, events []exchange.Event) ([]exchange.Event, error) {
	for i, e := range events {
		e.RequestID, e.At = q.ID, c.Now
		e, err := e.Seal(q.Head.Seq, q.Head.Hash)
		if err != nil {
			return nil, err
		}
		e.ID, err = one(ctx, c, value[int64], `INSERT INTO request_events (request_id, seq, kind, actor_id, at, detail, prev_hash, hash)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
			e.RequestID, e.Seq, string(e.Kind), uuid.NullUUID{UUID: e.Actor, Valid: e.Actor != uuid.Nil}, e.At, e.Raw, e.Prev, e.Hash)
		if err != nil {
			return nil, err
		}
		q.Head, events[i] = exchange.Head{Seq: e.Seq, Hash: e.Hash}, e
	}
	return events, nil
}

const eventColumns = "o.id, o.request_id, o.seq, o.kind, o.actor_id, o.at, o.detail, o.prev_hash, o.hash"

func scanEvent(r row, e *exchange.Event) error {
	err := r.Scan(&e.ID, &e.RequestID, &e.Seq, &e.Kind, &e.Actor, utc{&e.At}, &e.Raw, &e.Prev, &e.Hash)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(e.Raw), &e.Detail)
}

// Events lists the events of a request; kind "" is every kind.
func (c Conn) Events(ctx context.Context, request int64, kind exchange.EventKind, p exchange.Page) (exchange.Part[exchange.Event], error) {
	l := listing[exchange.Event]{columns: eventColumns, table: "request_events", scan: scanEvent,
		id: func(e exchange.Event) int64 { return e.ID }, sorts: map[string]string{"sent_at": "o.at"}}
	f := where("o.request_id = ?", request)
	if kind != "" {
		f.and("o.kind = ?", string(kind))
	}
	return l.page(ctx, c, p, f)
}

// Head is the last event of a request as its row has it.
type Head struct {
	Request int64
	exchange.Head
}

// Heads reads, by id, the heads of the requests behind after; for verifying.
func (c Conn) Heads(ctx context.Context, after int64, limit int) ([]Head, error) {
	scan := func(r row, h *Head) error {
		return r.Scan(&h.Request, &h.Seq, &h.Hash)
	}
	return all(ctx, c, scan, "SELECT id, last_seq, last_hash FROM material_requests WHERE id > $1 ORDER BY id LIMIT $2", after, limit)
}

// Chain reads the events of a request from the first on; for verifying.
func (c Conn) Chain(ctx context.Context, request int64) ([]exchange.Event, error) {
	return all(ctx, c, scanEvent, "SELECT "+eventColumns+" FROM request_events o WHERE o.request_id = $1 ORDER BY o.seq", request)
}

// notify holds one statement for each audience, so that telling any number of people is one
// statement; the unique index keeps it to one message per person and event.
var notify = func() map[exchange.Audience]string {
	from := map[exchange.Group]string{
		exchange.ToMembers:   "memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL",
		exchange.ToAssignee:  "memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL AND m.user_id = $6",
		exchange.ToOwner:     "memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL AND m.user_id = (SELECT owner_id FROM organizations WHERE id = $5)",
		exchange.ToRequester: "(SELECT id AS user_id FROM users WHERE id = $6) m WHERE CAST($5 AS BIGINT) > 0",
	}
	statements := map[exchange.Audience]string{}
	for _, category := range []exchange.Category{exchange.NewRequestNotif, exchange.StatusNotif, exchange.DecisionNotif,
		exchange.AssignedNotif, exchange.ReminderNotif} {
		for group, who := range from {
			query := "INSERT INTO notifications (event_id, category, created_at, user_id) SELECT $1, $2, $3, m.user_id FROM " + who + " AND m.user_id <> $4"
			if group != exchange.ToRequester { // a requester has no switch
				query += " AND m." + string(category)
			}
			statements[exchange.Audience{Category: category, To: group}] = query + " ON CONFLICT (user_id, event_id) DO NOTHING"
		}
	}
	return statements
}()

// Notify tells one audience of an event; person is the requester or the assignee, where the
// audience is one of them. The actor hears nothing of their own act.
func (c Conn) Notify(ctx context.Context, a exchange.Audience, e exchange.Event, organization int64, person uuid.UUID) error {
	args := []any{e.ID, string(a.Category), c.Now, e.Actor, organization}
	if a.To == exchange.ToAssignee || a.To == exchange.ToRequester {
		args = append(args, person)
	}
	_, err := c.exec(ctx, notify[a], args...)
	return err
}

var notifications = listing[exchange.Notification]{
	columns: "o.id, o.category, o.created_at, o.read_at, m.id, m.title, e.id, e.request_id, e.seq, e.kind, e.actor_id, e.at, e.detail, " + userColumns,
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
	fields := append([]any{&n.ID, &n.Category, utc{&n.CreatedAt}, utcNull{&n.ReadAt}, &n.Material, &n.Title,
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
