package store_test

import (
	stdcontext "context"
	"errors"
	"sync"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
)

// rows counts the rows of a table.
func (l testLab) rows(table string) int64 {
	l.t.Helper()
	n, err := store.Values[int64](stdcontext.WithoutCancel(l.ctx), l.db.Read(), "SELECT COUNT(*) FROM "+table)
	if err != nil {
		l.t.Fatal(err)
	}
	return n[0]
}

func newUser() person.User {
	id := uuid.New()
	return person.User{ID: id, Username: id.String(), RegistryID: id.String()}
}

func TestTx_ThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	failure := errors.New("changed my mind")
	for name, do := range map[string]func(l testLab) error{
		"with an error": func(l testLab) error {
			return l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
				return errors.Join(tx.Users.Insert(ctx, newUser()), failure)
			})
		},
		"with a panic": func(l testLab) (err error) {
			defer func() { err = recover().(error) }()
			return l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
				if err := tx.Users.Insert(ctx, newUser()); err != nil {
					return err
				}
				panic(failure)
			})
		},
		"when the caller goes away": func(l testLab) error {
			ctx, cancel := stdcontext.WithCancelCause(l.ctx)
			err := l.db.Tx(ctx, func(ctx context, tx store.Conn) error {
				defer cancel(failure)
				return tx.Users.Insert(ctx, newUser())
			})
			if !errors.Is(err, stdcontext.Canceled) {
				return err
			}
			return failure
		},
		"when the caller goes away before a query": func(l testLab) error {
			ctx, cancel := stdcontext.WithCancel(l.ctx)
			err := l.db.Tx(ctx, func(ctx context, tx store.Conn) error {
				err := tx.Users.Insert(ctx, newUser())
				cancel()
				return errors.Join(err, tx.Users.Insert(ctx, newUser()))
			})
			if !errors.Is(err, stdcontext.Canceled) {
				return err
			}
			return failure
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, l testLab) {
				if err := do(l); !errors.Is(err, failure) {
					t.Errorf("Tx = %v", err)
				}
				if n := l.rows("users"); n != 0 {
					t.Errorf("%d users were kept", n)
				}
				l.user() // the writer is free again
			})
		})
	}
}

func TestTx_InsideATxIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		ran := false
		var inner error
		l.write(func(ctx context, tx store.Conn) error {
			inner = l.db.Tx(ctx, func(context, store.Conn) error {
				ran = true
				return nil
			})
			return nil
		})
		if inner == nil || ran {
			t.Errorf("the inner one: %v, ran %v", inner, ran)
		}
	})
}

func TestTx_RunsAgainAfterASerializationFailure(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		for _, failing := range []int{0, 1, store.MaxTries - 1, store.MaxTries} {
			runs := 0
			err := l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
				runs++
				if err := tx.Users.Insert(ctx, newUser()); err != nil {
					return err
				}
				if runs <= failing {
					return store.Translate(&pgconn.PgError{Code: "40001"})
				}
				return nil
			})
			if want := min(failing+1, store.MaxTries); runs != want || (err == nil) != (failing < store.MaxTries) {
				t.Errorf("after %d failures: %d runs, %v, want %d runs", failing, runs, err, want)
			}
		}
		if n := l.rows("users"); n != 3 {
			t.Errorf("%d users, want one for each that succeeded", n)
		}
	})
}

func TestTx_OppositeLockOrderBothSucceed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		a, b := l.user().ID, l.user().ID
		var wait, met sync.WaitGroup
		if l.db.Postgres() {
			met.Add(2) // each holds its first lock before it asks for the other's
		}
		for _, order := range [][2]uuid.UUID{{a, b}, {b, a}} {
			wait.Go(func() {
				var once sync.Once
				err := l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
					for _, id := range order {
						u, err := tx.Users.ForUpdate(ctx, id)
						if err != nil {
							return err
						}
						if l.db.Postgres() {
							once.Do(func() { met.Done(); met.Wait() })
						}
						u.FirstName += "+"
						if err := tx.Users.Update(ctx, u); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Errorf("Tx: %v", err)
				}
			})
		}
		wait.Wait()
		for _, id := range []uuid.UUID{a, b} {
			if u, err := l.db.Read().Users.Get(l.ctx, id); err != nil || u.FirstName != "Zoë++" {
				t.Errorf("%q, %v, want both changes", u.FirstName, err)
			}
		}
	})
}

func TestTx_RivalWritersLoseNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		requestID := l.request(l.material(l.organization(user), user, nil), user, user, nil)
		const writers, times = 8, 50
		var wait sync.WaitGroup
		for range writers {
			wait.Go(func() {
				for range times {
					err := l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
						q, err := tx.Requests.ForUpdate(ctx, requestID)
						if err != nil {
							return err
						}
						q.OpenIssues++
						if _, err := tx.Events.Append(ctx, &q,
							[]request.Event{{Kind: request.IssueOpened, Actor: user}}); err != nil {
							return err
						}
						return tx.Requests.Update(ctx, q, false)
					})
					if err != nil {
						t.Errorf("Tx: %v", err)
						return
					}
				}
			})
		}
		wait.Wait()
		q, err := l.db.Read().Requests.Get(l.ctx, requestID)
		if err != nil || q.OpenIssues != writers*times || q.Head.Seq != writers*times {
			t.Errorf("%d issues, %d events, %v, want %d", q.OpenIssues, q.Head.Seq, err, writers*times)
		}
	})
}

func TestTx_RivalProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, where string) {
		u := newUser()
		var wait sync.WaitGroup
		const processes, times = 3, 20
		for i := range processes {
			db := open(t, where)
			if i == 0 {
				migrate(t, db, false)
				if err := db.Tx(t.Context(),
					func(ctx context, tx store.Conn) error { return tx.Users.Insert(ctx, u) }); err != nil {
					t.Fatal(err)
				}
			}
			wait.Go(func() {
				for range times {
					if err := db.Tx(t.Context(), func(ctx context, tx store.Conn) error {
						u, err := tx.Users.ForUpdate(ctx, u.ID)
						if err != nil {
							return err
						}
						u.FirstName += "+"
						return tx.Users.Update(ctx, u)
					}); err != nil {
						t.Errorf("Tx: %v", err)
					}
				}
			})
		}
		wait.Wait()
		got, err := open(t, where).Read().Users.Get(t.Context(), u.ID)
		if err != nil || len(got.FirstName) != processes*times {
			t.Errorf("%d changes, %v, want %d", len(got.FirstName), err, processes*times)
		}
	})
}

func TestIDs_AreNeverReused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		var last int64
		for range 3 {
			l.write(func(ctx context, tx store.Conn) error {
				id, err := tx.Addresses.Insert(ctx, person.Address{UserID: user})
				if id <= last {
					t.Errorf("id %d after %d was deleted", id, last)
				}
				last = id
				return err
			})
			l.write(func(ctx context, tx store.Conn) error { return tx.Addresses.Delete(ctx, user, last) })
		}
	})
}

func TestReadPool_OfSQLiteRefusesWrites(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite)
	if err := db.Read().Users.Insert(t.Context(), newUser()); err == nil {
		t.Error("a write without a transaction was taken")
	}
}

func TestReaders_SeeWhatIsCommittedWhileOneWrites(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.write(func(ctx context, tx store.Conn) error {
			u := newUser()
			if err := tx.Users.Insert(ctx, u); err != nil {
				return err
			}
			_, err := l.db.Read().Users.Get(ctx, u.ID)
			code(t, "another's read", err, exchange.NotFound)
			_, err = tx.Users.Get(ctx, u.ID)
			return err
		})
	})
}

func TestTx_HasOneTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.write(func(ctx context, tx store.Conn) error {
			a, b := newUser(), newUser()
			if err := errors.Join(tx.Users.Insert(ctx, a), tx.Users.Insert(ctx, b)); err != nil {
				return err
			}
			for _, u := range []person.User{a, b} {
				got, err := tx.Users.Get(ctx, u.ID)
				if err != nil || !got.CreatedAt.Equal(tx.Now) || got.CreatedAt.Nanosecond()%1000 != 0 {
					t.Errorf("created at %v, %v, want %v, in microseconds", got.CreatedAt, err, tx.Now)
				}
			}
			return nil
		})
	})
}

func TestStatements_StayPreparedOnSQLite(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		use := func() (reading, writing int) {
			_, err := l.db.Read().Users.Get(l.ctx, user)
			code(t, "User", err, "")
			l.write(func(ctx context, tx store.Conn) error {
				for range 3 {
					if err := tx.Users.Insert(ctx, newUser()); err != nil {
						return err
					}
				}
				_, err := tx.Users.Get(ctx, user)
				return err
			})
			return l.db.Prepared()
		}
		reading, writing := use()
		if l.db.Postgres() {
			if reading != 0 || writing != 0 {
				t.Errorf("kept %d and %d; pgx keeps them itself", reading, writing)
			}
			return
		}
		if reading == 0 || writing == 0 {
			t.Errorf("kept %d for reading and %d for writing", reading, writing)
		}
		for range 3 {
			if r, w := use(); r != reading || w != writing {
				t.Errorf("kept %d and %d after the same queries, before %d and %d", r, w, reading, writing)
			}
		}
		before, _ := l.db.Prepared()
		for n := range 200 {
			if _, err := l.db.Read().Users.ByIDs(l.ctx, make([]uuid.UUID, n)); err != nil {
				t.Fatal(err)
			}
		}
		if after, _ := l.db.Prepared(); after-before > 9 {
			t.Errorf("lists of 200 lengths keep %d statements", after-before)
		}
	})
}

func TestStatements_AreKeptWhenManyPrepareThemAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		var wait sync.WaitGroup
		for range 16 {
			wait.Go(func() {
				for range 5 {
					if _, err := l.db.Read().Users.Get(l.ctx, user); err != nil {
						t.Errorf("User: %v", err)
					}
					if err := l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
						_, err := tx.Users.ForUpdate(ctx, user)
						return err
					}); err != nil {
						t.Errorf("UserForUpdate: %v", err)
					}
				}
			})
		}
		wait.Wait()
	})
}

func TestQueries_CountsEachStatement(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		before := l.db.Queries()
		for range 2 {
			_, err := l.db.Read().Users.Get(l.ctx, user)
			code(t, "User", err, "")
		}
		if n := l.db.Queries() - before; n != 2 {
			t.Errorf("counted %d, want 2", n)
		}
	})
}
