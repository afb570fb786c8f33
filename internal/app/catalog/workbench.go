package catalog

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
)

// Workbench is a page of a lab's materials with what its members need to work on many of them.
type Workbench struct {
	exchange.ListPage[material.Shown]
	Open    map[int64]int64     // how many requests for a material are open, by its id
	Options MaterialFormOptions // what can be chosen for the materials
}

// Workbench reads a page of an organization's materials for who may change them.
func (a Materials) Workbench(ctx context.Context, who exchange.Actor, organization int64, p exchange.Page,
	f material.Filter) (w Workbench, err error) {
	if _, err := a.Can(who, exchange.MaterialBulk, who.ToOrganization(organization)); err != nil {
		return w, err
	}
	c := a.DB.Read()
	f.Organization = &organization
	if w.ListPage, err = c.Materials.List(ctx, p, f, who.Viewer()); err != nil {
		return w, err
	}
	core.Reveal(who, w.Items)
	ids := make([]int64, len(w.Items))
	for i, m := range w.Items {
		ids[i] = m.ID
	}
	if w.Open, err = c.Requests.OpenFor(ctx, ids); err != nil {
		return w, err
	}
	w.Options, err = a.MaterialFormOptions(ctx, who, organization, nil)
	return w, err
}
