package store_test

import (
	stdcontext "context"
	"errors"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// acting is somebody with every right that can end: an admin with a token, a member of one lab and the owner of
// another.
type acting struct {
	testLab
	who          exchange.Actor
	member, owns int64
	other        uuid.UUID
}

func newActing(t *testing.T, l testLab) acting {
	t.Helper()
	u, other := l.user(), l.user().ID
	a := acting{testLab: l, member: l.organization(other, other, u.ID), owns: l.organization(u.ID, u.ID, other),
		other: other}
	l.write(func(ctx context, tx store.Conn) error {
		u.Admin = true
		_, err := tx.Tokens.Insert(ctx,
			person.Token{UserID: u.ID, Kind: person.APIToken, Name: "n", ExpiresAt: start.AddDate(1, 0, 0)}, "hash")
		return errors.Join(err, tx.Users.Update(ctx, u))
	})
	var err error
	a.who, err = l.db.Read().Actors.ByToken(l.ctx, "hash")
	code(t, "Actor", err, "")
	return a
}

// ends are the ways in which a right ends, and what Actors.Current gives then.
var ends = map[string]struct {
	end  func(a acting, ctx context, tx store.Conn) error
	left func(a acting, now exchange.Actor, err error) bool
}{
	"the token is revoked": {
		func(a acting, ctx context, tx store.Conn) error {
			return tx.Tokens.Delete(ctx, a.who.ID, a.who.TokenID)
		},
		func(_ acting, _ exchange.Actor, err error) bool { return exchange.CodeOf(err) == exchange.NotFound },
	},
	"every token is revoked": {
		func(a acting, ctx context, tx store.Conn) error { return tx.Tokens.DeleteAll(ctx, a.who.ID) },
		func(_ acting, _ exchange.Actor, err error) bool { return exchange.CodeOf(err) == exchange.NotFound },
	},
	"they are no admin any more": {
		func(a acting, ctx context, tx store.Conn) error {
			if err := tx.Actors.LockAdmin(ctx, a.who.ID); err != nil {
				return err
			}
			u, err := tx.Users.ForUpdate(ctx, a.who.ID)
			u.Admin = false
			return errors.Join(err, tx.Users.Update(ctx, u))
		},
		func(_ acting, now exchange.Actor, err error) bool { return err == nil && !now.Admin },
	},
	"they are removed from a lab": {
		func(a acting, ctx context, tx store.Conn) error {
			if _, err := tx.Organizations.ForUpdate(ctx, a.member); err != nil {
				return err
			}
			_, err := tx.Organizations.SetMembers(ctx, a.member, []uuid.UUID{a.other})
			return err
		},
		func(a acting, now exchange.Actor, err error) bool { return err == nil && !now.MemberOf(a.member) },
	},
	"their lab is somebody else's": {
		func(a acting, ctx context, tx store.Conn) error {
			o, err := tx.Organizations.ForUpdate(ctx, a.owns)
			o.Owner = a.other
			return errors.Join(err, tx.Actors.LockOwner(ctx, a.owns), tx.Organizations.Update(ctx, o))
		},
		func(a acting, now exchange.Actor, err error) bool {
			return err == nil && len(now.Owns) == 0 && now.MemberOf(a.owns)
		},
	},
}

// waiting waits until a transaction waits for another one's lock, or until one is done that must not be.
func (l testLab) waiting(done <-chan error) {
	l.t.Helper()
	for l.db.Postgres() {
		n, err := store.Values[int64](l.ctx, l.db.Read(), "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = "+
			"current_database() AND wait_event_type = 'Lock'")
		code(l.t, "pg_stat_activity", err, "")
		select {
		case err := <-done:
			l.t.Fatalf("it did not wait: %v", err)
		default:
		}
		if n[0] > 0 {
			return
		}
	}
}

func TestCurrentActor_RightLastsUntilTheCommit(t *testing.T) {
	t.Parallel()
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, l testLab) {
				a, ended := newActing(t, l), make(chan error, 1)
				l.write(func(ctx context, tx store.Conn) error {
					now, err := tx.Actors.Current(ctx, a.who)
					same(t, "ActorNow", a.who, now)
					go func() {
						ended <- l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error { return c.end(a, ctx, tx) })
					}()
					l.waiting(ended)
					return err
				})
				code(t, "end", <-ended, "")
				l.write(func(ctx context, tx store.Conn) error {
					if now, err := tx.Actors.Current(ctx, a.who); !c.left(a, now, err) {
						t.Errorf("afterwards they are %+v, %v", now, err)
					}
					return nil
				})
			})
		})
	}
}

func TestCurrentActor_WaitsForWhatEndsARight(t *testing.T) {
	t.Parallel()
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, l testLab) {
				a, acted := newActing(t, l), make(chan error, 1)
				l.write(func(ctx context, tx store.Conn) error {
					err := c.end(a, ctx, tx)
					go func() {
						acted <- l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
							if now, err := tx.Actors.Current(ctx, a.who); !c.left(a, now, err) {
								t.Errorf("they act as %+v, %v", now, err)
							}
							return nil
						})
					}()
					l.waiting(acted)
					return err
				})
				code(t, "act", <-acted, "")
			})
		})
	}
}

// TestCurrentActor_DoesNotBlockOtherChanges: on SQLite, which has one writer, they come afterwards.
func TestCurrentActor_DoesNotBlockOtherChanges(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		a := newActing(t, l)
		settings, err := l.db.Read().Memberships.List(l.ctx, a.who.ID, exchange.Page{Limit: 1})
		code(t, "Memberships", err, "")
		change := func() {
			ctx, cancel := stdcontext.WithTimeout(l.ctx, time.Minute)
			defer cancel()
			code(t, "a change", l.db.Tx(ctx, func(ctx context, tx store.Conn) error {
				if _, err := tx.Actors.Current(ctx, a.who); err != nil {
					return err
				}
				u, err := tx.Users.ForUpdate(ctx, a.who.ID)
				u.FirstName += "+"
				o, failed := tx.Organizations.ForUpdate(ctx, a.owns)
				o.Name += "+"
				m, wrong := tx.Memberships.ForUpdate(ctx, settings.Items[0].ID)
				_, missing := tx.Organizations.SetMembers(ctx, a.owns, []uuid.UUID{a.who.ID})
				return errors.Join(err, failed, wrong, missing, tx.Users.Update(ctx, u),
					tx.Organizations.Update(ctx, o),
					tx.Memberships.UpdateSwitches(ctx, m.ID, lab.Switches{}), tx.Tokens.Use(ctx, a.who.TokenID))
			}), "")
		}
		l.write(func(ctx context, tx store.Conn) error {
			_, err := tx.Actors.Current(ctx, a.who)
			if l.db.Postgres() {
				change()
			}
			return err
		})
		if !l.db.Postgres() {
			change()
		}
	})
}

func TestCurrentActor_WithoutATokenIsTheUser(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		a := newActing(t, l)
		l.write(func(ctx context, tx store.Conn) error {
			want := a.who
			want.TokenID, want.Used = 0, nil
			now, err := tx.Actors.Current(ctx, exchange.Actor{ID: a.who.ID, Organizations: []int64{1}})
			same(t, "ActorNow", want, now)
			_, missing := tx.Actors.Current(ctx, exchange.Actor{ID: uuid.New()})
			code(t, "ActorNow of nobody", missing, exchange.NotFound)
			return err
		})
	})
}
