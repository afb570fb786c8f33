package requirements

import (
	"context"
	"slices"
	"strings"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// Resolve returns the instrument for the transfer of a material today, why, and why not the others. Conflict if its lab
// belongs to no institution and none is named.
func (a Requirements) Resolve(ctx context.Context, who exchange.Actor,
	asked instrument.Asking) (r instrument.Resolution, err error) {
	if err := a.MayRead(ctx, who, exchange.AgreementResolve, who.Relations(), "agreement"); err != nil {
		return r, err
	}
	t, err := asked.Transfer()
	if err != nil {
		return r, err
	}
	c := a.DB.Read()
	id := int64(asked.Material.Value)
	m, err := a.Listed(ctx, c, who, id)
	if err != nil {
		return r, core.Refer(err, "material", id)
	}
	library, err := a.Library(ctx, c)
	if err != nil {
		return r, err
	}
	if families := library.Families(); t.Choice != "" && !slices.Contains(families, t.Choice) {
		return r, core.FieldError("choice", "must be a family of instruments: %s", strings.Join(families, ", "))
	}
	if said := asked.Provider.Value; said != nil {
		t.Provider, err = c.Institutions.Get(ctx, int64(*said))
		err = core.Refer(err, "provider", *said)
	} else {
		t.Provider, err = institutionOf(ctx, c, m.OrganizationID)
	}
	if err != nil {
		return r, err
	}
	if t.Recipient, err = c.Institutions.Get(ctx, int64(asked.Recipient.Value)); err != nil {
		return r, core.Refer(err, "recipient", asked.Recipient.Value)
	}
	return resolve(ctx, c, library, m.Material, t)
}

// institutionOf reads the institution of a lab today; Conflict if it has none.
func institutionOf(ctx context.Context, c store.Conn, lab int64) (i party.Institution, err error) {
	id, err := core.ProviderOf(ctx, c, lab)
	if err != nil {
		return i, err
	}
	if id == 0 {
		return i, core.NoProvider(lab)
	}
	return c.Institutions.Get(ctx, id)
}

// resolve adds to a transfer between two institutions what decides, and resolves it today.
func resolve(ctx context.Context, c store.Conn, library *instrument.Library, m material.Material,
	t instrument.Transfer) (r instrument.Resolution, err error) {
	if t.Masters, err = core.MastersOf(ctx, c, t.Provider.ID, t.Recipient.ID); err != nil {
		return r, err
	}
	facts, err := core.FactsOf(ctx, c, m)
	if err != nil {
		return r, err
	}
	t.Facts, t.Category = facts[m.ID], m.Category
	return library.Resolve(t, exchange.DayOf(c.Now))
}
