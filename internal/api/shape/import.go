package shape

import (
	"encoding/json"
	"fmt"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"

	"github.com/google/uuid"
)

// ShowImported returns the JSON form of its argument.
func ShowImported(m material.Shown) ImportedMaterial {
	out := ImportedMaterial{Material: ShowMaterial(m), ContactUser: m.ContactID}
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

// ShowPreview returns the JSON form of its argument.
func ShowPreview(v catalog.ImportPreview) ImportPreview {
	m := v.Material
	out := ImportPreview{Warnings: append([]string{}, v.Warnings...), Material: DraftMaterial{
		m.Category, m.Title, m.URL, m.PubMedID, m.Metadata, m.Imported, m.ImportSource, m.Organisms,
		m.PublicationTitle, m.Citation, m.AdditionalInfo, m.EmbargoDate, m.ContactID}}
	if v.Existing != nil && v.Existing.ID != 0 {
		existing := ShowImported(*v.Existing)
		out.Existing = &existing
	}
	return out
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

// ShowDuplicate returns the answer for a repeated import; it has no material if the caller may not see it.
func ShowDuplicate(m material.Shown) Duplicate {
	d := Duplicate{Error: fmt.Sprintf("%s %s was imported already.", m.ImportSource, *m.ImportIdentifier),
		Code: "ALREADY_IMPORTED"}
	if m.ID != 0 {
		d.Material = new(ShowMaterial(m))
	}
	return d
}
