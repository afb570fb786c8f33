package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// asking calls do, which changes what an organization's materials require: one material, or those with some shipping
// requirements. In requests whose turn changes by this, the new turn begins now.
func asking(ctx context.Context, tx store.Conn, organization int64, material, shipping *int64, do func() error) error {
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

// saveMaterials saves changed materials of one organization. If what one requires has changed, new turns may begin in
// its requests; if its title has, its requests are reindexed.
func saveMaterials(ctx context.Context, tx store.Conn, old, list []material.Material) error {
	save := func() error { return tx.Materials.UpdateAll(ctx, list) }
	var titled []request.Renaming
	for i, m := range list {
		was := old[i]
		if m.Title != was.Title {
			titled = append(titled, request.Renaming{Material: m.ID})
		}
		if m.NeedsMTA != was.NeedsMTA || m.NeedsIRB != was.NeedsIRB || m.NeedsAbstract != was.NeedsAbstract ||
			!same(m.ShippingID, was.ShippingID) {
			others := save
			save = func() error { return asking(ctx, tx, m.OrganizationID, &m.ID, nil, others) }
		}
	}
	if err := save(); err != nil || len(titled) == 0 {
		return err
	}
	if len(titled) > 1 { // one job for all of them
		titled[0] = request.Renaming{Organization: list[0].OrganizationID}
	}
	return renamed(ctx, tx, titled[0])
}

// Turns lists the turns of a request, past and present.
func (a *App) Turns(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (exchange.ListPage[request.TurnRecord], error) {
	if _, err := a.Request(ctx, who, id); err != nil {
		return exchange.ListPage[request.TurnRecord]{}, err
	}
	return a.DB.Read().Turns.List(ctx, id, p)
}

// SnoozeRequest defers reminders of the present turn until a moment.
func (a *App) SnoozeRequest(ctx context.Context, who exchange.Actor, id int64,
	n request.SnoozeNew) (request.Detail, error) {
	return a.act(ctx, who, exchange.RequestUpdate, id, nil,
		func(_ context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			return q.Snooze(roles, who.ID, n, q.Terms, tx.Now)
		})
}

// UnsnoozeRequest ends a snooze.
func (a *App) UnsnoozeRequest(ctx context.Context, who exchange.Actor, id int64,
	match IfMatch[request.Detail]) error {
	_, err := a.act(ctx, who, exchange.RequestUpdate, id, match,
		func(_ context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			return q.Unsnooze(roles, who.ID, q.Terms, tx.Now)
		})
	return err
}
