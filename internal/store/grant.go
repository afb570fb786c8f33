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

// Grants lists a user's grants, newest first.
func (c Conn) Grants(ctx context.Context, user uuid.UUID, p exchange.Page) (exchange.Part[exchange.Grant], error) {
	l := listing[exchange.Grant]{columns: grantColumns, table: "grants", scan: scanGrant, id: func(g exchange.Grant) int64 { return g.ID }}
	return l.page(ctx, c, p, where("o.user_id = ?", user))
}
