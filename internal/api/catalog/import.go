package catalog

import (
	"net/http"

	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange/material"
)

// ImportMaterial answers 200 with the new material, or with the one that was imported before.
func ImportMaterial(c *rest.Call, in material.ImportNew) (shape.ImportedMaterial, error) {
	m, existed, err := c.App.Materials.Import(c.Context(), c.Actor, in)
	if m.ID != 0 {
		c.Location(err, "/materials/%d", m.ID)
	}
	if err == nil && existed {
		c.Written = true
		d := shape.ImportedDuplicate{Duplicate: shape.ShowDuplicate(m)}
		if m.ID != 0 {
			d.Material = new(shape.ShowImported(m))
		}
		return shape.ImportedMaterial{}, rest.Answer(c.Writer, http.StatusOK, d)
	}
	return shape.ShowImported(m), err
}

// PreviewImport serves POST /materials/import/preview.
func PreviewImport(c *rest.Call, in material.ImportName) (shape.ImportPreview, error) {
	v, err := c.App.Materials.PreviewImport(c.Context(), c.Actor, in)
	if err != nil {
		return shape.ImportPreview{}, err
	}
	return shape.ShowPreview(v), nil
}

// ImportMaterials answers with the job that imports the materials one after the other.
func ImportMaterials(c *rest.Call, in material.BatchImportBody) (shape.Job, error) {
	j, err := c.App.Materials.Imports(c.Context(), c.Actor, in)
	c.Location(err, "/jobs/%d", j.ID)
	return shape.ShowJob(j), err
}

// PublicationName is what a publication is looked up by, one of the two.
type PublicationName struct {
	PubMedID *string `query:"pubmed_id" help:"PubMed id, in any form people paste. Either this or doi."`
	DOI      *string `query:"doi" help:"DOI, in any form people paste. Either this or pubmed_id."`
}

// GetPublication serves GET /publications.
func GetPublication(c *rest.Call, name PublicationName) (shape.Publication, error) {
	p, err := c.App.Materials.Publication(c.Context(), c.Actor, name.PubMedID, name.DOI)
	out := shape.Publication{PubMedID: p.PubMedID, DOI: p.DOI, Citation: p.Citation}
	if p.PrePrint {
		out.PrePrintDOI, out.PrePrintTitle = p.DOI, p.Title
	} else {
		out.Title = p.Title
	}
	return out, err
}
