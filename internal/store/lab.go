package store

import (
	"context"
	"slices"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// LabCounts are numbers at the head of an organization's page.
type LabCounts struct {
	Members int64
	Listed  int64 // materials on offer that the viewer may see
}

// Counts counts what an organization has, for a viewer.
func (st Organizations) Counts(ctx context.Context, organization int64, viewer uuid.UUID) (LabCounts, error) {
	scan := func(r row, n *LabCounts) error { return r.Scan(&n.Members, &n.Listed) }
	return one(ctx, st.conn, scan, `SELECT (SELECT COUNT(*) FROM memberships p WHERE p.organization_id = $1
		AND p.left_at IS NULL),
		(SELECT COUNT(*) FROM materials m WHERE m.organization_id = $1 AND NOT m.is_archived
		AND `+published("m")+` AND (m.embargo_date IS NULL OR m.embargo_date <= $2
			OR EXISTS (SELECT 1 FROM memberships p WHERE p.organization_id = $1 AND p.user_id = $3
			AND p.left_at IS NULL)))`,
		organization, st.conn.today(), viewer)
}

// onlyAgreed are documents that are kept for the requests that were made under them, and that no material shows any
// more.
const onlyAgreed = `EXISTS (SELECT 1 FROM material_requests r WHERE r.mta_attachment_id = o.id)
		AND NOT EXISTS (SELECT 1 FROM materials m WHERE m.mta_attachment_id = o.id)`

// OfOrganization lists the documents of an organization that are neither maps of a material nor papers of a request,
// nor kept for requests alone.
func (st Attachments) OfOrganization(ctx context.Context, organization int64,
	p exchange.Page) (exchange.ListPage[exchange.Attachment], error) {
	l := listing[exchange.Attachment]{columns: attachmentColumns, table: "attachments", scan: scanAttachment,
		id: func(a exchange.Attachment) int64 { return a.ID }}
	return l.page(ctx, st.conn, p, where(`o.owned_by_org = ? AND o.sequence_map_for IS NULL
		AND o.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM request_documents d WHERE d.attachment_id = o.id)
		AND NOT (`+onlyAgreed+")", organization))
}

// MaterialUse reports which available materials refer to an object of their organization: how many, and some of them.
type MaterialUse struct {
	Thing     int64
	Materials []exchange.Named
	Total     int64
}

// usesShown is how many materials are named for each thing.
const usesShown = 3

// UsesOfMTAs says which materials of an organization name which document as their MTA.
func (st Materials) UsesOfMTAs(ctx context.Context, organization int64) (map[int64]MaterialUse, error) {
	return st.uses(ctx, "mta_attachment_id", organization)
}

// UsesOfShipping says which materials of an organization name which shipping requirements.
func (st Materials) UsesOfShipping(ctx context.Context, organization int64) (map[int64]MaterialUse, error) {
	return st.uses(ctx, "shipping_requirements_id", organization)
}

func (st Materials) uses(ctx context.Context, column string, organization int64) (map[int64]MaterialUse, error) {
	uses := map[int64]MaterialUse{}
	_, err := all(ctx, st.conn, func(r row, _ *struct{}) error {
		var u MaterialUse
		var m exchange.Named
		err := r.Scan(&u.Thing, &m.ID, &m.Name, &u.Total)
		u.Materials = slices.Concat(uses[u.Thing].Materials, []exchange.Named{m})
		uses[u.Thing] = u
		return err
	}, `SELECT u.thing, u.id, u.title, u.total FROM (SELECT m.`+column+` AS thing, m.id, m.title,
			COUNT(*) OVER (PARTITION BY m.`+column+`) AS total, ROW_NUMBER() OVER (PARTITION BY m.`+column+
		` ORDER BY m.id DESC) AS place
		FROM materials m WHERE m.organization_id = $1 AND m.`+column+` IS NOT NULL AND NOT m.is_archived
			AND `+published("m")+`) u
		WHERE u.place <= $2 ORDER BY u.thing, u.place`, organization, usesShown)
	return uses, err
}

// WithMTA reads the materials of an organization that name a document as their MTA, and keeps others from
// changing them until commit.
func (st Materials) WithMTA(ctx context.Context, organization, attachment int64) ([]exchange.Material, error) {
	return all(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+
		" FROM materials o WHERE o.mta_attachment_id = $2 AND o.organization_id = $1 AND "+published("o")+
		" ORDER BY o.id"+
		st.conn.db.dialect.forUpdate, organization, attachment)
}
