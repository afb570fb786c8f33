// Package hold is the SQL of which content a bucket holds for the record.
package hold

import (
	"context"
	"time"

	"aliquot/internal/store/sqldb"
)

// Holds stores which content is to be held, and which bucket does.
type Holds struct{ conn *sqldb.Conn }

// New returns the store on a connection.
func New(c *sqldb.Conn) Holds { return Holds{c} }

// Expect notes that the content of an attachment is to be held.
func (st Holds) Expect(ctx context.Context, attachment int64) error {
	_, err := st.conn.Exec(ctx, `INSERT INTO content_holds (content_key, place, since)
		SELECT o.content_key, '', $2 FROM attachments o WHERE o.id = $1 AND o.content_key IS NOT NULL
		ON CONFLICT DO NOTHING`, attachment, st.conn.Now)
	return err
}

// ExpectAll is Expect for every document of a request that was accepted, executed agreements among them.
func (st Holds) ExpectAll(ctx context.Context) error {
	_, err := st.conn.Exec(ctx, `INSERT INTO content_holds (content_key, place, since)
		SELECT o.content_key, '', $1 FROM attachments o WHERE o.content_key IS NOT NULL
		AND o.id IN (SELECT d.attachment_id FROM request_documents d WHERE d.state = 'accepted')
		AND NOT EXISTS (SELECT 1 FROM content_holds h WHERE h.content_key = o.content_key)
		ON CONFLICT DO NOTHING`, st.conn.Now)
	return err
}

// elsewhere is that a place does not hold content, in two ranges of the index.
const elsewhere = "(h.place < $1 OR h.place > $1)"

// Due reads the keys after one whose content a place does not hold.
func (st Holds) Due(ctx context.Context, place, after string, limit int) ([]string, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[string], "SELECT h.content_key FROM content_holds h WHERE "+elsewhere+
		" AND h.content_key > $2 ORDER BY h.content_key LIMIT $3", place, after, limit)
}

// Content is what is to be held, for the operator.
type Content struct {
	Key        string
	Attachment int64
	Filename   string
	Place      string // that holds it, as far as is known; "" is none
}

// All reads the content after a key.
func (st Holds) All(ctx context.Context, after string, limit int) ([]Content, error) {
	scan := func(r sqldb.Row, c *Content) error { return r.Scan(&c.Key, &c.Attachment, &c.Filename, &c.Place) }
	return sqldb.All(ctx, st.conn, scan, `SELECT h.content_key, o.id, o.filename, h.place FROM content_holds h
		JOIN attachments o ON o.content_key = h.content_key
		WHERE h.content_key > $1 ORDER BY h.content_key LIMIT $2`, after, limit)
}

// Save notes which place holds content, of at most sqldb.MaxIn keys; "" is none.
func (st Holds) Save(ctx context.Context, place string, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	places, args := sqldb.In([]any{place}, keys)
	_, err := st.conn.Exec(ctx, "UPDATE content_holds SET place = $1 WHERE content_key IN ("+places+")", args...)
	return err
}

// Missing counts what a place does not hold; late is what it should have held since before a moment.
func (st Holds) Missing(ctx context.Context, place string, before time.Time) (all, late int64, err error) {
	type counts struct{ all, late int64 }
	c, err := sqldb.One(ctx, st.conn, func(r sqldb.Row, c *counts) error { return r.Scan(&c.all, &c.late) },
		"SELECT COUNT(*), COUNT(CASE WHEN h.since < $2 THEN 1 END) FROM content_holds h WHERE "+elsewhere, place,
		before)
	return c.all, c.late, err
}
