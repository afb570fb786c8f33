package store

import (
	"context"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

const invitationColumns = `o.id, o.organization_id, o.registry_id, o.email, o.role, o.invited_by, o.status, o.round,
	o.sent_at, o.created_at, o.expires_at,
	o.mail, o.answered_by, o.answered_at, n.name, ` + userColumns

const invitationJoins = "JOIN organizations n ON n.id = o.organization_id JOIN users u ON u.id = o.invited_by"

// scan scans an invitation as it is now.
func (st Invitations) scan(r sqldb.Row, i *lab.ShownInvitation) error {
	err := r.Scan(append([]any{&i.ID, &i.OrganizationID, &i.RegistryID, &i.Email, &i.Role, &i.InvitedBy, &i.Status,
		&i.Round, sqldb.UTC(&i.SentAt),
		sqldb.UTC(&i.CreatedAt), sqldb.UTC(&i.ExpiresAt), &i.Mail, &i.AnsweredBy, sqldb.UTCOrNull(&i.AnsweredAt),
		&i.Organization},
		userFields(&i.Inviter)...)...)
	i.Invitation = i.At(st.conn.Now)
	return err
}

func (st Invitations) list(ctx context.Context, p exchange.Page,
	f *sqldb.Filter) (exchange.ListPage[lab.ShownInvitation],
	error) {
	l := sqldb.Listing[lab.ShownInvitation]{Columns: invitationColumns, Table: "invitations",
		Joins:   invitationJoins,
		Scan:    st.scan,
		ID:      func(i lab.ShownInvitation) int64 { return i.ID },
		Sorts:   map[string]string{"registry_id": "NULLIF(o.registry_id, '')", "email": "NULLIF(o.email, '')"},
		Filters: map[string]sqldb.Condition{"organization": sqldb.Equals("o.organization_id")}}
	return l.Page(ctx, st.conn, p, f)
}

// Get reads one invitation. Whoever changes one locks its organization first.
func (st Invitations) Get(ctx context.Context, id int64) (lab.ShownInvitation, error) {
	return sqldb.One(ctx, st.conn, st.scan, "SELECT "+invitationColumns+" FROM invitations o "+invitationJoins+
		" WHERE o.id = $1", id)
}

// GetOf reads one invitation of an organization.
func (st Invitations) GetOf(ctx context.Context, organization, id int64) (lab.ShownInvitation, error) {
	return sqldb.One(ctx, st.conn, st.scan, "SELECT "+invitationColumns+" FROM invitations o "+invitationJoins+
		" WHERE o.organization_id = $1 AND o.id = $2",
		organization, id)
}

// andStatus adds that invitations have a status now.
func andStatus(f *sqldb.Filter, status lab.InvitationStatus, now time.Time) {
	switch status {
	case lab.InvitationPending:
		f.And("o.status = 'PENDING' AND o.expires_at > ?", now)
	case lab.InvitationExpired:
		f.And("o.status = 'PENDING' AND o.expires_at <= ?", now)
	default:
		f.And("o.status = ?", string(status))
	}
}

// List lists those invitations of an organization that a filter lets through.
func (st Invitations) List(ctx context.Context, organization int64, v lab.InvitationFilter,
	p exchange.Page) (exchange.ListPage[lab.ShownInvitation], error) {
	f := sqldb.Where("o.organization_id = ?", organization)
	status := lab.InvitationPending
	if v.Status != nil {
		status = *v.Status
	}
	andStatus(f, status, st.conn.Now)
	sqldb.AndEqual(f, "o.role", v.Role)
	return st.list(ctx, p, f)
}

// For lists those that u can answer.
func (st Invitations) For(ctx context.Context, u person.User,
	p exchange.Page) (exchange.ListPage[lab.ShownInvitation], error) {
	f := &sqldb.Filter{}
	andStatus(f, lab.InvitationPending, st.conn.Now)
	if u.VerifiedEmail == "" {
		f.And("o.registry_id = ?", u.RegistryID)
	} else {
		f.And("(o.registry_id = ? OR o.email = ?)", u.RegistryID, u.VerifiedEmail)
	}
	return st.list(ctx, p, f)
}

// Same returns the last invitation of the organization that asks the same person as i; nil if there is none.
func (st Invitations) Same(ctx context.Context, i lab.Invitation) (*lab.ShownInvitation, error) {
	list, err := sqldb.All(ctx, st.conn, st.scan, "SELECT "+invitationColumns+" FROM invitations o "+invitationJoins+`
		WHERE o.organization_id = $1 AND o.registry_id = $2 AND o.email = $3
		ORDER BY o.id DESC LIMIT 1`, i.OrganizationID, i.RegistryID, i.Email)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// InvitedUser is a user whom an invitation addresses, and their present role in its organization.
type InvitedUser struct {
	ID            uuid.UUID
	Member, Owner bool
}

// InvitedUsers reads the users whom i addresses: none where the person never signed in, several where the same
// address was verified for several.
func (st Invitations) InvitedUsers(ctx context.Context, i lab.Invitation) ([]InvitedUser, error) {
	column, who := "u.registry_id", i.RegistryID
	if who == "" {
		column, who = "u.verified_email", i.Email
	}
	return sqldb.All(ctx, st.conn,
		func(r sqldb.Row, a *InvitedUser) error { return r.Scan(&a.ID, &a.Member, &a.Owner) },
		`SELECT u.id,
			EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = $1 AND m.user_id = u.id
			AND m.left_at IS NULL),
			EXISTS (SELECT 1 FROM organizations o WHERE o.id = $1 AND o.owner_id = u.id)
		FROM users u WHERE `+column+" = $2 AND u.closed_at IS NULL ORDER BY u.id", i.OrganizationID, who)
}

// InvitedBy counts whom a user invited since a moment, and returns when the first of them was.
func (st Invitations) InvitedBy(ctx context.Context, user uuid.UUID, since time.Time) (n int, first time.Time,
	err error) {
	times, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, t *time.Time) error { return r.Scan(sqldb.UTC(t)) },
		"SELECT created_at FROM invitations WHERE invited_by = $1 AND created_at > $2 ORDER BY created_at LIMIT $3",
		user, since, lab.MaxInvited)
	if len(times) > 0 {
		first = times[0]
	}
	return len(times), first, err
}

// Insert adds an invitation and returns its id.
func (st Invitations) Insert(ctx context.Context, i lab.Invitation) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO invitations (organization_id, registry_id, email,
		role,
		invited_by,
		status, round, sent_at, created_at, expires_at, mail)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10) RETURNING id`,
		i.OrganizationID, i.RegistryID, i.Email, string(i.Role), i.InvitedBy, string(i.Status), i.Round, st.conn.Now,
		i.ExpiresAt, string(i.Mail))
}

// SaveAnswer saves the answer to an invitation.
func (st Invitations) SaveAnswer(ctx context.Context, i lab.Invitation) error {
	_, err := st.conn.Exec(ctx, "UPDATE invitations SET status = $2, answered_by = $3, answered_at = $4 WHERE id = $1",
		i.ID,
		string(i.Status), i.AnsweredBy, i.AnsweredAt)
	return err
}

// SaveRound saves that an invitation is sent once more.
func (st Invitations) SaveRound(ctx context.Context, i lab.Invitation) error {
	_, err := st.conn.Exec(ctx, "UPDATE invitations SET round = $2, sent_at = $3, expires_at = $4, mail = $5 WHERE "+
		"id = $1",
		i.ID, i.Round, i.SentAt, i.ExpiresAt, string(i.Mail))
	return err
}

// SetMailState saves the state of the mail of one round of an invitation; changed is false
// where it was in another state.
func (st Invitations) SetMailState(ctx context.Context, id int64, round int, was,
	now mailing.State) (changed bool, err error) {
	n, err := st.conn.Exec(ctx, "UPDATE invitations SET mail = $4 WHERE id = $1 AND round = $2 AND mail = $3", id,
		round,
		string(was), string(now))
	return n > 0, err
}

// WithdrawOwners withdraws what asks for another owner of an organization.
func (st Invitations) WithdrawOwners(ctx context.Context, organization int64) error {
	_, err := st.conn.Exec(ctx, "UPDATE invitations SET status = 'WITHDRAWN' WHERE organization_id = $1 AND status = "+
		"'PENDING' AND role = 'OWNER'", organization)
	return err
}

// Settle closes what asks for a membership that is there now: join requests of members are accepted,
// and invitations of members as members are withdrawn.
func (st Invitations) Settle(ctx context.Context, organization int64) error {
	_, err := st.conn.Exec(ctx, `UPDATE join_requests SET status = 'ACCEPTED', answered_at = $2
		WHERE organization_id = $1
		AND status = 'PENDING'
		AND user_id IN (SELECT user_id FROM memberships WHERE organization_id = $1
		AND left_at IS NULL)`, organization, st.conn.Now)
	if err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, `UPDATE invitations SET status = 'WITHDRAWN' WHERE organization_id = $1
		AND status = 'PENDING'
		AND role = 'MEMBER'
		AND EXISTS (SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.organization_id = $1
		AND m.left_at IS NULL
			AND (u.registry_id = invitations.registry_id OR invitations.email <> ''
			AND u.verified_email = invitations.email))`, organization)
	return err
}

const joinColumns = "o.id, o.organization_id, o.user_id, o.note, o.status, o.reason, o.created_at, o.answered_at, " +
	"n.name, " + userColumns

const joinJoins = "JOIN organizations n ON n.id = o.organization_id JOIN users u ON u.id = o.user_id"

func scanJoin(r sqldb.Row, j *lab.ShownJoinRequest) error {
	return r.Scan(append([]any{&j.ID, &j.OrganizationID, &j.UserID, &j.Note, &j.Status, &j.Reason,
		sqldb.UTC(&j.CreatedAt),
		sqldb.UTCOrNull(&j.AnsweredAt),
		&j.Organization}, userFields(&j.Asker)...)...)
}

// Get reads a join request of an organization. Whoever changes one locks the organization first.
func (st JoinRequests) Get(ctx context.Context, organization, id int64) (lab.ShownJoinRequest, error) {
	return sqldb.One(ctx, st.conn, scanJoin, "SELECT "+joinColumns+" FROM join_requests o "+joinJoins+
		" WHERE o.organization_id = $1 AND o.id = $2", organization, id)
}

// Last returns the last join request of a user to an organization; nil if there is none.
func (st JoinRequests) Last(ctx context.Context, organization int64, user uuid.UUID) (*lab.ShownJoinRequest, error) {
	list, err := sqldb.All(ctx, st.conn, scanJoin, "SELECT "+joinColumns+" FROM join_requests o "+joinJoins+`
		WHERE o.organization_id = $1 AND o.user_id = $2 ORDER BY o.id DESC LIMIT 1`, organization, user)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// Pending counts the join requests of a user that nobody answered.
func (st JoinRequests) Pending(ctx context.Context, user uuid.UUID) (int, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int], "SELECT COUNT(*) FROM join_requests WHERE user_id = $1 AND "+
		"status = 'PENDING'",
		user)
}

// List lists those to an organization.
func (st JoinRequests) List(ctx context.Context, organization int64, v lab.JoinFilter,
	p exchange.Page) (exchange.ListPage[lab.ShownJoinRequest], error) {
	return st.list(ctx, sqldb.Where("o.organization_id = ?", organization), v, p)
}

// OfUser lists those of a user.
func (st JoinRequests) OfUser(ctx context.Context, user uuid.UUID, v lab.JoinFilter,
	p exchange.Page) (exchange.ListPage[lab.ShownJoinRequest], error) {
	return st.list(ctx, sqldb.Where("o.user_id = ?", user), v, p)
}

func (st JoinRequests) list(ctx context.Context, f *sqldb.Filter, v lab.JoinFilter,
	p exchange.Page) (exchange.ListPage[lab.ShownJoinRequest], error) {
	sqldb.AndEqual(f, "o.status", v.Status)
	l := sqldb.Listing[lab.ShownJoinRequest]{Columns: joinColumns, Table: "join_requests", Joins: joinJoins,
		Scan: scanJoin,
		ID:   func(j lab.ShownJoinRequest) int64 { return j.ID },
		Filters: map[string]sqldb.Condition{"organization": sqldb.Equals("o.organization_id"),
			"user": sqldb.Equals("o.user_id")}}
	return l.Page(ctx, st.conn, p, f)
}

// Insert adds a join request and returns its id.
func (st JoinRequests) Insert(ctx context.Context, j lab.JoinRequest) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO join_requests (organization_id, user_id, note,
		status, reason,
		created_at)
		VALUES ($1, $2, $3, $4, '', $5) RETURNING id`, j.OrganizationID, j.UserID, j.Note, string(j.Status),
		st.conn.Now)
}

// Save saves the state of a join request.
func (st JoinRequests) Save(ctx context.Context, j lab.JoinRequest) error {
	_, err := st.conn.Exec(ctx, "UPDATE join_requests SET status = $2, reason = $3, answered_at = $4 WHERE id = $1",
		j.ID,
		string(j.Status), j.Reason, j.AnsweredAt)
	return err
}

// maxRemembered is how many requests, and how many members, Suggested looks at.
const maxRemembered = 100

// Suggested reads people to invite to an organization: those whom a user shares another organization with, who
// requested from the organization, or who answered the user's own requests, as far as the newest of each go back; the
// last to register first. Members, and those who are invited, are left out.
func (st Invitations) Suggested(ctx context.Context, user uuid.UUID, organization int64, most int) ([]person.User,
	error) {
	return sqldb.All(ctx, st.conn, scanUser, "SELECT "+userColumns+` FROM users u WHERE u.id IN (
			SELECT id FROM (SELECT other.user_id AS id FROM memberships mine
				JOIN memberships other ON other.organization_id = mine.organization_id AND other.left_at IS NULL
				WHERE mine.user_id = $1 AND mine.left_at IS NULL AND mine.organization_id <> $2 LIMIT $3) colleagues
			UNION SELECT id FROM (SELECT r.requester_id AS id FROM material_requests r
				WHERE r.organization_id = $2 AND r.deleted_at IS NULL ORDER BY r.id DESC LIMIT $3) requesters
			UNION SELECT id FROM (SELECT r.assigned_to AS id FROM material_requests r
				WHERE r.requester_id = $1 AND r.deleted_at IS NULL ORDER BY r.id DESC LIMIT $3) answering)
		AND u.id <> $1 AND u.closed_at IS NULL
		AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = $2 AND m.user_id = u.id
			AND m.left_at IS NULL)
		AND NOT EXISTS (SELECT 1 FROM invitations i WHERE i.organization_id = $2 AND i.registry_id = u.registry_id
			AND i.status = 'PENDING')
		ORDER BY u.id DESC LIMIT $4`, user, organization, maxRemembered, most)
}
