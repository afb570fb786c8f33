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

// Get reads one user.
func (st Users) Get(ctx context.Context, id uuid.UUID) (exchange.User, error) {
	return one(ctx, st.conn, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.id = $1", id)
}

// ForUpdate reads one user and keeps others from changing it until commit, but not the user from acting.
func (st Users) ForUpdate(ctx context.Context, id uuid.UUID) (exchange.User, error) {
	return one(ctx, st.conn, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.id = $1"+
		st.conn.db.dialect.forChange, id)
}

// ByRegistryID reads the user whom the identity provider calls so.
func (st Users) ByRegistryID(ctx context.Context, registryID string) (exchange.User, error) {
	return one(ctx, st.conn, scanUser, "SELECT "+userColumns+
		" FROM users u WHERE u.registry_id = $1 AND u.closed_at IS NULL",
		registryID)
}

// ByIDs reads those of the users that exist, in the order of their ids.
func (st Users) ByIDs(ctx context.Context, ids []uuid.UUID) (users []exchange.User, err error) {
	ids = slices.SortedFunc(slices.Values(ids), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	for some := range slices.Chunk(slices.Compact(ids), maxIn) {
		places, args := in(nil, some)
		found, err := all(ctx, st.conn, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.id IN ("+places+
			") ORDER BY u.id", args...)
		if err != nil {
			return nil, err
		}
		users = append(users, found...)
	}
	return users, nil
}

// Admins reads every admin.
func (st Users) Admins(ctx context.Context) ([]exchange.User, error) {
	return all(ctx, st.conn, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.is_admin ORDER BY u.id")
}

// Insert adds a user; an existing registry id is a Conflict.
func (st Users) Insert(ctx context.Context, u exchange.User) error {
	_, err := st.conn.exec(ctx, `INSERT INTO users (id, username, first_name, last_name, email, registry_id, is_admin,
		created_at, updated_at, verified_email,
			first_name_sort, last_name_sort)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11)`,
		u.ID, u.Username, u.FirstName, u.LastName, u.Email, u.RegistryID, u.Admin, st.conn.Now, u.VerifiedEmail,
		exchange.SortKey(u.FirstName), exchange.SortKey(u.LastName))
	if err != nil {
		return err
	}
	return st.conn.indexUser(ctx, u, indexedRow{})
}

// Update saves what a user may change of themselves, whether they are an admin,
// and their verified address.
func (st Users) Update(ctx context.Context, u exchange.User) error {
	if _, err := st.conn.exec(ctx, `UPDATE users SET first_name = $2, last_name = $3, email = $4, is_admin = $5,
		updated_at = $6, verified_email = $7, first_name_sort = $8, last_name_sort = $9 WHERE id = $1`,
		u.ID, u.FirstName, u.LastName, u.Email, u.Admin, st.conn.Now, u.VerifiedEmail, exchange.SortKey(u.FirstName),
		exchange.SortKey(u.LastName)); err != nil {
		return err
	}
	was, err := st.conn.kept(ctx, userIndex, u.ID)
	if err != nil {
		return err
	}
	return st.conn.indexUser(ctx, u, was)
}

// VerifyEmail keeps the address that the identity provider vouched for.
func (st Users) VerifyEmail(ctx context.Context, user uuid.UUID, email string) error {
	_, err := st.conn.exec(ctx, "UPDATE users SET verified_email = $2 WHERE id = $1", user, email)
	return err
}

// Insert adds a token by the hash of its secret, and gives its id.
func (st Tokens) Insert(ctx context.Context, t exchange.Token, hash string) (int64, error) {
	return one(ctx, st.conn, value[int64], `INSERT INTO tokens (user_id, kind, name, hash, created_at, expires_at,
		used_at,
		scope, organization_id)
		VALUES ($1, $2, $3, $4, $5, $6, $5, $7, $8) RETURNING id`,
		t.UserID, string(t.Kind), t.Name, hash, st.conn.Now, t.ExpiresAt, string(t.Scope), t.Organization)
}

// Use notes that a token was used.
func (st Tokens) Use(ctx context.Context, id int64) error {
	_, err := st.conn.exec(ctx, "UPDATE tokens SET used_at = $2 WHERE id = $1", id, st.conn.Now)
	return err
}

// Delete revokes one token of a user; NotFound when there is none.
func (st Tokens) Delete(ctx context.Context, user uuid.UUID, id int64) error {
	n, err := st.conn.exec(ctx, "DELETE FROM tokens WHERE user_id = $1 AND id = $2", user, id)
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "There is no such token."}
	}
	return err
}

// DeleteAll revokes every token of a user.
func (st Tokens) DeleteAll(ctx context.Context, user uuid.UUID) error {
	_, err := st.conn.exec(ctx, "DELETE FROM tokens WHERE user_id = $1", user)
	return err
}

// DeleteOtherSessions revokes every session of a user but one.
func (st Tokens) DeleteOtherSessions(ctx context.Context, user uuid.UUID, but int64) error {
	_, err := st.conn.exec(ctx, "DELETE FROM tokens WHERE user_id = $1 AND kind = 'SESSION' AND id <> $2", user, but)
	return err
}

// DeleteSession revokes the session whose secret has a hash, if there is one.
func (st Tokens) DeleteSession(ctx context.Context, hash string) error {
	_, err := st.conn.exec(ctx, "DELETE FROM tokens WHERE hash = $1 AND kind = 'SESSION'", hash)
	return err
}

// DeleteExpired forgets tokens that expired.
func (st Tokens) DeleteExpired(ctx context.Context) error {
	_, err := st.conn.exec(ctx, "DELETE FROM tokens WHERE expires_at <= $1", st.conn.Now)
	return err
}

const tokenColumns = "o.id, o.user_id, o.kind, o.name, o.created_at, o.expires_at, o.used_at, o.scope, " +
	"o.organization_id"

func scanToken(r row, t *exchange.Token) error {
	return r.Scan(&t.ID, &t.UserID, &t.Kind, &t.Name, utc{&t.CreatedAt}, utc{&t.ExpiresAt}, utc{&t.UsedAt}, &t.Scope,
		&t.Organization)
}

// Get reads one token.
func (st Tokens) Get(ctx context.Context, id int64) (exchange.Token, error) {
	return one(ctx, st.conn, scanToken, "SELECT "+tokenColumns+" FROM tokens o WHERE o.id = $1", id)
}

// CountScoped is how many valid tokens of programs a user has.
func (st Tokens) CountScoped(ctx context.Context, user uuid.UUID) (int64, error) {
	return one(ctx, st.conn, value[int64], "SELECT COUNT(*) FROM tokens WHERE user_id = $1 AND scope <> '' AND "+
		"expires_at > $2", user, st.conn.Now)
}

// List lists a user's tokens.
func (st Tokens) List(ctx context.Context, user uuid.UUID, p exchange.Page) (exchange.ListPage[exchange.Token], error) {
	l := listing[exchange.Token]{columns: tokenColumns, table: "tokens", scan: scanToken,
		id: func(t exchange.Token) int64 { return t.ID }, sorts: map[string]string{"expires": "o.expires_at"},
		filters: map[string]condition{"organization": equals("o.organization_id"),
			"other than": func(f *filter, id any) { f.and("o.id <> ?", id) }}}
	return l.page(ctx, st.conn, p, where("o.user_id = ? AND o.expires_at > ?", user, st.conn.Now))
}
