package store

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/search"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// CategoryCount is the number of materials of a category that an organization offers.
type CategoryCount struct {
	Category     string
	Organization int64
	Materials    int64
}

// CategoryCounts counts what is offered to everybody: neither archived nor under embargo. It reads one index.
func (st Materials) CategoryCounts(ctx context.Context) ([]CategoryCount, error) {
	return sqldb.All(ctx, st.conn, func(r sqldb.Row,
		o *CategoryCount) error {
		return r.Scan(&o.Category, &o.Organization, &o.Materials)
	},
		`SELECT category, organization_id, COUNT(*) FROM materials m
		WHERE NOT is_archived AND `+published("m")+
			` AND (embargo_date IS NULL OR embargo_date <= $1) GROUP BY category, organization_id`, st.conn.Today())
}

// Newest reads the materials that were listed last and are offered to everybody, without those that some imports
// listed.
func (st Materials) Newest(ctx context.Context, n int, without []int64) ([]material.Material, error) {
	places, args := "-1", []any{st.conn.Today(), n}
	if len(without) > 0 {
		places, args = sqldb.In(args, without)
	}
	scan := func(r sqldb.Row, m *material.Material) error {
		return scanMaterial(sqldb.MoreColumns(r, []any{&m.ListedBy}), m)
	}
	return sqldb.All(ctx, st.conn, scan, "SELECT "+materialColumns+`, COALESCE(o.listed_by, 0) FROM materials o
		WHERE NOT o.is_archived AND `+published("o")+` AND (o.embargo_date IS NULL OR o.embargo_date <= $1)
		AND COALESCE(o.listed_by, 0) NOT IN (`+places+`)
		ORDER BY o.created_at DESC, o.id DESC LIMIT $2`, args...)
}

// ListedBy counts the materials that an import listed and that are offered to everybody, and returns their category if
// all have the same, else "".
func (st Materials) ListedBy(ctx context.Context, job int64) (n int64, category string, err error) {
	type offered struct {
		n           int64
		first, last string
	}
	o, err := sqldb.One(ctx, st.conn, func(r sqldb.Row, o *offered) error { return r.Scan(&o.n, &o.first, &o.last) },
		`SELECT COUNT(*), COALESCE(MIN(o.category), ''), COALESCE(MAX(o.category), '') FROM materials o
		WHERE o.listed_by = $2 AND NOT o.is_archived AND `+published("o")+`
		AND (o.embargo_date IS NULL OR o.embargo_date <= $1)`, st.conn.Today(), job)
	if o.first == o.last {
		category = o.first
	}
	return o.n, category, err
}

// OfferedFrom reads which materials with an id of at least from, and less than before, are offered to everybody, in the
// order of their ids.
func (st Materials) OfferedFrom(ctx context.Context, from, before int64) ([]material.Changed,
	error) {
	return sqldb.All(ctx, st.conn,
		func(r sqldb.Row, m *material.Changed) error { return r.Scan(&m.ID, sqldb.UTC(&m.UpdatedAt)) },
		`SELECT o.id, o.updated_at FROM materials o WHERE o.id >= $2 AND o.id < $3 AND NOT o.is_archived AND `+
			published("o")+" AND (o.embargo_date IS NULL OR o.embargo_date <= $1) ORDER BY o.id",
		st.conn.Today(), from, before)
}

// LastID reads the highest id of a material, 0 if there is none.
func (st Materials) LastID(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COALESCE(MAX(id), 0) FROM materials")
}

// StillOffered reads which of some materials are offered to everybody.
func (st Materials) StillOffered(ctx context.Context, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	places, args := sqldb.In([]any{st.conn.Today()}, ids)
	return sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT o.id FROM materials o WHERE o.id IN ("+places+
		") AND NOT o.is_archived AND "+published("o")+
		" AND (o.embargo_date IS NULL OR o.embargo_date <= $1)", args...)
}

// Transfers counts the requests whose receipt was confirmed.
func (st Requests) Transfers(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COUNT(*) FROM material_requests WHERE status = $1 AND "+
		"deleted_at IS NULL",
		request.Verified)
}

// Timed reads the newest requests that were decided and were made since a moment, most of them at most.
func (st Requests) Timed(ctx context.Context, since time.Time, most int) ([]request.Timed, error) {
	places, args := sqldb.In([]any{since, most}, request.TimedStatuses)
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, t *request.Timed) error {
		return r.Scan(&t.Organization, &t.Status, sqldb.UTC(&t.CreatedAt), sqldb.FromJSON(&t.Clock))
	}, `SELECT m.organization_id, r.status, r.created_at, r.clock FROM material_requests r JOIN materials m
		ON m.id = r.material_id
		WHERE r.created_at >= $1 AND r.status IN (`+places+`) AND r.deleted_at IS NULL ORDER BY r.id DESC LIMIT $2`,
		args...)
}

// ByIDs reads those of the shipping requirements that exist, by id.
func (st Shippings) ByIDs(ctx context.Context, ids []int64) (map[int64]lab.Shipping, error) {
	found := map[int64]lab.Shipping{}
	if len(ids) == 0 {
		return found, nil
	}
	places, args := sqldb.In(nil, ids)
	list, err := sqldb.All(ctx, st.conn, scanShipping, "SELECT "+shippingColumns+
		" FROM shipping_requirements o WHERE o.id IN ("+
		places+")", args...)
	for _, s := range list {
		found[s.ID] = s
	}
	return found, err
}

// AskedFor counts, for each of some materials, the requests that were made since a moment.
func (st Materials) AskedFor(ctx context.Context, materials []int64, since time.Time) (map[int64]int64, error) {
	asked := map[int64]int64{}
	if len(materials) == 0 {
		return asked, nil
	}
	places, args := sqldb.In([]any{since}, materials)
	_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
		var id, n int64
		err := r.Scan(&id, &n)
		asked[id] = n
		return err
	}, "SELECT material_id, COUNT(*) FROM material_requests WHERE material_id IN ("+places+`)
		AND created_at >= $1 AND deleted_at IS NULL GROUP BY material_id`, args...)
	return asked, err
}

// OpenFor counts, for each of some materials, the requests that are not resolved.
func (st Requests) OpenFor(ctx context.Context, materials []int64) (map[int64]int64, error) {
	open := map[int64]int64{}
	if len(materials) == 0 {
		return open, nil
	}
	places, args := sqldb.In(nil, materials)
	_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
		var id, n int64
		err := r.Scan(&id, &n)
		open[id] = n
		return err
	}, "SELECT material_id, COUNT(*) FROM material_requests WHERE material_id IN ("+places+`)
		AND is_active AND deleted_at IS NULL GROUP BY material_id`, args...)
	return open, err
}

// OfMaterial reads the documents that a material shows: its MTA and its sequence maps, the oldest first.
func (st Attachments) OfMaterial(ctx context.Context, m material.Material) ([]document.Attachment, error) {
	var mta int64
	if m.MTAAttachmentID != nil {
		mta = *m.MTAAttachmentID
	}
	return sqldb.All(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+` FROM attachments o
		WHERE o.id IN (SELECT CAST($1 AS BIGINT) UNION SELECT a.id FROM attachments a WHERE a.sequence_map_for = $2)
		AND o.deleted_at IS NULL AND o.content_key IS NOT NULL
		AND NOT o.storage_resource_deleted ORDER BY o.id`, mta, m.ID)
}

// ByIDs reads those of the grants that exist, the oldest first.
func (st Grants) ByIDs(ctx context.Context, ids []int64) ([]person.Grant, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	places, args := sqldb.In(nil, ids)
	return sqldb.All(ctx, st.conn, scanGrant, "SELECT "+grantColumns+" FROM grants o WHERE o.id IN ("+places+
		") ORDER BY o.id",
		args...)
}

// UnderWay is the newest request of a user for a material that is not resolved; 0: there is none.
func (st Requests) UnderWay(ctx context.Context, material int64, requester uuid.UUID) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `SELECT COALESCE(MAX(id), 0) FROM material_requests
		WHERE material_id = $1 AND requester_id = $2 AND is_active AND deleted_at IS NULL`, material, requester)
}

// Alike are at most n of the materials that have the values of some facets, whichever are found first.
func (st Materials) Alike(ctx context.Context, filters map[string][]string, viewer uuid.UUID,
	n int) ([]material.Shown, error) {
	return search.Some(ctx, st.conn, search.Materials, filters, viewer, n, shownMaterial, materialFrom, shownFields)
}

// LabCounts are numbers at the head of an organization's page.
type LabCounts struct {
	Members int64
	Listed  int64 // materials on offer that the viewer may see
}

// Counts counts what an organization has, for a viewer.
func (st Organizations) Counts(ctx context.Context, organization int64, viewer uuid.UUID) (LabCounts, error) {
	scan := func(r sqldb.Row, n *LabCounts) error { return r.Scan(&n.Members, &n.Listed) }
	return sqldb.One(ctx, st.conn, scan, `SELECT (SELECT COUNT(*) FROM memberships p WHERE p.organization_id = $1
		AND p.left_at IS NULL),
		(SELECT COUNT(*) FROM materials m WHERE m.organization_id = $1 AND NOT m.is_archived
		AND `+published("m")+` AND (m.embargo_date IS NULL OR m.embargo_date <= $2
			OR EXISTS (SELECT 1 FROM memberships p WHERE p.organization_id = $1 AND p.user_id = $3
			AND p.left_at IS NULL)))`,
		organization, st.conn.Today(), viewer)
}

// onlyAgreed are documents that are stored for the requests that were made under them, and that no material shows any
// more.
const onlyAgreed = `EXISTS (SELECT 1 FROM material_requests r WHERE r.mta_attachment_id = o.id)
		AND NOT EXISTS (SELECT 1 FROM materials m WHERE m.mta_attachment_id = o.id)`

// OfOrganization lists the documents of an organization that are neither maps of a material nor papers of a request,
// nor kept for requests alone.
func (st Attachments) OfOrganization(ctx context.Context, organization int64,
	p exchange.Page) (exchange.ListPage[document.Attachment], error) {
	l := sqldb.Listing[document.Attachment]{Columns: attachmentColumns, Table: "attachments", Scan: scanAttachment,
		ID: func(a document.Attachment) int64 { return a.ID }}
	return l.Page(ctx, st.conn, p, sqldb.Where(`o.owned_by_org = ? AND o.sequence_map_for IS NULL
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

// UsesOfMTAs returns which materials of an organization name which document as their MTA.
func (st Materials) UsesOfMTAs(ctx context.Context, organization int64) (map[int64]MaterialUse, error) {
	return st.uses(ctx, "mta_attachment_id", organization)
}

// UsesOfShipping returns which materials of an organization name which shipping requirements.
func (st Materials) UsesOfShipping(ctx context.Context, organization int64) (map[int64]MaterialUse, error) {
	return st.uses(ctx, "shipping_requirements_id", organization)
}

func (st Materials) uses(ctx context.Context, column string, organization int64) (map[int64]MaterialUse, error) {
	uses := map[int64]MaterialUse{}
	_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
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

// OfContact reads at most limit materials of an organization whose contact is a user, and locks them until commit.
func (st Materials) OfContact(ctx context.Context, organization int64, user uuid.UUID,
	limit int) ([]material.Material, error) {
	return sqldb.All(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+
		" FROM materials o WHERE o.organization_id = $1 AND o.contact_user_id = $2 AND "+published("o")+
		" ORDER BY o.id LIMIT $3"+st.conn.Dialect().ForUpdate, organization, user, limit)
}

// CountOfContact returns how many materials of an organization have a user as their contact.
func (st Materials) CountOfContact(ctx context.Context, organization int64, user uuid.UUID) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COUNT(*) FROM materials o WHERE o.organization_id = $1 "+
		"AND o.contact_user_id = $2 AND "+published("o"), organization, user)
}

// WithMTA reads the materials of an organization that name a document as their MTA, and locks them until commit.
func (st Materials) WithMTA(ctx context.Context, organization, attachment int64) ([]material.Material, error) {
	return sqldb.All(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+
		" FROM materials o WHERE o.mta_attachment_id = $2 AND o.organization_id = $1 AND "+published("o")+
		" ORDER BY o.id"+
		st.conn.Dialect().ForUpdate, organization, attachment)
}
