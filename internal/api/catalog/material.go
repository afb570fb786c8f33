// Package catalog has the handlers of materials: listings, searches, imports, spreadsheets, saved searches and grants.
package catalog

import (
	"fmt"
	"net/http"

	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
)

// ListMaterialHistory serves GET /materials/{id}/history.
func ListMaterialHistory(c *rest.Call, _ rest.None) ([]shape.Version[shape.Material], error) {
	part, err := c.App.MaterialHistory(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, func(v core.Version[material.Shown]) shape.Version[shape.Material] {
		return shape.ShowVersion(v, shape.ShowMaterial, shape.MaterialFacts)
	})
}

// CreateMaterial answers 201 with the material, or 200 with the one that was imported before (the duplicate rule of the
// specification).
func CreateMaterial(c *rest.Call, in material.Patch) (shape.Material, error) {
	m, existed, err := c.App.Materials.CreateMaterial(c.Context(), c.Actor, in)
	if m.ID != 0 {
		c.Location(err, "/materials/%d", m.ID)
	}
	if err == nil && existed {
		c.Written = true
		return shape.Material{}, rest.Answer(c.Writer, http.StatusOK, shape.ShowDuplicate(m))
	}
	return shape.ShowChanged(m), err
}

// ListMaterials serves GET /materials.
func ListMaterials(c *rest.Call, f material.Filter) ([]shape.Material, error) {
	part, err := c.App.Materials.Materials(c.Context(), c.Actor, c.List.Page, f)
	return rest.AnswerList(c, part, err, shape.ShowMaterial)
}

// GetMaterial serves GET /materials/{id}.
func GetMaterial(c *rest.Call, _ rest.None) (shape.Material, error) {
	m, err := c.App.Materials.Material(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowMaterial(m), err
}

// listing returns the material in the path as published.
func listing(c *rest.Call) (publish.Listing, error) {
	return c.App.Materials.Listing(c.Context(), c.Actor, c.ID("id"))
}

// GetMaterialLinked serves GET /materials/{id}/jsonld.
func GetMaterialLinked(c *rest.Call, _ rest.None) (rest.Body, error) {
	l, err := listing(c)
	if err != nil {
		return rest.Body{}, err
	}
	raw, err := publish.LinkedData(l)
	return rest.Body{Type: publish.LinkedDataType, Bytes: raw, Name: fmt.Sprintf("aliquot-%d.jsonld", l.ID)}, err
}

// CitationQuery is the query of GET /materials/{id}/citation.
type CitationQuery struct {
	Format *publish.Format `query:"format" help:"The form of the references; bibtex where it is left out."`
}

// GetMaterialCitation serves GET /materials/{id}/citation.
func GetMaterialCitation(c *rest.Call, in CitationQuery) (rest.Body, error) {
	format := publish.BibTeX
	if in.Format != nil {
		format = *in.Format
	}
	l, err := listing(c)
	if err != nil {
		return rest.Body{}, err
	}
	raw, err := publish.Citation(l, format)
	return rest.Body{Type: format.MediaType(), Bytes: raw, Name: fmt.Sprintf("aliquot-%d.%s", l.ID,
		format.Extension())}, err
}

// UpdateMaterial serves PUT and PATCH /materials/{id}.
func UpdateMaterial(c *rest.Call, in material.Patch) (shape.Material, error) {
	m, err := c.App.Materials.UpdateMaterial(c.Context(), c.Actor, c.ID("id"), in, rest.IfMatch(c, shape.ShowMaterial))
	return shape.ShowChanged(m), err
}

// ArchiveMaterial serves DELETE /materials/{id}.
func ArchiveMaterial(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Materials.ArchiveMaterial(c.Context(), c.Actor, c.ID("id"),
		rest.IfMatch(c, shape.ShowMaterial))
}
