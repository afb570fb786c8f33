package store

import (
	"context"
	"encoding/json"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

const materialColumns = `o.id, o.organization_id, o.category, o.title, o.url, o.pubmed_id, o.additional_metadata,
	o.needs_mta, o.needs_irb, o.needs_abstract, o.mta_attachment_id, o.shipping_requirements_id,
	o.imported, o.import_source, o.import_identifier, o.organisms, o.publication_title, o.pre_print_doi, o.pre_print_title,
	o.citation, o.additional_info, o.embargo_date, o.contact_user_id, o.is_archived, o.created_at, o.updated_at`

func materialFields(m *exchange.Material) []any {
	return []any{&m.ID, &m.OrganizationID, &m.Category, &m.Title, &m.URL, &m.PubMedID, (*rawText)(&m.Metadata),
		&m.NeedsMTA, &m.NeedsIRB, &m.NeedsAbstract, &m.MTAAttachmentID, &m.ShippingID,
		&m.Imported, &m.ImportSource, &m.ImportIdentifier, fromJSON{&m.Organisms}, &m.PublicationTitle, &m.PrePrintDOI, &m.PrePrintTitle,
		&m.Citation, &m.AdditionalInfo, &m.EmbargoDate, &m.ContactID, &m.Archived, utc{&m.CreatedAt}, utc{&m.UpdatedAt}}
}

// rawText is JSON that is kept as text and passed on as it is.
type rawText json.RawMessage

// Scan takes text.
func (t *rawText) Scan(src any) error {
	switch s := src.(type) {
	case string:
		*t = rawText(s)
	case []byte:
		*t = append(rawText(nil), s...)
	}
	return nil
}

func scanMaterial(r row, m *exchange.Material) error { return r.Scan(materialFields(m)...) }

const shownMaterial = materialColumns + ", " + userColumns + `,
	(SELECT string_agg(CAST(g.grant_id AS TEXT), ',' ORDER BY g.grant_id) FROM grant_materials g WHERE g.material_id = o.id)`

func shownFields(m *exchange.ShownMaterial) []any {
	m.Grants = []int64{}
	return append(append(materialFields(&m.Material), userFields(&m.Contact)...), ids{&m.Grants})
}

func scanShownMaterial(r row, m *exchange.ShownMaterial) error { return r.Scan(shownFields(m)...) }

const (
	materialFrom = "materials o " + contactJoin
	contactJoin  = "JOIN users u ON u.id = o.contact_user_id"
)

// ShownMaterial reads one material with its contact and grants, in one query.
func (c Conn) ShownMaterial(ctx context.Context, id int64) (exchange.ShownMaterial, error) {
	return one(ctx, c, scanShownMaterial, "SELECT "+shownMaterial+" FROM "+materialFrom+" WHERE o.id = $1", id)
}

// Material reads one material.
func (c Conn) Material(ctx context.Context, id int64) (exchange.Material, error) {
	return one(ctx, c, scanMaterial, "SELECT "+materialColumns+" FROM materials o WHERE o.id = $1", id)
}

// MaterialForUpdate reads one and keeps others from changing it until commit.
func (c Conn) MaterialForUpdate(ctx context.Context, id int64) (exchange.Material, error) {
	return one(ctx, c, scanMaterial, "SELECT "+materialColumns+" FROM materials o WHERE o.id = $1"+c.db.dialect.forUpdate, id)
}

// MaterialForShare reads one and keeps it as it is until commit; others may do so at the same time.
func (c Conn) MaterialForShare(ctx context.Context, id int64) (exchange.Material, error) {
	return one(ctx, c, scanMaterial, "SELECT "+materialColumns+" FROM materials o WHERE o.id = $1"+c.db.dialect.forShare, id)
}

// MaterialByImport reads the material that was imported under an identifier.
func (c Conn) MaterialByImport(ctx context.Context, source, identifier string) (exchange.ShownMaterial, error) {
	return one(ctx, c, scanShownMaterial, "SELECT "+shownMaterial+" FROM "+materialFrom+
		" WHERE o.import_source = $1 AND o.import_identifier = $2", source, identifier)
}

// Materials lists the materials that viewer may see: an embargoed one only
// members of its organization see.
func (c Conn) Materials(ctx context.Context, p exchange.Page, f exchange.MaterialFilter, viewer uuid.UUID) (exchange.Part[exchange.ShownMaterial], error) {
	w := where(`(o.embargo_date IS NULL OR o.embargo_date <= ? OR o.organization_id IN (SELECT m.organization_id FROM memberships m
		WHERE m.user_id = ? AND m.left_at IS NULL))`, c.Now.Format(time.DateOnly), viewer)
	andEqual(w, "o.organization_id", f.Organization)
	andEqual(w, "o.category", f.Category)
	andEqual(w, "o.is_archived", f.Archived)
	return shownMaterials.page(ctx, c, p, w)
}

var shownMaterials = listing[exchange.ShownMaterial]{columns: shownMaterial, table: "materials", joins: contactJoin, scan: scanShownMaterial,
	id: func(m exchange.ShownMaterial) int64 { return m.ID }, sorts: map[string]string{"organization": "o.organization_id"}}

// InsertMaterial adds a material and gives its id; the same identifier at the same source is a
// Conflict.
func (c Conn) InsertMaterial(ctx context.Context, m exchange.Material) (int64, error) {
	args, err := c.materialArgs(m)
	if err != nil {
		return 0, err
	}
	return one(ctx, c, value[int64], `INSERT INTO materials (organization_id, category, title, url, pubmed_id, additional_metadata,
			needs_mta, needs_irb, needs_abstract, mta_attachment_id, shipping_requirements_id, imported, import_source, import_identifier,
			organisms, publication_title, pre_print_doi, pre_print_title, citation, additional_info, embargo_date, contact_user_id,
			is_archived, title_sort, updated_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $25)
		RETURNING id`, args...)
}

// UpdateMaterial saves a material; its category never changes.
func (c Conn) UpdateMaterial(ctx context.Context, m exchange.Material) error {
	args, err := c.materialArgs(m)
	if err != nil {
		return err
	}
	_, err = c.exec(ctx, `UPDATE materials SET organization_id = $1, category = $2, title = $3, url = $4, pubmed_id = $5,
			additional_metadata = $6, needs_mta = $7, needs_irb = $8, needs_abstract = $9, mta_attachment_id = $10,
			shipping_requirements_id = $11, imported = $12, import_source = $13, import_identifier = $14, organisms = $15,
			publication_title = $16, pre_print_doi = $17, pre_print_title = $18, citation = $19, additional_info = $20,
			embargo_date = $21, contact_user_id = $22, is_archived = $23, title_sort = $24, updated_at = $25
		WHERE id = $26`, append(args, m.ID)...)
	return err
}

func (c Conn) materialArgs(m exchange.Material) ([]any, error) {
	organisms, err := text(m.Organisms)
	if err != nil {
		return nil, err
	}
	var embargo *string
	if m.EmbargoDate != nil {
		embargo = new(string(*m.EmbargoDate))
	}
	return []any{m.OrganizationID, m.Category, m.Title, m.URL, m.PubMedID, string(m.Metadata),
		m.NeedsMTA, m.NeedsIRB, m.NeedsAbstract, m.MTAAttachmentID, m.ShippingID, m.Imported, m.ImportSource, m.ImportIdentifier,
		organisms, m.PublicationTitle, m.PrePrintDOI, m.PrePrintTitle, m.Citation, m.AdditionalInfo, embargo, m.ContactID,
		m.Archived, exchange.SortKey(m.Title), c.Now}, nil
}

// ActiveRequests is how many requests of a material are under way.
func (c Conn) ActiveRequests(ctx context.Context, material int64) (int64, error) {
	return one(ctx, c, value[int64], "SELECT COUNT(*) FROM material_requests WHERE material_id = $1 AND is_active AND deleted_at IS NULL", material)
}
