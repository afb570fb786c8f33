package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
	"unicode"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"
)

// Hash returns the stored form of a token: its hex SHA-256.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Visitor is the person who views a page, with what every page shows them.
type Visitor struct {
	exchange.Actor
	User    person.User
	Zone    *time.Location // time zone of the times shown
	Unread  int64          // unread notifications, counted up to 100
	Waiting int64          // requests that wait for the visitor, counted up to 100
	Basket  int64          // materials in the visitor's basket
}

// Initials returns the initials of the visitor's names.
func (v Visitor) Initials() string {
	var initials []rune
	for _, name := range []string{v.User.FirstName, v.User.LastName} {
		for _, r := range name {
			initials = append(initials, unicode.ToUpper(r))
			break
		}
	}
	if len(initials) == 0 {
		return "?"
	}
	return string(initials)
}

// Visitor returns the visitor with the token of a session; anonymous if it is unknown or expired.
func (a *Core) Visitor(ctx context.Context, token string) (Visitor, error) {
	v := Visitor{Zone: time.UTC}
	c := a.DB.Read()
	var err error
	if v.Actor, err = c.Actors.ByToken(ctx, Hash(token)); err != nil {
		if exchange.CodeOf(err) == exchange.NotFound {
			err = nil
		}
		return Visitor{Zone: time.UTC}, err
	}
	if v.Scope != "" { // a program's token is not a session
		return Visitor{Zone: time.UTC}, nil
	}
	seen, err := c.Mail.Visitor(ctx, v.ID)
	if err != nil {
		return v, err
	}
	v.User, v.Zone = seen.User, seen.Mail.Location()
	v.Unread, v.Waiting, v.Basket = seen.Unread, seen.Waiting, seen.Basket
	a.UseToken(ctx, v.Actor)
	return v, nil
}

// usedEvery is how often the use of a token is recorded, so that reading does not write each time.
const usedEvery = time.Hour

// UseToken records the use of a token. If that fails, the call is served all the same.
func (a *Core) UseToken(ctx context.Context, who exchange.Actor) {
	if who.Used == nil || a.DB.Read().Now.Sub(*who.Used) < usedEvery {
		return
	}
	err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error { return tx.Tokens.Use(ctx, who.TokenID) })
	if err != nil {
		a.Log.WarnContext(ctx, "note that a token is used", "error", err)
	}
}
