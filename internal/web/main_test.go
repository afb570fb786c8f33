package web_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/demo"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/files"
	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
	"aliquot/internal/webhook"
)

// content is where all worlds keep files, under random keys: the sample data, which are filled in once, have some.
var content *files.Folder

func TestMain(m *testing.M) {
	code := 1
	dir, err := os.MkdirTemp("", "aliquot-web-")
	if err == nil {
		content, err = files.OpenFolder(filepath.Join(dir, "files"))
	}
	if err == nil {
		code = m.Run()
		err = content.Close()
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// logKeys are those that sign the logs of all worlds.
var logKeys = sync.OnceValues(func() (record.Keys, error) { return record.NewKeys("example.org/log/2026") })

func newApp(db *store.DB, log *slog.Logger) *app.App {
	return app.New(app.Config{DB: db, PublicURL: "http://example.org", Files: content, Access: exchange.AccessMembers,
		Registration:  []string{"open"},
		TokenLifetime: time.Hour, UploadLimit: 1 << 20, DocumentTypes: []string{"application/pdf", "image/png"}, Reminders: request.Reminders{7, 14, 28},
		Sender: webhook.New(false), Log: log, LogKeys: logKeys})
}

// fill makes the sample data in an empty database, and closes it.
func fill(where string) error {
	db, err := store.Open(context.Background(), where)
	if err != nil {
		return err
	}
	if _, err = db.Migrate(context.Background(), false); err == nil {
		err = demo.Fill(context.Background(), newApp(db, slog.New(slog.DiscardHandler)))
	}
	return errors.Join(err, db.Close())
}

// made is the content of a file that make makes.
func made(make func(path string) error) (content []byte, err error) {
	dir, err := os.MkdirTemp("", "aliquot-web-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "demo.db")
	if err := make(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// filled is a SQLite file with the sample data.
var filled = sync.OnceValues(func() ([]byte, error) { return made(fill) })

// filledAndWatched is filled with triggers that write the names of changed tables into the table written.
var filledAndWatched = sync.OnceValues(func() ([]byte, error) {
	file, err := filled()
	if err != nil {
		return nil, err
	}
	return made(func(path string) error {
		return errors.Join(os.WriteFile(path, file, 0o600), watch(path))
	})
})

func watch(path string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), `SELECT name FROM pragma_table_list WHERE type = 'table'
		AND schema = 'main' AND name NOT LIKE 'sqlite_%'`) // full-text indexes take no triggers
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	queries := []string{"CREATE TABLE written (name TEXT)"}
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return err
		}
		for _, change := range []string{"INSERT", "UPDATE", "DELETE"} {
			queries = append(queries, fmt.Sprintf(`CREATE TRIGGER watch_%[1]s_%[2]s AFTER %[2]s ON %[1]s BEGIN
				INSERT INTO written SELECT '%[1]s' WHERE NOT EXISTS (SELECT 1 FROM written WHERE name = '%[1]s'); END`,
				table, change))
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = db.ExecContext(context.Background(), strings.Join(queries, ";\n"))
	return err
}

// template is a database of PostgreSQL with the sample data: of this process alone, as their files are.
var template = sync.OnceValue(func() string { return "aliquot_web_" + strings.ToLower(rand.Text()[:16]) })

// openDemo returns a database of one kind with the sample data.
func openDemo(t testing.TB, kind string) *store.DB {
	t.Helper()
	if kind == storetest.PostgreSQL {
		return storetest.At(t, storetest.Clone(t, template(), fill))
	}
	return openFile(t, filled)
}

// openFile opens a copy of a file of SQLite.
func openFile(t testing.TB, content func() ([]byte, error)) *store.DB {
	t.Helper()
	file, err := content()
	if err != nil {
		t.Fatal(err)
	}
	where := filepath.Join(t.TempDir(), "aliquot.db")
	if err := os.WriteFile(where, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return storetest.At(t, where)
}
