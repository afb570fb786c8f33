package store

import (
	"context"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// ByToken reads who presents the token with that hash, and their organizations, in one query.
// NotFound when there is no such token or it expired.
func (st Actors) ByToken(ctx context.Context, hash string) (exchange.Actor, error) {
	return one(ctx, st.conn, scanActor, selectActor, hash, st.conn.Now)
}

var selectActor = "SELECT " + ofToken + actorColumns + byToken + "t.hash = $1"

// Of reads a user with their organizations, for what is done later in their name. NotFound when they closed their
// account.
func (st Actors) Of(ctx context.Context, user uuid.UUID) (exchange.Actor, error) {
	return one(ctx, st.conn, scanActor, "SELECT "+noToken+actorColumns+byUser, user)
}

// Current reads an actor again inside a transaction, and keeps their rights from ending until commit: by the token
// that they presented or, where they presented none, by their id. NotFound when the token is revoked or expired.
//
// On PostgreSQL it takes FOR KEY SHARE locks of the token, the user, their memberships and the labs that they own. What
// ends a right (deleting a token, SetMembers, LockAdmin, LockOwner) takes FOR UPDATE of the row, so that one waits for
// the other; every other change of these rows takes FOR NO KEY UPDATE and waits for no actor. SQLite has one writer.
func (st Actors) Current(ctx context.Context, who exchange.Actor) (exchange.Actor, error) {
	lock := st.conn.db.dialect.forActing
	columns := "u.id, u.is_admin, " + actorLabs(memberships+lock, owned+lock)
	if who.TokenID == 0 {
		return one(ctx, st.conn, scanActor, "SELECT "+noToken+columns+byUser+lock, who.ID)
	}
	return one(ctx, st.conn, scanActor, "SELECT "+ofToken+columns+byToken+"t.id = $1"+lock, who.TokenID, st.conn.Now)
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

func scanActor(r row, a *exchange.Actor) error {
	err := r.Scan(&a.TokenID, &a.Scope, &a.Lab, utcNull{&a.Used}, &a.ID, &a.Admin, ids{&a.Organizations}, ids{&a.Owns})
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
	if st.conn.db.dialect.forUpdate == "" {
		return nil
	}
	_, err := all(ctx, st.conn, value[int64], query+st.conn.db.dialect.forUpdate, args...)
	return err
}
