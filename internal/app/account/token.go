package account

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Tokens lists the valid tokens of a user; a secret is shown once, at login.
func (a Accounts) Tokens(ctx context.Context, who exchange.Actor, user uuid.UUID,
	p exchange.Page) (exchange.ListPage[person.Token], error) {
	if err := a.MayRead(ctx, who, exchange.TokenRead, who.ToUser(user), core.Object("tokens of", user)); err != nil {
		return exchange.ListPage[person.Token]{}, err
	}
	return a.DB.Read().Tokens.List(ctx, user, p)
}

// RevokeToken revokes one token of a user, which may be the one presented.
func (a Accounts) RevokeToken(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64,
	match core.IfMatch[core.Untagged]) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.TokenRevoke, who.ToUser(user), core.Object("token", id)); err != nil {
			return err
		}
		if err := match.Check(core.Untagged{}); err != nil {
			return err
		}
		if err := tx.Tokens.Delete(ctx, user, id); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.TokenRevoke, who.ToUser(user), core.Object("token", id), nil)
	})
}

// RevokeTokens revokes every token of a user, including the one presented.
func (a Accounts) RevokeTokens(ctx context.Context, who exchange.Actor, user uuid.UUID,
	match core.IfMatch[core.Untagged]) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.TokenRevoke, who.ToUser(user),
			core.Object("tokens of", user)); err != nil {
			return err
		}
		if err := match.Check(core.Untagged{}); err != nil {
			return err
		}
		if err := tx.Tokens.DeleteAll(ctx, user); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.TokenRevoke, who.ToUser(user), core.Object("tokens of", user), nil)
	})
}

// RevokeOtherSessions signs who out everywhere except in the current session.
func (a Accounts) RevokeOtherSessions(ctx context.Context, who exchange.Actor) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.TokenRevoke, who.ToUser(who.ID),
			core.Object("tokens of", who.ID)); err != nil {
			return err
		}
		if err := tx.Tokens.DeleteOtherSessions(ctx, who.ID, who.TokenID); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.TokenRevoke, who.ToUser(who.ID),
			core.Object("sessions of", who.ID), nil)
	})
}

// CreateToken creates a token for a program of who and returns its secret, this once. Nobody can create one for another
// user, not even an admin, since its actions would count as that user's.
func (a Accounts) CreateToken(ctx context.Context, who exchange.Actor, user uuid.UUID,
	n person.TokenNew) (t person.Token, secret string, err error) {
	secret = newSecret()
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if who.Admin && who.ID != user {
			return exchange.Errorf(exchange.Forbidden, "You cannot create a token for someone else (%s).",
				exchange.TokenCreate)
		}
		if err := a.May(ctx, tx, who, exchange.TokenCreate, who.ToUser(user), "token"); err != nil {
			return err
		}
		if t, err = n.Token(tx.Now, a.TokenLifetime); err != nil {
			return err
		}
		t.UserID = user
		if err := tokenFits(ctx, tx, who, t); err != nil {
			return err
		}
		if t.ID, err = tx.Tokens.Insert(ctx, t, core.Hash(secret)); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.TokenCreate, who.ToUser(user), core.Object("token", t.ID),
			map[string]any{"expires": t.ExpiresAt})
	})
	return t, secret, err
}

// Labs returns the organizations of who, to choose from.
func (a Accounts) Labs(ctx context.Context, who exchange.Actor) ([]lab.Organization, error) {
	return a.DB.Read().Organizations.OfUser(ctx, who.ID)
}

// tokenFits checks that who may have another token like t.
func tokenFits(ctx context.Context, tx store.Conn, who exchange.Actor, t person.Token) error {
	if t.Organization != nil && !who.MemberOf(*t.Organization) {
		if _, err := tx.Organizations.Get(ctx, *t.Organization); err != nil {
			return core.Refer(err, "organization", *t.Organization)
		}
		return exchange.Errorf(exchange.Forbidden,
			"You are not a member of organization %d, so you cannot create a token for it.", *t.Organization)
	}
	if who.Scope != "" {
		presented, err := tx.Tokens.Get(ctx, who.TokenID)
		if err != nil {
			return err
		}
		if !presented.Allows(t) {
			return exchange.Errorf(exchange.OutOfScope, "A token cannot create a token with more permissions, wider "+
				"access or longer validity; sign in to do that.")
		}
	}
	// locked, or two concurrent calls could exceed the limit
	if _, err := tx.Users.ForUpdate(ctx, t.UserID); err != nil {
		return err
	}
	count, err := tx.Tokens.CountScoped(ctx, t.UserID)
	if err == nil && count >= person.MaxTokens {
		err = exchange.Errorf(exchange.Conflict, "You have %d tokens, which is the limit; revoke one that you do not "+
			"need.", person.MaxTokens).With("limit", person.MaxTokens)
	}
	return err
}
