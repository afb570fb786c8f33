package store

import (
	"context"

	"aliquot/internal/exchange/person"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

const draftColumns = "o.user_id, o.key, o.title, o.form, o.updated_at"

func scanDraft(r sqldb.Row, d *person.Draft) error {
	return r.Scan(&d.User, &d.Key, &d.Title, sqldb.FromJSON(&d.Form), sqldb.UTC(&d.UpdatedAt))
}

// Get reads a draft of a person; NotFound when there is none.
func (st Drafts) Get(ctx context.Context, user uuid.UUID, key string) (person.Draft, error) {
	return sqldb.One(ctx, st.conn, scanDraft, "SELECT "+draftColumns+
		" FROM drafts o WHERE o.user_id = $1 AND o.key = $2",
		user,
		key)
}

// List reads a person's drafts, the last changed first; there are at most MaxDrafts.
func (st Drafts) List(ctx context.Context, user uuid.UUID) ([]person.Draft, error) {
	return sqldb.All(ctx, st.conn, scanDraft, "SELECT "+draftColumns+
		" FROM drafts o WHERE o.user_id = $1 ORDER BY o.updated_at "+
		"DESC, o.key", user)
}

// Save keeps a draft in the place of the one with its key, and forgets the oldest where a person has too many.
func (st Drafts) Save(ctx context.Context, d person.Draft) error {
	form, err := sqldb.JSON(d.Form)
	if err != nil {
		return err
	}
	if _, err := st.conn.Exec(ctx, `INSERT INTO drafts (user_id, key, title, form, updated_at) VALUES ($1, $2, $3,
		$4, $5)
		ON CONFLICT (user_id, key) DO UPDATE SET title = excluded.title, form = excluded.form,
		updated_at = excluded.updated_at`,
		d.User, d.Key, d.Title, form, st.conn.Now); err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, `DELETE FROM drafts WHERE user_id = $1 AND key NOT IN
		(SELECT key FROM drafts WHERE user_id = $1 ORDER BY updated_at DESC, key LIMIT $2)`, d.User, person.MaxDrafts)
	return err
}

// Delete forgets a draft, where there is one.
func (st Drafts) Delete(ctx context.Context, user uuid.UUID, key string) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM drafts WHERE user_id = $1 AND key = $2", user, key)
	return err
}
