package bench

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/store/storetest"
)

// countedHits is how many hits the plain way counts; more are "more than that".
const countedHits = 1000

// BenchmarkSearchPlain measures what our search has to be better than: the databases' own full-text search with their
// own ranking (FTS5 with bm25, tsvector with ts_rank) and counts that end at countedHits, on the databases and with the
// queries of BenchmarkSearch. It leaves out what our search does besides: facets, visibility, identifiers, spellings,
// beginnings of words. docs/search.md has the figures of both.
func BenchmarkSearchPlain(b *testing.B) {
	eachLibrary(b, (*library).measurePlain)
}

// plainSearch is the statements of one kind of database; $1 is a query in its language.
type plainSearch struct {
	create, drop []string
	page, count  string
	size         string // in bytes
	query        func(text string) string
}

const plainText = `organisms || ' ' || additional_metadata || ' ' || COALESCE(publication_title, '') || ' ' ||
	COALESCE(pre_print_title, '') || ' ' || COALESCE(citation, '') || ' ' || COALESCE(additional_info, '')`

var plainSearches = map[string]plainSearch{
	storetest.SQLite: {
		create: []string{
			"CREATE VIRTUAL TABLE temp.plain USING fts5(title, body, content='', tokenize='porter unicode61')",
			"INSERT INTO plain (rowid, title, body) SELECT id, title, " + plainText + " FROM materials",
			"INSERT INTO plain (plain) VALUES ('optimize')",
		},
		page:  "SELECT rowid FROM plain WHERE plain MATCH $1 ORDER BY bm25(plain, 10.0, 1.0), rowid LIMIT 20",
		count: fmt.Sprintf("SELECT COUNT(*) FROM (SELECT 1 FROM plain WHERE plain MATCH $1 LIMIT %d)", countedHits+1),
		size:  "SELECT SUM(LENGTH(block)) FROM temp.plain_data",
		query: func(text string) string { // each word and each phrase as a string of FTS5
			var parts []string
			for i, part := range strings.Split(text, `"`) {
				words := []string{part}
				if i%2 == 0 {
					words = strings.Fields(part)
				}
				for _, word := range words {
					parts = append(parts, `"`+word+`"`)
				}
			}
			return strings.ReplaceAll(strings.Join(parts, " "), `"-`, `NOT "`)
		},
	},
	storetest.PostgreSQL: {
		create: []string{
			"CREATE UNLOGGED TABLE plain AS SELECT id, setweight(to_tsvector('english', title), 'A') || " +
				"setweight(to_tsvector('english', " + plainText + "), 'D') AS v FROM materials",
			"CREATE INDEX plain_v ON plain USING gin (v)",
			"ANALYZE plain",
		},
		drop: []string{"DROP TABLE IF EXISTS plain"},
		page: "SELECT id FROM plain, websearch_to_tsquery('english', $1) q WHERE v @@ q ORDER BY ts_rank(v, q) DESC, id LIMIT 20",
		count: fmt.Sprintf("SELECT COUNT(*) FROM (SELECT 1 FROM plain WHERE v @@ websearch_to_tsquery('english', $1) LIMIT %d) c",
			countedHits+1),
		size:  "SELECT pg_relation_size('plain_v')",
		query: func(text string) string { return text },
	},
}

func (l *library) measurePlain() {
	selective, broad := l.queries()
	conn, err := storetest.SQL(l.B, l.db).Conn(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	p := plainSearches[l.kind]
	exec := func(ctx context.Context, statements []string) {
		for _, statement := range statements {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				l.Fatal(err)
			}
		}
	}
	exec(l.Context(), p.drop)
	defer func() {
		exec(context.WithoutCancel(l.Context()), p.drop)
		_ = conn.Close() // which also takes what is temporary with it
	}()
	exec(l.Context(), p.create)
	l.row("plain: selective query, first page", l.plainly(conn, p, selective), 0, 0, "")
	l.row("plain: broad query, first page", l.plainly(conn, p, broad), 0, 0, "")
	text, _, _ := l.sizes()
	var index float64
	if err := conn.QueryRowContext(l.Context(), p.size).Scan(&index); err != nil {
		l.Fatal(err)
	}
	l.row(fmt.Sprintf("plain: index (%.0f MB) relative to the text (%.0f MB)", index/1e6, text/1e6), nil, index/text, 0, "")
}

// plainly returns the times of each query's first page with its count; each was asked once before.
func (l *library) plainly(conn *sql.Conn, p plainSearch, queries []string) (s spread) {
	for _, text := range slices.Concat(queries, queries) {
		began := time.Now()
		if err := l.drain(conn, p.page, p.query(text)); err != nil {
			l.Fatalf("%s: %v", text, err)
		}
		if err := l.drain(conn, p.count, p.query(text)); err != nil {
			l.Fatalf("%s: %v", text, err)
		}
		s.add(time.Since(began))
	}
	return s[len(queries):]
}

// drain reads all rows of a statement.
func (l *library) drain(conn *sql.Conn, statement, query string) error {
	rows, err := conn.QueryContext(l.Context(), statement, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
	}
	return rows.Err()
}
