package api

import (
	"encoding/json"
	"net/http"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"

	"github.com/google/uuid"
)

func showImported(m material.Shown) ImportedMaterial {
	out := ImportedMaterial{Material: showMaterial(m), ContactUser: m.ContactID}
	if m.Category == "DATASET" {
		out.Organism = append([]string{}, m.Organisms...)
	}
	return out
}

// ImportedDuplicate is Duplicate in an import response.
type ImportedDuplicate struct {
	Duplicate
	Material *ImportedMaterial `json:"material"`
}

// importMaterial answers 200 with the new material, or with the one that was imported before.
func importMaterial(c *Call, in material.ImportNew) (ImportedMaterial, error) {
	m, existed, err := c.App.Materials.Import(c.Context(), c.Actor, in)
	if m.ID != 0 {
		c.location(err, "/materials/%d", m.ID)
	}
	if err == nil && existed {
		c.written = true
		d := ImportedDuplicate{Duplicate: duplicate(m)}
		if m.ID != 0 {
			d.Material = new(showImported(m))
		}
		return ImportedMaterial{}, answer(c.w, http.StatusOK, d)
	}
	return showImported(m), err
}

// ImportPreview is what an import would create: the fields of a material that come from the source, and the
// organization, which may be left out. It can be sent to POST /materials/ unchanged.
type ImportPreview struct {
	Material DraftMaterial     `json:"material"`
	Warnings []string          `json:"warnings"`
	Existing *ImportedMaterial `json:"existing"`
}

// DraftMaterial is a material that is not stored.
type DraftMaterial struct {
	Category         string          `json:"category"`
	Title            string          `json:"title"`
	URL              string          `json:"url"`
	PubMedID         string          `json:"pubmed_id"`
	Metadata         json.RawMessage `json:"additional_metadata"`
	Imported         bool            `json:"imported"`
	ImportSource     string          `json:"import_source"`
	Organisms        []string        `json:"organisms"`
	PublicationTitle *string         `json:"publication_title"`
	Citation         *string         `json:"citation"`
	AdditionalInfo   *string         `json:"additional_info"`
	EmbargoDate      *exchange.Date  `json:"embargo_date"`
	ContactUser      uuid.UUID       `json:"contact_user"`
}

func previewImport(c *Call, in material.ImportName) (ImportPreview, error) {
	v, err := c.App.Materials.PreviewImport(c.Context(), c.Actor, in)
	if err != nil {
		return ImportPreview{}, err
	}
	return showPreview(v), nil
}

func showPreview(v catalog.ImportPreview) ImportPreview {
	m := v.Material
	out := ImportPreview{Warnings: append([]string{}, v.Warnings...), Material: DraftMaterial{
		m.Category, m.Title, m.URL, m.PubMedID, m.Metadata, m.Imported, m.ImportSource, m.Organisms,
		m.PublicationTitle, m.Citation, m.AdditionalInfo, m.EmbargoDate, m.ContactID}}
	if v.Existing != nil && v.Existing.ID != 0 {
		existing := showImported(*v.Existing)
		out.Existing = &existing
	}
	return out
}

// importMaterials answers with the job that imports the materials one after the other.
func importMaterials(c *Call, in material.BatchImportBody) (Job, error) {
	j, err := c.App.Materials.Imports(c.Context(), c.Actor, in)
	c.location(err, "/jobs/%d", j.ID)
	return showJob(j), err
}

// Publication is the result of a look-up, with the field names of a material, so that PATCH of a material accepts it
// unchanged. What is not known is absent, and so stays unchanged in the material.
type Publication struct {
	PubMedID      string `json:"pubmed_id,omitzero"`
	DOI           string `json:"doi,omitzero"`
	Title         string `json:"publication_title,omitzero"`
	PrePrintDOI   string `json:"pre_print_doi,omitzero"`
	PrePrintTitle string `json:"pre_print_title,omitzero"`
	Citation      string `json:"citation"`
}

// PublicationName is what a publication is looked up by, one of the two.
type PublicationName struct {
	PubMedID *string `query:"pubmed_id" help:"PubMed id, in any form people paste. Either this or doi."`
	DOI      *string `query:"doi" help:"DOI, in any form people paste. Either this or pubmed_id."`
}

func getPublication(c *Call, name PublicationName) (Publication, error) {
	p, err := c.App.Materials.Publication(c.Context(), c.Actor, name.PubMedID, name.DOI)
	out := Publication{PubMedID: p.PubMedID, DOI: p.DOI, Citation: p.Citation}
	if p.PrePrint {
		out.PrePrintDOI, out.PrePrintTitle = p.DOI, p.Title
	} else {
		out.Title = p.Title
	}
	return out, err
}
