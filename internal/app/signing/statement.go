package signing

import (
	"context"

	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Asked is what somebody is asked to sign with a passkey.
type Asked struct {
	Statement string // as it is signed
	Options   []byte // what a browser passes to navigator.credentials.get, as JSON
}

// Ask keeps a statement that a user is to sign with a passkey of theirs within five minutes; Conflict if they have no
// passkey.
func (a Signing) Ask(ctx context.Context, tx store.Conn, user uuid.UUID, s signing.Statement) (asked Asked, err error) {
	site, err := a.site()
	if err != nil {
		return asked, err
	}
	if _, err := tx.Users.ForUpdate(ctx, user); err != nil {
		return asked, err
	}
	known, err := tx.Passkeys.Of(ctx, user)
	if err != nil {
		return asked, err
	}
	keys := signing.InUse(known)
	if len(keys) == 0 {
		return asked, exchange.Errorf(exchange.Conflict, "You have no passkey. Register one in your settings, "+
			"under Passkeys; then sign.")
	}
	p, err := signing.NewPending(s, tx.Now)
	if err != nil {
		return asked, err
	}
	if err := a.wait(ctx, tx, user, p); err != nil {
		return asked, err
	}
	options, err := p.RequestOptions(site, keys)
	return Asked{string(p.Statement), options}, err
}

// Answer checks the answer of a browser to a statement that a user was asked to sign, and uses the statement up.
func (a Signing) Answer(ctx context.Context, tx store.Conn, user uuid.UUID, answer []byte) (e signing.Evidence,
	s signing.Statement, err error) {
	site, err := a.site()
	if err != nil {
		return e, s, err
	}
	pending, err := pendingOf(ctx, tx, user, answer)
	if err != nil {
		return e, s, err
	}
	known, err := tx.Passkeys.Of(ctx, user)
	if err != nil {
		return e, s, err
	}
	if e, err = pending.Accept(answer, signing.InUse(known), site, tx.Now); err != nil {
		return e, s, refused(err)
	}
	if s, err = signing.ParseStatement(pending.Statement); err != nil {
		return e, s, refused(err)
	}
	return e, s, tx.Statements.Use(ctx, pending)
}
