package store

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

const grantColumns = "o.id, o.user_id, o.title, o.funder_id, o.created_at, o.updated_at"

func scanGrant(r sqldb.Row, g *person.Grant) error {
	return r.Scan(&g.ID, &g.UserID, &g.Title, &g.FunderID, sqldb.UTC(&g.CreatedAt), sqldb.UTC(&g.UpdatedAt))
}

// Get reads one grant.
func (st Grants) Get(ctx context.Context, id int64) (person.Grant, error) {
	return sqldb.One(ctx, st.conn, scanGrant, "SELECT "+grantColumns+" FROM grants o WHERE o.id = $1", id)
}

// ForUpdate reads one and locks it until commit.
func (st Grants) ForUpdate(ctx context.Context, id int64) (person.Grant, error) {
	return sqldb.One(ctx, st.conn, scanGrant, "SELECT "+grantColumns+" FROM grants o WHERE o.id = $1"+
		st.conn.Dialect().ForUpdate, id)
}

var grants = sqldb.Listing[person.Grant]{Columns: grantColumns, Table: "grants", Scan: scanGrant,
	ID:      func(g person.Grant) int64 { return g.ID },
	Filters: map[string]sqldb.Condition{"user": sqldb.Equals("o.user_id")}}

// List lists a user's grants.
func (st Grants) List(ctx context.Context, user uuid.UUID, p exchange.Page) (exchange.ListPage[person.Grant], error) {
	return grants.Page(ctx, st.conn, p, sqldb.Where("o.user_id = ?", user))
}

// OfOrganization lists the grants that paid for materials of an organization.
func (st Grants) OfOrganization(ctx context.Context, organization int64,
	p exchange.Page) (exchange.ListPage[person.Grant],
	error) {
	return grants.Page(ctx, st.conn, p, sqldb.Where(`o.id IN (SELECT f.grant_id FROM materials m
		JOIN grant_materials f ON f.material_id = m.id WHERE m.organization_id = ?)`, organization))
}

// Insert adds a grant and returns its id.
func (st Grants) Insert(ctx context.Context, g person.Grant) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO grants (user_id, title, funder_id, created_at,
		updated_at,
		title_sort, funder_id_sort)
		VALUES ($1, $2, $3, $4, $4, $5, $6) RETURNING id`, g.UserID, g.Title, g.FunderID, st.conn.Now,
		exchange.SortKey(g.Title), exchange.SortKey(g.FunderID))
}

// Update saves a grant; its owner never changes.
func (st Grants) Update(ctx context.Context, g person.Grant) error {
	_, err := st.conn.Exec(ctx, "UPDATE grants SET title = $2, funder_id = $3, updated_at = $4, title_sort = $5, "+
		"funder_id_sort = $6 WHERE id = $1",
		g.ID, g.Title, g.FunderID, st.conn.Now, exchange.SortKey(g.Title), exchange.SortKey(g.FunderID))
	return err
}

// Fund names a material in a grant; existed: it was named there already.
func (st Grants) Fund(ctx context.Context, grant, material int64) (existed bool, err error) {
	n, err := st.conn.Exec(ctx, `INSERT INTO grant_materials (grant_id, material_id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (grant_id, material_id) DO NOTHING`, grant, material, st.conn.Now)
	return n == 0, err
}

// Unfund takes a material out of a grant; NotFound when it is not there.
func (st Grants) Unfund(ctx context.Context, grant, material int64) error {
	n, err := st.conn.Exec(ctx, "DELETE FROM grant_materials WHERE grant_id = $1 AND material_id = $2", grant, material)
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "The grant does not name this material."}
	}
	return err
}

// Funded is a material in one grant.
type Funded struct {
	GrantID  int64
	Material material.Shown
}

// Funded reads the materials of several grants, by grant, the newest first.
func (st Grants) Funded(ctx context.Context, grants ...int64) ([]Funded, error) {
	if len(grants) == 0 {
		return nil, nil
	}
	places, args := sqldb.In(nil, grants)
	scan := func(r sqldb.Row, f *Funded) error {
		return r.Scan(append([]any{&f.GrantID}, shownFields(&f.Material)...)...)
	}
	return sqldb.All(ctx, st.conn, scan, "SELECT f.grant_id, "+shownMaterial+" FROM "+materialFrom+
		` JOIN grant_materials f ON f.material_id = o.id
		WHERE f.grant_id IN (`+places+") ORDER BY f.grant_id, o.id DESC", args...)
}

// FundedBy lists those materials of one grant that viewer may see.
func (st Grants) FundedBy(ctx context.Context, grant int64, p exchange.Page,
	viewer exchange.Actor) (exchange.ListPage[material.Shown], error) {
	w := sqldb.Where("o.id IN (SELECT f.material_id FROM grant_materials f WHERE f.grant_id = ?)", grant)
	if !viewer.Admin {
		andVisible(w, st.conn, viewer.Viewer())
	}
	return shownMaterials.Page(ctx, st.conn, p, w)
}

const grantLinkColumns = "o.id, o.grant_id, o.note, o.created_at, o.expires_at, o.revoked_at"

func scanGrantLink(r sqldb.Row, l *person.GrantLink) error {
	return r.Scan(&l.ID, &l.GrantID, &l.Note, sqldb.UTC(&l.CreatedAt), sqldb.UTC(&l.ExpiresAt),
		sqldb.UTCOrNull(&l.RevokedAt))
}

// Link reads one link to the report of a grant.
func (st Grants) Link(ctx context.Context, id int64) (person.GrantLink, error) {
	return sqldb.One(ctx, st.conn, scanGrantLink, "SELECT "+grantLinkColumns+" FROM grant_links o WHERE o.id = $1", id)
}

// Links lists the links to the report of a grant that open it still, the newest first.
func (st Grants) Links(ctx context.Context, grant int64) ([]person.GrantLink, error) {
	return sqldb.All(ctx, st.conn, scanGrantLink, "SELECT "+grantLinkColumns+
		" FROM grant_links o WHERE o.grant_id = $1 AND o.revoked_at IS NULL AND o.expires_at > $2 ORDER BY o.id DESC",
		grant, st.conn.Now)
}

// InsertLink adds a link and returns its id.
func (st Grants) InsertLink(ctx context.Context, l person.GrantLink) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "INSERT INTO grant_links (grant_id, note, created_at, "+
		"expires_at) VALUES ($1, "+
		"$2, $3, $4) RETURNING id",
		l.GrantID, l.Note, st.conn.Now, l.ExpiresAt)
}

// RevokeLink has a link open nothing any more; NotFound where the grant has none of that id.
func (st Grants) RevokeLink(ctx context.Context, grant, id int64) error {
	n, err := st.conn.Exec(ctx, "UPDATE grant_links SET revoked_at = COALESCE(revoked_at, $3) WHERE grant_id = $1 "+
		"AND id = $2", grant, id, st.conn.Now)
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "The grant has no such link."}
	}
	return err
}

// PaidFor returns how often each material of a grant was requested, and how often that was completed.
func (st Grants) PaidFor(ctx context.Context, grant int64) (map[int64]material.Funded, error) {
	counts := map[int64]material.Funded{}
	_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
		var id int64
		var p material.Funded
		err := r.Scan(&id, &p.Requests, &p.Completed)
		counts[id] = p
		return err
	}, `SELECT f.material_id, COUNT(r.id), COUNT(r.id) FILTER (WHERE r.status = 'VERIFIED_FULFILLED')
		FROM grant_materials f LEFT JOIN material_requests r ON r.material_id = f.material_id AND r.deleted_at IS NULL
		WHERE f.grant_id = $1 GROUP BY f.material_id`, grant)
	return counts, err
}

// Fundable names materials of a person's labs that a grant does not name, by title.
func (st Grants) Fundable(ctx context.Context, grant int64, user uuid.UUID, limit int) ([]exchange.Named, error) {
	scan := func(r sqldb.Row, n *exchange.Named) error { return r.Scan(&n.ID, &n.Name) }
	return sqldb.All(ctx, st.conn, scan, `SELECT o.id, o.title FROM materials o
		WHERE o.organization_id IN (SELECT m.organization_id FROM memberships m WHERE m.user_id = $1
		AND m.left_at IS NULL)
			AND NOT o.is_archived AND `+published("o")+` AND NOT EXISTS (SELECT 1 FROM grant_materials f
				WHERE f.material_id = o.id AND f.grant_id = $2)
		ORDER BY o.title_sort, o.id LIMIT $3`, user, grant, limit)
}
