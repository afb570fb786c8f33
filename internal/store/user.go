package store

import (
	"context"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/search"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

const userColumns = "u.id, u.username, u.first_name, u.last_name, u.email, u.registry_id, u.is_admin, u.created_at, " +
	"u.updated_at, u.verified_email, u.closed_at IS NOT NULL"

// userFields are where userColumns are scanned to.
func userFields(u *person.User) []any {
	return []any{&u.ID, &u.Username, &u.FirstName, &u.LastName, &u.Email, &u.RegistryID, &u.Admin,
		sqldb.UTC(&u.CreatedAt),
		sqldb.UTC(&u.UpdatedAt), &u.VerifiedEmail, &u.Closed}
}

func scanUser(r sqldb.Row, u *person.User) error { return r.Scan(userFields(u)...) }

// Get reads one user.
func (st Users) Get(ctx context.Context, id uuid.UUID) (person.User, error) {
	return sqldb.One(ctx, st.conn, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.id = $1", id)
}

// Begun reads what a user has done of what helps to request materials, but for the e-mail address.
func (st Users) Begun(ctx context.Context, id uuid.UUID) (person.Begun, error) {
	return sqldb.One(ctx, st.conn, func(r sqldb.Row, b *person.Begun) error {
		return r.Scan(&b.Address, &b.Request, &b.Search)
	}, `SELECT EXISTS (SELECT 1 FROM addresses WHERE user_id = $1),
		EXISTS (SELECT 1 FROM material_requests WHERE requester_id = $1),
		EXISTS (SELECT 1 FROM saved_searches WHERE user_id = $1)`, id)
}

// ForUpdate reads one user and keeps others from changing it until commit, but not the user from acting.
func (st Users) ForUpdate(ctx context.Context, id uuid.UUID) (person.User, error) {
	return sqldb.One(ctx, st.conn, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.id = $1"+
		st.conn.Dialect().ForChange, id)
}

// ByRegistryID reads the user whom the identity provider calls so.
func (st Users) ByRegistryID(ctx context.Context, registryID string) (person.User, error) {
	return sqldb.One(ctx, st.conn, scanUser, "SELECT "+userColumns+
		" FROM users u WHERE u.registry_id = $1 AND u.closed_at IS NULL",
		registryID)
}

// ByIDs reads those of the users that exist, in the order of their ids.
func (st Users) ByIDs(ctx context.Context, ids []uuid.UUID) (users []person.User, err error) {
	ids = slices.SortedFunc(slices.Values(ids), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	for some := range slices.Chunk(slices.Compact(ids), sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		found, err := sqldb.All(ctx, st.conn, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.id IN ("+places+
			") ORDER BY u.id", args...)
		if err != nil {
			return nil, err
		}
		users = append(users, found...)
	}
	return users, nil
}

// Admins reads every admin.
func (st Users) Admins(ctx context.Context) ([]person.User, error) {
	return sqldb.All(ctx, st.conn, scanUser, "SELECT "+userColumns+" FROM users u WHERE u.is_admin ORDER BY u.id")
}

// Insert adds a user; an existing registry id is a Conflict.
func (st Users) Insert(ctx context.Context, u person.User) error {
	_, err := st.conn.Exec(ctx, `INSERT INTO users (id, username, first_name, last_name, email, registry_id, is_admin,
		created_at, updated_at, verified_email,
			first_name_sort, last_name_sort)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11)`,
		u.ID, u.Username, u.FirstName, u.LastName, u.Email, u.RegistryID, u.Admin, st.conn.Now, u.VerifiedEmail,
		exchange.SortKey(u.FirstName), exchange.SortKey(u.LastName))
	if err != nil {
		return err
	}
	return search.On(st.conn).AddUser(ctx, u)
}

// Update saves what a user may change of themselves, whether they are an admin,
// and their verified address.
func (st Users) Update(ctx context.Context, u person.User) error {
	if _, err := st.conn.Exec(ctx, `UPDATE users SET first_name = $2, last_name = $3, email = $4, is_admin = $5,
		updated_at = $6, verified_email = $7, first_name_sort = $8, last_name_sort = $9 WHERE id = $1`,
		u.ID, u.FirstName, u.LastName, u.Email, u.Admin, st.conn.Now, u.VerifiedEmail, exchange.SortKey(u.FirstName),
		exchange.SortKey(u.LastName)); err != nil {
		return err
	}
	return search.On(st.conn).UpdateUser(ctx, u)
}

// VerifyEmail keeps the address that the identity provider vouched for.
func (st Users) VerifyEmail(ctx context.Context, user uuid.UUID, email string) error {
	_, err := st.conn.Exec(ctx, "UPDATE users SET verified_email = $2 WHERE id = $1", user, email)
	return err
}

// Insert adds a token by the hash of its secret, and returns its id.
func (st Tokens) Insert(ctx context.Context, t person.Token, hash string) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO tokens (user_id, kind, name, hash, created_at,
		expires_at,
		used_at,
		scope, organization_id, issuer)
		VALUES ($1, $2, $3, $4, $5, $6, $5, $7, $8, NULLIF($9, '')) RETURNING id`,
		t.UserID, string(t.Kind), t.Name, hash, st.conn.Now, t.ExpiresAt, string(t.Scope), t.Organization, t.Issuer)
}

// Use notes that a token was used.
func (st Tokens) Use(ctx context.Context, id int64) error {
	_, err := st.conn.Exec(ctx, "UPDATE tokens SET used_at = $2 WHERE id = $1", id, st.conn.Now)
	return err
}

// Delete revokes one token of a user; NotFound when there is none.
func (st Tokens) Delete(ctx context.Context, user uuid.UUID, id int64) error {
	n, err := st.conn.Exec(ctx, "DELETE FROM tokens WHERE user_id = $1 AND id = $2", user, id)
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "There is no such token."}
	}
	return err
}

// DeleteAll revokes every token of a user.
func (st Tokens) DeleteAll(ctx context.Context, user uuid.UUID) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM tokens WHERE user_id = $1", user)
	return err
}

// DeleteOtherSessions revokes every session of a user but one.
func (st Tokens) DeleteOtherSessions(ctx context.Context, user uuid.UUID, but int64) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM tokens WHERE user_id = $1 AND kind = 'SESSION' AND id <> $2", user, but)
	return err
}

// DeleteOfIssuer revokes every session and login of a user that began at an identity provider.
func (st Tokens) DeleteOfIssuer(ctx context.Context, user uuid.UUID, issuer string) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM tokens WHERE user_id = $1 AND issuer = $2", user, issuer)
	return err
}

// DeleteSession revokes the session whose secret has a hash, if there is one.
func (st Tokens) DeleteSession(ctx context.Context, hash string) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM tokens WHERE hash = $1 AND kind = 'SESSION'", hash)
	return err
}

// DeleteExpired deletes tokens that expired.
func (st Tokens) DeleteExpired(ctx context.Context) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM tokens WHERE expires_at <= $1", st.conn.Now)
	return err
}

const tokenColumns = "o.id, o.user_id, o.kind, o.name, o.created_at, o.expires_at, o.used_at, o.scope, " +
	"o.organization_id, COALESCE(o.issuer, '')"

func scanToken(r sqldb.Row, t *person.Token) error {
	return r.Scan(&t.ID, &t.UserID, &t.Kind, &t.Name, sqldb.UTC(&t.CreatedAt), sqldb.UTC(&t.ExpiresAt),
		sqldb.UTC(&t.UsedAt), &t.Scope,
		&t.Organization, &t.Issuer)
}

// Get reads one token.
func (st Tokens) Get(ctx context.Context, id int64) (person.Token, error) {
	return sqldb.One(ctx, st.conn, scanToken, "SELECT "+tokenColumns+" FROM tokens o WHERE o.id = $1", id)
}

// CountScoped is how many valid tokens of programs a user has.
func (st Tokens) CountScoped(ctx context.Context, user uuid.UUID) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COUNT(*) FROM tokens WHERE user_id = $1 AND scope <> "+
		"'' AND expires_at > $2", user, st.conn.Now)
}

// List lists a user's tokens.
func (st Tokens) List(ctx context.Context, user uuid.UUID, p exchange.Page) (exchange.ListPage[person.Token], error) {
	l := sqldb.Listing[person.Token]{Columns: tokenColumns, Table: "tokens", Scan: scanToken,
		ID: func(t person.Token) int64 { return t.ID }, Sorts: map[string]string{"expires": "o.expires_at"},
		Filters: map[string]sqldb.Condition{"organization": sqldb.Equals("o.organization_id"),
			"other than": func(f *sqldb.Filter, id any) { f.And("o.id <> ?", id) }}}
	return l.Page(ctx, st.conn, p, sqldb.Where("o.user_id = ? AND o.expires_at > ?", user, st.conn.Now))
}

// Search returns the users that match a search.
func (st Users) Search(ctx context.Context, s exchange.Search) (exchange.SearchResult[person.User], error) {
	return search.Find(ctx, st.conn, search.Users, s, userColumns, "users u JOIN users o ON o.id = u.id",
		userFields)
}

// ByToken reads who presents the token with that hash, and their organizations, in one query.
// NotFound when there is no such token or it expired.
func (st Actors) ByToken(ctx context.Context, hash string) (exchange.Actor, error) {
	return sqldb.One(ctx, st.conn, scanActor, selectActor, hash, st.conn.Now)
}

var selectActor = "SELECT " + ofToken + actorColumns + byToken + "t.hash = $1"

// Of reads a user with their organizations, for what is done later in their name. NotFound when they closed their
// account.
func (st Actors) Of(ctx context.Context, user uuid.UUID) (exchange.Actor, error) {
	return sqldb.One(ctx, st.conn, scanActor, "SELECT "+noToken+actorColumns+byUser, user)
}

// Current reads an actor again inside a transaction, and keeps their rights from ending until commit: by the token
// that they presented or, where they presented none, by their id. NotFound when the token is revoked or expired.
//
// On PostgreSQL it takes FOR KEY SHARE locks of the token, the user, their memberships and the labs that they own. What
// ends a right (deleting a token, SetMembers, LockAdmin, LockOwner) takes FOR UPDATE of the row, so that one waits for
// the other; every other change of these rows takes FOR NO KEY UPDATE and waits for no actor. SQLite has one writer.
func (st Actors) Current(ctx context.Context, who exchange.Actor) (exchange.Actor, error) {
	lock := st.conn.Dialect().ForActing
	columns := "u.id, u.is_admin, " + actorLabs(memberships+lock, owned+lock)
	if who.TokenID == 0 {
		return sqldb.One(ctx, st.conn, scanActor, "SELECT "+noToken+columns+byUser+lock, who.ID)
	}
	return sqldb.One(ctx, st.conn, scanActor, "SELECT "+ofToken+columns+byToken+"t.id = $1"+lock, who.TokenID,
		st.conn.Now)
}

const (
	ofToken     = "t.id, t.scope, COALESCE(t.organization_id, 0), t.used_at, "
	noToken     = "0, '', 0, NULL, "
	byToken     = " FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.expires_at > $2 AND u.closed_at IS NULL AND "
	byUser      = " FROM users u WHERE u.id = $1 AND u.closed_at IS NULL"
	memberships = "SELECT m.organization_id AS id FROM memberships m WHERE m.user_id = u.id AND m.left_at IS NULL"
	owned       = "SELECT o.id FROM organizations o WHERE o.owner_id = u.id"
)

var actorColumns = "u.id, u.is_admin, " + actorLabs(memberships, owned)

// actorLabs are the columns of the labs that an actor is a member of, and of those that they own.
func actorLabs(memberships, owned string) string {
	const list = "(SELECT string_agg(CAST(l.id AS TEXT), ',' ORDER BY l.id) FROM ("
	return list + memberships + ") l), " + list + owned + ") l)"
}

func scanActor(r sqldb.Row, a *exchange.Actor) error {
	err := r.Scan(&a.TokenID, &a.Scope, &a.Lab, sqldb.UTCOrNull(&a.Used), &a.ID, &a.Admin, sqldb.IDs(&a.Organizations),
		sqldb.IDs(&a.Owns))
	*a = a.Bound()
	return err
}

// LockAdmin waits until a user does not act any more, and keeps them from it until commit: whoever takes their being an
// admin from them calls it before they read the user.
func (st Actors) LockAdmin(ctx context.Context, user uuid.UUID) error {
	return st.lock(ctx, "SELECT 1 FROM users WHERE id = $1", user)
}

// LockOwner is LockAdmin for whoever takes an organization from its owner.
func (st Actors) LockOwner(ctx context.Context, organization int64) error {
	return st.lock(ctx, "SELECT 1 FROM organizations WHERE id = $1", organization)
}

func (st Actors) lock(ctx context.Context, query string, args ...any) error {
	if st.conn.Dialect().ForUpdate == "" {
		return nil
	}
	_, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], query+st.conn.Dialect().ForUpdate, args...)
	return err
}

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

// Save keeps a draft in the place of the one with its key, and deletes the oldest where a person has too many.
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

// Delete deletes a draft, if there is one.
func (st Drafts) Delete(ctx context.Context, user uuid.UUID, key string) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM drafts WHERE user_id = $1 AND key = $2", user, key)
	return err
}

// Add puts a material into a person's basket, unless it is there.
func (st Baskets) Add(ctx context.Context, user uuid.UUID, material int64) error {
	_, err := st.conn.Exec(ctx, "INSERT INTO basket_items (user_id, material_id, added_at) VALUES ($1, $2, $3) "+
		"ON CONFLICT DO NOTHING", user, material, st.conn.Now)
	return err
}

// Remove takes materials out of a person's basket.
func (st Baskets) Remove(ctx context.Context, user uuid.UUID, materials ...int64) error {
	for some := range slices.Chunk(materials, sqldb.MaxIn) {
		places, args := sqldb.In([]any{user}, some)
		if _, err := st.conn.Exec(ctx, "DELETE FROM basket_items WHERE user_id = $1 AND material_id IN ("+places+")",
			args...); err != nil {
			return err
		}
	}
	return nil
}

// List reads the ids of the materials in a person's basket, the first added first; there are at most
// request.MaxGroup.
func (st Baskets) List(ctx context.Context, user uuid.UUID) ([]int64, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT material_id FROM basket_items WHERE user_id = $1 "+
		"ORDER BY added_at, material_id", user)
}

// OpenRequests reads, by material, the newest open request of a person for each of some materials.
func (st Baskets) OpenRequests(ctx context.Context, user uuid.UUID, materials []int64) (map[int64]int64, error) {
	open := map[int64]int64{}
	scan := func(r sqldb.Row, _ *struct{}) error {
		var material, id int64
		err := r.Scan(&material, &id)
		open[material] = id
		return err
	}
	for some := range slices.Chunk(materials, sqldb.MaxIn) {
		places, args := sqldb.In([]any{user}, some)
		if _, err := sqldb.All(ctx, st.conn, scan, "SELECT o.material_id, MAX(o.id) FROM material_requests o "+
			"WHERE o.requester_id = $1 AND o.is_active AND o.deleted_at IS NULL AND o.material_id IN ("+places+
			") GROUP BY o.material_id", args...); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// Valid are those of some tokens that are not revoked or expired, each with whether its user is an admin.
func (st Tokens) Valid(ctx context.Context, tokens []int64) (map[int64]bool, error) {
	type token struct {
		id    int64
		admin bool
	}
	valid := map[int64]bool{}
	for some := range slices.Chunk(tokens, sqldb.MaxIn) {
		places, args := sqldb.In([]any{st.conn.Now}, some)
		list, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, t *token) error { return r.Scan(&t.id, &t.admin) },
			"SELECT t.id, u.is_admin FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.expires_at > $1 AND "+
				"t.id IN ("+places+")", args...)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			valid[t.id] = t.admin
		}
	}
	return valid, nil
}
