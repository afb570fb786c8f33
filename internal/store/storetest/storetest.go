// Package storetest gives tests a fresh, migrated database of each kind.
package storetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"flag"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"modernc.org/sqlite"

	"aliquot/internal/store"
	"aliquot/internal/store/migration"
	"aliquot/internal/store/sqldb"
)

// The kinds of database that Open knows.
const (
	SQLite     = "sqlite"
	PostgreSQL = "postgres"
)

// Tests do not wait for the disk: SQLite keeps what was committed when a process is killed, and no test cuts the power.
// Benchmarks measure what operators get.
func init() {
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, _ string) error {
		if bench := flag.Lookup("test.bench"); bench != nil && bench.Value.String() != "" {
			return nil
		}
		_, err := conn.ExecContext(context.Background(), "PRAGMA synchronous = OFF", nil)
		return err
	})
}

// Kinds are the kinds of database there are to test on: SQLite always, PostgreSQL if there is a server.
func Kinds() []string {
	if _, ok := Postgres(); ok {
		return []string{SQLite, PostgreSQL}
	}
	return []string{SQLite}
}

// Each runs test once on a fresh database of each kind, as parallel subtests named by the kind.
func Each(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, Open(t, kind))
		})
	}
}

// OnSQLite is Each on SQLite alone, for what does not depend on the database.
func OnSQLite(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	test(t, Open(t, SQLite))
}

// OnStrictest is Each on one kind alone, PostgreSQL if there is a server: for what our code refuses before it asks a
// database, since PostgreSQL refuses more of what gets there.
func OnStrictest(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	kinds := Kinds()
	test(t, Open(t, kinds[len(kinds)-1]))
}

// Open returns a fresh, migrated database of one kind; it is closed when t ends.
func Open(t testing.TB, kind string) *store.DB {
	t.Helper()
	where := ""
	switch kind {
	case SQLite:
		file, err := sqliteTemplate()
		if err != nil {
			t.Fatalf("make the SQLite template: %v", err)
		}
		where = filepath.Join(t.TempDir(), "aliquot.db")
		if err := os.WriteFile(where, file, 0o600); err != nil {
			t.Fatal(err)
		}
	case PostgreSQL:
		name, err := templateName()
		if err != nil {
			t.Fatal(err)
		}
		where = Clone(t, name, migrate)
	default:
		t.Fatalf("no kind of database is called %q", kind)
	}
	return At(t, where)
}

// Rehearse has each transaction of the databases that tests open from now on run once and rolled back before it counts;
// see sqldb.DB. A TestMain sets it.
var Rehearse bool

// At opens a database as store.Open does; it is closed when t ends.
func At(t testing.TB, where string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	db.UseKey(Key())
	db.RehearseTx = Rehearse
	places.Store(db, where)
	t.Cleanup(func() {
		places.Delete(db)
		if err := db.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return db
}

// Key is the key of the secrets in tests' databases.
func Key() *sqldb.Key {
	key, err := sqldb.ParseKey("alqk_" + strings.Repeat("A", 43))
	if err != nil {
		panic(err) // it is written here
	}
	return key
}

var places sync.Map // *store.DB: where it lies

// Again opens a database of Open or At once more, as another process would.
func Again(t testing.TB, db *store.DB) *store.DB {
	t.Helper()
	again, err := store.Open(t.Context(), Where(db))
	if err != nil {
		t.Fatal(err)
	}
	again.UseKey(Key())
	t.Cleanup(func() {
		if err := again.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return again
}

// Where is what store.Open takes for a database of Open or At, for a process of its own.
func Where(db *store.DB) string {
	where, _ := places.Load(db)
	return where.(string)
}

// SQL returns a connection of its own to a database of Open or At, for tests that count rows or make what no use case
// makes.
func SQL(t testing.TB, db *store.DB) *sql.DB {
	t.Helper()
	// The folder of a test may have a # in its name.
	driver := "sqlite"
	name := "file:" + (&url.URL{Path: Where(db)}).EscapedPath() + "?_pragma=busy_timeout(5000)&_time_format=sqlite"
	if db.Postgres() {
		driver, name = "pgx", Where(db)
	}
	pool, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(2)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// migrate migrates an empty database and closes it.
func migrate(where string) error {
	db, err := store.Open(context.Background(), where)
	if err != nil {
		return err
	}
	_, err = db.Migrate(context.Background(), false)
	return errors.Join(err, db.Close())
}

// sqliteTemplate is a migrated SQLite file, made once by each test binary.
var sqliteTemplate = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "aliquot-template-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "template.db")
	if err := migrate(path); err != nil { // closing moved the journal into the file
		return nil, err
	}
	return os.ReadFile(path)
})

// templateName is another one for other migrations.
var templateName = sync.OnceValues(func() (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(migration.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(migration.Files, path)
		hash.Write([]byte(path + "\x00" + string(text) + "\x00"))
		return err
	})
	return "aliquot_" + hex.EncodeToString(hash.Sum(nil))[:16], err
})
