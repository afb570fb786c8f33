package core

import (
	"context"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// Hides reports whether a material is hidden from who: it is under embargo at now, and who is neither of its lab nor an
// admin.
func (a *Core) Hides(who exchange.Actor, m material.Material, now time.Time) bool {
	if !m.Embargoed(now) {
		return false
	}
	ok, _ := a.policy.Can(exchange.MaterialForesee, who.ToOrganization(m.OrganizationID))
	return !ok
}

// NoMaterial returns the error for a hidden material, word for word the one for an id that does not exist.
func NoMaterial() error { return exchange.Errorf(exchange.NotFound, "There is no such object.") }

// Listed reads a material without its private fields; NotFound if it is hidden from who. If an admin sees what only its
// lab may, that is audited.
func (a *Core) Listed(ctx context.Context, c store.Conn, who exchange.Actor, id int64) (material.Shown, error) {
	m, err := c.Materials.Shown(ctx, id)
	if err != nil {
		return m, err
	}
	return m, a.mayList(ctx, c, who, &m)
}

// mayList checks that who may see a material, and clears one that they do not know of.
func (a *Core) mayList(ctx context.Context, c store.Conn, who exchange.Actor, m *material.Shown) error {
	if a.Hides(who, m.Material, c.Now) {
		*m = material.Shown{}
		return NoMaterial()
	}
	if m.Embargoed(c.Now) {
		return a.MayRead(ctx, who, exchange.MaterialForesee, who.ToOrganization(m.OrganizationID),
			Object("material", m.ID))
	}
	return nil
}

// ListedByIDs reads materials as Listed does, in the order of their ids in a field of a body.
func (a *Core) ListedByIDs(ctx context.Context, c store.Conn, who exchange.Actor,
	field string, ids []int64) ([]material.Shown, error) {
	found, err := c.Materials.ShownByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := map[int64]material.Shown{}
	for _, m := range found {
		byID[m.ID] = m
	}
	list := make([]material.Shown, 0, len(ids))
	for _, id := range ids {
		m, known := byID[id]
		if !known {
			return nil, Refer(NoMaterial(), field, id)
		}
		if err := a.mayList(ctx, c, who, &m); err != nil {
			return nil, Refer(err, field, id)
		}
		list = append(list, m)
	}
	return list, nil
}

// Shown is listed, with the private fields if who may see them.
func (a *Core) Shown(ctx context.Context, c store.Conn, who exchange.Actor, id int64) (material.Shown, error) {
	m, err := a.Listed(ctx, c, who, id)
	if err != nil || !m.Conceals() {
		return m, err
	}
	rel, err := toPrivate(ctx, c, who, m.Material)
	if err != nil {
		return m, err
	}
	switch err := a.MayRead(ctx, who, exchange.MaterialPrivate, rel, Object("material", id)); exchange.CodeOf(err) {
	case exchange.Forbidden, exchange.OutOfScope, exchange.NotAuthenticated:
		return m, nil
	default:
		return m.Revealed(), err
	}
}

// ShownIn is shown for a caller who changes the material in a transaction, which audits what an admin does.
func (a *Core) ShownIn(ctx context.Context, tx store.Conn, who exchange.Actor, id int64) (material.Shown, error) {
	m, err := tx.Materials.Shown(ctx, id)
	if err != nil {
		return m, err
	}
	return a.RevealIn(ctx, tx, who, m)
}

// RevealIn adds the private fields of a material if who may see them.
func (a *Core) RevealIn(ctx context.Context, tx store.Conn, who exchange.Actor, m material.Shown) (material.Shown,
	error) {
	if !m.Conceals() {
		return m, nil
	}
	seen, err := a.SeesPrivate(ctx, tx, who, m.Material)
	if seen {
		m = m.Revealed()
	}
	return m, err
}

// SeesPrivate reports whether who may see the private fields of a material.
func (a *Core) SeesPrivate(ctx context.Context, c store.Conn, who exchange.Actor, m material.Material) (bool, error) {
	rel, err := toPrivate(ctx, c, who, m)
	ok, _ := a.policy.Can(exchange.MaterialPrivate, rel)
	return ok, err
}

// toPrivate returns the relations of who to the private fields of a material: RequesterOf means that the lab accepted a
// request of theirs.
func toPrivate(ctx context.Context, c store.Conn, who exchange.Actor, m material.Material) (exchange.Relation, error) {
	rel := who.ToOrganization(m.OrganizationID)
	if who.Anonymous() || who.Admin || who.MemberOf(m.OrganizationID) {
		return rel, nil
	}
	accepted, err := c.Materials.Accepted(ctx, m.ID, who.Viewer())
	if accepted {
		rel |= exchange.RequesterOf
	}
	return rel, err
}

// Reveal adds to a list the private fields of those materials that belong to labs of who.
func Reveal(who exchange.Actor, list []material.Shown) {
	for i, m := range list {
		if who.MemberOf(m.OrganizationID) {
			list[i] = m.Revealed()
		}
	}
}

// MaterialForUpdate reads a material that who may see and locks it until commit.
func (a *Core) MaterialForUpdate(ctx context.Context, tx store.Conn, who exchange.Actor, id int64) (material.Material,
	error) {
	m, err := tx.Materials.ForUpdate(ctx, id)
	if err == nil && a.Hides(who, m, tx.Now) {
		return material.Material{}, NoMaterial()
	}
	return m, err
}

// Imported reads the material that was imported under an identifier, for the response to another import of it. If it is
// hidden from who, only its import identifier is returned, and no id.
func (a *Core) Imported(ctx context.Context, who exchange.Actor, source, identifier string) (material.Shown, error) {
	c := a.DB.Read()
	m, err := c.Materials.ByImport(ctx, source, identifier)
	switch {
	case err != nil:
	case a.Hides(who, m.Material, c.Now):
		m = material.Shown{Material: material.Material{ImportSource: source, ImportIdentifier: &identifier}}
	case who.MemberOf(m.OrganizationID):
		m = m.Revealed()
	}
	return m, err
}
