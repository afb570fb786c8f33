package store

import (
	"context"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

const grantColumns = "o.id, o.user_id, o.title, o.funder_id, o.created_at, o.updated_at"

func scanGrant(r row, g *exchange.Grant) error {
	return r.Scan(&g.ID, &g.UserID, &g.Title, &g.FunderID, utc{&g.CreatedAt}, utc{&g.UpdatedAt})
}

// Get reads one grant.
func (st Grants) Get(ctx context.Context, id int64) (exchange.Grant, error) {
	return one(ctx, st.conn, scanGrant, "SELECT "+grantColumns+" FROM grants o WHERE o.id = $1", id)
}

// ForUpdate reads one and keeps others from changing it until commit.
func (st Grants) ForUpdate(ctx context.Context, id int64) (exchange.Grant, error) {
	return one(ctx, st.conn, scanGrant, "SELECT "+grantColumns+" FROM grants o WHERE o.id = $1"+
		st.conn.db.dialect.forUpdate, id)
}

var grants = listing[exchange.Grant]{columns: grantColumns, table: "grants", scan: scanGrant,
	id:      func(g exchange.Grant) int64 { return g.ID },
	filters: map[string]condition{"user": equals("o.user_id")}}

// List lists a user's grants.
func (st Grants) List(ctx context.Context, user uuid.UUID, p exchange.Page) (exchange.ListPage[exchange.Grant], error) {
	return grants.page(ctx, st.conn, p, where("o.user_id = ?", user))
}

// OfOrganization lists the grants that paid for materials of an organization.
func (st Grants) OfOrganization(ctx context.Context, organization int64,
	p exchange.Page) (exchange.ListPage[exchange.Grant],
	error) {
	return grants.page(ctx, st.conn, p, where(`o.id IN (SELECT f.grant_id FROM materials m
		JOIN grant_materials f ON f.material_id = m.id WHERE m.organization_id = ?)`, organization))
}

// Insert adds a grant and gives its id.
func (st Grants) Insert(ctx context.Context, g exchange.Grant) (int64, error) {
	return one(ctx, st.conn, value[int64], `INSERT INTO grants (user_id, title, funder_id, created_at, updated_at,
		title_sort, funder_id_sort)
		VALUES ($1, $2, $3, $4, $4, $5, $6) RETURNING id`, g.UserID, g.Title, g.FunderID, st.conn.Now,
		exchange.SortKey(g.Title), exchange.SortKey(g.FunderID))
}

// Update saves a grant; its owner never changes.
func (st Grants) Update(ctx context.Context, g exchange.Grant) error {
	_, err := st.conn.exec(ctx, "UPDATE grants SET title = $2, funder_id = $3, updated_at = $4, title_sort = $5, "+
		"funder_id_sort = $6 WHERE id = $1",
		g.ID, g.Title, g.FunderID, st.conn.Now, exchange.SortKey(g.Title), exchange.SortKey(g.FunderID))
	return err
}

// Fund names a material in a grant; existed: it was named there already.
func (st Grants) Fund(ctx context.Context, grant, material int64) (existed bool, err error) {
	n, err := st.conn.exec(ctx, `INSERT INTO grant_materials (grant_id, material_id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (grant_id, material_id) DO NOTHING`, grant, material, st.conn.Now)
	return n == 0, err
}

// Unfund takes a material out of a grant; NotFound when it is not there.
func (st Grants) Unfund(ctx context.Context, grant, material int64) error {
	n, err := st.conn.exec(ctx, "DELETE FROM grant_materials WHERE grant_id = $1 AND material_id = $2", grant, material)
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "The grant does not name this material."}
	}
	return err
}

// Funded is a material in one grant.
type Funded struct {
	GrantID  int64
	Material exchange.ShownMaterial
}

// Funded reads the materials of several grants, by grant, the newest first.
func (st Grants) Funded(ctx context.Context, grants ...int64) ([]Funded, error) {
	if len(grants) == 0 {
		return nil, nil
	}
	places, args := in(nil, grants)
	scan := func(r row, f *Funded) error { return r.Scan(append([]any{&f.GrantID}, shownFields(&f.Material)...)...) }
	return all(ctx, st.conn, scan, "SELECT f.grant_id, "+shownMaterial+" FROM "+materialFrom+
		` JOIN grant_materials f ON f.material_id = o.id
		WHERE f.grant_id IN (`+places+") ORDER BY f.grant_id, o.id DESC", args...)
}

// FundedBy lists those materials of one grant that viewer may see.
func (st Grants) FundedBy(ctx context.Context, grant int64, p exchange.Page,
	viewer exchange.Actor) (exchange.ListPage[exchange.ShownMaterial], error) {
	w := where("o.id IN (SELECT f.material_id FROM grant_materials f WHERE f.grant_id = ?)", grant)
	if !viewer.Admin {
		st.conn.andVisible(w, viewer.Viewer())
	}
	return shownMaterials.page(ctx, st.conn, p, w)
}
