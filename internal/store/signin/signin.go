// Package signin is the SQL of sign-ins at identity providers other than the main one.
package signin

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// SignIns stores which accounts people linked their sign-ins to.
type SignIns struct{ conn *sqldb.Conn }

// New returns the store on a connection.
func New(c *sqldb.Conn) SignIns { return SignIns{c} }

// Use notes that a sign-in was used and returns whose it is; NotFound if it is linked to no account.
func (st SignIns) Use(ctx context.Context, issuer, subject string) (uuid.UUID, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[uuid.UUID], "UPDATE sign_ins SET used_at = $3 WHERE issuer = $1 AND "+
		"subject = $2 RETURNING user_id", issuer, subject, st.conn.Now)
}

// Of reads the sign-ins of a user, the oldest first.
func (st SignIns) Of(ctx context.Context, user uuid.UUID) ([]person.SignIn, error) {
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, s *person.SignIn) error {
		return r.Scan(&s.ID, &s.Issuer, &s.Subject, sqldb.UTC(&s.CreatedAt), sqldb.UTC(&s.UsedAt))
	}, "SELECT id, issuer, subject, created_at, used_at FROM sign_ins WHERE user_id = $1 ORDER BY id", user)
}

// Insert links a sign-in to the account of a user; Conflict if it is linked already, also to another one.
func (st SignIns) Insert(ctx context.Context, user uuid.UUID, issuer, subject string) error {
	n, err := st.conn.Exec(ctx, `INSERT INTO sign_ins (user_id, issuer, subject, created_at, used_at)
		VALUES ($1, $2, $3, $4, $4) ON CONFLICT (issuer, subject) DO NOTHING`, user, issuer, subject, st.conn.Now)
	if err == nil && n == 0 {
		err = exchange.Errorf(exchange.Conflict, "This sign-in is linked to an account already.")
	}
	return err
}

// Delete unlinks a sign-in of a user and returns its issuer; NotFound unless it is one of theirs.
func (st SignIns) Delete(ctx context.Context, user uuid.UUID, id int64) (issuer string, err error) {
	issuer, err = sqldb.One(ctx, st.conn, sqldb.Value[string], "DELETE FROM sign_ins WHERE user_id = $1 AND id = $2 "+
		"RETURNING issuer", user, id)
	if exchange.CodeOf(err) == exchange.NotFound {
		err = exchange.Errorf(exchange.NotFound, "There is no such sign-in.")
	}
	return issuer, err
}
