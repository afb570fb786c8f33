package store_test

import (
	"bytes"
	stdcontext "context"
	"database/sql"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
	"aliquot/internal/store/storetest"
)

func TestReady_ADamagedDatabaseIsNot(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if err := db.Ready(t.Context()); err != nil {
			t.Fatalf("at first: %v", err)
		}
		damage(t, db)
		for deadline := time.Now().Add(time.Minute); db.Ready(t.Context()) == nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("a damaged database is ready")
			}
		}
	})
}

// damage makes a database lose what is in some of its tables: the file of SQLite all but its first page, PostgreSQL one
// table.
func damage(t *testing.T, db *store.DB) {
	t.Helper()
	if db.Postgres() {
		if err := db.Tx(t.Context(), func(ctx context, tx store.Conn) error {
			_, err := tx.Exec(ctx, "DROP TABLE drafts")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return
	}
	files, err := store.Values[string](t.Context(), db.Read(), "SELECT file FROM pragma_database_list")
	if err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", "file:"+files[0])
	if err == nil {
		_, err = other.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
		_ = other.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(files[0], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	if _, err := file.WriteAt(bytes.Repeat([]byte{0xa5}, int(info.Size())-page), page); err != nil {
		t.Fatal(err)
	}
}

func TestReady_AStatementThatFindsDamageIsRemembered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		damage(t, db)
		if _, err := store.Values[int64](t.Context(), db.Read(), "SELECT COUNT(*) FROM drafts"); err == nil {
			t.Fatal("a statement on a table that is missing succeeds")
		}
		if err := db.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("got %v", err)
		}
	})
}

func TestSlowStatements_AreLoggedWithoutValues(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var log bytes.Buffer
		db.Log, db.SlowAfter = slog.New(slog.NewTextHandler(&log, nil)), time.Nanosecond
		if _, err := db.Read().Log.Keys(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if err := db.Tx(t.Context(), func(ctx context, tx store.Conn) error {
			return tx.Log.AddKey(ctx, "ada@example.org")
		}); err != nil {
			t.Fatal(err)
		}
		text := log.String()
		for _, want := range []string{`msg="slow statement"`, `statement="SELECT public_key FROM log_keys `,
			`statement="INSERT INTO log_keys (public_key, created_at) VALUES ($1, $2) ON CONFLICT`, "statement=BEGIN",
			"statement=COMMIT", "duration_ms="} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		if n := db.SlowStatements(); strings.Contains(text, "ada@example.org") || n < 4 {
			t.Errorf("%d slow statements:\n%s", n, text)
		}
		db.SlowAfter = time.Hour
		log.Reset()
		if _, err := db.Read().Log.Keys(t.Context(), true); err != nil || log.Len() > 0 {
			t.Errorf("a statement that is not slow: %v %s", err, &log)
		}
	})
}

// steps is an observer that keeps what it sees.
type steps struct{ seen []string }

type stepKey struct{}

func (s *steps) BeginStatement(ctx context, query string) context {
	return stdcontext.WithValue(ctx, stepKey{}, query)
}

func (s *steps) EndStatement(ctx context, err error) {
	verb, _, _ := strings.Cut(ctx.Value(stepKey{}).(string), " ")
	if err != nil {
		verb += " failed"
	}
	s.seen = append(s.seen, verb)
}

func TestObserver_SeesEachStatementOfATransaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var s steps
		db.Observer = &s
		var _ sqldb.Observer = &s
		if err := db.Tx(t.Context(), func(ctx context, tx store.Conn) error {
			if _, err := tx.Log.Size(ctx); err != nil {
				return err
			}
			return tx.Log.AddKey(ctx, "key")
		}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.seen, ", "); got != "BEGIN, SELECT, INSERT, SELECT, INSERT, INSERT, COMMIT" { // three of the record
			t.Errorf("got %s", got)
		}
	})
}
