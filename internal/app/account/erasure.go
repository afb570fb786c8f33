package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Erasure is what is known of the erasure of a person, and what closing their account, which it does first, takes.
type Erasure struct {
	person.Erasure
	Closing
	SignInFirst bool // the caller may ask for it, but has to sign in again before
}

// Erasure reads the erasure of a user, asked for or not.
func (a Accounts) Erasure(ctx context.Context, who exchange.Actor, user uuid.UUID) (v Erasure, err error) {
	if err := a.MayRead(ctx, who, exchange.UserReadPrivate, who.ToUser(user), core.Object("user", user)); err != nil {
		return v, err
	}
	c := a.DB.Read()
	if v, err = erasure(ctx, c, user); err != nil {
		return v, err
	}
	at, err := signedIn(ctx, c, who, user)
	v.SignInFirst = who.ID == user && c.Now.Sub(at) > person.FreshSignIn
	return v, err
}

func erasure(ctx context.Context, c store.Conn, user uuid.UUID) (v Erasure, err error) {
	if v.Closing, err = closing(ctx, c, user); err == nil {
		v.Erasure, err = c.Closing.Erasure(ctx, user, false)
	}
	return v, err
}

// signedIn is when who, if they are user, signed in.
func signedIn(ctx context.Context, c store.Conn, who exchange.Actor, user uuid.UUID) (time.Time, error) {
	if who.ID != user || who.TokenID == 0 {
		return time.Time{}, nil
	}
	t, err := c.Tokens.Get(ctx, who.TokenID)
	return t.CreatedAt, err
}

// AskErasure asks for the erasure of a user, which is done after a time of grace, and tells them. People ask for their
// own right after signing in, admins for that of others with a reason. Asking again changes nothing.
func (a Accounts) AskErasure(ctx context.Context, who exchange.Actor, user uuid.UUID,
	n person.ErasureNew) (v Erasure, err error) {
	return v, a.changeErasure(ctx, who, user, &v, func(ctx context.Context, tx store.Conn, who exchange.Actor,
		was Erasure) (person.Erasure, error) {
		if err := n.Validate(true).Err(); err != nil {
			return was.Erasure, err
		}
		if was.DoneAt != nil {
			return was.Erasure, exchange.Errorf(exchange.Conflict, "This person was erased.")
		}
		if was.Pending() {
			return was.Erasure, nil
		}
		if err := was.conflict(); err != nil {
			return was.Erasure, err
		}
		at, err := signedIn(ctx, tx, who, user)
		if err != nil {
			return was.Erasure, err
		}
		now, err := n.Erasure(who.ID, who.ID == user, at, tx.Now)
		if err != nil || was.User.Closed {
			return now, err
		}
		asked := notify.Announcement{Kind: notify.ErasureAsked, Detail: notify.AnnouncementDetail{Reason: now.Reason}}
		if who.ID != user { // an actor is not notified of their own act, and who is signed in need not be the person
			asked.Actor = who.ID
		}
		return now, notifier.NotifyPeople(ctx, tx, asked, user)
	})
}

// TakeBackErasure takes an erasure back that was asked for; without one it changes nothing.
func (a Accounts) TakeBackErasure(ctx context.Context, who exchange.Actor, user uuid.UUID,
	match core.IfMatch[Erasure]) error {
	var v Erasure
	return a.changeErasure(ctx, who, user, &v, func(_ context.Context, _ store.Conn, _ exchange.Actor,
		was Erasure) (person.Erasure, error) {
		if err := match.Check(was); err != nil {
			return was.Erasure, err
		}
		if was.DoneAt != nil {
			return was.Erasure, exchange.Errorf(exchange.Conflict,
				"This person was erased, which cannot be taken back.")
		}
		return person.Erasure{}, nil
	})
}

// changeErasure saves what change makes of the erasure of a user, and reads it into v.
func (a Accounts) changeErasure(ctx context.Context, who exchange.Actor, user uuid.UUID, v *Erasure,
	change func(context.Context, store.Conn, exchange.Actor, Erasure) (person.Erasure, error)) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		rel, object := who.ToUser(user), core.Object("user", user)
		if _, err := tx.Users.Get(ctx, user); err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.UserErase, rel, object); err != nil {
			return err
		}
		if who.Scope != "" {
			return exchange.Errorf(exchange.OutOfScope,
				"A program’s token cannot do this; sign in to do it (%s).", exchange.UserErase)
		}
		if _, err := tx.Closing.Erasure(ctx, user, true); err != nil { // nobody else changes it meanwhile
			return err
		}
		var err error
		if *v, err = erasure(ctx, tx, user); err != nil {
			return err
		}
		now, err := change(ctx, tx, who, *v)
		if err != nil || now == v.Erasure {
			return err
		}
		v.Erasure = now
		return errors.Join(tx.Closing.SaveErasure(ctx, user, now),
			a.RecordAction(ctx, tx, who, exchange.UserErase, rel, object, nil))
	})
}

// EraseDue erases the people whose erasure is due, and those whom the list of erasures has and a backup brought back.
// It returns how many it erased. One that has to wait, because their lab has to be given to somebody first, is tried
// again a day later; one that fails, or a list that is damaged, keeps nobody else waiting.
func (a Accounts) EraseDue(ctx context.Context) (n int, err error) {
	var failed []error
	if err := a.eraseListed(ctx); err != nil {
		failed = append(failed, err)
	}
	due, err := a.DB.Read().Closing.DueErasures(ctx)
	if err != nil {
		return 0, err
	}
	for _, user := range due {
		err := a.erase(ctx, user)
		if exchange.CodeOf(err) == exchange.Conflict {
			a.Log.WarnContext(ctx, "an erasure has to wait", "user", user, "error", err)
			err = a.postpone(ctx, user)
		} else if err == nil {
			n++
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("erase user %s: %w", user, err))
		}
	}
	for more, first := n > 0, true; more; first = false {
		if err := a.DB.Erasing(ctx, func(ctx context.Context, tx store.Conn) (err error) {
			more, err = tx.Closing.CompactIndex(ctx, first)
			return err
		}); err != nil {
			return n, err
		}
	}
	return n, errors.Join(append(failed, a.listErased(ctx))...)
}

// postpone has an erasure tried again a day later.
func (a Accounts) postpone(ctx context.Context, user uuid.UUID) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		e, err := tx.Closing.Erasure(ctx, user, true)
		if err != nil || !e.Pending() {
			return err
		}
		e.DueAt = new(tx.Now.Add(24 * time.Hour))
		return tx.Closing.SaveErasure(ctx, user, e)
	})
}

// erasedAtOnce is how many events are erased in a transaction.
const erasedAtOnce = 200

// erase closes the account of a user, unless it is, and erases what they wrote: some events in each transaction, so
// that others wait for none of them long. If it is killed, it can be run again.
func (a Accounts) erase(ctx context.Context, user uuid.UUID) error {
	pending := false
	in := func(do func(ctx context.Context, tx store.Conn) ([]int64, error)) error {
		return a.DB.Erasing(ctx, func(ctx context.Context, tx store.Conn) error {
			requests, err := do(ctx, tx)
			if err != nil {
				return err
			}
			for some := range slices.Chunk(requests, core.ReindexAtOnce) {
				if err := tx.Requests.Index(ctx, some, true); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := in(func(ctx context.Context, tx store.Conn) ([]int64, error) {
		e, err := tx.Closing.Erasure(ctx, user, true)
		if pending = e.Pending() && !e.DueAt.After(tx.Now); err != nil || !pending {
			return nil, err
		}
		return nil, a.closeFor(ctx, tx, *e.AskedBy, user)
	})
	for after, more := int64(0), err == nil && pending; more; { // whoever is closed writes no more
		events, err := a.DB.Read().Closing.EventsWith(ctx, user, after, erasedAtOnce)
		if err != nil {
			return err
		}
		if more = len(events) == erasedAtOnce; len(events) == 0 {
			break
		}
		after = events[len(events)-1].ID
		if err := in(func(ctx context.Context, tx store.Conn) ([]int64, error) {
			return tx.Closing.ForgetEvents(ctx, user, events)
		}); err != nil {
			return err
		}
	}
	if err != nil || !pending {
		return err
	}
	return in(func(ctx context.Context, tx store.Conn) ([]int64, error) {
		e, err := tx.Closing.Erasure(ctx, user, true)
		if err != nil || !e.Pending() {
			return nil, err
		}
		by := *e.AskedBy
		tx.ActAs(by)
		e.DoneAt, e.DueAt, e.Reason = &tx.Now, nil, ""
		if err := tx.Closing.SaveErasure(ctx, user, e); err != nil {
			return nil, err
		}
		if err := tx.Audit.Insert(ctx, &by, exchange.UserErase, core.Object("user", user), by != user,
			nil); err != nil {
			return nil, err
		}
		return tx.Closing.ForgetRest(ctx, user)
	})
}

// closeFor closes the account of a user on behalf of somebody, unless it is closed.
func (a Accounts) closeFor(ctx context.Context, tx store.Conn, by, user uuid.UUID) error {
	tx.ActAs(by)
	if err := tx.Actors.LockAdmins(ctx); err != nil {
		return err
	}
	u, err := tx.Users.ForUpdate(ctx, user)
	if err != nil || u.Closed {
		return err
	}
	return a.closeAccount(ctx, tx, exchange.Actor{ID: by}, u)
}
