package store

import (
	"context"
	"time"

	"aliquot/internal/exchange"

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
	return all(ctx, st.conn, func(r row,
		o *CategoryCount) error {
		return r.Scan(&o.Category, &o.Organization, &o.Materials)
	},
		`SELECT category, organization_id, COUNT(*) FROM materials m
		WHERE NOT is_archived AND `+published("m")+
			` AND (embargo_date IS NULL OR embargo_date <= $1) GROUP BY category, organization_id`, st.conn.today())
}

// Newest reads the materials that were listed last and are offered to everybody.
func (st Materials) Newest(ctx context.Context, n int) ([]exchange.Material, error) {
	return all(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+` FROM materials o
		WHERE NOT o.is_archived AND `+published("o")+` AND (o.embargo_date IS NULL OR o.embargo_date <= $1)
		ORDER BY o.created_at DESC, o.id DESC LIMIT $2`, st.conn.today(), n)
}

// StillOffered reads which of some materials are offered to everybody.
func (st Materials) StillOffered(ctx context.Context, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	places, args := in([]any{st.conn.today()}, ids)
	return all(ctx, st.conn, value[int64], "SELECT o.id FROM materials o WHERE o.id IN ("+places+
		") AND NOT o.is_archived AND "+published("o")+
		" AND (o.embargo_date IS NULL OR o.embargo_date <= $1)", args...)
}

// Transfers counts the requests whose receipt was confirmed.
func (st Requests) Transfers(ctx context.Context) (int64, error) {
	return one(ctx, st.conn, value[int64], "SELECT COUNT(*) FROM material_requests WHERE status = $1 AND deleted_at "+
		"IS NULL",
		exchange.Verified)
}

// Timed reads the newest requests that were decided and were made since a moment, most of them at most.
func (st Requests) Timed(ctx context.Context, since time.Time, most int) ([]exchange.Timed, error) {
	places, args := in([]any{since, most}, exchange.TimedStatuses)
	return all(ctx, st.conn, func(r row, t *exchange.Timed) error {
		return r.Scan(&t.Organization, &t.Status, utc{&t.CreatedAt}, fromJSON{&t.Clock})
	}, `SELECT m.organization_id, r.status, r.created_at, r.clock FROM material_requests r JOIN materials m
		ON m.id = r.material_id
		WHERE r.created_at >= $1 AND r.status IN (`+places+`) AND r.deleted_at IS NULL ORDER BY r.id DESC LIMIT $2`,
		args...)
}

// ByIDs reads those of the shipping requirements that exist, by id.
func (st Shippings) ByIDs(ctx context.Context, ids []int64) (map[int64]exchange.Shipping, error) {
	found := map[int64]exchange.Shipping{}
	if len(ids) == 0 {
		return found, nil
	}
	places, args := in(nil, ids)
	list, err := all(ctx, st.conn, scanShipping, "SELECT "+shippingColumns+
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
	places, args := in([]any{since}, materials)
	_, err := all(ctx, st.conn, func(r row, _ *struct{}) error {
		var id, n int64
		err := r.Scan(&id, &n)
		asked[id] = n
		return err
	}, "SELECT material_id, COUNT(*) FROM material_requests WHERE material_id IN ("+places+`)
		AND created_at >= $1 AND deleted_at IS NULL GROUP BY material_id`, args...)
	return asked, err
}

// OfMaterial reads the documents that a material shows: its MTA and its sequence maps, the oldest first.
func (st Attachments) OfMaterial(ctx context.Context, m exchange.Material) ([]exchange.Attachment, error) {
	var mta int64
	if m.MTAAttachmentID != nil {
		mta = *m.MTAAttachmentID
	}
	return all(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+` FROM attachments o
		WHERE o.id IN (SELECT CAST($1 AS BIGINT) UNION SELECT a.id FROM attachments a WHERE a.sequence_map_for = $2)
		AND o.deleted_at IS NULL AND o.content_key IS NOT NULL
		AND NOT o.storage_resource_deleted ORDER BY o.id`, mta, m.ID)
}

// ByIDs reads those of the grants that exist, the oldest first.
func (st Grants) ByIDs(ctx context.Context, ids []int64) ([]exchange.Grant, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	places, args := in(nil, ids)
	return all(ctx, st.conn, scanGrant, "SELECT "+grantColumns+" FROM grants o WHERE o.id IN ("+places+
		") ORDER BY o.id",
		args...)
}

// UnderWay is the newest request of a user for a material that is not resolved; 0: there is none.
func (st Requests) UnderWay(ctx context.Context, material int64, requester uuid.UUID) (int64, error) {
	return one(ctx, st.conn, value[int64], `SELECT COALESCE(MAX(id), 0) FROM material_requests
		WHERE material_id = $1 AND requester_id = $2 AND is_active AND deleted_at IS NULL`, material, requester)
}

// Alike are at most n of the materials that have the values of some facets, whichever are found first.
func (st Materials) Alike(ctx context.Context, filters map[string][]string, viewer uuid.UUID,
	n int) ([]exchange.ShownMaterial, error) {
	f := finder{st.conn, materialIndex, viewer}
	ranks, err := f.some(ctx, filtered(filters, ""), n)
	if err != nil {
		return nil, err
	}
	hits := make([]ranked, len(ranks))
	for i, rank := range ranks {
		hits[i].rank = rank
	}
	return load(ctx, f, hits, shownMaterial, materialFrom, shownFields)
}
