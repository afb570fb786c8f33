package store

import (
	"context"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

const grantLinkColumns = "o.id, o.grant_id, o.note, o.created_at, o.expires_at, o.revoked_at"

func scanGrantLink(r row, l *exchange.GrantLink) error {
	return r.Scan(&l.ID, &l.GrantID, &l.Note, utc{&l.CreatedAt}, utc{&l.ExpiresAt}, utcNull{&l.RevokedAt})
}

// Link reads one link to the report of a grant.
func (st Grants) Link(ctx context.Context, id int64) (exchange.GrantLink, error) {
	return one(ctx, st.conn, scanGrantLink, "SELECT "+grantLinkColumns+" FROM grant_links o WHERE o.id = $1", id)
}

// Links lists the links to the report of a grant that open it still, the newest first.
func (st Grants) Links(ctx context.Context, grant int64) ([]exchange.GrantLink, error) {
	return all(ctx, st.conn, scanGrantLink, "SELECT "+grantLinkColumns+
		" FROM grant_links o WHERE o.grant_id = $1 AND o.revoked_at IS NULL AND o.expires_at > $2 ORDER BY o.id DESC",
		grant, st.conn.Now)
}

// InsertLink adds a link and gives its id.
func (st Grants) InsertLink(ctx context.Context, l exchange.GrantLink) (int64, error) {
	return one(ctx, st.conn, value[int64], "INSERT INTO grant_links (grant_id, note, created_at, expires_at) "+
		"VALUES ($1, "+
		"$2, $3, $4) RETURNING id",
		l.GrantID, l.Note, st.conn.Now, l.ExpiresAt)
}

// RevokeLink has a link open nothing any more; NotFound where the grant has none of that id.
func (st Grants) RevokeLink(ctx context.Context, grant, id int64) error {
	n, err := st.conn.exec(ctx, "UPDATE grant_links SET revoked_at = COALESCE(revoked_at, $3) WHERE grant_id = $1 "+
		"AND id = $2", grant, id, st.conn.Now)
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "The grant has no such link."}
	}
	return err
}

// PaidFor returns how often each material of a grant was requested, and how often that was completed.
func (st Grants) PaidFor(ctx context.Context, grant int64) (map[int64]exchange.FundedMaterial, error) {
	counts := map[int64]exchange.FundedMaterial{}
	_, err := all(ctx, st.conn, func(r row, _ *struct{}) error {
		var id int64
		var p exchange.FundedMaterial
		err := r.Scan(&id, &p.Requests, &p.Completed)
		counts[id] = p
		return err
	}, `SELECT f.material_id, COUNT(r.id), COUNT(r.id) FILTER (WHERE r.status = 'VERIFIED_FULFILLED')
		FROM grant_materials f LEFT JOIN material_requests r ON r.material_id = f.material_id AND r.deleted_at IS NULL
		WHERE f.grant_id = $1 GROUP BY f.material_id`, grant)
	return counts, err
}

// Fundable names materials of a person's labs that a grant does not name, by title.
func (st Grants) Fundable(ctx context.Context, grant int64, user uuid.UUID, limit int) ([]exchange.Named, error) {
	scan := func(r row, n *exchange.Named) error { return r.Scan(&n.ID, &n.Name) }
	return all(ctx, st.conn, scan, `SELECT o.id, o.title FROM materials o
		WHERE o.organization_id IN (SELECT m.organization_id FROM memberships m WHERE m.user_id = $1
		AND m.left_at IS NULL)
			AND NOT o.is_archived AND `+published("o")+` AND NOT EXISTS (SELECT 1 FROM grant_materials f
				WHERE f.material_id = o.id AND f.grant_id = $2)
		ORDER BY o.title_sort, o.id LIMIT $3`, user, grant, limit)
}
