package app_test

import (
	"strings"
	"testing"

	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestVerify_FindsAlteredTurns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newReminding(t, db)
		raw := storetest.SQL(t, db)
		for i, change := range []string{
			"DELETE FROM request_turns WHERE request_id = ID",
			"UPDATE request_turns SET seq = 2 WHERE request_id = ID",
			"UPDATE request_turns SET began_at = '2026-01-01 00:00:00+00:00' WHERE request_id = ID",
			`UPDATE material_requests SET clock = replace(clock, '"Turn":1', '"Turn":2') WHERE id = ID`,
		} {
			r.request()
			if report, err := r.app.Accounts.Verify(t.Context()); err != nil || len(report.Faults) != i {
				t.Fatalf("before: %v, %v", report.Faults, err)
			}
			_, err := raw.ExecContext(t.Context(),
				strings.ReplaceAll(change, "ID", "(SELECT MAX(id) FROM material_requests)"))
			r.must(err)
			report, err := r.app.Accounts.Verify(t.Context())
			if err != nil || len(report.Faults) != i+1 || !strings.Contains(report.Faults[i], "turns") {
				t.Errorf("%s: %v, %v", change, report.Faults, err)
			}
		}
	})
}
