package storetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// templateLock is the advisory lock that is held on the server while a template is made. The
// number means nothing; it only has to be the same in every test binary.
const templateLock = 0x616c6971756f74

// maxTemplateName leaves room for the suffix of a clone: PostgreSQL cuts names at 63 bytes.
const maxTemplateName = 63 - len("_") - 26

// Postgres returns the URL of the PostgreSQL server to test on, from ALIQUOT_TEST_POSTGRES, and whether there is one:
// PostgreSQL 15 or newer, with ICU, whose user may make databases. The command withpostgres starts such a server.
func Postgres() (adminURL string, ok bool) {
	adminURL = os.Getenv("ALIQUOT_TEST_POSTGRES")
	return adminURL, adminURL != ""
}

// Clone makes a database for t and returns its URL; the database goes when t ends. It is a copy of the template
// database, which the first test to need it makes by calling migrate with the URL of an empty one. All test binaries
// share a template of the same name: put a hash of the migrations into it. The name has at most 36 bytes. A database
// that migrate still holds open when it returns cannot be copied.
//
// Clone fails t when there is no server, migrate fails, or the server refuses.
func Clone(t testing.TB, templateName string, migrate func(url string) error) (url string) {
	t.Helper()
	server, err := connect()
	if err != nil {
		t.Fatalf("PostgreSQL for tests: %v", err)
	}
	if err := server.makeTemplate(t.Context(), templateName, migrate); err != nil {
		t.Fatalf("make the template database %s: %v", templateName, err)
	}
	name := templateName + "_" + strings.ToLower(rand.Text())
	if err := server.exec(t.Context(), "CREATE DATABASE %s TEMPLATE %s", name, templateName); err != nil {
		t.Fatalf("make a test database: %v", err)
	}
	t.Cleanup(func() {
		if err := server.exec(context.WithoutCancel(t.Context()), "DROP DATABASE IF EXISTS %s WITH (FORCE)",
			name); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return server.urlOf(name)
}

// server is the PostgreSQL server of this process's tests.
type server struct {
	url   url.URL
	admin *sql.DB

	mu    sync.Mutex
	ready map[string]bool // templates that are known to be complete
}

// connect returns the one server. It stays connected until the process ends.
var connect = sync.OnceValues(func() (*server, error) {
	adminURL, ok := Postgres()
	if !ok {
		return nil, errors.New("ALIQUOT_TEST_POSTGRES is not set")
	}
	u, err := url.Parse(adminURL)
	if err != nil {
		return nil, err
	}
	admin, err := sql.Open("pgx", adminURL)
	if err != nil {
		return nil, err
	}
	admin.SetMaxOpenConns(4)
	return &server{url: *u, admin: admin, ready: map[string]bool{}}, nil
})

// makeTemplate makes the template unless it is there. No one can connect to a complete template,
// so PostgreSQL never refuses to copy it because it is in use; the copying itself may overlap.
func (s *server) makeTemplate(ctx context.Context, name string, migrate func(url string) error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready[name] {
		return nil
	}
	if len(name) > maxTemplateName {
		return fmt.Errorf("the name is longer than %d bytes", maxTemplateName)
	}
	conn, err := s.admin.Conn(ctx) // the lock belongs to one connection
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", templateLock); err != nil {
		return err
	}
	defer func() {
		_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", templateLock)
		err = errors.Join(err, unlockErr)
	}()
	const complete = "SELECT count(*) FROM pg_database WHERE datname = $1 AND datistemplate"
	var found int
	if err := conn.QueryRowContext(ctx, complete, name).Scan(&found); err != nil {
		return err
	}
	if found == 0 {
		err = errors.Join(
			s.exec(ctx, "DROP DATABASE IF EXISTS %s WITH (FORCE)", name), // a test binary may have died here
			// Of a language, not the order of bytes, which the SQL must not take for granted.
			s.exec(ctx, "CREATE DATABASE %s TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'", name))
		if err != nil {
			return err
		}
		if err := migrate(s.urlOf(name)); err != nil {
			return err
		}
		if err := s.exec(ctx, "ALTER DATABASE %s WITH IS_TEMPLATE true ALLOW_CONNECTIONS false", name); err != nil {
			return err
		}
	}
	s.ready[name] = true
	return nil
}

// Kept returns the URL of the database of a name, which is made empty if there is none, and stays.
func Kept(t testing.TB, name string) (url string) {
	t.Helper()
	server, err := connect()
	if err != nil {
		t.Fatalf("PostgreSQL for tests: %v", err)
	}
	var there bool
	err = server.admin.QueryRowContext(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)",
		name).Scan(&there)
	if err == nil && !there {
		err = server.exec(t.Context(), "CREATE DATABASE %s", name)
	}
	if err != nil {
		t.Fatalf("make the database %s: %v", name, err)
	}
	return server.urlOf(name)
}

// exec runs a statement with the names of databases in the places of its %s.
func (s *server) exec(ctx context.Context, statement string, databases ...string) error {
	for _, database := range databases {
		statement = strings.Replace(statement, "%s", pgx.Identifier{database}.Sanitize(), 1)
	}
	_, err := s.admin.ExecContext(ctx, statement)
	return err
}

// urlOf returns the URL of a database on the server.
func (s *server) urlOf(database string) string {
	u := s.url
	u.Path = "/" + database
	return u.String()
}
