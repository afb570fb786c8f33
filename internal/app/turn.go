package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// asking lets do change what materials of an organization ask for: one material, or those with some
// shipping requirements. Where that makes it another turn in a request, the turn begins now.
func asking(ctx context.Context, tx store.Conn, organization int64, material, shipping *int64, do func() error) error {
	before, err := tx.TurnsOf(ctx, organization, material, shipping)
	if err != nil {
		return err
	}
	if err := do(); err != nil || len(before) == 0 {
		return err
	}
	after, err := tx.TurnsOf(ctx, organization, material, shipping)
	if err != nil {
		return err
	}
	was := map[int64]exchange.Terms{}
	for _, q := range before {
		was[q.ID] = q.Terms
	}
	var others []int64
	for _, q := range after {
		terms, known := was[q.ID]
		if _, other := q.Asked(terms, q.Terms, tx.Now); known && other {
			others = append(others, q.ID)
		}
	}
	return tx.BeginTurns(ctx, others)
}

// saveMaterials saves materials that were changed. Where one asks for something else now, the turns of
// its requests may begin anew.
func saveMaterials(ctx context.Context, tx store.Conn, old, list []exchange.Material) error {
	save := func() error { return tx.UpdateMaterials(ctx, list) }
	for i, m := range list {
		was := old[i]
		if m.NeedsMTA != was.NeedsMTA || m.NeedsIRB != was.NeedsIRB || m.NeedsAbstract != was.NeedsAbstract || !same(m.ShippingID, was.ShippingID) {
			others := save
			save = func() error { return asking(ctx, tx, m.OrganizationID, &m.ID, nil, others) }
		}
	}
	return save()
}
