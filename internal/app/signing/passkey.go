// Package signing has the use cases of how people sign: their passkeys, and what they sign with them.
package signing

import (
	"context"
	"errors"
	"net/url"

	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Signing are the use cases of how people sign.
type Signing struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Signing { return Signing{c} }

// site returns where passkeys of this installation are valid.
func (a Signing) site() (signing.Site, error) {
	u, err := url.Parse(a.PublicURL)
	if err != nil {
		return signing.Site{}, err
	}
	return signing.Site{ID: u.Hostname(), Origin: u.Scheme + "://" + u.Host}, nil
}

const (
	// maxPasskeys is how many passkeys a user has, with those that were removed.
	maxPasskeys = 100
	// maxPending is how many statements of a user wait for a passkey at once.
	maxPending = 20
)

// Passkeys lists the passkeys of a user, also those that were removed.
func (a Signing) Passkeys(ctx context.Context, who exchange.Actor, user uuid.UUID,
	p exchange.Page) (exchange.ListPage[signing.Registered], error) {
	if err := a.MayRead(ctx, who, exchange.PasskeyRead, who.ToUser(user), core.Object("user", user)); err != nil {
		return exchange.ListPage[signing.Registered]{}, err
	}
	return a.DB.Read().Passkeys.List(ctx, user, p)
}

// mayRegister checks that who may register a passkey of a user: their own, and not by the token of a program, since
// whoever has that passkey signs as the user.
func (a Signing) mayRegister(ctx context.Context, tx store.Conn, who exchange.Actor, user uuid.UUID) error {
	if who.Admin && who.ID != user {
		return exchange.Errorf(exchange.Forbidden, "You cannot register a passkey for someone else (%s).",
			exchange.PasskeyWrite)
	}
	if err := a.May(ctx, tx, who, exchange.PasskeyWrite, who.ToUser(user), core.Object("user", user)); err != nil {
		return err
	}
	return withoutScope(who)
}

// withoutScope refuses the tokens of programs.
func withoutScope(who exchange.Actor) error {
	if who.Scope == "" {
		return nil
	}
	return exchange.Errorf(exchange.OutOfScope, "A program’s token cannot do this; sign in to do it (%s).",
		exchange.PasskeyWrite)
}

// BeginPasskey returns what a browser passes to navigator.credentials.create, as JSON, to register a passkey of who.
// Its challenge is valid for five minutes, once. People register passkeys right after signing in.
func (a Signing) BeginPasskey(ctx context.Context, who exchange.Actor, user uuid.UUID) (options []byte, err error) {
	site, err := a.site()
	if err != nil {
		return nil, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.mayRegister(ctx, tx, who, user); err != nil {
			return err
		}
		session, err := tx.Tokens.Get(ctx, who.TokenID)
		if err != nil {
			return err
		}
		if tx.Now.Sub(session.CreatedAt) > person.FreshSignIn {
			return exchange.Errorf(exchange.Forbidden, "You signed in more than %d minutes ago. Sign in again, then "+
				"register the passkey.", int(person.FreshSignIn.Minutes()))
		}
		u, err := tx.Users.ForUpdate(ctx, user)
		if err != nil {
			return err
		}
		known, err := passkeysOf(ctx, tx, user)
		if err != nil {
			return err
		}
		p, err := signing.NewRegistration(user.String(), tx.Now)
		if err != nil {
			return err
		}
		if err := a.wait(ctx, tx, user, p); err != nil {
			return err
		}
		options, err = p.CreationOptions(site, signing.Holder{ID: user[:], Name: u.RegistryID, DisplayName: u.Name()},
			signing.InUse(known))
		return err
	})
	return options, err
}

// passkeysOf reads the passkeys of a user, with those that were removed; Conflict if they have as many as is allowed.
func passkeysOf(ctx context.Context, tx store.Conn, user uuid.UUID) ([]signing.Registered, error) {
	known, err := tx.Passkeys.Of(ctx, user)
	if err == nil && len(known) >= maxPasskeys {
		err = exchange.Errorf(exchange.Conflict, "You have registered %d passkeys, which is the limit.",
			maxPasskeys).With("limit", maxPasskeys)
	}
	return known, err
}

// wait keeps what a user is to answer with a passkey. The user is locked.
func (a Signing) wait(ctx context.Context, tx store.Conn, user uuid.UUID, p signing.Pending) error {
	n, err := tx.Statements.Count(ctx, user)
	if err == nil && n >= maxPending {
		err = exchange.Errorf(exchange.Conflict, "You began this %d times within a few minutes. Wait five minutes, "+
			"then begin again.", maxPending).With("limit", maxPending)
	}
	if err == nil {
		err = tx.Statements.Insert(ctx, user, p)
	}
	return err
}

// RegisterPasskey registers the passkey in what a browser sent back.
func (a Signing) RegisterPasskey(ctx context.Context, who exchange.Actor, user uuid.UUID,
	n signing.PasskeyNew) (made signing.Registered, err error) {
	site, err := a.site()
	if err != nil {
		return made, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.mayRegister(ctx, tx, who, user); err != nil {
			return err
		}
		name, faults := n.Named()
		if err := faults.Err(); err != nil {
			return err
		}
		u, err := tx.Users.ForUpdate(ctx, user)
		if err != nil {
			return err
		}
		if _, err := passkeysOf(ctx, tx, user); err != nil {
			return err
		}
		pending, err := pendingOf(ctx, tx, user, n.Credential.Value)
		if err != nil {
			return err
		}
		key, err := pending.Register(n.Credential.Value, site, tx.Now)
		if err != nil {
			return refused(err)
		}
		session, err := tx.Tokens.Get(ctx, who.TokenID)
		if err != nil {
			return err
		}
		made = signing.Registered{Passkey: key, Name: name, Identified: u.RegistryID, SignedInAt: session.CreatedAt,
			CreatedAt: tx.Now}
		if made.ID, err = tx.Passkeys.Insert(ctx, user, made); err != nil {
			return err
		}
		return errors.Join(tx.Statements.Use(ctx, pending),
			a.RecordAction(ctx, tx, who, exchange.PasskeyWrite, who.ToUser(user), core.Object("user", user), nil),
			announcePasskey(ctx, tx, notify.PasskeyAdded, who, user, name))
	})
	return made, err
}

// announcePasskey notifies a user of a change of their passkeys, also of their own: who is signed in need not be the
// person.
func announcePasskey(ctx context.Context, tx store.Conn, kind notify.AnnouncementKind, who exchange.Actor,
	user uuid.UUID, name string) error {
	n := notify.Announcement{Kind: kind, Detail: notify.AnnouncementDetail{Name: name}}
	if who.ID != user {
		n.Actor = who.ID
	}
	return notifier.NotifyPeople(ctx, tx, n, user)
}

// pendingOf reads what a user answers, by the challenge in the answer, and locks it.
func pendingOf(ctx context.Context, tx store.Conn, user uuid.UUID, answer []byte) (signing.Pending, error) {
	challenge, err := signing.ChallengeOf(answer)
	if err != nil {
		return signing.Pending{}, refused(err)
	}
	p, err := tx.Statements.ForUpdate(ctx, user, challenge)
	if exchange.CodeOf(err) == exchange.NotFound {
		err = core.FieldError("credential", "answers no challenge that you were given in the last minutes; start again")
	}
	return p, err
}

// refused says why the answer of a browser is refused.
func refused(err error) error {
	if errors.Is(err, signing.ErrUsed) || errors.Is(err, signing.ErrExpired) {
		return exchange.Errorf(exchange.Conflict, "This cannot be accepted: %v.", err)
	}
	return core.FieldError("credential", "is refused: %v", err)
}

// RemovePasskey removes a passkey of a user, with which nothing can be signed any more. It is kept, so that what it
// signed can still be checked.
func (a Signing) RemovePasskey(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64,
	match core.IfMatch[core.Untagged]) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		rel, object := who.ToUser(user), core.Object("user", user)
		if err := a.May(ctx, tx, who, exchange.PasskeyWrite, rel, object); err != nil {
			return err
		}
		if err := withoutScope(who); err != nil {
			return err
		}
		if err := match.Check(core.Untagged{}); err != nil {
			return err
		}
		name, err := tx.Passkeys.Remove(ctx, user, id)
		if err != nil {
			return err
		}
		if err := a.RecordAction(ctx, tx, who, exchange.PasskeyWrite, rel, object, nil); err != nil {
			return err
		}
		return announcePasskey(ctx, tx, notify.PasskeyRemoved, who, user, name)
	})
}
