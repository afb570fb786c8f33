package store

import (
	"context"
	"slices"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

const userColumns = "u.id, u.username, u.first_name, u.last_name, u.email, u.registry_id, u.is_admin, u.created_at, " +
	"u.updated_at, u.verified_email, u.closed_at IS NOT NULL"

// userFields are where userColumns are scanned to.
func userFields(u *exchange.User) []any {
	return []any{&u.ID, &u.Username, &u.FirstName, &u.LastName, &u.Email, &u.RegistryID, &u.Admin, utc{&u.CreatedAt},
		utc{&u.UpdatedAt}, &u.VerifiedEmail, &u.Closed}
}

func scanUser(r row, u *exchange.User) error { return r.Scan(userFields(u)...) }

// User reads one user.
func (c Conn) User(ctx context.Context, id uuid.UUID) (exchange.User, error) {
	return one(ctx, c, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.id = $1", id)
}

// UserForUpdate reads one user and keeps others from changing it until commit, but not the user from acting.
func (c Conn) UserForUpdate(ctx context.Context, id uuid.UUID) (exchange.User, error) {
	return one(ctx, c, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.id = $1"+c.db.dialect.forChange, id)
}

// UserByRegistryID reads the user whom the identity provider calls so.
func (c Conn) UserByRegistryID(ctx context.Context, registryID string) (exchange.User, error) {
	return one(ctx, c, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.registry_id = $1 AND u.closed_at IS NULL",
		registryID)
}

// Users reads those of the users that exist, in the order of their ids.
func (c Conn) Users(ctx context.Context, ids []uuid.UUID) (users []exchange.User, err error) {
	ids = slices.SortedFunc(slices.Values(ids), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	for some := range slices.Chunk(slices.Compact(ids), maxIn) {
		places, args := in(nil, some)
		found, err := all(ctx, c, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.id IN ("+places+
			") ORDER BY u.id", args...)
		if err != nil {
			return nil, err
		}
		users = append(users, found...)
	}
	return users, nil
}

// Admins reads every admin.
func (c Conn) Admins(ctx context.Context) ([]exchange.User, error) {
	return all(ctx, c, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.is_admin ORDER BY u.id")
}

// InsertUser adds a user; an existing registry id is a Conflict.
func (c Conn) InsertUser(ctx context.Context, u exchange.User) error {
	_, err := c.exec(ctx, `INSERT INTO users (id, username, first_name, last_name, email, registry_id, is_admin,
		created_at, updated_at, verified_email,
			first_name_sort, last_name_sort)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11)`,
		u.ID, u.Username, u.FirstName, u.LastName, u.Email, u.RegistryID, u.Admin, c.Now, u.VerifiedEmail,
		exchange.SortKey(u.FirstName), exchange.SortKey(u.LastName))
	if err != nil {
		return err
	}
	return c.indexUser(ctx, u, indexedRow{})
}

// UpdateUser saves what a user may change of themselves, whether they are an admin,
// and their verified address.
func (c Conn) UpdateUser(ctx context.Context, u exchange.User) error {
	if _, err := c.exec(ctx, `UPDATE users SET first_name = $2, last_name = $3, email = $4, is_admin = $5,
		updated_at = $6, verified_email = $7, first_name_sort = $8, last_name_sort = $9 WHERE id = $1`,
		u.ID, u.FirstName, u.LastName, u.Email, u.Admin, c.Now, u.VerifiedEmail, exchange.SortKey(u.FirstName),
		exchange.SortKey(u.LastName)); err != nil {
		return err
	}
	was, err := c.kept(ctx, userIndex, u.ID)
	if err != nil {
		return err
	}
	return c.indexUser(ctx, u, was)
}

// VerifyEmail keeps the address that the identity provider vouched for.
func (c Conn) VerifyEmail(ctx context.Context, user uuid.UUID, email string) error {
	_, err := c.exec(ctx, "UPDATE users SET verified_email = $2 WHERE id = $1", user, email)
	return err
}

// InsertToken adds a token by the hash of its secret, and gives its id.
func (c Conn) InsertToken(ctx context.Context, t exchange.Token, hash string) (int64, error) {
	return one(ctx, c, value[int64], `INSERT INTO tokens (user_id, kind, name, hash, created_at, expires_at, used_at,
		scope, organization_id)
		VALUES ($1, $2, $3, $4, $5, $6, $5, $7, $8) RETURNING id`,
		t.UserID, string(t.Kind), t.Name, hash, c.Now, t.ExpiresAt, string(t.Scope), t.Organization)
}

// UseToken notes that a token was used.
func (c Conn) UseToken(ctx context.Context, id int64) error {
	_, err := c.exec(ctx, "UPDATE tokens SET used_at = $2 WHERE id = $1", id, c.Now)
	return err
}

// DeleteToken revokes one token of a user; NotFound when there is none.
func (c Conn) DeleteToken(ctx context.Context, user uuid.UUID, id int64) error {
	n, err := c.exec(ctx, "DELETE FROM tokens WHERE user_id = $1 AND id = $2", user, id)
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "There is no such token."}
	}
	return err
}

// DeleteTokens revokes every token of a user.
func (c Conn) DeleteTokens(ctx context.Context, user uuid.UUID) error {
	_, err := c.exec(ctx, "DELETE FROM tokens WHERE user_id = $1", user)
	return err
}

// DeleteOtherSessions revokes every session of a user but one.
func (c Conn) DeleteOtherSessions(ctx context.Context, user uuid.UUID, but int64) error {
	_, err := c.exec(ctx, "DELETE FROM tokens WHERE user_id = $1 AND kind = 'SESSION' AND id <> $2", user, but)
	return err
}

// DeleteSession revokes the session whose secret has a hash, if there is one.
func (c Conn) DeleteSession(ctx context.Context, hash string) error {
	_, err := c.exec(ctx, "DELETE FROM tokens WHERE hash = $1 AND kind = 'SESSION'", hash)
	return err
}

// DeleteExpiredTokens forgets tokens that expired.
func (c Conn) DeleteExpiredTokens(ctx context.Context) error {
	_, err := c.exec(ctx, "DELETE FROM tokens WHERE expires_at <= $1", c.Now)
	return err
}

const tokenColumns = "o.id, o.user_id, o.kind, o.name, o.created_at, o.expires_at, o.used_at, o.scope, " +
	"o.organization_id"

func scanToken(r row, t *exchange.Token) error {
	return r.Scan(&t.ID, &t.UserID, &t.Kind, &t.Name, utc{&t.CreatedAt}, utc{&t.ExpiresAt}, utc{&t.UsedAt}, &t.Scope,
		&t.Organization)
}

// Token reads one token.
func (c Conn) Token(ctx context.Context, id int64) (exchange.Token, error) {
	return one(ctx, c, scanToken, "SELECT "+tokenColumns+" FROM tokens o WHERE o.id = $1", id)
}

// ScopedTokens is how many valid tokens of programs a user has.
func (c Conn) ScopedTokens(ctx context.Context, user uuid.UUID) (int64, error) {
	return one(ctx, c, value[int64], "SELECT COUNT(*) FROM tokens WHERE user_id = $1 AND scope <> '' AND "+
		"expires_at > $2", user, c.Now)
}

// Tokens lists a user's tokens.
func (c Conn) Tokens(ctx context.Context, user uuid.UUID, p exchange.Page) (exchange.ListPage[exchange.Token], error) {
	l := listing[exchange.Token]{columns: tokenColumns, table: "tokens", scan: scanToken,
		id: func(t exchange.Token) int64 { return t.ID }, sorts: map[string]string{"expires": "o.expires_at"},
		filters: map[string]condition{"organization": equals("o.organization_id"),
			"other than": func(f *filter, id any) { f.and("o.id <> ?", id) }}}
	return l.page(ctx, c, p, where("o.user_id = ? AND o.expires_at > ?", user, c.Now))
}
