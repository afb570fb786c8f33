package store

import (
	"context"
	"fmt"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// notifyAtOnce is how many members a lab may have who hear of an event in the transaction of the act
// itself. Larger ones would slow the act down; a job tells them.
const notifyAtOnce = 25

// notify holds one statement for each audience, so that telling any number of people is one
// statement; the unique index keeps it to one message per person and event.
var notify = func() map[exchange.Audience]string {
	from := map[exchange.Group]string{
		// CROSS JOIN: SQLite looks whether the lab is small before it goes through its members.
		exchange.ToMembers: fmt.Sprintf(`(SELECT 1 AS one WHERE (SELECT COUNT(*) FROM (SELECT 1 FROM memberships o
			WHERE o.organization_id = $5 AND o.left_at IS NULL LIMIT %d) few) <= %d) small
			CROSS JOIN memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL`, notifyAtOnce+1, notifyAtOnce),
		exchange.ToAssignee: "memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL AND m.user_id = $6",
		exchange.ToOwner: "memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL AND m.user_id = " +
			"(SELECT owner_id FROM organizations WHERE id = $5)",
		exchange.ToRequester: "(SELECT id AS user_id FROM users WHERE id = $6) m WHERE CAST($5 AS BIGINT) > 0",
	}
	statements := map[exchange.Audience]string{}
	for _, category := range exchange.Categories {
		for group, who := range from {
			query := told + who + " AND m.user_id <> $4"
			if group != exchange.ToRequester { // a requester has no switch
				query += " AND m." + string(category)
			}
			statements[exchange.Audience{Category: category, To: group}] = query + once
		}
	}
	return statements
}()

// The beginning and the end of statements that tell of an event.
const (
	told = "INSERT INTO notifications (event_id, category, created_at, mail, user_id) SELECT $1, $2, $3, 'NEW', " +
		"m.user_id FROM "
	once = " ON CONFLICT (user_id, event_id) DO NOTHING"
)

// Notify tells one audience of an event; person is the requester or the assignee, where the
// audience is one of them. The actor hears nothing of their own act. The members of a large
// lab it does not tell; NotifyMembers does.
func (st Notifications) Notify(ctx context.Context, a exchange.Audience, e exchange.Event, organization int64,
	person uuid.UUID) error {
	args := []any{e.ID, string(a.Category), st.conn.Now, e.Actor, organization}
	if a.To == exchange.ToAssignee || a.To == exchange.ToRequester {
		args = append(args, person)
	}
	n, err := st.conn.exec(ctx, notify[a], args...)
	*st.conn.news = *st.conn.news || n > 0
	return err
}

// MembersAfter reads the ids of members of an organization behind one, in their order.
func (st Organizations) MembersAfter(ctx context.Context, organization int64, after uuid.UUID, limit int) ([]uuid.UUID,
	error) {
	return all(ctx, st.conn, value[uuid.UUID], `SELECT user_id FROM memberships WHERE organization_id = $1
		AND user_id > $2
		AND left_at IS NULL
		ORDER BY user_id LIMIT $3`, organization, after, limit)
}

// NotifyMembers tells of an event those members behind one of them and up to another who have not been
// told, by their switches.
func (st Notifications) NotifyMembers(ctx context.Context, category exchange.Category, e exchange.Event,
	organization int64,
	after, upTo uuid.UUID) error {
	n, err := st.conn.exec(ctx, told+"memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL AND "+
		"m.user_id <> "+
		"$4 AND m."+string(category)+
		" AND m.user_id > $6 AND m.user_id <= $7"+once, e.ID, string(category), st.conn.Now, e.Actor, organization,
		after,
		upTo)
	*st.conn.news = *st.conn.news || n > 0
	return err
}
