package api

import (
	"fmt"
	"net/http"

	"aliquot/internal/exchange"
)

// createMaterial answers 201 with the material, or 200 with the one that was imported before
// (the duplicate rule of the specification).
func (a *API) createMaterial(c *Call, in exchange.MaterialPatch) (Material, error) {
	m, existed, err := a.App.CreateMaterial(c.Context(), c.Actor, in)
	c.location(err, "/materials/%d", m.ID)
	if err == nil && existed {
		c.written = true
		return Material{}, answer(c.w, http.StatusOK, duplicate(m))
	}
	return showChanged(m), err
}

func duplicate(m exchange.ShownMaterial) Duplicate {
	return Duplicate{
		Error:    fmt.Sprintf("%s %s was imported already.", m.ImportSource, *m.ImportIdentifier),
		Code:     "ALREADY_IMPORTED",
		Material: showMaterial(m),
	}
}

func (a *API) listMaterials(c *Call, f exchange.MaterialFilter) ([]Material, error) {
	part, err := a.App.Materials(c.Context(), c.Actor, c.list.page, f)
	return listed(c, part, err, showMaterial)
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
	return showChanged(m), err
}

func (a *API) archiveMaterial(c *Call, _ None) (None, error) {
	id, err := c.pathID("id")
	if err != nil {
		return None{}, err
	}
	return None{}, a.App.ArchiveMaterial(c.Context(), c.Actor, id)
}
