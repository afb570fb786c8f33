package store

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Move is that a material went from an organization to another.
type Move struct {
	From    int64
	Version int64 // of the material, that it made
	MovedAt time.Time
}

// InsertMove notes that a material, which versions call object, goes from an organization to another, before the
// version is kept that this makes.
func (st Materials) InsertMove(ctx context.Context, material, from int64, object string) error {
	_, err := st.conn.exec(ctx, `INSERT INTO material_moves (material_id, from_organization_id, version, moved_at)
		VALUES ($1, $2, (SELECT COALESCE(MAX(version), 0) + 1 FROM audit_events WHERE object = $3),
		$4)`, material, from, object, st.conn.Now)
	return err
}

// MovedFrom gives the last move of a material away from an organization that a user is a member of, if there is any.
func (st Materials) MovedFrom(ctx context.Context, material int64, user uuid.UUID) ([]Move, error) {
	scan := func(r row, m *Move) error { return r.Scan(&m.From, &m.Version, utc{&m.MovedAt}) }
	return all(ctx, st.conn, scan, `SELECT v.from_organization_id, v.version, v.moved_at FROM material_moves v
		JOIN memberships m ON m.organization_id = v.from_organization_id AND m.user_id = $2 AND m.left_at IS NULL
		WHERE v.material_id = $1 ORDER BY v.id DESC LIMIT 1`, material, user)
}
