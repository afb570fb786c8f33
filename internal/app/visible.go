package app

import (
	"context"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// hides reports whether a material is not there for who: it is under embargo at now, and who is
// neither of its lab nor an admin.
func (a *App) hides(who exchange.Actor, m exchange.Material, now time.Time) bool {
	if !m.Embargoed(now) {
		return false
	}
	ok, _ := a.policy.Can(exchange.MaterialForesee, who.ToOrganization(m.OrganizationID))
	return !ok
}

// noMaterial is the answer for a material that is not there, word for word as for an id that nothing has.
func noMaterial() error { return exchange.Fail(exchange.NotFound, "There is no such object.") }

// shown reads a material as who may see it: NotFound where it is hidden. That an admin sees what only its
// lab may is noted.
func (a *App) shown(ctx context.Context, c store.Conn, who exchange.Actor, id int64) (exchange.ShownMaterial, error) {
	m, err := c.ShownMaterial(ctx, id)
	if err != nil {
		return m, err
	}
	if a.hides(who, m.Material, c.Now) {
		return exchange.ShownMaterial{}, noMaterial()
	}
	if m.Embargoed(c.Now) {
		err = a.mayRead(ctx, who, exchange.MaterialForesee, who.ToOrganization(m.OrganizationID), object("material", id))
	}
	return m, err
}

// materialForUpdate reads a material that who may see and keeps others from changing it until commit.
func (a *App) materialForUpdate(ctx context.Context, tx store.Conn, who exchange.Actor, id int64) (exchange.Material, error) {
	m, err := tx.MaterialForUpdate(ctx, id)
	if err == nil && a.hides(who, m, tx.Now) {
		return exchange.Material{}, noMaterial()
	}
	return m, err
}

// imported reads the material that was imported under an identifier, for the answer to who imports it
// again. One that is hidden from them has its import identifier alone, and no id.
func (a *App) imported(ctx context.Context, who exchange.Actor, source, identifier string) (exchange.ShownMaterial, error) {
	c := a.DB.Read()
	m, err := c.MaterialByImport(ctx, source, identifier)
	if err == nil && a.hides(who, m.Material, c.Now) {
		m = exchange.ShownMaterial{Material: exchange.Material{ImportSource: source, ImportIdentifier: &identifier}}
	}
	return m, err
}
