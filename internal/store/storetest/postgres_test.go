package storetest_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"aliquot/internal/store/storetest"
)

// The tests of this file need a server: there is nothing to test, and no test, without one.
func TestPostgres(t *testing.T) {
	t.Parallel()
	if _, ok := storetest.Postgres(); !ok {
		return
	}
	t.Run("clones of one template are apart", clonesAreApart)
	t.Run("many clones at once migrate once", manyClonesMigrateOnce)
	t.Run("several processes migrate once", severalProcessesMigrateOnce)
	t.Run("a clone is dropped although someone is connected", cloneIsDropped)
	t.Run("a template whose migration failed is made again", failedTemplateIsMadeAnew)
}

func clonesAreApart(t *testing.T) {
	t.Parallel()
	migrate := counted(nil)
	a, b := open(t, storetest.Clone(t, "apart", migrate)), open(t, storetest.Clone(t, "apart", migrate))
	if _, err := a.Exec("INSERT INTO note VALUES ('mine')"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := b.QueryRow("SELECT count(*) FROM note").Scan(&n); err != nil || n != 0 {
		t.Errorf("the other clone has %d rows, error %v, want 0", n, err)
	}
}

func manyClonesMigrateOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	t.Run("all", func(t *testing.T) {
		for i := range 16 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				if err := open(t, storetest.Clone(t, "many", counted(&calls))).Ping(); err != nil {
					t.Error(err)
				}
			})
		}
	})
	if calls.Load() != 1 {
		t.Errorf("migrated %d times, want once", calls.Load())
	}
}

// The processes are this test binary; each says on its output when it migrates.
func severalProcessesMigrateOnce(t *testing.T) {
	t.Parallel()
	var all []*exec.Cmd
	var out [4]strings.Builder
	for i := range out {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestClone_InAnotherProcess$")
		cmd.Env = append(os.Environ(), "STORETEST_CHILD=1")
		cmd.Stdout, cmd.Stderr = &out[i], &out[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	migrated := 0
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, out[i].String())
		}
		migrated += strings.Count(out[i].String(), "migrating")
	}
	if migrated != 1 {
		t.Errorf("migrated %d times, want once", migrated)
	}
}

func TestClone_InAnotherProcess(t *testing.T) {
	if os.Getenv("STORETEST_CHILD") == "" {
		return
	}
	storetest.Clone(t, "processes", func(url string) error {
		fmt.Println("migrating")
		return counted(nil)(url)
	})
}

func cloneIsDropped(t *testing.T) {
	t.Parallel()
	var clone *sql.DB
	t.Run("the test that made it", func(t *testing.T) {
		db, err := sql.Open("pgx", storetest.Clone(t, "dropped", counted(nil)))
		if err != nil {
			t.Fatal(err)
		}
		clone = db
		if err := clone.Ping(); err != nil {
			t.Error(err)
		}
	})
	defer clone.Close()
	adminURL, _ := storetest.Postgres()
	var n int
	err := open(t, adminURL).QueryRow("SELECT count(*) FROM pg_database WHERE datname LIKE 'dropped\\__%'").Scan(&n)
	if err != nil || n != 0 {
		t.Errorf("%d clones are left, error %v, want none", n, err)
	}
}

func failedTemplateIsMadeAnew(t *testing.T) {
	t.Parallel()
	tb := &failing{TB: t}
	func() {
		defer func() { _ = recover() }()
		storetest.Clone(tb, "again",
			func(url string) error { return errors.Join(counted(nil)(url), errors.New("broken")) })
	}()
	if !strings.Contains(tb.said, "broken") {
		t.Errorf("a failed migration said %q", tb.said)
	}
	if err := open(t, storetest.Clone(t, "again", counted(nil))).Ping(); err != nil {
		t.Error(err)
	}
}

// failing is a testing.TB whose Fatalf panics instead of ending the test.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(f.said)
}

// counted returns a migration that counts its calls.
func counted(calls *atomic.Int64) func(url string) error {
	return func(url string) error {
		if calls != nil {
			calls.Add(1)
		}
		db, err := sql.Open("pgx", url)
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.Exec("CREATE TABLE note (words TEXT)")
		return err
	}
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
