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
	"aliquot/internal/store/agreement"
)

// Resolved is the instrument for the transfer of materials in one letter, and that of each by itself.
type Resolved struct {
	instrument.Resolution
	Materials []MaterialResolved    // by id
	Precedent *instrument.Precedent // by the instrument, of those that the reader may see; nil: there is none
}

// MaterialResolved is the instrument for the transfer of a material.
type MaterialResolved struct {
	Material int64
	instrument.Resolution
}

// Resolve returns the instrument for the transfer of materials today, why, and why not the others. Conflict if their
// lab belongs to no institution and none is named.
func (a Requirements) Resolve(ctx context.Context, who exchange.Actor,
	asked instrument.Asking) (r Resolved, err error) {
	if err := a.MayRead(ctx, who, exchange.AgreementResolve, who.Relations(), "agreement"); err != nil {
		return r, err
	}
	t, err := asked.Transfer()
	if err != nil {
		return r, err
	}
	c := a.DB.Read()
	materials, err := a.listed(ctx, c, who, asked)
	if err != nil {
		return r, err
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
		t.Provider, err = institutionOf(ctx, c, materials[0].OrganizationID)
	}
	if err != nil {
		return r, err
	}
	if t.Recipient, err = c.Institutions.Get(ctx, int64(asked.Recipient.Value)); err != nil {
		return r, core.Refer(err, "recipient", asked.Recipient.Value)
	}
	each, err := resolve(ctx, c, library, t, materials...)
	if err != nil {
		return r, err
	}
	r.Resolution = instrument.Together(each)
	var categories []string
	for i, m := range materials {
		r.Materials = append(r.Materials, MaterialResolved{m.ID, each[i]})
		categories = append(categories, m.Category)
	}
	r.Precedent, err = precedentOf(ctx, c, who, t, r.Instrument, categories)
	return r, err
}

// listed reads the materials that a question is about, which who may see, by id. They are of one lab.
func (a Requirements) listed(ctx context.Context, c store.Conn, who exchange.Actor,
	asked instrument.Asking) (list []material.Material, err error) {
	field := "materials"
	if asked.Material.Set {
		field = "material"
	}
	found, err := a.ListedByIDs(ctx, c, who, field, asked.IDs())
	for _, m := range found {
		list = append(list, m.Material)
		if m.OrganizationID != list[0].OrganizationID {
			return nil, core.FieldError(field, "must be of one lab, as the requests of a letter are: %d is of another "+
				"than %d", m.ID, list[0].ID)
		}
	}
	return list, err
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

// resolve adds to a transfer between two institutions what decides, and resolves it today for each material.
func resolve(ctx context.Context, c store.Conn, library *instrument.Library, t instrument.Transfer,
	materials ...material.Material) (each []instrument.Resolution, err error) {
	if t.Masters, err = core.MastersOf(ctx, c, t.Provider.ID, t.Recipient.ID); err != nil {
		return nil, err
	}
	if t.Precedents, err = c.Agreements.Precedents(ctx, agreement.Viewer{All: true}, t.Provider.ID, t.Recipient.ID,
		c.Now); err != nil {
		return nil, err
	}
	facts, err := core.FactsOf(ctx, c, materials...)
	if err != nil {
		return nil, err
	}
	for _, m := range materials {
		t.Facts, t.Category = facts[m.ID], m.Category
		r, err := library.Resolve(t, exchange.DayOf(c.Now))
		if err != nil {
			return nil, err
		}
		each = append(each, r)
	}
	return each, nil
}

// precedentOf returns the newest agreement by which the parties of a transfer agreed on an instrument for one of the
// categories, of those that who may see; nil: there is none.
func precedentOf(ctx context.Context, c store.Conn, who exchange.Actor, t instrument.Transfer,
	i *instrument.Instrument, categories []string) (*instrument.Precedent, error) {
	if i == nil || !who.Is(who.ID) {
		return nil, nil //nolint:nilnil // there is none for them
	}
	register, err := c.Institutions.RegistersOf(ctx, who.ID)
	if err != nil {
		return nil, err
	}
	list, err := c.Agreements.Precedents(ctx, agreement.Viewer{Person: who.ID, Labs: who.Organizations,
		Institutions: register.Offices(who.ID, exchange.DayOf(c.Now)), All: who.Admin}, t.Provider.ID, t.Recipient.ID,
		c.Now)
	return i.Of(list, categories...), err
}
