package account

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// SignIns are the use cases of sign-ins at identity providers other than the main one, which people link to their
// accounts.
type SignIns struct{ *core.Core }

// Unlinked is a sign-in that a provider confirmed, and that is linked to no account yet.
type Unlinked struct {
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject"`
	Name    string    `json:"name"` // of the person there
	Until   time.Time `json:"until"`
}

// linkPurpose is what a sealed Unlinked is for.
const linkPurpose = "link a sign-in"

// unlinked seals a sign-in, for the browser that it was made in.
func unlinked(ctx context.Context, tx store.Conn, p identity.Person) (string, error) {
	text, err := json.Marshal(Unlinked{p.Issuer, p.RegistryID, p.Name, tx.Now.Add(person.FreshSignIn)})
	if err != nil {
		return "", err
	}
	return core.Seal(ctx, tx, linkPurpose, string(text))
}

// Unlinked reads what Accounts.FinishSignIn returned in this browser; NotFound once it is too old.
func (a SignIns) Unlinked(ctx context.Context, sealed string) (u Unlinked, err error) {
	c := a.DB.Read()
	text, err := core.Unseal(ctx, c, linkPurpose, sealed)
	if err == nil {
		err = json.Unmarshal([]byte(text), &u)
	}
	if exchange.CodeOf(err) == exchange.NotFound || err == nil && c.Now.After(u.Until) {
		err = exchange.Errorf(exchange.NotFound, "Too much time has passed since you signed in there. Sign in "+
			"there again.")
	}
	return u, err
}

// Of reads the sign-ins that a user linked to their account.
func (a SignIns) Of(ctx context.Context, who exchange.Actor, user uuid.UUID) ([]person.SignIn, error) {
	err := a.MayRead(ctx, who, exchange.TokenRead, who.ToUser(user), core.Object("sign-ins of", user))
	if err != nil {
		return nil, err
	}
	return a.DB.Read().SignIns.Of(ctx, user)
}

// MayLink returns why who cannot link a sign-in to their account now. It takes a session that began at the main
// provider within the last minutes: both sign-ins are proved in the same browser.
func (a SignIns) MayLink(ctx context.Context, c store.Conn, who exchange.Actor) error {
	if _, err := a.Can(who, exchange.TokenCreate, who.ToUser(who.ID)); err != nil {
		return err
	}
	session, err := c.Tokens.Get(ctx, who.TokenID)
	if err == nil && (session.Kind != person.SessionToken || session.Issuer != "" ||
		c.Now.Sub(session.CreatedAt) > person.FreshSignIn) {
		err = exchange.Errorf(exchange.Forbidden, "Sign in with the main identity provider now, then link the other "+
			"sign-in.")
	}
	return err
}

// Link links what Accounts.FinishSignIn returned in the same browser to the account of who.
func (a SignIns) Link(ctx context.Context, who exchange.Actor, sealed string) error {
	u, err := a.Unlinked(ctx, sealed)
	if err != nil {
		return err
	}
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.MayLink(ctx, tx, who); err != nil {
			return err
		}
		if _, err := tx.Users.ForUpdate(ctx, who.ID); err != nil {
			return err
		}
		linked, err := tx.SignIns.Of(ctx, who.ID)
		if err != nil {
			return err
		}
		if len(linked) >= person.MaxSignIns {
			return exchange.Errorf(exchange.Conflict, "You have linked %d sign-ins, which is the limit; unlink one "+
				"that you do not need.", person.MaxSignIns)
		}
		if err := tx.SignIns.Insert(ctx, who.ID, u.Issuer, u.Subject); err != nil {
			return err
		}
		return a.record(ctx, tx, notify.SignInLinked, exchange.TokenCreate, who, who.ID, u.Issuer)
	})
}

// Unlink ends that a sign-in opens the account of a user, and the sessions that began with it.
func (a SignIns) Unlink(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.TokenRevoke, who.ToUser(user),
			core.Object("sign-ins of", user)); err != nil {
			return err
		}
		issuer, err := tx.SignIns.Delete(ctx, user, id)
		if err != nil {
			return err
		}
		if err := tx.Tokens.DeleteOfIssuer(ctx, user, issuer); err != nil {
			return err
		}
		return a.record(ctx, tx, notify.SignInUnlinked, exchange.TokenRevoke, who, user, issuer)
	})
}

// record audits a change of the sign-ins of a user and notifies them, also of their own: who is signed in need not be
// the person.
func (a SignIns) record(ctx context.Context, tx store.Conn, kind notify.AnnouncementKind, action exchange.Action,
	who exchange.Actor, user uuid.UUID, issuer string) error {
	n := notify.Announcement{Kind: kind,
		Detail: notify.AnnouncementDetail{Name: Accounts(a).ProviderLabel(issuer)}}
	if who.ID != user {
		n.Actor = who.ID
	}
	return errors.Join(
		a.RecordAction(ctx, tx, who, action, who.ToUser(user), core.Object("sign-ins of", user),
			map[string]any{"issuer": issuer}),
		notifier.NotifyPeople(ctx, tx, n, user))
}
