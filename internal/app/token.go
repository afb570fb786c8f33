package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Tokens lists the living tokens of a user; a secret is shown once, at login.
func (a *App) Tokens(ctx context.Context, who exchange.Actor, user uuid.UUID, p exchange.Page) (exchange.Part[exchange.Token], error) {
	if err := a.mayRead(ctx, who, exchange.TokenRead, who.ToUser(user), object("tokens of", user)); err != nil {
		return exchange.Part[exchange.Token]{}, err
	}
	return a.DB.Read().Tokens(ctx, user, p)
}

// RevokeToken ends one token of a user, also the one presented.
func (a *App) RevokeToken(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64) error {
	return a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.may(ctx, tx, who, exchange.TokenRevoke, who.ToUser(user), object("token", id)); err != nil {
			return err
		}
		if err := neverShown(ctx); err != nil {
			return err
		}
		return tx.DeleteToken(ctx, user, id)
	})
}

// RevokeTokens ends every token of a user, the one presented too.
func (a *App) RevokeTokens(ctx context.Context, who exchange.Actor, user uuid.UUID) error {
	return a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.may(ctx, tx, who, exchange.TokenRevoke, who.ToUser(user), object("tokens of", user)); err != nil {
			return err
		}
		if err := neverShown(ctx); err != nil {
			return err
		}
		return tx.DeleteTokens(ctx, user)
	})
}

// RevokeOtherSessions signs who out everywhere but where they are.
func (a *App) RevokeOtherSessions(ctx context.Context, who exchange.Actor) error {
	return a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.may(ctx, tx, who, exchange.TokenRevoke, who.ToUser(who.ID), object("tokens of", who.ID)); err != nil {
			return err
		}
		return tx.DeleteOtherSessions(ctx, who.ID, who.TokenID)
	})
}

// CreateToken makes a token for a program of who. Its secret is given this once.
func (a *App) CreateToken(ctx context.Context, who exchange.Actor, name string) (t exchange.Token, secret string, err error) {
	if name, err = exchange.TokenName(name); err != nil {
		return t, "", err
	}
	secret = newSecret()
	err = a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.may(ctx, tx, who, exchange.TokenCreate, who.ToUser(who.ID), "token"); err != nil {
			return err
		}
		t = exchange.Token{UserID: who.ID, Kind: exchange.APIToken, Name: name, CreatedAt: tx.Now, ExpiresAt: tx.Now.Add(a.TokenLifetime)}
		t.ID, err = tx.InsertToken(ctx, t, Hash(secret))
		return err
	})
	return t, secret, err
}
