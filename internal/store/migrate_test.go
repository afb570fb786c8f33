package store_test

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
	"aliquot/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// eachEmpty runs test with the address of an empty database of each kind.
func eachEmpty(t *testing.T, test func(t *testing.T, where string)) {
	t.Helper()
	for _, kind := range storetest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			where := filepath.Join(t.TempDir(), "a lab's 100% ?#.db")
			if kind == storetest.PostgreSQL {
				where = storetest.Clone(t, "aliquot_empty", func(string) error { return nil })
			}
			test(t, where)
		})
	}
}

func open(t *testing.T, where string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func migrate(t *testing.T, db *store.DB, dryRun bool) []string {
	t.Helper()
	names, err := db.Migrate(t.Context(), dryRun)
	if err != nil {
		t.Fatalf("Migrate(dryRun %v): %v", dryRun, err)
	}
	return names
}

// tables are the tables of a database.
func tables(t *testing.T, db *store.DB) []string {
	t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
	if db.Postgres() {
		query = "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
	}
	names, err := store.Values[string](t.Context(), db.Read(), query)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMigrate_BringsAFreshDatabaseUpToDateOnce(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, where string) {
		db := open(t, where)
		if len(tables(t, db)) != 0 {
			t.Fatalf("not empty: %v", tables(t, db))
		}
		ran := migrate(t, db, false)
		if !slices.Contains(ran, "00001_initial.sql") || !slices.Contains(tables(t, db), "material_requests") {
			t.Errorf("ran %v, tables %v", ran, tables(t, db))
		}
		if again := migrate(t, db, false); len(again) != 0 {
			t.Errorf("the second Migrate ran %v", again)
		}
		if again := migrate(t, open(t, where), true); len(again) != 0 {
			t.Errorf("another process would run %v", again)
		}
	})
}

func TestMigrate_DryRunNamesFilesAndChangesNothing(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, where string) {
		db := open(t, where)
		would := migrate(t, db, true)
		if !slices.Contains(would, "00001_initial.sql") {
			t.Errorf("names %v", would)
		}
		if made := tables(t, db); len(made) != 0 {
			t.Errorf("a dry run made %v", made)
		}
		if diff := cmp.Diff(would, migrate(t, db, false)); diff != "" {
			t.Errorf("a dry run names other files than run (-would +ran):\n%s", diff)
		}
	})
}

// TestMigrate_RunsOneThatWasPassedOver: it is older than another one that was run already.
func TestMigrate_RunsOneThatWasPassedOver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		err := db.Tx(t.Context(), func(ctx context, tx store.Conn) error {
			_, err := tx.Exec(ctx, "DELETE FROM goose_db_version WHERE version_id = 112") // it changes no table
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if ran := migrate(t, db, false); !slices.Equal(ran, []string{"00112_data_uses_found.sql"}) {
			t.Errorf("ran %v", ran)
		}
		if again := migrate(t, db, false); len(again) != 0 {
			t.Errorf("the second Migrate ran %v", again)
		}
	})
}

func TestMigrate_RefusesANewerDatabase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		err := db.Tx(t.Context(), func(ctx context, tx store.Conn) error {
			_, err := tx.Exec(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, dryRun := range []bool{false, true} {
			if names, err := db.Migrate(t.Context(), dryRun); !errors.Is(err, sqldb.ErrNewer) || names != nil {
				t.Errorf("Migrate(dryRun %v) = %v, %v, want ErrNewer", dryRun, names, err)
			}
		}
	})
}

func TestMigrate_RunsOnceForManyProcesses(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, where string) {
		var (
			wait sync.WaitGroup
			mu   sync.Mutex
			ran  [][]string
		)
		start := make(chan struct{})
		for range 8 {
			db := open(t, where)
			wait.Go(func() {
				<-start
				names, err := db.Migrate(t.Context(), false)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("Migrate: %v", err)
				}
				if len(names) > 0 {
					ran = append(ran, names)
				}
			})
		}
		close(start)
		wait.Wait()
		if len(ran) != 1 {
			t.Errorf("ran %d times: %v", len(ran), ran)
		}
		versions, err := store.Values[int64](t.Context(), open(t, where).Read(),
			"SELECT version_id FROM goose_db_version ORDER BY version_id")
		if err != nil || len(versions) < 2 || len(slices.Compact(slices.Clone(versions))) != len(versions) {
			t.Errorf("recorded versions %v, %v", versions, err)
		}
	})
}
