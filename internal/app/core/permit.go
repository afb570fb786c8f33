package core

import (
	"context"
	"slices"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	storedpermit "aliquot/internal/store/requirement"
)

// Places are the institutions of somebody today.
type Places struct {
	Officer []int64 // of which they hold an authority
	Staff   []int64 // at which they are, as known from others than themselves
}

// PlacesOf reads the institutions of who. Tokens of one lab have none.
func PlacesOf(ctx context.Context, c store.Conn, who exchange.Actor) (p Places, err error) {
	if !who.Is(who.ID) {
		return p, nil
	}
	today := exchange.DayOf(c.Now)
	register, err := c.Institutions.RegistersOf(ctx, who.ID)
	if err != nil {
		return p, err
	}
	for _, a := range register.Held(who.ID, today) {
		p.Officer = append(p.Officer, a.Institution)
	}
	rows, err := c.Institutions.OfPerson(ctx, who.ID)
	for _, a := range rows {
		if a.Confirmed && a.Holds(today) {
			p.Staff = append(p.Staff, a.Institution)
		}
	}
	return p, err
}

// RelationsTo returns how who is related to a permit, apart from the requests that use it.
func (p Places) RelationsTo(who exchange.Actor, permit requirement.Permit) exchange.Relation {
	switch {
	case permit.Organization != nil:
		return who.ToOrganization(*permit.Organization) &^ exchange.OwnerOf
	case permit.Institution == nil:
		return who.ToUser(permit.Person)
	}
	rel := who.ToInstitution(slices.Contains(p.Officer, *permit.Institution))
	if slices.Contains(p.Staff, *permit.Institution) {
		rel |= exchange.StaffOf
	}
	return rel
}

// Holders returns whose permits somebody sees.
func (p Places) Holders(who exchange.Actor) storedpermit.Holders {
	h := storedpermit.Holders{Person: who.ID, Labs: who.Organizations, All: who.Admin,
		Institutions: append(slices.Clone(p.Officer), p.Staff...)}
	slices.Sort(h.Institutions)
	h.Institutions = slices.Compact(h.Institutions)
	return h
}

// PermitRelations reads how who is related to some permits, as a holder and as a party of requests that use one.
func PermitRelations(ctx context.Context, c store.Conn, who exchange.Actor,
	permits ...requirement.Permit) (rel exchange.Relation, err error) {
	own, err := PlacesOf(ctx, c, who)
	if err != nil {
		return 0, err
	}
	var ids []int64
	for _, p := range permits {
		rel |= own.RelationsTo(who, p)
		ids = append(ids, p.ID)
	}
	shared, err := c.Permits.SharedWith(ctx, ids, who.ID)
	if shared && who.Is(who.ID) {
		rel |= exchange.PartyOf
	}
	return rel, err
}

// ShownByPermit reports whether an attachment is the document of a permit that who may read.
func (a *Core) ShownByPermit(ctx context.Context, c store.Conn, who exchange.Actor, attachment int64) (bool, error) {
	permits, err := c.Permits.Documented(ctx, attachment)
	if err != nil || len(permits) == 0 {
		return false, err
	}
	rel, err := PermitRelations(ctx, c, who, permits...)
	shown, _ := a.Policy().Can(exchange.PermitRead, rel)
	return shown, err
}
