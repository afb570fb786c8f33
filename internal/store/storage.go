package store

import (
	"context"
	"fmt"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Use reads how many bytes owners have stored; whoever has none is left out.
func (st Storage) Use(ctx context.Context, owners ...exchange.StorageOwner) (map[exchange.StorageOwner]int64,
	error) {
	type use struct {
		owner exchange.StorageOwner
		bytes int64
	}
	places, args := in(nil, owners)
	list, err := all(ctx, st.conn, func(r row, u *use) error { return r.Scan(&u.owner, &u.bytes) },
		"SELECT owner, bytes FROM storage_use WHERE owner IN ("+places+")", args...)
	used := map[exchange.StorageOwner]int64{}
	for _, u := range list {
		used[u.owner] = u.bytes
	}
	return used, err
}

// InsertSheet notes that the content of a spreadsheet is kept for an organization.
func (st Storage) InsertSheet(ctx context.Context, organization int64, t exchange.Content) error {
	_, err := st.conn.exec(ctx, "INSERT INTO sheets (content_key, organization_id, size, created_at) VALUES ($1, $2, "+
		"$3, $4)",
		t.Key, organization, t.Size, st.conn.Now)
	return err
}

// DeleteSheet notes that the content of a spreadsheet, if it is one, is kept no more.
func (st Storage) DeleteSheet(ctx context.Context, key string) error {
	_, err := st.conn.exec(ctx, "DELETE FROM sheets WHERE content_key = $1", key)
	return err
}

// DeleteOldSheets is DeleteSheet for those that came before a moment and of which there is no job.
func (st Storage) DeleteOldSheets(ctx context.Context, before time.Time) error {
	_, err := st.conn.exec(ctx, `DELETE FROM sheets WHERE created_at < $1
		AND NOT EXISTS (SELECT 1 FROM bulks b WHERE b.content_key = sheets.content_key)`, before)
	return err
}

// withVersions are the bytes of the attachment o and of its older versions.
const withVersions = "COALESCE(o.size, 0) + COALESCE((SELECT SUM(v.size) FROM attachment_versions v WHERE " +
	"v.attachment_id = o.id), 0)"

// storedBy is the condition that the attachment o counts for a lab, or where lab is 0 for a user.
func storedBy(lab int64, user uuid.UUID) (condition string, owner any) {
	if lab != 0 {
		return "o.owned_by_org = $1 AND (o.of_lab OR o.owned_by_user IS NULL)", lab
	}
	return "o.owned_by_user = $1 AND (o.owned_by_org IS NULL OR NOT o.of_lab)", user
}

// LargestFiles reads the attachments of a lab, or where lab is 0 of a user, that use most, without those that were
// deleted.
func (st Storage) LargestFiles(ctx context.Context, lab int64, user uuid.UUID, limit int) ([]exchange.StoredFile,
	error) {
	condition, owner := storedBy(lab, user)
	return all(ctx, st.conn, func(r row, f *exchange.StoredFile) error { return r.Scan(&f.ID, &f.Filename, &f.Bytes) },
		fmt.Sprintf(`SELECT f.id, f.filename, f.bytes FROM (SELECT o.id, o.filename, CAST(%s AS BIGINT) AS bytes
			FROM attachments o
			WHERE %s AND o.deleted_at IS NULL) f WHERE f.bytes > 0 ORDER BY f.bytes DESC,
			f.id LIMIT $2`, withVersions, condition), owner, limit)
}

// KeptBytes reads how many bytes are still kept of the attachments that a lab, or where lab is 0 a user, deleted, and
// of the spreadsheets of the lab.
func (st Storage) KeptBytes(ctx context.Context, lab int64, user uuid.UUID) (deleted, sheets int64, err error) {
	condition, owner := storedBy(lab, user)
	type kept struct{ deleted, sheets int64 }
	k, err := one(ctx, st.conn, func(r row, k *kept) error { return r.Scan(&k.deleted, &k.sheets) }, fmt.Sprintf(`SELECT
		(SELECT CAST(COALESCE(SUM(%s), 0) AS BIGINT) FROM attachments o WHERE %s AND o.deleted_at IS NOT NULL),
		(SELECT CAST(COALESCE(SUM(s.size), 0) AS BIGINT) FROM sheets s
		WHERE s.organization_id = $2)`, withVersions, condition), owner, lab)
	return k.deleted, k.sheets, err
}
