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
	return page(ctx, c, p, scanGrant, func(g exchange.Grant) int64 { return g.ID }, grantColumns, "grants o", "o.user_id = $1", user)
}
