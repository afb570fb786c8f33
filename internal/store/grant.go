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

// Grant reads one grant.
func (c Conn) Grant(ctx context.Context, id int64) (exchange.Grant, error) {
	return one(ctx, c, scanGrant, "SELECT "+grantColumns+" FROM grants o WHERE o.id = $1", id)
}

// GrantForUpdate reads one and keeps others from changing it until commit.
func (c Conn) GrantForUpdate(ctx context.Context, id int64) (exchange.Grant, error) {
	return one(ctx, c, scanGrant, "SELECT "+grantColumns+" FROM grants o WHERE o.id = $1"+c.db.dialect.forUpdate, id)
}

var grants = listing[exchange.Grant]{columns: grantColumns, table: "grants", scan: scanGrant,
	id:      func(g exchange.Grant) int64 { return g.ID },
	filters: map[string]condition{"user": equals("o.user_id")}}

// Grants lists a user's grants.
func (c Conn) Grants(ctx context.Context, user uuid.UUID, p exchange.Page) (exchange.ListPage[exchange.Grant], error) {
	return grants.page(ctx, c, p, where("o.user_id = ?", user))
}

// GrantsOf lists the grants that paid for materials of an organization.
func (c Conn) GrantsOf(ctx context.Context, organization int64, p exchange.Page) (exchange.ListPage[exchange.Grant],
	error) {
	return grants.page(ctx, c, p, where(`o.id IN (SELECT f.grant_id FROM materials m
		JOIN grant_materials f ON f.material_id = m.id WHERE m.organization_id = ?)`, organization))
}

// InsertGrant adds a grant and gives its id.
func (c Conn) InsertGrant(ctx context.Context, g exchange.Grant) (int64, error) {
	return one(ctx, c, value[int64], `INSERT INTO grants (user_id, title, funder_id, created_at, updated_at,
		title_sort, funder_id_sort)
		VALUES ($1, $2, $3, $4, $4, $5, $6) RETURNING id`, g.UserID, g.Title, g.FunderID, c.Now,
		exchange.SortKey(g.Title), exchange.SortKey(g.FunderID))
}

// UpdateGrant saves a grant; its owner never changes.
func (c Conn) UpdateGrant(ctx context.Context, g exchange.Grant) error {
	_, err := c.exec(ctx, "UPDATE grants SET title = $2, funder_id = $3, updated_at = $4, title_sort = $5, "+
		"funder_id_sort = $6 WHERE id = $1",
		g.ID, g.Title, g.FunderID, c.Now, exchange.SortKey(g.Title), exchange.SortKey(g.FunderID))
	return err
}

// Fund names a material in a grant; existed: it was named there already.
func (c Conn) Fund(ctx context.Context, grant, material int64) (existed bool, err error) {
	n, err := c.exec(ctx, `INSERT INTO grant_materials (grant_id, material_id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (grant_id, material_id) DO NOTHING`, grant, material, c.Now)
	return n == 0, err
}

// Unfund takes a material out of a grant; NotFound when it is not there.
func (c Conn) Unfund(ctx context.Context, grant, material int64) error {
	n, err := c.exec(ctx, "DELETE FROM grant_materials WHERE grant_id = $1 AND material_id = $2", grant, material)
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
func (c Conn) Funded(ctx context.Context, grants ...int64) ([]Funded, error) {
	if len(grants) == 0 {
		return nil, nil
	}
	places, args := in(nil, grants)
	scan := func(r row, f *Funded) error { return r.Scan(append([]any{&f.GrantID}, shownFields(&f.Material)...)...) }
	return all(ctx, c, scan, "SELECT f.grant_id, "+shownMaterial+" FROM "+materialFrom+
		` JOIN grant_materials f ON f.material_id = o.id
		WHERE f.grant_id IN (`+places+") ORDER BY f.grant_id, o.id DESC", args...)
}

// FundedBy lists those materials of one grant that viewer may see.
func (c Conn) FundedBy(ctx context.Context, grant int64, p exchange.Page,
	viewer exchange.Actor) (exchange.ListPage[exchange.ShownMaterial], error) {
	w := where("o.id IN (SELECT f.material_id FROM grant_materials f WHERE f.grant_id = ?)", grant)
	if !viewer.Admin {
		c.andVisible(w, viewer.Viewer())
	}
	return shownMaterials.page(ctx, c, p, w)
}
