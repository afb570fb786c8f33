package api_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/app/core"
	"aliquot/internal/store/storetest"
)

// tables are those whose rows tests count; TestRows_CountsEveryTable checks that none is missing.
var tables = []string{"users", "tokens", "organizations", "memberships", "invitations", "join_requests", "addresses",
	"shipping_requirements", "materials", "grants",
	"grant_materials", "attachments", "attachment_versions", "storage_use", "sheets", "material_requests",
	"request_turns", "request_documents", "request_issues", "request_events", "erased_events", "news", "notifications", "mail_settings",
	"mail_counts", "audit_events",
	"secrets", "idempotency_keys", "jobs", "bulks", "bulk_parts", "column_mappings", "webhooks", "webhook_deliveries",
	"webhook_attempts", "saved_searches", "drafts", "grant_links", "insight_days", "insight_marks", "search_matches",
	"search_epochs", "material_changes", "embargo_days", "material_moves", "cell_lines", "cell_line_keys",
	"inbox_views", "replies", "basket_items", "request_groups", "inquiries",
	"institutions", "institution_labs", "affiliations", "positions", "authorities", "stand_ins", "masters", "approvals", "institution_playbooks",
	"instruments",
	"passkeys", "sign_ins", "signing_statements", "transfer_facts", "material_origins", "permits", "request_permits", "request_purposes",
	"agreements", "agreement_versions", "agreement_requests", "agreement_signatures", "agreement_links",
	"agreement_duties", "paper_checks", "source_calls", "content_holds",
	"material_index", "organization_index", "user_index", "search_words"}

// recordTables are those of the chains and the log, which change with the others.
var recordTables = []string{"carry_over", "chains", "chain_events", "log_entries", "log_tiles",
	"log_head", "log_checkpoints", "log_keys"}

func TestRows_CountsEveryTable(t *testing.T) {
	t.Parallel()
	pool := storetest.SQL(t, storetest.Open(t, storetest.SQLite))
	var n int
	err := pool.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table'
		AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%' AND name NOT GLOB '*_words_*' AND sql NOT LIKE 'CREATE VIRTUAL%'`).Scan(&n)
	if err != nil || n != len(tables)+len(recordTables) {
		t.Errorf("the schema has %d tables, the tests know %d: %v", n, len(tables)+len(recordTables), err)
	}
}

// rows counts the rows of every table, and the files of content as "files".
func (w *world) rows() map[string]int {
	w.t.Helper()
	counts := make([]int, len(tables))
	columns, places := make([]string, len(tables)), make([]any, len(tables))
	for i, table := range tables {
		columns[i], places[i] = "(SELECT COUNT(*) FROM "+table+")", &counts[i]
	}
	if err := w.sql.QueryRowContext(w.t.Context(), "SELECT "+strings.Join(columns, ", ")).Scan(places...); err != nil {
		w.t.Fatal(err)
	}
	rows := map[string]int{"files": len(w.kept())}
	for i, table := range tables {
		rows[table] = counts[i]
	}
	return rows
}

// kept are the keys of the content in the files folder, half-written ones too.
func (w *world) kept() []string {
	w.t.Helper()
	var keys []string
	for info, err := range w.folder.Keys(context.Background()) {
		if err != nil {
			w.t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

// grew says by how much the counts of rows differ, as "audit_events+1 materials+1"; "" not at all.
func grew(before, after map[string]int) string {
	var list []string
	for _, table := range append([]string{"files"}, tables...) {
		if n := after[table] - before[table]; n != 0 {
			list = append(list, fmt.Sprintf("%s%+d", table, n))
		}
	}
	return strings.Join(list, " ")
}

// dump is the whole database, each row a line that begins with its table, and the files of content.
func (w *world) dump() []string {
	w.t.Helper()
	var lines []string
	for _, table := range tables {
		lines = append(lines, w.lines(table)...)
	}
	for _, key := range w.kept() {
		lines = append(lines, "file "+key)
	}
	slices.Sort(lines)
	return lines
}

func (w *world) lines(table string) (lines []string) {
	w.t.Helper()
	rows, err := w.sql.QueryContext(w.t.Context(), "SELECT * FROM "+table)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	cells, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		places[i] = &cells[i]
	}
	for err == nil && rows.Next() {
		err = rows.Scan(places...)
		lines = append(lines, fmt.Sprintf("%s %v", table, cells))
	}
	if err = errors.Join(err, rows.Err()); err != nil {
		w.t.Fatal(err)
	}
	return lines
}

// unchanged fails the test where do leaves the database, or the files, another than it was.
func (w *world) unchanged(what string, do func()) {
	w.t.Helper()
	before := w.dump()
	do()
	after := w.dump()
	if slices.Equal(before, after) {
		return
	}
	for _, line := range after {
		if _, found := slices.BinarySearch(before, line); !found {
			w.t.Errorf("%s: now there is %.300s", what, line)
		}
	}
	for _, line := range before {
		if _, found := slices.BinarySearch(after, line); !found {
			w.t.Errorf("%s: no longer there is %.300s", what, line)
		}
	}
}

// audits lists the audit events of an object, the oldest first, each as "actor action", where the
// actor is a name, "anonymous", and behind "admin:" where it was an admin's power.
func (w *world) audits(object string) []string {
	w.t.Helper()
	rows, err := w.sql.QueryContext(w.t.Context(), `SELECT COALESCE(u.first_name, 'anonymous'), a.action, a.as_admin
		FROM audit_events a LEFT JOIN users u ON u.id = a.actor_id WHERE a.object = $1 ORDER BY a.id`, object)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	list := []string{}
	for rows.Next() {
		var actor, action string
		var admin bool
		if err := rows.Scan(&actor, &action, &admin); err != nil {
			w.t.Fatal(err)
		}
		if admin {
			actor = "admin:" + actor
		}
		list = append(list, actor+" "+action)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return list
}

// hash is how the database keeps a token.
func hash(token string) string { return core.Hash(token) }
