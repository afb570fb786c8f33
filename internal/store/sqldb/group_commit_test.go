package sqldb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"aliquot/internal/exchange"

	"pgregory.net/rapid"
)

// numbers opens a new database with a table of numbers.
func numbers(t *testing.T) *DB {
	t.Helper()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "numbers.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.write.ExecContext(t.Context(), "CREATE TABLE numbers (n INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	return db
}

func insert(ctx context.Context, c *Conn, n int) error {
	_, err := c.Exec(ctx, "INSERT INTO numbers (n) VALUES ($1)", n)
	return err
}

// committed returns the numbers that everybody can read.
func (db *DB) committed(t interface{ Fatal(...any) }) []int {
	list, err := All(context.Background(), db.Read(), Value[int], "SELECT n FROM numbers ORDER BY n")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// whileWaiting calls each of do in a goroutine of its own while another transaction has the writer, in their order,
// and returns what they returned.
func (db *DB) whileWaiting(t *testing.T, do ...func() error) []error {
	t.Helper()
	errs := make([]error, len(do))
	var calls sync.WaitGroup
	err := db.TxAlone(t.Context(), func(ctx context.Context, _ *Conn) error {
		for i, call := range do {
			before := db.writer.waits.Load()
			calls.Go(func() { errs[i] = call() })
			for db.writer.waits.Load() == before {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	calls.Wait()
	return errs
}

func TestGroupCommit_TransactionsThatWaitShareACommitInTheOrderInWhichTheyCame(t *testing.T) {
	t.Parallel()
	db := numbers(t)
	var groups []*group
	var order []int
	var calls []func() error
	for n := range 10 {
		calls = append(calls, func() error {
			err := db.Tx(t.Context(), func(ctx context.Context, c *Conn) error {
				groups, order = append(groups, c.group), append(order, n)
				return insert(ctx, c, n)
			})
			if !slices.Contains(db.committed(t), n) {
				t.Errorf("%d returned before it was committed", n)
			}
			return err
		})
	}
	if err := errors.Join(db.whileWaiting(t, calls...)...); err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(order, want) || !slices.Equal(db.committed(t), want) {
		t.Errorf("ran in the order %v, committed %v", order, db.committed(t))
	}
	if len(slices.Compact(groups)) > 5 { // a group ends when it is old, and this machine may be slow
		t.Errorf("%d transactions had %d commits", len(order), len(slices.Compact(groups)))
	}
}

func TestGroupCommit_AMemberThatFailsIsRolledBackAlone(t *testing.T) {
	t.Parallel()
	db := numbers(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		failures := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "", "error", "panic", "cancel", "constraint",
			"context"}), 1, 12).Draw(r, "failures")
		var want []int
		var calls []func() error
		for _, failure := range failures {
			n++
			own := n
			if failure == "" {
				want = append(want, own)
			}
			calls = append(calls, func() (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = fmt.Errorf("%v", p)
					}
				}()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				return db.Tx(ctx, func(ctx context.Context, c *Conn) error {
					if err := insert(ctx, c, own); err != nil {
						return err
					}
					switch failure {
					case "error":
						return errors.New("changed my mind")
					case "panic":
						panic("panic")
					case "cancel": // and the transaction does not notice
						cancel()
					case "constraint":
						return insert(ctx, c, own)
					case "context":
						cancel()
						return insert(ctx, c, -own)
					}
					return nil
				})
			})
		}
		before := db.committed(t)
		for i, err := range db.whileWaiting(t, calls...) {
			if (err == nil) != (failures[i] == "") {
				r.Errorf("%q returned %v", failures[i], err)
			}
		}
		if got := db.committed(t); !slices.Equal(got, append(before, want...)) {
			r.Fatalf("%v: %v, want %v more", failures, got[len(before):], want)
		}
	})
}

func TestGroupCommit_IsBoundedInMembersAndAge(t *testing.T) {
	t.Parallel()
	db := numbers(t)
	members := map[*group]int{}
	var calls []func() error
	for n := range maxMembers + 10 {
		calls = append(calls, func() error {
			return db.Tx(t.Context(), func(ctx context.Context, c *Conn) error {
				if members[c.group]++; members[c.group] > maxMembers {
					t.Errorf("a group has %d members", members[c.group])
				}
				if age := time.Since(c.group.began); age > 10*maxGroupAge {
					t.Logf("a slow machine: a member joined after %s", age)
				}
				return insert(ctx, c, n)
			})
		})
	}
	if err := errors.Join(db.whileWaiting(t, calls...)...); err != nil {
		t.Fatal(err)
	}
	if len(members) < 2 {
		t.Errorf("%d transactions had %d commits", maxMembers+10, len(members))
	}
	var old, next *group
	err := errors.Join(db.whileWaiting(t, func() error {
		return db.Tx(t.Context(), func(_ context.Context, c *Conn) error {
			old = c.group
			for time.Since(old.began) < maxGroupAge {
				time.Sleep(time.Millisecond)
			}
			return nil
		})
	}, func() error {
		return db.Tx(t.Context(), func(_ context.Context, c *Conn) error {
			next = c.group
			return nil
		})
	})...)
	if err != nil || next == old {
		t.Errorf("a transaction joined a group that was too old: %v", err)
	}
}

func TestGroupCommit_ATransactionAloneSharesItsCommitWithNobody(t *testing.T) {
	t.Parallel()
	db := numbers(t)
	var groups []*group
	note := func(ctx context.Context, c *Conn) error {
		groups = append(groups, c.group)
		return insert(ctx, c, len(groups))
	}
	err := errors.Join(db.whileWaiting(t, func() error { return db.Tx(t.Context(), note) },
		func() error { return db.TxAlone(t.Context(), note) }, func() error { return db.Tx(t.Context(), note) })...)
	if err != nil || groups[0] == groups[1] || groups[1] == groups[2] {
		t.Errorf("%v %v", groups, err)
	}
}

func TestGroupCommit_AWaiterThatGoesAwayIsLeftOut(t *testing.T) {
	t.Parallel()
	db := numbers(t)
	ctx, cancel := context.WithCancel(t.Context())
	errs := db.whileWaiting(t, func() error {
		return db.Tx(ctx, func(ctx context.Context, c *Conn) error { return insert(ctx, c, 1) })
	}, func() error {
		return db.Tx(t.Context(), func(ctx context.Context, c *Conn) error {
			return insert(ctx, c, 2)
		})
	}, func() error {
		cancel()
		return db.Tx(t.Context(), func(ctx context.Context, c *Conn) error { return insert(ctx, c, 3) })
	})
	if !errors.Is(errs[0], context.Canceled) || errs[1] != nil || errs[2] != nil {
		t.Errorf("%v", errs)
	}
	if got := db.committed(t); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("%v", got)
	}
}

func TestGroupCommit_IfSQLiteRollsBackTheGroupAllOfItFails(t *testing.T) {
	t.Parallel()
	db := numbers(t)
	taken := func(n int) func() error {
		return func() error {
			return db.Tx(t.Context(), func(ctx context.Context, c *Conn) error { return insert(ctx, c, n) })
		}
	}
	errs := db.whileWaiting(t, taken(1), taken(1), func() error {
		return db.Tx(t.Context(), func(ctx context.Context, c *Conn) error {
			_, err := c.tx.ExecContext(ctx, "ROLLBACK") // as SQLite does itself when the disk is full
			return errors.Join(err, errors.New("the disk is full"))
		})
	}, taken(2))
	if e, ok := errors.AsType[*exchange.Error](errs[0]); !ok || e.Code != exchange.Unavailable {
		t.Errorf("the member that did all right returned %v", errs[0])
	}
	if e, ok := errors.AsType[*exchange.Error](errs[1]); !ok || e.Code != exchange.Unavailable {
		t.Errorf("the member that met what was rolled back returned %v", errs[1])
	}
	if errs[2] == nil || errs[3] != nil {
		t.Errorf("%v", errs)
	}
	if got := db.committed(t); !slices.Equal(got, []int{2}) {
		t.Errorf("%v", got)
	}
}

func TestGroupCommit_IfTheCommitFailsAllOfTheGroupFailsAndTheNextSucceeds(t *testing.T) {
	t.Parallel()
	db := numbers(t)
	if _, err := db.write.ExecContext(t.Context(), `CREATE TABLE successors (
		n INTEGER NOT NULL REFERENCES numbers (n) DEFERRABLE INITIALLY DEFERRED)`); err != nil {
		t.Fatal(err)
	}
	enqueued := db.Enqueued()
	groups := make([]*group, 3)
	const guilty = 1 // its statement succeeds, and SQLite finds out at the commit
	var calls []func() error
	for i := range groups {
		calls = append(calls, func() error {
			return db.Tx(t.Context(), func(ctx context.Context, c *Conn) error {
				groups[i] = c.group
				if i != guilty {
					return insert(ctx, c, i)
				}
				*c.Enqueued = true
				_, err := c.Exec(ctx, "INSERT INTO successors (n) VALUES (404)")
				return err
			})
		})
	}
	var want []int
	for i, err := range db.whileWaiting(t, calls...) {
		if groups[i] != groups[guilty] { // on a slow machine, where a group is soon too old to join
			want = append(want, i)
		}
		if (err == nil) != (groups[i] != groups[guilty]) {
			t.Errorf("member %d returned %v", i, err)
		}
	}
	if got := db.committed(t); !slices.Equal(got, want) {
		t.Errorf("%v committed, want %v", got, want)
	}
	select {
	case <-enqueued:
		t.Error("a job was announced whose transaction was not committed")
	default:
	}
	if err := db.Tx(t.Context(), func(ctx context.Context, c *Conn) error { return insert(ctx, c, 3) }); err != nil {
		t.Errorf("the next transaction: %v", err)
	}
}
