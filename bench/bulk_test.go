package bench

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/files"
	"aliquot/internal/identity"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/uuid"
)

const (
	bulkRows = 100_000
	bulkBar  = 0.5
)

// BenchmarkBulk lists 100,000 materials from a CSV: checked, then stored in one transaction with a
// version of each and what it is found by, as the mode all-or-nothing does. The bare side does nothing but insert
// the same rows of these tables, with the statements of internal/store, in one transaction too.
func BenchmarkBulk(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		b.Run(kind, func(b *testing.B) {
			db := storetest.Open(b, kind)
			for range b.N { // once: it takes longer than -benchtime
				var rates [2]float64
				rates[ours] = bulkOurs(b, db)
				rates[bare] = bulkBare(b, db, kind)
				b.ReportMetric(rates[ours], "ours/s")
				b.ReportMetric(rates[bare], "bare/s")
				b.ReportMetric(rates[ours]/rates[bare], "ratio")
				b.ReportMetric(0, "ns/op")
				if ratio := rates[ours] / rates[bare]; ratio < bulkBar {
					b.Errorf("%.0f rows a second, %.2f of the bare limit, not %.1f", rates[ours], ratio, bulkBar)
				}
			}
		})
	}
}

// inventory is a spreadsheet of cell lines.
func inventory(rows int) io.Reader {
	r, w := io.Pipe()
	go func() {
		sheet := csv.NewWriter(w)
		_ = sheet.Write(strings.Split("reference,category,title,organisms,cell line "+
			"name,rrid,disease,tissue,sex,age,biosafety level,growth medium,notes", ","))
		for i := range rows {
			_ = sheet.Write([]string{fmt.Sprint("LN2-", i), "CELL_LINE", fmt.Sprint("HT-29, passage ", i),
				"Homo sapiens", "HT-29", "CVCL_0320",
				"Colon adenocarcinoma", "large intestine", "female", "44", "BSL-1", "McCoy's 5A with 10 % serum",
				"Grows fast; split twice a week."})
		}
		sheet.Flush()
		_ = w.Close()
	}()
	return r
}

// bulkOurs returns how many rows a second the job stores.
func bulkOurs(b *testing.B, db *store.DB) float64 {
	folder, err := files.OpenFolder(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	log := slog.New(slog.DiscardHandler)
	a := app.New(app.Config{DB: db, Files: folder, Access: exchange.AccessMembers, Registration: []string{"open"},
		TokenLifetime: time.Hour, UploadLimit: 1 << 30, Log: log})
	signed, err := a.Accounts.SignIn(b.Context(), identity.Person{RegistryID: "member", GivenName: "Ada"},
		person.Registration{})
	if err != nil {
		b.Fatal(err)
	}
	who, err := a.Accounts.Actor(b.Context(), signed.Token)
	if err != nil {
		b.Fatal(err)
	}
	content, err := a.Spreadsheets.StoreBulk(b.Context(), who, who.Organizations[0], inventory(bulkRows))
	if err != nil {
		b.Fatal(err)
	}
	stop := jobtest.Start(b,
		job.Config{DB: db, Log: log, Handlers: a.Handlers(), Slots: slots, Lease: 30 * time.Second})
	defer stop()
	began := time.Now()
	j, err := a.Spreadsheets.Bulk(b.Context(), who, who.Organizations[0], material.BulkOptions{}, content)
	for err == nil && !j.State.Over() {
		time.Sleep(10 * time.Millisecond)
		j, err = db.Read().Jobs.Get(b.Context(), j.ID)
	}
	if err != nil || !strings.Contains(string(j.Result), `"created":`+strconv.Itoa(bulkRows)) {
		b.Fatalf("%s %s %s: %v", j.State, j.Error, j.Result, err)
	}
	return bulkRows / time.Since(began).Seconds()
}

// bulkBare returns how many rows a second the inserts alone store.
func bulkBare(b *testing.B, db *store.DB, kind string) float64 {
	const materialColumns, versionColumns = 26, 6
	batch := map[string]int{storetest.SQLite: 8, storetest.PostgreSQL: 32}[kind] // as the dialect has it
	pool := durable(b, kind, storetest.Where(db))
	columns, state := make([]any, materialColumns+1), ""
	row := pool.QueryRowContext(b.Context(),
		`SELECT organization_id, category, reference, title, url, pubmed_id, additional_metadata,
		needs_mta, needs_irb, needs_abstract, mta_attachment_id, shipping_requirements_id, imported, import_source, import_identifier,
		organisms, publication_title, pre_print_doi, pre_print_title, citation, additional_info, embargo_date, contact_user_id,
		is_archived, title_sort, created_at, (SELECT state FROM audit_events WHERE object LIKE 'material %' LIMIT 1) FROM materials LIMIT 1`)
	into := make([]any, len(columns))
	for i := range columns {
		into[i] = &columns[i]
	}
	if err := row.Scan(into...); err != nil {
		b.Fatal(err)
	}
	state = fmt.Sprint(columns[materialColumns])
	values := func(columns int, row func(first int) string) string {
		rows := make([]string, batch)
		for i := range rows {
			rows[i] = row(i * columns)
		}
		return strings.Join(rows, ", ")
	}
	materials := `INSERT INTO materials (organization_id, category, reference, title, url, pubmed_id, additional_metadata,
		needs_mta, needs_irb, needs_abstract, mta_attachment_id, shipping_requirements_id, imported, import_source, import_identifier,
		organisms, publication_title, pre_print_doi, pre_print_title, citation, additional_info, embargo_date, contact_user_id,
		is_archived, title_sort, created_at, updated_at) VALUES ` + values(materialColumns+1, func(first int) string {
		places := make([]string, materialColumns+1)
		for i := range places {
			places[i] = "$" + strconv.Itoa(first+i+1)
		}
		return "(" + strings.Join(places, ", ") + ")"
	}) + " RETURNING id"
	versions := "INSERT INTO audit_events (actor_id, action, object, as_admin, at, state, version) VALUES " +
		values(versionColumns, func(n int) string {
			return fmt.Sprintf("($%d, $%d, $%d, $%d, $%d, $%d, 1)", n+1, n+2, n+3, n+4, n+5, n+6)
		})
	found := newBareIndex(b, pool, kind, db, batch)
	began := time.Now()
	tx, err := pool.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	insert, err := newBareBulk(b.Context(), tx, materials, versions)
	if err == nil {
		err = found.prepare(b.Context(), tx)
	}
	if err != nil {
		b.Fatal(err)
	}
	now, actor := time.Now().UTC().Truncate(time.Microsecond), uuid.New()
	for n := 0; n < bulkRows; n += batch {
		args := make([]any, 0, batch*(materialColumns+1))
		for i := range batch {
			at := len(args)
			args = append(append(args, columns[:materialColumns]...), now)
			args[at+2], args[at+3], args[at+24] = fmt.Sprint("bare-", n+i), fmt.Sprint("HT-29, passage ", n+i),
				fmt.Sprint("ht-29, passage ", n+i)
		}
		ids, err := insert.materials(b.Context(), args)
		if err != nil {
			b.Fatal(err)
		}
		args = args[:0]
		for _, id := range ids {
			args = append(args, actor, "material.create", fmt.Sprint("material ", id), false, now, state)
		}
		if _, err := insert.versionsOf.ExecContext(b.Context(), args...); err != nil {
			b.Fatal(err)
		}
		if err := found.insert(b.Context(), ids); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	return bulkRows / time.Since(began).Seconds()
}

// bareBulk is two prepared inserts.
type bareBulk struct{ add, versionsOf *sql.Stmt }

func newBareBulk(ctx context.Context, tx *sql.Tx, materials, versions string) (s bareBulk, err error) {
	if s.add, err = tx.PrepareContext(ctx, materials); err == nil {
		s.versionsOf, err = tx.PrepareContext(ctx, versions)
	}
	return s, err
}

func (s bareBulk) materials(ctx context.Context, args []any) (ids []int64, err error) {
	rows, err := s.add.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// bareIndex is the inserts of what materials are found by, each as one that ours made.
type bareIndex struct {
	rows, words string
	row         []any  // facets, weights, digest, organization_id, visible_from, and on PostgreSQL the words
	text        string // what FTS5 is given; "": the words are in the row
	addRows     *sql.Stmt
	addWords    *sql.Stmt
}

func newBareIndex(b *testing.B, pool *sql.DB, kind string, db *store.DB, batch int) *bareIndex {
	x := &bareIndex{row: make([]any, 5), words: "INSERT INTO material_words (rowid, words) VALUES ($1, $2)"}
	columns, read := "facets, weights, digest, organization_id, visible_from",
		"facets, weights, digest, organization_id, visible_from"
	if kind == storetest.PostgreSQL {
		x.row, columns, read = make([]any, 6), columns+", words", read+", CAST(words AS TEXT)"
	}
	into := make([]any, len(x.row)+1)
	var id int64
	for i := range x.row {
		into[i] = &x.row[i]
	}
	into[len(x.row)] = &id
	if err := pool.QueryRowContext(b.Context(), "SELECT "+read+
		", id FROM material_index ORDER BY id DESC LIMIT 1").Scan(into...); err != nil {
		b.Fatal(err)
	}
	if kind == storetest.SQLite {
		m, err := db.Read().Materials.Shown(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		x.text = strings.Join(m.SearchDocument("Ada lab", nil, nil).Doc.Tokens, " ")
	}
	rows, width := make([]string, batch), len(x.row)+2
	for i := range rows {
		places := make([]string, width)
		for k := range places {
			places[k] = "$" + strconv.Itoa(i*width+k+1)
		}
		if kind == storetest.PostgreSQL {
			places[width-1] = "CAST(" + places[width-1] + " AS TSVECTOR)"
		}
		rows[i] = "(" + strings.Join(places, ", ") + ")"
	}
	x.rows = "INSERT INTO material_index (rank, id, " + columns + ") VALUES " + strings.Join(rows, ", ")
	return x
}

func (x *bareIndex) prepare(ctx context.Context, tx *sql.Tx) (err error) {
	if x.addRows, err = tx.PrepareContext(ctx, x.rows); err == nil && x.text != "" {
		x.addWords, err = tx.PrepareContext(ctx, x.words)
	}
	return err
}

// insert adds the rows of materials, by rank, as internal/store does.
func (x *bareIndex) insert(ctx context.Context, ids []int64) error {
	ranks := make([]int64, len(ids))
	for i, id := range ids {
		ranks[i] = int64(uint32(id) * 2654435769)
	}
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	var args []any
	for _, i := range order {
		args = append(append(args, ranks[i], ids[i]), x.row...)
	}
	if _, err := x.addRows.ExecContext(ctx, args...); err != nil || x.text == "" {
		return err
	}
	for _, i := range order {
		if _, err := x.addWords.ExecContext(ctx, ranks[i], x.text+" "+strconv.FormatInt(ids[i], 10)); err != nil {
			return err
		}
	}
	return nil
}
