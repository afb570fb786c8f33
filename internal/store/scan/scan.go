// Package scan is the SQL of how content was scanned for viruses.
package scan

import (
	"context"
	"errors"
	"time"

	"aliquot/internal/exchange/document"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Scans stores what a virus scanner said of the content of attachments and of their earlier versions.
type Scans struct{ conn *sqldb.Conn }

// New returns the store on a connection.
func New(c *sqldb.Conn) Scans { return Scans{c} }

// Save saves what is said of the content of an attachment, in whichever version that is now.
func (st Scans) Save(ctx context.Context, v document.AttachmentVersion, s document.Scan) error {
	_, err := st.conn.Exec(ctx, `UPDATE attachments SET scan = $1, scan_found = NULLIF($2, '')
		WHERE id = $3 AND content_key = $4`, string(s.State), s.Found, v.Attachment, v.Key)
	_, versionErr := st.conn.Exec(ctx, `UPDATE attachment_versions SET scan = $1, scan_found = NULLIF($2, '')
		WHERE attachment_id = $3 AND content_key = $4`, string(s.State), s.Found, v.Attachment, v.Key)
	return errors.Join(err, versionErr)
}

// Uploader returns who uploaded a version of an attachment: whoever replaced the one before, or filed the first; nil if
// that is nobody who is known.
func (st Scans) Uploader(ctx context.Context, v document.ScannedVersion) (*uuid.UUID, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[*uuid.UUID], `SELECT COALESCE((SELECT v.replaced_by
		FROM attachment_versions v WHERE v.attachment_id = $1 AND v.version = $2 - 1), o.owned_by_user)
		FROM attachments o WHERE o.id = $1`, v.Attachment, v.Version)
}

// stored are the versions of attachments that were not deleted and have content, with their scans.
const stored = `(SELECT o.id, o.version, o.filename, o.scan, o.scan_found, o.updated_at FROM attachments o
	WHERE o.deleted_at IS NULL AND o.content_key IS NOT NULL
	UNION ALL SELECT v.attachment_id, v.version, v.filename, v.scan, v.scan_found, v.replaced_at
	FROM attachment_versions v JOIN attachments o ON o.id = v.attachment_id WHERE o.deleted_at IS NULL) s`

// Due reads what was not scanned and has not changed since a moment: first what is withheld until then, then what is
// from a time when there was no scanner.
func (st Scans) Due(ctx context.Context, before time.Time, limit int) ([]document.ScannedVersion, error) {
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, v *document.ScannedVersion) error {
		return r.Scan(&v.Attachment, &v.Version)
	}, "SELECT s.id, s.version FROM "+stored+` WHERE (s.scan IS NULL OR s.scan = 'CHECKING') AND s.updated_at < $1
		ORDER BY s.scan IS NULL, s.id, s.version LIMIT $2`, before, limit)
}

// Withheld reads the versions whose scans are in a state and that come after one, by their ids, at most so many.
func (st Scans) Withheld(ctx context.Context, state document.ScanState, after document.ScannedVersion,
	limit int) ([]document.WithheldVersion, error) {
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, w *document.WithheldVersion) error {
		return r.Scan(&w.Attachment, &w.Version, &w.Filename, &w.Scan.State, &w.Scan.Found)
	}, "SELECT s.id, s.version, s.filename, s.scan, COALESCE(s.scan_found, '') FROM "+stored+`
		WHERE s.scan = $1 AND (s.id, s.version) > ($2, $3) ORDER BY s.id, s.version LIMIT $4`, string(state),
		after.Attachment, after.Version, limit)
}

// Counts is how many versions of attachments are withheld, by why.
type Counts struct{ Checking, Infected int64 }

// Counts counts what is withheld.
func (st Scans) Counts(ctx context.Context) (Counts, error) {
	return sqldb.One(ctx, st.conn, func(r sqldb.Row, c *Counts) error { return r.Scan(&c.Checking, &c.Infected) },
		"SELECT (SELECT COUNT(*) FROM "+stored+" WHERE s.scan = 'CHECKING'), (SELECT COUNT(*) FROM "+stored+
			" WHERE s.scan = 'INFECTED')")
}
