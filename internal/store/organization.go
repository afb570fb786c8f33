package store

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/search"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

var organizationColumns = sqldb.ColumnsOf("o.", lab.Fields)

func organizationFields(o *lab.Organization) []any { return sqldb.ScannedInto(lab.Fields, o) }

func scanOrganization(r sqldb.Row, o *lab.Organization) error {
	return r.Scan(organizationFields(o)...)
}

// Get reads one organization.
func (st Organizations) Get(ctx context.Context, id int64) (lab.Organization, error) {
	return sqldb.One(ctx, st.conn, scanOrganization, "SELECT "+organizationColumns+
		" FROM organizations o WHERE o.id = $1",
		id)
}

// ForUpdate reads one and locks it until commit.
func (st Organizations) ForUpdate(ctx context.Context, id int64) (lab.Organization, error) {
	return sqldb.One(ctx, st.conn, scanOrganization, "SELECT "+organizationColumns+
		" FROM organizations o WHERE o.id = $1"+
		st.conn.Dialect().ForChange, id)
}

// List lists all.
func (st Organizations) List(ctx context.Context, p exchange.Page) (exchange.ListPage[lab.Organization], error) {
	l := sqldb.Listing[lab.Organization]{Columns: organizationColumns, Table: "organizations",
		Scan: scanOrganization,
		ID:   func(o lab.Organization) int64 { return o.ID },
		Filters: map[string]sqldb.Condition{"owner": sqldb.Equals("o.owner_id"),
			"signs_ahead_until": sqldb.Equals("o.signs_ahead_until")}}
	return l.Page(ctx, st.conn, p, sqldb.Where("1 = 1"))
}

// ByIDs reads those of the organizations that exist, the oldest first.
func (st Organizations) ByIDs(ctx context.Context, ids []int64) ([]lab.Organization, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	places, args := sqldb.In(nil, ids)
	return sqldb.All(ctx, st.conn, scanOrganization, "SELECT "+organizationColumns+
		" FROM organizations o WHERE o.id IN ("+
		places+
		") ORDER BY o.id", args...)
}

// OfUser reads those that a user is a member of, the oldest first.
func (st Organizations) OfUser(ctx context.Context, user uuid.UUID) ([]lab.Organization, error) {
	return sqldb.All(ctx, st.conn, scanOrganization, "SELECT "+organizationColumns+` FROM organizations o
		JOIN memberships m ON m.organization_id = o.id AND m.left_at IS NULL WHERE m.user_id = $1 ORDER BY o.id`, user)
}

// BegunSince reads what the organizations that a user owns have done, of those created after a moment, the newest
// first.
func (st Organizations) BegunSince(ctx context.Context, owner uuid.UUID, since time.Time) ([]lab.Begun, error) {
	scan := func(r sqldb.Row, b *lab.Begun) error {
		return scanOrganization(sqldb.MoreColumns(r, []any{&b.Shipping, &b.Material, &b.Colleague}), &b.Lab)
	}
	return sqldb.All(ctx, st.conn, scan, "SELECT "+organizationColumns+`,
		EXISTS (SELECT 1 FROM shipping_requirements s WHERE s.organization_id = o.id),
		EXISTS (SELECT 1 FROM materials m WHERE m.organization_id = o.id),
		EXISTS (SELECT 1 FROM memberships m WHERE m.organization_id = o.id AND m.user_id <> o.owner_id)
			OR EXISTS (SELECT 1 FROM invitations i WHERE i.organization_id = o.id)
		FROM organizations o WHERE o.owner_id = $1 AND o.created_at > $2 ORDER BY o.id DESC LIMIT 5`, owner, since)
}

// OfUsers reads those that several users are members of, the oldest first.
func (st Organizations) OfUsers(ctx context.Context, users []uuid.UUID) (map[uuid.UUID][]lab.Organization, error) {
	type membership struct {
		user uuid.UUID
		lab.Organization
	}
	scan := func(r sqldb.Row, m *membership) error {
		return scanOrganization(sqldb.MoreColumns(r, []any{&m.user}), &m.Organization)
	}
	of := map[uuid.UUID][]lab.Organization{}
	for some := range slices.Chunk(users, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		list, err := sqldb.All(ctx, st.conn, scan, "SELECT "+organizationColumns+`, m.user_id FROM organizations o
			JOIN memberships m ON m.organization_id = o.id AND m.left_at IS NULL
			WHERE m.user_id IN (`+places+") ORDER BY o.id", args...)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			of[m.user] = append(of[m.user], m.Organization)
		}
	}
	return of, nil
}

// Insert adds an organization and returns its id.
func (st Organizations) Insert(ctx context.Context, o lab.Organization) (int64, error) {
	id, err := sqldb.InsertOne(ctx, st.conn, "organizations", lab.Fields, &o,
		sqldb.Setter{Column: "name_sort", Value: exchange.SortKey(o.Name)})
	if err != nil {
		return 0, err
	}
	o.ID = id
	return id, search.On(st.conn).AddOrganization(ctx, o)
}

// Update saves an organization.
func (st Organizations) Update(ctx context.Context, o lab.Organization) error {
	if err := sqldb.UpdateOne(ctx, st.conn, "organizations", lab.Fields,
		[]sqldb.Setter{{Column: "id", Value: o.ID}}, &o,
		sqldb.Setter{Column: "name_sort", Value: exchange.SortKey(o.Name)}); err != nil {
		return err
	}
	return search.On(st.conn).UpdateOrganization(ctx, o)
}

// Member is a user in one organization.
type Member struct {
	OrganizationID int64
	User           person.User
}

// Members reads the members of several organizations, by organization, then in the order in
// which they joined.
func (st Organizations) Members(ctx context.Context, organizations ...int64) ([]Member, error) {
	if len(organizations) == 0 {
		return nil, nil
	}
	places, args := sqldb.In(nil, organizations)
	scan := func(r sqldb.Row, m *Member) error {
		return r.Scan(append([]any{&m.OrganizationID}, userFields(&m.User)...)...)
	}
	return sqldb.All(ctx, st.conn, scan, "SELECT m.organization_id, "+userColumns+` FROM memberships m JOIN users u
		ON u.id = m.user_id
		WHERE m.left_at IS NULL AND m.organization_id IN (`+places+") ORDER BY m.organization_id, m.id", args...)
}

// ListMembers lists the members of one organization; the newest is who joined last.
func (st Organizations) ListMembers(ctx context.Context, organization int64,
	p exchange.Page) (exchange.ListPage[person.User],
	error) {
	type member struct {
		membership int64
		person.User
	}
	scan := func(r sqldb.Row, m *member) error {
		return r.Scan(append([]any{&m.membership}, userFields(&m.User)...)...)
	}
	l := sqldb.Listing[member]{Columns: "o.id, " + userColumns, Table: "memberships",
		Joins: "JOIN users u ON u.id = o.user_id",
		Scan:  scan, ID: func(m member) int64 { return m.membership },
		Sorts: map[string]string{"id": "u.id", "username": "u.username", "first_name": "u.first_name_sort",
			"last_name":  "u.last_name_sort",
			"created_at": "u.created_at", "updated_at": "u.updated_at"},
		Filters: map[string]sqldb.Condition{"id": sqldb.Equals("o.user_id")}}
	part, err := l.Page(ctx, st.conn, p, sqldb.Where("o.organization_id = ? AND o.left_at IS NULL", organization))
	users := make([]person.User, len(part.Items))
	for i, m := range part.Items {
		users[i] = m.User
	}
	return exchange.ListPage[person.User]{Items: users, Total: part.Total, Next: part.Next}, err
}

// SetMembers makes users the members of an organization and returns who left. New members start with every switch on;
// someone who was one before finds their switches as they were. A membership that ends keeps its settings, hidden.
func (st Organizations) SetMembers(ctx context.Context, organization int64, users []uuid.UUID) (left []uuid.UUID,
	err error) {
	present, err := sqldb.All(ctx, st.conn, sqldb.Value[uuid.UUID],
		"SELECT user_id FROM memberships WHERE organization_id = "+
			"$1 AND left_at IS NULL ORDER BY id", organization)
	if err != nil {
		return nil, err
	}
	named, member := set(users), set(present)
	joined := slices.DeleteFunc(slices.Clone(users), func(u uuid.UUID) bool { return member[u] })
	if err := st.Join(ctx, organization, joined...); err != nil {
		return nil, err
	}
	left = slices.DeleteFunc(present, func(u uuid.UUID) bool { return named[u] })
	for some := range slices.Chunk(left, sqldb.MaxIn) {
		places, args := sqldb.In([]any{organization, st.conn.Now}, some)
		if _, err := st.conn.Exec(ctx, "UPDATE memberships SET left_at = $2, updated_at = $2 WHERE id IN (SELECT "+
			"id FROM memberships "+
			"WHERE organization_id = $1 AND user_id IN ("+places+")"+st.conn.Dialect().ForUpdate+")",
			args...); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// Join makes users members of an organization; who is one already stays it.
func (st Organizations) Join(ctx context.Context, organization int64, users ...uuid.UUID) error {
	for some := range slices.Chunk(users, sqldb.MaxIn) {
		places, args := sqldb.In([]any{organization, st.conn.Now}, some)
		if _, err := st.conn.Exec(ctx, `INSERT INTO memberships (organization_id, user_id, new_request_notif,
			change_in_request_status_notif,
				request_approval_determined_notif, request_assigned_notif, reminder_notif, created_at, updated_at)
			SELECT CAST($1 AS BIGINT), u.id, TRUE, TRUE, TRUE, TRUE, TRUE, $2, $2 FROM users u
			WHERE u.id IN (`+places+`) ORDER BY u.id
			ON CONFLICT (organization_id, user_id) DO UPDATE SET left_at = NULL, updated_at = excluded.updated_at
				WHERE memberships.left_at IS NOT NULL`, args...); err != nil {
			return err
		}
	}
	return nil
}

func set[T comparable](list []T) map[T]bool {
	m := make(map[T]bool, len(list))
	for _, item := range list {
		m[item] = true
	}
	return m
}

// IsMember reports whether a user is a member of an organization, and keeps them from leaving until
// commit.
func (st Organizations) IsMember(ctx context.Context, organization int64, user uuid.UUID) (bool, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[bool], `SELECT EXISTS (SELECT 1 FROM memberships
		WHERE organization_id = $1 AND user_id = $2
		AND left_at IS NULL`+st.conn.Dialect().ForShare+")", organization, user)
}

const membershipColumns = `o.id, o.organization_id, o.user_id, o.new_request_notif, o.change_in_request_status_notif,
	o.request_approval_determined_notif, o.request_assigned_notif, o.reminder_notif, o.created_at, o.updated_at,
	o.left_at`

func scanMembership(r sqldb.Row, m *lab.Membership) error {
	s := &m.Switches
	return r.Scan(&m.ID, &m.OrganizationID, &m.UserID, &s.NewRequest, &s.StatusChange, &s.Decision, &s.Assigned,
		&s.Reminder,
		sqldb.UTC(&m.CreatedAt), sqldb.UTC(&m.UpdatedAt), sqldb.UTCOrNull(&m.LeftAt))
}

// Get reads one membership, which is also one record of settings.
func (st Memberships) Get(ctx context.Context, id int64) (lab.Membership, error) {
	return sqldb.One(ctx, st.conn, scanMembership, "SELECT "+membershipColumns+" FROM memberships o WHERE o.id = $1",
		id)
}

// ForUpdate reads one and locks it until commit.
func (st Memberships) ForUpdate(ctx context.Context, id int64) (lab.Membership, error) {
	return sqldb.One(ctx, st.conn, scanMembership, "SELECT "+membershipColumns+" FROM memberships o WHERE o.id = $1"+
		st.conn.Dialect().ForChange, id)
}

// List lists a user's present memberships.
func (st Memberships) List(ctx context.Context, user uuid.UUID,
	p exchange.Page) (exchange.ListPage[lab.Membership],
	error) {
	l := sqldb.Listing[lab.Membership]{Columns: membershipColumns, Table: "memberships", Scan: scanMembership,
		ID:    func(m lab.Membership) int64 { return m.ID },
		Sorts: map[string]string{"organization": "o.organization_id"},
		Filters: map[string]sqldb.Condition{"organization": sqldb.Equals("o.organization_id"),
			"user": sqldb.Equals("o.user_id")}}
	return l.Page(ctx, st.conn, p, sqldb.Where("o.user_id = ? AND o.left_at IS NULL", user))
}

// UpdateSwitches saves the switches of a membership.
func (st Memberships) UpdateSwitches(ctx context.Context, id int64, s lab.Switches) error {
	_, err := st.conn.Exec(ctx, `UPDATE memberships SET new_request_notif = $2, change_in_request_status_notif = $3,
		request_approval_determined_notif = $4, request_assigned_notif = $5, reminder_notif = $6, updated_at = $7
		WHERE id = $1`,
		id, s.NewRequest, s.StatusChange, s.Decision, s.Assigned, s.Reminder, st.conn.Now)
	return err
}

// Search returns the organizations that match a search.
func (st Organizations) Search(ctx context.Context, s exchange.Search) (exchange.SearchResult[lab.Organization],
	error) {
	in := search.Organizations
	if s.Sharing {
		in = search.SharingLabs
	}
	return search.Find(ctx, st.conn, in, s, organizationColumns, "organizations o", organizationFields)
}

func scanReply(r sqldb.Row, o *lab.Reply) error {
	return r.Scan(&o.ID, &o.OrganizationID, &o.Title, &o.Text)
}

// List lists the replies that an organization keeps, the oldest first; there are at most lab.MaxReplies.
func (st Replies) List(ctx context.Context, organization int64) ([]lab.Reply, error) {
	return sqldb.All(ctx, st.conn, scanReply, "SELECT id, organization_id, title, text FROM replies "+
		"WHERE organization_id = $1 ORDER BY id", organization)
}

// Insert adds a reply and returns its id.
func (st Replies) Insert(ctx context.Context, r lab.Reply) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "INSERT INTO replies (organization_id, title, text, "+
		"created_at, updated_at) VALUES ($1, $2, $3, $4, $4) RETURNING id", r.OrganizationID, r.Title, r.Text,
		st.conn.Now)
}

// Update saves a reply of its organization and reports whether there is one.
func (st Replies) Update(ctx context.Context, r lab.Reply) (bool, error) {
	n, err := st.conn.Exec(ctx, "UPDATE replies SET title = $3, text = $4, updated_at = $5 WHERE organization_id = $1 "+
		"AND id = $2", r.OrganizationID, r.ID, r.Title, r.Text, st.conn.Now)
	return n > 0, err
}

// Delete deletes a reply of an organization and reports whether there was one.
func (st Replies) Delete(ctx context.Context, organization, id int64) (bool, error) {
	n, err := st.conn.Exec(ctx, "DELETE FROM replies WHERE organization_id = $1 AND id = $2", organization, id)
	return n > 0, err
}
