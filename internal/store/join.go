package store

import (
	"context"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

const joinColumns = "o.id, o.organization_id, o.user_id, o.note, o.status, o.reason, o.created_at, o.answered_at, " +
	"n.name, " + userColumns

const joinJoins = "JOIN organizations n ON n.id = o.organization_id JOIN users u ON u.id = o.user_id"

func scanJoin(r row, j *exchange.ShownJoinRequest) error {
	return r.Scan(append([]any{&j.ID, &j.OrganizationID, &j.UserID, &j.Note, &j.Status, &j.Reason, utc{&j.CreatedAt},
		utcNull{&j.AnsweredAt},
		&j.Organization}, userFields(&j.Asker)...)...)
}

// Get reads a join request of an organization. Whoever changes one locks the organization first.
func (st JoinRequests) Get(ctx context.Context, organization, id int64) (exchange.ShownJoinRequest, error) {
	return one(ctx, st.conn, scanJoin, "SELECT "+joinColumns+" FROM join_requests o "+joinJoins+
		" WHERE o.organization_id = $1 AND o.id = $2", organization, id)
}

// Last gives the last join request of a user to an organization; nil where there is none.
func (st JoinRequests) Last(ctx context.Context, organization int64, user uuid.UUID) (*exchange.ShownJoinRequest,
	error) {
	list, err := all(ctx, st.conn, scanJoin, "SELECT "+joinColumns+" FROM join_requests o "+joinJoins+`
		WHERE o.organization_id = $1 AND o.user_id = $2 ORDER BY o.id DESC LIMIT 1`, organization, user)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// Pending counts the join requests of a user that nobody answered.
func (st JoinRequests) Pending(ctx context.Context, user uuid.UUID) (int, error) {
	return one(ctx, st.conn, value[int], "SELECT COUNT(*) FROM join_requests WHERE user_id = $1 AND status = 'PENDING'",
		user)
}

// List lists those to an organization.
func (st JoinRequests) List(ctx context.Context, organization int64, v exchange.JoinFilter,
	p exchange.Page) (exchange.ListPage[exchange.ShownJoinRequest], error) {
	return st.list(ctx, where("o.organization_id = ?", organization), v, p)
}

// OfUser lists those of a user.
func (st JoinRequests) OfUser(ctx context.Context, user uuid.UUID, v exchange.JoinFilter,
	p exchange.Page) (exchange.ListPage[exchange.ShownJoinRequest], error) {
	return st.list(ctx, where("o.user_id = ?", user), v, p)
}

func (st JoinRequests) list(ctx context.Context, f *filter, v exchange.JoinFilter,
	p exchange.Page) (exchange.ListPage[exchange.ShownJoinRequest], error) {
	andEqual(f, "o.status", v.Status)
	l := listing[exchange.ShownJoinRequest]{columns: joinColumns, table: "join_requests", joins: joinJoins,
		scan:    scanJoin,
		id:      func(j exchange.ShownJoinRequest) int64 { return j.ID },
		filters: map[string]condition{"organization": equals("o.organization_id"), "user": equals("o.user_id")}}
	return l.page(ctx, st.conn, p, f)
}

// Insert adds a join request and gives its id.
func (st JoinRequests) Insert(ctx context.Context, j exchange.JoinRequest) (int64, error) {
	return one(ctx, st.conn, value[int64], `INSERT INTO join_requests (organization_id, user_id, note, status, reason,
		created_at)
		VALUES ($1, $2, $3, $4, '', $5) RETURNING id`, j.OrganizationID, j.UserID, j.Note, string(j.Status),
		st.conn.Now)
}

// Save saves what became of a join request.
func (st JoinRequests) Save(ctx context.Context, j exchange.JoinRequest) error {
	_, err := st.conn.exec(ctx, "UPDATE join_requests SET status = $2, reason = $3, answered_at = $4 WHERE id = $1",
		j.ID,
		string(j.Status), j.Reason, j.AnsweredAt)
	return err
}
