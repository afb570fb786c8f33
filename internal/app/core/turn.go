package core

import (
	"context"

	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// Asking calls do, which changes what an organization's materials require: one material, or those with some shipping
// requirements. In requests whose turn changes by this, the new turn begins now.
func Asking(ctx context.Context, tx store.Conn, organization int64, material, shipping *int64, do func() error) error {
	before, err := tx.Turns.OfOrganization(ctx, organization, material, shipping)
	if err != nil {
		return err
	}
	if err := do(); err != nil || len(before) == 0 {
		return err
	}
	after, err := tx.Turns.OfOrganization(ctx, organization, material, shipping)
	if err != nil {
		return err
	}
	was := map[int64]request.Terms{}
	for _, q := range before {
		was[q.ID] = q.Terms
	}
	var others []request.Detail
	var turns []request.TurnRecord
	for _, q := range after {
		terms, known := was[q.ID]
		if r, other := q.TermsChanged(terms, q.Terms, tx.Now); known && other {
			q.Request = r
			turn := r.PresentTurn(q.Terms)
			turn.Organization = q.Organization
			others, turns = append(others, q), append(turns, turn)
		}
	}
	if err := tx.Turns.Begin(ctx, others); err != nil {
		return err
	}
	return tx.Turns.Insert(ctx, turns)
}

// SaveMaterials saves changed materials of one organization. If what one requires has changed, new turns may begin in
// its requests; if its title has, its requests are reindexed.
func SaveMaterials(ctx context.Context, tx store.Conn, old, list []material.Material) error {
	arrive := false
	save := func() error { return tx.Materials.UpdateAll(ctx, list, arrive) }
	var titled []request.Renaming
	for i, m := range list {
		was := old[i]
		arrive = arrive || m.Arrives(was)
		if m.Title != was.Title {
			titled = append(titled, request.Renaming{Material: m.ID})
		}
		if m.NeedsMTA != was.NeedsMTA || m.NeedsIRB != was.NeedsIRB || m.NeedsAbstract != was.NeedsAbstract ||
			!Same(m.ShippingID, was.ShippingID) {
			others := save
			save = func() error { return Asking(ctx, tx, m.OrganizationID, &m.ID, nil, others) }
		}
	}
	if err := save(); err != nil || len(titled) == 0 {
		return err
	}
	if len(titled) > 1 { // one job for all of them
		titled[0] = request.Renaming{Organization: list[0].OrganizationID}
	}
	return Renamed(ctx, tx, titled[0])
}
