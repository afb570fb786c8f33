// Package signing is the SQL of how people sign: their passkeys, and the statements that they are to sign.
package signing

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"time"

	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Passkeys stores passkeys.
type Passkeys struct{ conn *sqldb.Conn }

// NewPasskeys returns the store on a connection.
func NewPasskeys(c *sqldb.Conn) Passkeys { return Passkeys{c} }

const passkeyColumns = "o.id, o.user_id, o.credential_id, o.public_key, o.name, o.identified, o.signed_in_at, " +
	"o.created_at, o.removed_at"

func scanPasskey(r sqldb.Row, k *signing.Registered) error {
	var user uuid.UUID
	var id, public string
	err := r.Scan(&k.ID, &user, &id, &public, &k.Name, &k.Identified, sqldb.UTC(&k.SignedInAt),
		sqldb.UTC(&k.CreatedAt), sqldb.UTCOrNull(&k.RemovedAt))
	k.Passkey.User = user.String()
	if err == nil {
		k.Passkey.ID, err = base64.RawURLEncoding.DecodeString(id)
	}
	if err == nil {
		k.Passkey.Public, err = base64.RawURLEncoding.DecodeString(public)
	}
	return err
}

// List lists a user's passkeys, also those that were removed.
func (st Passkeys) List(ctx context.Context, user uuid.UUID,
	p exchange.Page) (exchange.ListPage[signing.Registered], error) {
	l := sqldb.Listing[signing.Registered]{Columns: passkeyColumns, Table: "passkeys", Scan: scanPasskey,
		ID: func(k signing.Registered) int64 { return k.ID }}
	return l.Page(ctx, st.conn, p, sqldb.Where("o.user_id = ?", user))
}

// Of reads all passkeys of a user, the oldest first.
func (st Passkeys) Of(ctx context.Context, user uuid.UUID) ([]signing.Registered, error) {
	return sqldb.All(ctx, st.conn, scanPasskey, "SELECT "+passkeyColumns+
		" FROM passkeys o WHERE o.user_id = $1 ORDER BY o.id", user)
}

// Insert adds a passkey of a user and returns its id; Conflict if somebody has registered it before.
func (st Passkeys) Insert(ctx context.Context, user uuid.UUID, k signing.Registered) (int64, error) {
	list, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], `INSERT INTO passkeys (user_id, credential_id, public_key,
		name, identified, signed_in_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (credential_id) DO NOTHING RETURNING id`, user,
		base64.RawURLEncoding.EncodeToString(k.Passkey.ID), base64.RawURLEncoding.EncodeToString(k.Passkey.Public),
		k.Name, k.Identified, k.SignedInAt, st.conn.Now)
	if err != nil {
		return 0, err
	}
	if len(list) == 0 {
		return 0, exchange.Errorf(exchange.Conflict, "This passkey is registered already.")
	}
	return list[0], nil
}

// Remove notes that a passkey was removed; NotFound unless it is one of the user's and in use.
func (st Passkeys) Remove(ctx context.Context, user uuid.UUID, id int64) (name string, err error) {
	name, err = sqldb.One(ctx, st.conn, sqldb.Value[string], "UPDATE passkeys SET removed_at = $3 WHERE user_id = $1 "+
		"AND id = $2 AND removed_at IS NULL RETURNING name", user, id, st.conn.Now)
	if exchange.CodeOf(err) == exchange.NotFound {
		err = exchange.Errorf(exchange.NotFound, "There is no such passkey.")
	}
	return name, err
}

// Statements stores what is to be answered by a passkey.
type Statements struct{ conn *sqldb.Conn }

// NewStatements returns the store on a connection.
func NewStatements(c *sqldb.Conn) Statements { return Statements{c} }

// Count counts what a user is to answer.
func (st Statements) Count(ctx context.Context, user uuid.UUID) (int, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int], "SELECT COUNT(*) FROM signing_statements WHERE user_id = $1 AND "+
		"expires_at > $2", user, st.conn.Now)
}

// Insert adds what a user is to answer.
func (st Statements) Insert(ctx context.Context, user uuid.UUID, p signing.Pending) error {
	_, err := st.conn.Exec(ctx, `INSERT INTO signing_statements (challenge, user_id, statement, expires_at, used)
		VALUES ($1, $2, $3, $4, FALSE)`, hex.EncodeToString(signing.Challenge(p.Statement)), user, string(p.Statement),
		p.Expires)
	return err
}

// ForUpdate reads what a user is to answer by its challenge, and locks it until commit; NotFound if there is none.
func (st Statements) ForUpdate(ctx context.Context, user uuid.UUID, challenge []byte) (signing.Pending, error) {
	return sqldb.One(ctx, st.conn, func(r sqldb.Row, p *signing.Pending) error {
		var statement string
		err := r.Scan(&statement, sqldb.UTC(&p.Expires), &p.Used)
		p.Statement = []byte(statement)
		return err
	}, "SELECT o.statement, o.expires_at, o.used FROM signing_statements o WHERE o.challenge = $1 AND o.user_id = $2"+
		st.conn.Dialect().ForUpdate, hex.EncodeToString(challenge), user)
}

// Use notes that it was answered.
func (st Statements) Use(ctx context.Context, p signing.Pending) error {
	_, err := st.conn.Exec(ctx, "UPDATE signing_statements SET used = TRUE WHERE challenge = $1",
		hex.EncodeToString(signing.Challenge(p.Statement)))
	return err
}

// DeleteUntil deletes what expired until a moment.
func (st Statements) DeleteUntil(ctx context.Context, until time.Time) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM signing_statements WHERE expires_at <= $1", until)
	return err
}
