package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

const attachmentColumns = `o.id, o.filename, o.description, o.owned_by_org, o.owned_by_user, o.of_lab,
	o.sequence_map_for,
	o.content_key, o.size, o.sha256, o.media_type, COALESCE(o.scan, ''), COALESCE(o.scan_found, ''), o.version,
	o.storage_resource_deleted, o.deleted_at, o.created_at,
	o.updated_at`

func scanAttachment(r sqldb.Row, a *document.Attachment) error {
	var key, sum, kind *string
	var size *int64
	var scan document.Scan
	err := r.Scan(&a.ID, &a.Filename, &a.Description, &a.OwnedByOrg, &a.OwnedByUser, &a.OfLab, &a.SequenceMapFor,
		&key, &size, &sum, &kind, &scan.State, &scan.Found, &a.Version, &a.ContentDeleted,
		sqldb.UTCOrNull(&a.DeletedAt), sqldb.UTC(&a.CreatedAt), sqldb.UTC(&a.UpdatedAt))
	if err == nil && key != nil {
		a.Content = &document.Content{Key: *key, Size: *size, SHA256: *sum, MediaType: *kind, Scan: scan}
	}
	return err
}

// Get reads one attachment that was not deleted.
func (st Attachments) Get(ctx context.Context, id int64) (document.Attachment, error) {
	return sqldb.One(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+
		" FROM attachments o WHERE o.id = $1 AND o.deleted_at IS NULL", id)
}

// ForUpdate reads one and locks it until commit.
func (st Attachments) ForUpdate(ctx context.Context, id int64) (document.Attachment, error) {
	return sqldb.One(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+
		" FROM attachments o WHERE o.id = $1 AND o.deleted_at IS NULL"+st.conn.Dialect().ForUpdate, id)
}

// List lists all that were not deleted.
func (st Attachments) List(ctx context.Context, p exchange.Page) (exchange.ListPage[document.Attachment], error) {
	l := sqldb.Listing[document.Attachment]{Columns: attachmentColumns, Table: "attachments", Scan: scanAttachment,
		ID: func(a document.Attachment) int64 { return a.ID }}
	return l.Page(ctx, st.conn, p, sqldb.Where("o.deleted_at IS NULL"))
}

// OfUser reads a user's own attachments and what they filed for labs that they are in, the oldest first.
func (st Attachments) OfUser(ctx context.Context, user uuid.UUID) ([]document.Attachment, error) {
	return sqldb.All(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+
		` FROM attachments o WHERE o.owned_by_user = $1 AND o.deleted_at IS NULL AND (NOT o.of_lab OR EXISTS
			(SELECT 1 FROM memberships p WHERE p.organization_id = o.owned_by_org AND p.user_id = $1
			AND p.left_at IS NULL)) ORDER BY o.id`, user)
}

// AttachmentTies report what an attachment is bound to beside its owners.
type AttachmentTies struct {
	Linked    bool // the user is a party of a request that it is or was linked to, or that was made when it was the MTA
	Public    bool // a listed material names it as its MTA or sequence map
	Requests  bool // it is a document of some request or permit
	MTA       bool // some material names it as its MTA
	Elsewhere bool // some material of another organization than its own does
	Agreed    bool // some request was made when it was the MTA
}

// Ties reads the ties of an attachment for a user, in one query.
func (st Attachments) Ties(ctx context.Context, a document.Attachment, user uuid.UUID) (AttachmentTies, error) {
	scan := func(r sqldb.Row, t *AttachmentTies) error {
		return r.Scan(&t.Linked, &t.Public, &t.Requests, &t.MTA, &t.Elsewhere, &t.Agreed)
	}
	return sqldb.One(ctx, st.conn, scan, `SELECT
		EXISTS (SELECT 1 FROM request_documents d JOIN material_requests r ON r.id = d.request_id
			JOIN materials m ON m.id = r.material_id
			LEFT JOIN memberships p ON p.organization_id = m.organization_id AND p.user_id = $2 AND p.left_at IS NULL
			WHERE d.attachment_id = $1 AND r.deleted_at IS NULL AND (r.requester_id = $2 OR p.id IS NOT NULL))
			OR EXISTS (SELECT 1 FROM material_requests r WHERE r.mta_attachment_id = $1 AND r.mta_version = $6
			AND r.requester_id = $2 AND r.deleted_at IS NULL),
		EXISTS (SELECT 1 FROM materials m WHERE (m.mta_attachment_id = $1 OR m.id = $3)
			AND NOT m.is_archived AND `+published("m")+` AND (m.embargo_date IS NULL OR m.embargo_date <= $4)),
		EXISTS (SELECT 1 FROM request_documents d WHERE d.attachment_id = $1)
			OR EXISTS (SELECT 1 FROM permits t WHERE t.document = $1),
		EXISTS (SELECT 1 FROM materials m WHERE m.mta_attachment_id = $1),
		EXISTS (SELECT 1 FROM materials m WHERE m.mta_attachment_id = $1 AND m.organization_id <> $5),
		EXISTS (SELECT 1 FROM material_requests r WHERE r.mta_attachment_id = $1)`,
		a.ID, user, a.SequenceMapFor, st.conn.Now.Format(time.DateOnly), a.OwnedByOrg, a.Version)
}

// Insert adds the record of an attachment and returns its id.
func (st Attachments) Insert(ctx context.Context, a document.Attachment) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO attachments (filename, description, owned_by_org,
		owned_by_user,
		sequence_map_for,
		content_key, size, sha256, media_type, storage_resource_deleted, deleted_at, filename_sort, of_lab, version,
		updated_at, created_at, scan, scan_found)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
		$15, NULLIF($16, ''), NULLIF($17, '')) RETURNING id`, st.args(a)...)
}

// Update saves an attachment.
func (st Attachments) Update(ctx context.Context, a document.Attachment) error {
	_, err := st.conn.Exec(ctx, `UPDATE attachments SET filename = $1, description = $2, owned_by_org = $3,
		owned_by_user = $4,
		sequence_map_for = $5, content_key = $6, size = $7, sha256 = $8, media_type = $9,
		storage_resource_deleted = $10,
		deleted_at = $11, filename_sort = $12, of_lab = $13, version = $14, updated_at = $15,
		scan = NULLIF($16, ''), scan_found = NULLIF($17, '')
		WHERE id = $18`, append(st.args(a), a.ID)...)
	return err
}

func (st Attachments) args(a document.Attachment) []any {
	var key, sum, kind *string
	var size *int64
	var scan document.Scan
	if a.Content != nil {
		key, size, sum, kind = &a.Content.Key, &a.Content.Size, &a.Content.SHA256, &a.Content.MediaType
		scan = a.Content.Scan
	}
	return []any{a.Filename, a.Description, a.OwnedByOrg, a.OwnedByUser, a.SequenceMapFor, key, size, sum, kind,
		a.ContentDeleted, a.DeletedAt, exchange.SortKey(a.Filename), a.OfLab, a.Version, st.conn.Now,
		string(scan.State), scan.Found}
}

// DeletedContent reads attachments that were deleted before a moment and still have content.
func (st Attachments) DeletedContent(ctx context.Context, before time.Time, limit int) ([]document.Attachment, error) {
	return sqldb.All(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+` FROM attachments o
		WHERE o.deleted_at < $1 AND o.content_key IS NOT NULL ORDER BY o.id LIMIT $2`, before, limit)
}

// ContentKnown reports whether some attachment, deleted or not, a version of one, or a spreadsheet has its content
// under a key.
func (st Attachments) ContentKnown(ctx context.Context, key string) (bool, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[bool], `SELECT EXISTS (SELECT 1 FROM attachments WHERE content_key = $1)
		OR EXISTS (SELECT 1 FROM attachment_versions WHERE content_key = $1)
		OR EXISTS (SELECT 1 FROM bulks WHERE content_key = $1)
		OR EXISTS (SELECT 1 FROM sheets WHERE content_key = $1)`, key)
}

// StoredKey is the key of a content; Sum is its SHA-256, zero where the database does not have it.
type StoredKey struct{ Key, Sum [32]byte }

// ContentKeys reads the keys of all content that ContentKnown knows, in their order. A key that no store gives is left
// out.
func (st Attachments) ContentKeys(ctx context.Context) (list []StoredKey, err error) {
	scan := func(r sqldb.Row, _ *struct{}) error {
		var key, sum string
		err := r.Scan(&key, &sum)
		raw, wrong := hex.DecodeString(key)
		if wrong != nil || len(raw) != 32 {
			return err
		}
		stored := StoredKey{Key: [32]byte(raw)}
		_, _ = hex.Decode(stored.Sum[:], []byte(sum)[:min(64, len(sum))]) // what is none differs from every sum
		list = append(list, stored)
		return err
	}
	_, err = sqldb.All(ctx, st.conn, scan, `SELECT content_key, sha256 FROM attachments WHERE content_key IS NOT NULL
		UNION ALL SELECT content_key, sha256 FROM attachment_versions UNION ALL SELECT content_key, '' FROM bulks
		UNION ALL SELECT content_key, '' FROM sheets`)
	// of a spreadsheet that is in two tables, or of one that is an attachment too, the first has the sum
	slices.SortFunc(list, func(a, b StoredKey) int {
		return cmp.Or(bytes.Compare(a.Key[:], b.Key[:]), bytes.Compare(b.Sum[:], a.Sum[:]))
	})
	return slices.CompactFunc(list, func(a, b StoredKey) bool { return a.Key == b.Key }), err
}

// ForgetContent makes attachments, and versions of them, those whose content was deleted, by its keys.
func (st Attachments) ForgetContent(ctx context.Context, keys []string) error {
	for _, key := range keys {
		err := changeAll(ctx, st.conn,
			change{`UPDATE attachments SET content_key = NULL, size = NULL, sha256 = NULL, media_type = NULL,
				scan = NULL, scan_found = NULL, storage_resource_deleted = TRUE WHERE content_key = $1`, []any{key}},
			change{"DELETE FROM attachment_versions WHERE content_key = $1", []any{key}})
		if err != nil {
			return err
		}
	}
	return nil
}

// StoredContent reads, by id, the attachments past after that have content; for verifying.
func (st Attachments) StoredContent(ctx context.Context, after int64, limit int) ([]document.Attachment, error) {
	return sqldb.All(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+
		" FROM attachments o WHERE o.id > $1 AND (o.content_key || '') IS NOT NULL ORDER BY o.id "+ // not by their keys
		"LIMIT $2", after, limit)
}

// BlankAgreements reads the documents of an organization that its materials can show as their MTA, the newest first:
// no request stands on them, and none is a sequence map.
func (st Attachments) BlankAgreements(ctx context.Context, organization int64, most int) ([]document.Attachment,
	error) {
	return sqldb.All(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+` FROM attachments o
		WHERE o.owned_by_org = $1
			AND o.deleted_at IS NULL AND o.content_key IS NOT NULL AND o.sequence_map_for IS NULL
			AND NOT EXISTS (SELECT 1 FROM request_documents d WHERE d.attachment_id = o.id)
			AND NOT (`+onlyAgreed+") ORDER BY o.id DESC LIMIT $2", organization, most)
}

// MapsOf reads the sequence maps of a material, the oldest first.
func (st Attachments) MapsOf(ctx context.Context, material int64) ([]document.Attachment, error) {
	return sqldb.All(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+
		" FROM attachments o WHERE o.sequence_map_for = $1 AND o.deleted_at IS NULL ORDER BY o.id", material)
}

func scanVersion(r sqldb.Row, v *document.AttachmentVersion) error {
	return r.Scan(&v.Attachment, &v.Version, &v.Filename, &v.Key, &v.Size, &v.SHA256, &v.MediaType, &v.Scan.State,
		&v.Scan.Found, &v.ReplacedBy, sqldb.UTCOrNull(&v.ReplacedAt))
}

const versionColumns = "v.attachment_id, v.version, v.filename, v.content_key, v.size, v.sha256, v.media_type, " +
	"COALESCE(v.scan, ''), COALESCE(v.scan_found, ''), v.replaced_by, v.replaced_at"

// InsertVersion keeps what the content of an attachment was before by replaces it.
func (st Attachments) InsertVersion(ctx context.Context, v document.AttachmentVersion, by uuid.UUID) error {
	_, err := st.conn.Exec(ctx, `INSERT INTO attachment_versions (attachment_id, version, filename, content_key, size,
		sha256, media_type, replaced_by, replaced_at, scan, scan_found)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULLIF($10, ''), NULLIF($11, ''))`, v.Attachment, v.Version,
		v.Filename, v.Key, v.Size, v.SHA256, v.MediaType, by, st.conn.Now, string(v.Scan.State), v.Scan.Found)
	return err
}

// Version reads what the content of an attachment was before it was replaced.
func (st Attachments) Version(ctx context.Context, attachment, version int64) (document.AttachmentVersion, error) {
	return sqldb.One(ctx, st.conn, scanVersion, "SELECT "+versionColumns+
		" FROM attachment_versions v WHERE v.attachment_id = $1 AND v.version = $2", attachment, version)
}

// AgreedVersions reads under which versions of an attachment requests were made of which a user is a party.
func (st Attachments) AgreedVersions(ctx context.Context, attachment int64, user uuid.UUID) ([]int64, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[int64], `SELECT DISTINCT r.mta_version FROM material_requests r
		LEFT JOIN memberships p ON p.organization_id = r.organization_id AND p.user_id = $2 AND p.left_at IS NULL
		WHERE r.mta_attachment_id = $1 AND (r.requester_id = $2 OR p.id IS NOT NULL) AND r.deleted_at IS NULL
		ORDER BY r.mta_version`, attachment, user)
}

// DeletedVersions reads the versions of attachments that were deleted before a moment.
func (st Attachments) DeletedVersions(ctx context.Context, before time.Time, limit int) ([]document.AttachmentVersion,
	error) {
	return sqldb.All(ctx, st.conn, scanVersion, "SELECT "+versionColumns+` FROM attachment_versions v JOIN attachments o
		ON o.id = v.attachment_id
		WHERE o.deleted_at < $1 ORDER BY v.id LIMIT $2`, before, limit)
}

// DeleteVersion deletes a version.
func (st Attachments) DeleteVersion(ctx context.Context, v document.AttachmentVersion) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM attachment_versions WHERE attachment_id = $1 AND version = $2",
		v.Attachment,
		v.Version)
	return err
}

// StoredVersions reads the versions of attachments after a place in the order of attachment and version; for verifying.
func (st Attachments) StoredVersions(ctx context.Context, attachment, version int64,
	limit int) ([]document.AttachmentVersion,
	error) {
	return sqldb.All(ctx, st.conn, scanVersion, "SELECT "+versionColumns+` FROM attachment_versions v
		WHERE (v.attachment_id, v.version) > ($1, $2) ORDER BY v.attachment_id,
		v.version LIMIT $3`, attachment, version, limit)
}

// Use reads how many bytes owners have stored; whoever has none is left out.
func (st Storage) Use(ctx context.Context, owners ...document.StorageOwner) (map[document.StorageOwner]int64, error) {
	type use struct {
		owner document.StorageOwner
		bytes int64
	}
	places, args := sqldb.In(nil, owners)
	list, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, u *use) error { return r.Scan(&u.owner, &u.bytes) },
		"SELECT owner, bytes FROM storage_use WHERE owner IN ("+places+")", args...)
	used := map[document.StorageOwner]int64{}
	for _, u := range list {
		used[u.owner] = u.bytes
	}
	return used, err
}

// InsertSheet notes that the content of a spreadsheet is stored for an organization.
func (st Storage) InsertSheet(ctx context.Context, organization int64, t document.Content) error {
	_, err := st.conn.Exec(ctx, "INSERT INTO sheets (content_key, organization_id, size, created_at) VALUES ($1, $2, "+
		"$3, $4)",
		t.Key, organization, t.Size, st.conn.Now)
	return err
}

// DeleteSheet notes that the content of a spreadsheet, if it is one, is no longer stored.
func (st Storage) DeleteSheet(ctx context.Context, key string) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM sheets WHERE content_key = $1", key)
	return err
}

// DeleteOldSheets is DeleteSheet for those that came before a moment and of which there is no job.
func (st Storage) DeleteOldSheets(ctx context.Context, before time.Time) error {
	_, err := st.conn.Exec(ctx, `DELETE FROM sheets WHERE created_at < $1
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
func (st Storage) LargestFiles(ctx context.Context, lab int64, user uuid.UUID, limit int) ([]document.StoredFile,
	error) {
	condition, owner := storedBy(lab, user)
	return sqldb.All(ctx, st.conn,
		func(r sqldb.Row, f *document.StoredFile) error {
			return r.Scan(&f.ID, &f.Filename, &f.Bytes, &f.Scan.State)
		},
		fmt.Sprintf(`SELECT f.id, f.filename, f.bytes, f.scan
			FROM (SELECT o.id, o.filename, COALESCE(o.scan, '') AS scan, CAST(%s AS BIGINT) AS bytes
			FROM attachments o
			WHERE %s AND o.deleted_at IS NULL) f WHERE f.bytes > 0 ORDER BY f.bytes DESC,
			f.id LIMIT $2`, withVersions, condition), owner, limit)
}

// KeptBytes reads how many bytes are still kept of the attachments that a lab, or where lab is 0 a user, deleted, and
// of the spreadsheets of the lab.
func (st Storage) KeptBytes(ctx context.Context, lab int64, user uuid.UUID) (deleted, sheets int64, err error) {
	condition, owner := storedBy(lab, user)
	type kept struct{ deleted, sheets int64 }
	k, err := sqldb.One(ctx, st.conn, func(r sqldb.Row, k *kept) error { return r.Scan(&k.deleted, &k.sheets) },
		fmt.Sprintf(`SELECT
		(SELECT CAST(COALESCE(SUM(%s), 0) AS BIGINT) FROM attachments o WHERE %s AND o.deleted_at IS NOT NULL),
		(SELECT CAST(COALESCE(SUM(s.size), 0) AS BIGINT) FROM sheets s
		WHERE s.organization_id = $2)`, withVersions, condition), owner, lab)
	return k.deleted, k.sheets, err
}

// OfRequest reads the attachments of every document version of a request, by id.
func (st Attachments) OfRequest(ctx context.Context, request int64) (map[int64]document.Attachment, error) {
	list, err := sqldb.All(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+` FROM attachments o
		WHERE o.id IN (SELECT attachment_id FROM request_documents WHERE request_id = $1)
		AND o.deleted_at IS NULL`, request)
	byID := map[int64]document.Attachment{}
	for _, t := range list {
		byID[t.ID] = t
	}
	return byID, err
}
