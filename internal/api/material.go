package api

import (
	"fmt"
	"net/http"

	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
)

// createMaterial answers 201 with the material, or 200 with the one that was imported before (the duplicate rule of the
// specification).
func createMaterial(c *Call, in material.Patch) (Material, error) {
	m, existed, err := c.App.Materials.CreateMaterial(c.Context(), c.Actor, in)
	if m.ID != 0 {
		c.location(err, "/materials/%d", m.ID)
	}
	if err == nil && existed {
		c.written = true
		return Material{}, answer(c.w, http.StatusOK, duplicate(m))
	}
	return showChanged(m), err
}

// duplicate returns the answer for a repeated import; it has no material if the caller may not see it.
func duplicate(m material.Shown) Duplicate {
	d := Duplicate{Error: fmt.Sprintf("%s %s was imported already.", m.ImportSource, *m.ImportIdentifier),
		Code: "ALREADY_IMPORTED"}
	if m.ID != 0 {
		d.Material = new(showMaterial(m))
	}
	return d
}

func listMaterials(c *Call, f material.Filter) ([]Material, error) {
	part, err := c.App.Materials.Materials(c.Context(), c.Actor, c.list.page, f)
	return answerList(c, part, err, showMaterial)
}

func getMaterial(c *Call, _ None) (Material, error) {
	m, err := c.App.Materials.Material(c.Context(), c.Actor, c.id("id"))
	return showMaterial(m), err
}

// listing returns the material in the path as published.
func listing(c *Call) (publish.Listing, error) {
	return c.App.Materials.Listing(c.Context(), c.Actor, c.id("id"))
}

func getMaterialLinked(c *Call, _ None) (Body, error) {
	l, err := listing(c)
	if err != nil {
		return Body{}, err
	}
	raw, err := publish.LinkedData(l)
	return Body{publish.LinkedDataType, raw, fmt.Sprintf("aliquot-%d.jsonld", l.ID)}, err
}

// CitationQuery is the query of GET /materials/{id}/citation.
type CitationQuery struct {
	Format *publish.Format `query:"format" help:"The form of the references; bibtex where it is left out."`
}

func getMaterialCitation(c *Call, in CitationQuery) (Body, error) {
	format := publish.BibTeX
	if in.Format != nil {
		format = *in.Format
	}
	l, err := listing(c)
	if err != nil {
		return Body{}, err
	}
	raw, err := publish.Citation(l, format)
	return Body{format.MediaType(), raw, fmt.Sprintf("aliquot-%d.%s", l.ID, format.Extension())}, err
}

func updateMaterial(c *Call, in material.Patch) (Material, error) {
	m, err := c.App.Materials.UpdateMaterial(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showMaterial))
	return showChanged(m), err
}

func archiveMaterial(c *Call, _ None) (None, error) {
	return None{}, c.App.Materials.ArchiveMaterial(c.Context(), c.Actor, c.id("id"), ifMatch(c, showMaterial))
}
