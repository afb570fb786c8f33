package store

import (
	"context"
	"slices"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// InsertAnnouncement adds news and gives their id.
func (st Notifications) InsertAnnouncement(ctx context.Context, n exchange.Announcement) (int64, error) {
	detail, err := text(n.Detail)
	if err != nil {
		return 0, err
	}
	return one(ctx, st.conn, value[int64], `INSERT INTO news (kind, actor_id, organization_id, at, detail,
		organization_name)
		VALUES ($1, $2, NULLIF(CAST($3 AS BIGINT), 0), $4, $5, (SELECT name FROM organizations
		WHERE id = $3)) RETURNING id`,
		string(n.Kind), uuid.NullUUID{UUID: n.Actor, Valid: n.Actor != uuid.Nil}, n.Organization, st.conn.Now, detail)
}

// Announce tells users of news. The actor hears nothing of their own act; the unique index keeps it to
// one message per person and news.
func (st Notifications) Announce(ctx context.Context, n exchange.Announcement, users ...uuid.UUID) error {
	for some := range slices.Chunk(users, maxIn) {
		places, args := in([]any{n.ID, string(n.Kind.Category()), st.conn.Now, n.Actor}, some)
		told, err := st.conn.exec(ctx, `INSERT INTO notifications (news_id, category, created_at, mail, user_id)
			SELECT CAST($1 AS BIGINT), $2, $3, 'NEW', u.id FROM users u WHERE u.id <> $4
			AND u.id IN (`+places+`) ORDER BY u.id
			ON CONFLICT (user_id, news_id) DO NOTHING`, args...)
		if err != nil {
			return err
		}
		*st.conn.news = *st.conn.news || told > 0
	}
	return nil
}
