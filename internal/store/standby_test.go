package store_test

import (
	"errors"
	"testing"
	"time"

	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
	"aliquot/internal/store/storetest/pgserver"

	"github.com/jackc/pgx/v5"
)

// TestReadCaughtUp_ReadsWhatWasWrittenFromAStandbyThatHasIt counts rows after each insert: on the standby as a rule, on
// the primary while the standby is behind or gone.
func TestReadCaughtUp_ReadsWhatWasWrittenFromAStandbyThatHasIt(t *testing.T) {
	t.Parallel()
	if _, ok := storetest.Postgres(); !ok {
		return // as in every test of both databases: without PostgreSQL there is SQLite alone
	}
	primary, standby, address, err := pgserver.Pair(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(standby.Stop(), primary.Stop()) })
	db, err := store.Open(t.Context(), address)
	if err == nil {
		err = db.UseStandbys()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	exec := func(statement string) {
		t.Helper()
		if err := db.Tx(t.Context(), func(ctx context, tx store.Conn) error {
			_, err := tx.Exec(ctx, statement)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE notes (n INTEGER)")
	written := int64(0)
	reads := func(while string, onStandby func(of50 int64) bool) {
		t.Helper()
		before := db.StandbyQueries()
		for range 50 {
			exec("INSERT INTO notes VALUES (1)")
			written++
			if err := db.ReadCaughtUp(t.Context(), func(ctx context, c store.Conn) error {
				found, err := store.Values[int64](ctx, c, "SELECT COUNT(*) FROM notes")
				if err == nil && found[0] != written {
					t.Errorf("%s: %d rows of %d", while, found[0], written)
				}
				return err
			}); err != nil {
				t.Fatalf("%s: %v", while, err)
			}
		}
		if n := db.StandbyQueries() - before; !onStandby(n) {
			t.Errorf("%s: %d of 50 reads were on the standby", while, n)
		}
	}
	reads("following", func(n int64) bool { return n > 25 })
	c, err := pgx.Connect(t.Context(), standby.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "SELECT pg_wal_replay_pause()"); err != nil {
		t.Fatal(err)
	}
	_ = c.Close(t.Context())
	for paused := false; !paused; time.Sleep(time.Millisecond) { // what is under way is replayed
		before := db.StandbyQueries()
		exec("INSERT INTO notes VALUES (1)")
		written++
		if err := db.ReadCaughtUp(t.Context(), func(ctx context, c store.Conn) error {
			_, err := store.Values[int64](ctx, c, "SELECT COUNT(*) FROM notes")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		paused = db.StandbyQueries() == before
	}
	reads("behind", func(n int64) bool { return n == 0 })
	if err := primary.Set(t.Context(), "synchronous_standby_names", ""); err != nil {
		t.Fatal(err)
	}
	if err := standby.Kill(); err != nil {
		t.Fatal(err)
	}
	reads("without it", func(n int64) bool { return n == 0 })
}
