package api

import (
	"fmt"

	"aliquot/internal/exchange"
)

// createMaterial answers 201 with the material, or 200 with the one that was imported before
// (the duplicate rule of the specification).
func (a *API) createMaterial(c *Call, in exchange.MaterialPatch) (any, error) {
	m, existed, err := a.App.CreateMaterial(c.Context(), c.Actor, in)
	if err != nil {
		return nil, err
	}
	if existed {
		c.status = 200
		return duplicate(m), nil
	}
	c.location(err, "/materials/%d", m.ID)
	return showMaterial(m), nil
}

func duplicate(m exchange.ShownMaterial) Duplicate {
	return Duplicate{
		Error:    fmt.Sprintf("%s %s was imported already.", m.ImportSource, *m.ImportIdentifier),
		Code:     "ALREADY_IMPORTED",
		Material: showMaterial(m),
	}
}

func (a *API) listMaterials(c *Call, _ None) ([]Material, error) {
	q := c.query()
	filter := exchange.MaterialFilter{Organization: q.integer("organization"), Category: q.text("category"), Archived: q.boolean("is_archived")}
	return listed(c, q, func(p exchange.Page) (exchange.Part[exchange.ShownMaterial], error) {
		return a.App.Materials(c.Context(), c.Actor, p, filter)
	}, showMaterial)
}

func (a *API) getMaterial(c *Call, _ None) (Material, error) {
	id, err := c.pathID("id")
	if err != nil {
		return Material{}, err
	}
	m, err := a.App.Material(c.Context(), id)
	return showMaterial(m), err
}

func (a *API) updateMaterial(c *Call, in exchange.MaterialPatch) (Material, error) {
	id, err := c.pathID("id")
	if err != nil {
		return Material{}, err
	}
	m, err := a.App.UpdateMaterial(c.Context(), c.Actor, id, in)
	return showMaterial(m), err
}

func (a *API) archiveMaterial(c *Call, _ None) (None, error) {
	id, err := c.pathID("id")
	if err != nil {
		return None{}, err
	}
	return None{}, a.App.ArchiveMaterial(c.Context(), c.Actor, id)
}
