package store_test

import (
	"net/url"
	"testing"
	"time"

	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestClock_IsThatOfPostgreSQL, though that of this process shows another time: a job of a process whose clock is wrong is
// due as soon as those of the others.
func TestClock_IsThatOfPostgreSQL(t *testing.T) {
	t.Parallel()
	if _, ok := storetest.Postgres(); !ok {
		return // as in every test of both databases: without PostgreSQL there is SQLite alone
	}
	const behind = 3 * time.Hour
	address := storetest.Clone(t, "clock", func(where string) error {
		db, err := store.Open(t.Context(), where)
		if err != nil {
			return err
		}
		for _, statement := range []string{"CREATE SCHEMA late", `CREATE FUNCTION late.clock_timestamp() RETURNS TIMESTAMPTZ
			LANGUAGE SQL AS 'SELECT pg_catalog.clock_timestamp() - INTERVAL ''3 hours'''`} {
			if err := db.Tx(t.Context(), func(ctx context, tx store.Conn) error {
				_, err := tx.Exec(ctx, statement)
				return err
			}); err != nil {
				return err
			}
		}
		return db.Close()
	})
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", "late,pg_catalog,public")
	u.RawQuery = query.Encode()
	db, err := store.Open(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for range 3 {
		want := time.Now().Add(-behind)
		if got := db.Read().Now; got.Sub(want).Abs() > 5*time.Second {
			t.Errorf("it is %v, want %v", got, want)
		}
	}
}
