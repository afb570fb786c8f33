package store

import (
	"context"
	"slices"

	"aliquot/internal/exchange"
)

// TurnsOf reads the requests in which it is somebody's turn, of one material, or of those of an
// organization that name some shipping requirements, and locks them.
func (c Conn) TurnsOf(ctx context.Context, organization int64, material, shipping *int64) ([]exchange.Requested, error) {
	f := where(ofTurn+" AND m.organization_id = ?", organization)
	andEqual(f, "m.id", material)
	andEqual(f, "m.shipping_requirements_id", shipping)
	list, err := all(ctx, c, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+" WHERE "+f.sql.String()+" ORDER BY o.id"+ofRequests(c.db.dialect.forUpdate), f.args...)
	if err != nil {
		return nil, err
	}
	return list, c.addDocuments(ctx, list)
}

// BeginTurns begins the turns of requests now, for a reason outside of them, which count as unchanged.
func (c Conn) BeginTurns(ctx context.Context, requests []int64) error {
	for some := range slices.Chunk(requests, mostIn) {
		places, args := in([]any{c.Now}, some)
		if _, err := c.exec(ctx, "UPDATE material_requests SET waiting_since = $1, reminded = 0 WHERE id IN ("+places+")", args...); err != nil {
			return err
		}
	}
	return nil
}
