package seed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/app"
	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/files"
	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
	"aliquot/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// nowhere is where a new database of a kind would be.
func nowhere(t *testing.T, kind string) string {
	if kind == storetest.PostgreSQL {
		return storetest.Clone(t, "aliquot_seed", func(string) error { return nil })
	}
	return filepath.Join(t.TempDir(), "aliquot.db")
}

func fill(where string, size Size) error {
	return store.Load(context.Background(), where, size.String(), func(ctx context.Context, l *store.Loader) error {
		return Fill(ctx, l, size, func(exchange.Progress) {})
	})
}

// opened is a database that was filled, with the program on top.
func opened(t *testing.T, where string) *app.App {
	folder, err := files.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	return app.New(app.Config{DB: storetest.At(t, where), Files: folder, Access: exchange.AccessMembers,
		Log: slog.New(slog.DiscardHandler)})
}

func TestSeed_IsCompleteAndRepeatable(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			size := Size{Materials: 700, Requests: 900}
			var seen [2][]string
			for i := range seen {
				where := nowhere(t, kind)
				if err := fill(where, size); err != nil {
					t.Fatal(err)
				}
				a := opened(t, where)
				r, err := a.Evidence.Verify(t.Context(), evidence.Verification{Files: true})
				if err != nil || r.Requests != size.Requests || r.Events < int64(size.Requests) || len(r.Faults) > 0 {
					t.Errorf("%+v, %v", r, err)
				}
				seen[i] = shown(t, a)
			}
			if diff := cmp.Diff(seen[0], seen[1]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// shown is what the API shows of some materials and requests to someone who may see them.
func shown(t *testing.T, a *app.App) (answers []string) {
	apiHandler := api.New(a, slog.New(slog.DiscardHandler))
	get := func(path string) {
		w := httptest.NewRecorder()
		apiHandler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil))
		body, _ := io.ReadAll(w.Body)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, body)
		}
		answers = append(answers, string(body))
	}
	for _, path := range []string{"/v1/materials?limit=200", "/v1/materials?ordering=title",
		"/v1/organizations?limit=200"} {
		get(path)
	}
	for id := 1; id <= 700; id += 61 {
		get(fmt.Sprintf("/v1/materials/%d", id))
	}
	return answers
}

func TestSeed_HasRequestsInEveryState(t *testing.T) {
	t.Parallel()
	m := newMaker(Size{Materials: 5000, Requests: 3000})
	var seen []request.Status
	var kinds []request.EventKind
	for number := range m.Requests {
		q, err := m.request(number)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(seen, q.Status) {
			seen = append(seen, q.Status)
		}
		for _, e := range q.Events {
			if !slices.Contains(kinds, e.Kind) {
				kinds = append(kinds, e.Kind)
			}
		}
	}
	if len(seen) != len(request.Statuses) || len(kinds) < 8 {
		t.Errorf("%v, %v", seen, kinds)
	}
}

func TestSeed_LeavesADatabaseInUseAlone(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			where := nowhere(t, kind)
			for range 2 { // the first time something fails, and leaves nothing
				broken := errors.New("no power")
				err := store.Load(t.Context(), where, "x", func(ctx context.Context, l *store.Loader) error {
					return errors.Join(Fill(ctx, l, Size{Materials: 10}, func(exchange.Progress) {}), broken)
				})
				if !errors.Is(err, broken) {
					t.Fatal(err)
				}
			}
			if kind == storetest.SQLite {
				if left, err := os.ReadDir(filepath.Dir(where)); err != nil || len(left) > 0 {
					t.Errorf("%v, %v", left, err)
				}
			}
			if err := fill(where, Size{Materials: 10}); err != nil {
				t.Fatal(err)
			}
			if err := fill(where, Size{Materials: 10}); !errors.Is(err, sqldb.ErrTaken) {
				t.Error(err)
			}
			a := opened(t, where)
			if label, err := a.DB.Read().Secrets.Loaded(t.Context()); err != nil ||
				label != (Size{Materials: 10}).String() {
				t.Error(label, err)
			}
			page, err := a.DB.Read().Materials.List(t.Context(), exchange.Page{Limit: 20}, material.Filter{},
				personID(0))
			if err != nil || page.Total.N != 10 {
				t.Error(page.Total, err)
			}
		})
	}
}

// What comes after the seed gets ids after it, and every index and reference is there as in a database that grew.
func TestSeed_HasTheSchemaOfAGrownDatabase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, grown *store.DB) {
		kind := storetest.SQLite
		if grown.Postgres() {
			kind = storetest.PostgreSQL
		}
		where := nowhere(t, kind)
		if err := fill(where, Size{Materials: 10, Requests: 10}); err != nil {
			t.Fatal(err)
		}
		a := opened(t, where)
		schema := func(db *store.DB) []string {
			query := "SELECT name || ': ' || COALESCE(sql, '') FROM sqlite_master ORDER BY 1"
			if db.Postgres() {
				query = `SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
					UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' ORDER BY 1`
			}
			var list []string
			rows, err := storetest.SQL(t, db).QueryContext(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				var s string
				if err := rows.Scan(&s); err != nil {
					t.Fatal(err)
				}
				list = append(list, s)
			}
			return append(list, fmt.Sprint(rows.Err()))
		}
		if diff := cmp.Diff(schema(grown), schema(a.DB)); diff != "" {
			t.Error(diff)
		}
		err := a.DB.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
			m, err := tx.Materials.Get(ctx, 1)
			if err != nil {
				return err
			}
			m.Reference, m.ImportIdentifier = nil, nil
			id, err := tx.Materials.Insert(ctx, m)
			if id != 11 {
				t.Errorf("the next material is %d", id)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
