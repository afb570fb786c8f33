package agreement

import (
	"context"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/store/sqldb"
)

// Links stores the links by which people without an account sign.
type Links struct{ conn *sqldb.Conn }

// NewLinks returns the store on a connection.
func NewLinks(c *sqldb.Conn) Links { return Links{c} }

const linkColumns = `o.id, o.agreement, o.version, o.sha256, o.role, o.name, o.title, o.mail, o.hash, o.mail_state,
	o.expires_at, o.used_at, o.codes, o.code_asked_at, o.code_hash, o.code_expires_at, o.code_attempts, o.made_by,
	o.created_at`

func scanLink(r sqldb.Row, l *signing.Link) error {
	err := r.Scan(&l.ID, &l.Agreement, &l.Document.Version, &l.Document.SHA256, &l.Role, &l.Signer.Name,
		&l.Signer.Title, &l.Signer.Mail, &l.Hash, &l.Mail, sqldb.UTC(&l.Expires), sqldb.UTCOrNull(&l.UsedAt), &l.Codes,
		sqldb.UTCOrNull(&l.CodeAskedAt), &l.CodeHash, sqldb.UTCOrNull(&l.CodeExpires), &l.CodeAttempts, &l.MadeBy,
		sqldb.UTC(&l.CreatedAt))
	l.Document.Letter = letter.Number(l.Agreement)
	return err
}

// List lists the links of an agreement.
func (st Links) List(ctx context.Context, agreement int64,
	p exchange.Page) (exchange.ListPage[signing.Link], error) {
	l := sqldb.Listing[signing.Link]{Columns: linkColumns, Table: "agreement_links", Scan: scanLink,
		ID: func(l signing.Link) int64 { return l.ID }}
	return l.Page(ctx, st.conn, p, sqldb.Where("o.agreement = ?", agreement))
}

// Insert adds a link and returns its id.
func (st Links) Insert(ctx context.Context, l signing.Link) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO agreement_links (agreement, version, sha256, role,
		name, title, mail, hash, mail_state, expires_at, codes, code_hash, code_attempts, made_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, '', $8, $9, 0, '', 0, $10, $11) RETURNING id`, l.Agreement,
		l.Document.Version, l.Document.SHA256, l.Role, l.Signer.Name, l.Signer.Title, l.Signer.Mail, string(l.Mail),
		l.Expires, l.MadeBy, l.CreatedAt)
}

// Update saves what happened to a link.
func (st Links) Update(ctx context.Context, l signing.Link) error {
	_, err := st.conn.Exec(ctx, `UPDATE agreement_links SET hash = $2, mail_state = $3, expires_at = $4, used_at = $5,
		codes = $6, code_asked_at = $7, code_hash = $8, code_expires_at = $9, code_attempts = $10 WHERE id = $1`, l.ID,
		l.Hash, string(l.Mail), l.Expires, l.UsedAt, l.Codes, l.CodeAskedAt, l.CodeHash, l.CodeExpires, l.CodeAttempts)
	return err
}

// ByToken reads the link of a token by its hash; NotFound for any other.
func (st Links) ByToken(ctx context.Context, hash string) (signing.Link, error) {
	return sqldb.One(ctx, st.conn, scanLink, "SELECT "+linkColumns+
		" FROM agreement_links o WHERE o.hash = $1 AND o.hash <> ''", hash)
}

// ForUpdate reads one and locks it until commit.
func (st Links) ForUpdate(ctx context.Context, id int64) (signing.Link, error) {
	return sqldb.One(ctx, st.conn, scanLink, "SELECT "+linkColumns+" FROM agreement_links o WHERE o.id = $1"+
		st.conn.Dialect().ForUpdate, id)
}

// Pending reads the unused links of an agreement for a role and an address, and locks them.
func (st Links) Pending(ctx context.Context, agreement int64, role, mail string) ([]signing.Link, error) {
	return sqldb.All(ctx, st.conn, scanLink, "SELECT "+linkColumns+" FROM agreement_links o WHERE o.agreement = $1 "+
		"AND o.role = $2 AND o.mail = $3 AND o.used_at IS NULL ORDER BY o.id"+st.conn.Dialect().ForUpdate, agreement,
		role, mail)
}
