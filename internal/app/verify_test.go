package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/record"
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
			if report, err := r.app.Evidence.Verify(t.Context(), evidence.Verification{Files: true}); err != nil || len(report.Faults) != i {
				t.Fatalf("before: %v, %v", report.Faults, err)
			}
			_, err := raw.ExecContext(t.Context(),
				strings.ReplaceAll(change, "ID", "(SELECT MAX(id) FROM material_requests)"))
			r.must(err)
			report, err := r.app.Evidence.Verify(t.Context(), evidence.Verification{Files: true})
			if err != nil || len(report.Faults) != i+1 || !strings.Contains(report.Faults[i], "turns") {
				t.Errorf("%s: %v, %v", change, report.Faults, err)
			}
		}
	})
}

// TestVerify_OfTheRecordNamesWhatDiffers: of all that verify compares, one case each; internal/store has the tamperings
// with chains and log one by one.
func TestVerify_OfTheRecordNamesWhatDiffers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := newLogged(t, db)
		l.work(l.app, db)
		l.grow(l.app, "ada", "ben")
		kept := l.sign()
		l.grow(l.app, "cleo")
		l.sign()
		verify := func(since string) (string, error) {
			t.Helper()
			v := evidence.Verification{Files: true}
			if since != "" {
				v.Since = []byte(since)
			}
			r, err := l.app.Evidence.Verify(t.Context(), v)
			return strings.Join(r.Faults, "\n"), err
		}
		if got, err := verify(kept.Note); got != "" || err != nil {
			t.Fatalf("before: %s, %v", got, err)
		}
		other, err := record.NewKeys("aliquot.example.org/log/2026")
		l.must(err)
		forged, err := record.Checkpoint{Origin: other.Origin(), Size: 1}.Sign(other.Signers...)
		l.must(err)
		if got, err := verify(string(forged)); !strings.Contains(got, "since: ") ||
			!strings.Contains(got, "its first 1 entries are not those") || err != nil {
			t.Errorf("a checkpoint by another key, of another log: %s, %v", got, err)
		}
		for _, wrong := range []string{"x", strings.Replace(kept.Note, "aliquot", "other", 1)} {
			if _, err := verify(wrong); err == nil || !strings.HasPrefix(err.Error(), "since: ") {
				t.Errorf("since %q: %v", wrong, err)
			}
		}
		raw := storetest.SQL(t, db)
		for _, tc := range []struct{ change, want string }{
			{"UPDATE users SET username = 'eve' WHERE registry_id = 'ada'", ": the row is not what the events led to: username"},
			{"UPDATE log_checkpoints SET note = replace(note, '— ', '- ')", "log, checkpoint of size "},
			{"DELETE FROM log_entries WHERE entry = 2", "log, entry 2: its event is missing"},
		} {
			_, err := raw.ExecContext(t.Context(), tc.change)
			l.must(err)
			if got, err := verify(""); err != nil || !strings.Contains(got, tc.want) {
				t.Errorf("%s: %s, %v", tc.change, got, err)
			}
		}
	})
}

func TestVerify_OfTheNightNotifiesAdminsOfFaults(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := newLogged(t, db)
		l.grow(l.app, "ada")
		l.must(l.app.Accounts.SetAdmin(t.Context(), "ada", true))
		jobtest.Start(t, job.Config{DB: db, Handlers: []job.Handler{
			evidence.Nightly.Handle(l.app.Evidence.VerifyNightly)}})
		night := func() exchange.Job {
			t.Helper()
			return jobtest.Wait(t, db, jobtest.Enqueue(t, db, evidence.Nightly, struct{}{}, job.EnqueueOptions{}),
				exchange.JobDone)
		}
		notices := func() (n int) {
			t.Helper()
			l.must(storetest.SQL(t, db).QueryRowContext(t.Context(),
				"SELECT COUNT(*) FROM notifications n JOIN news w ON w.id = n.news_id WHERE w.kind = 'record_faulty'").Scan(&n))
			return n
		}
		if j := night(); !strings.Contains(string(j.Result), `"fault_count":0`) || notices() != 0 {
			t.Errorf("a night without faults: %s, %d notices", j.Result, notices())
		}
		_, err := storetest.SQL(t, db).ExecContext(t.Context(), "UPDATE users SET username = 'eve'")
		l.must(err)
		if j := night(); !strings.Contains(string(j.Result), `"fault_count":1`) || notices() != 1 {
			t.Errorf("a night with a fault: %s, %d notices", j.Result, notices())
		}
	})
}

func TestVerify_OfADamagedFileOfTheDatabaseNoticesIt(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite)
	l := newLogged(t, db)
	l.work(l.app, db)
	for i := range 40 {
		l.grow(l.app, fmt.Sprint("person ", i))
	}
	l.sign()
	raw := storetest.SQL(t, db)
	whole := filepath.Join(t.TempDir(), "whole.db")
	_, err := raw.ExecContext(t.Context(), "VACUUM INTO $1", whole)
	l.must(err)
	var page int64
	l.must(raw.QueryRowContext(t.Context(), "PRAGMA page_size").Scan(&page))
	content, err := os.ReadFile(whole)
	l.must(err)
	pages := int64(len(content)) / page
	for _, from := range []int64{pages / 3, pages / 2, pages - 12} { // pages of tables, indexes, or both
		copied := filepath.Join(t.TempDir(), "damaged.db")
		damaged := slices.Clone(content)
		clear(damaged[from*page : (from+10)*page])
		l.must(os.WriteFile(copied, damaged, 0o600))
		again, err := store.Open(t.Context(), copied)
		if err != nil { // what SQLite reads first is damaged, which nobody overlooks
			continue
		}
		report, err := l.process(again).Evidence.Verify(t.Context(), evidence.Verification{})
		if err == nil && len(report.Faults) == 0 {
			t.Errorf("ten pages from %d of %d are zero, and nothing is noticed", from, pages)
		}
		l.must(again.Close())
	}
}

func TestVerify_HasPostgreSQLCheckItsStructure(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := newLogged(t, db)
		report, err := l.app.Evidence.Verify(t.Context(), evidence.Verification{})
		l.must(err)
		if report.Structure == db.Postgres() {
			t.Errorf("without amcheck: structure checked is %v", report.Structure)
		}
		if !db.Postgres() {
			return
		}
		_, err = storetest.SQL(t, db).ExecContext(t.Context(), "CREATE EXTENSION amcheck")
		l.must(err)
		if report, err = l.app.Evidence.Verify(t.Context(), evidence.Verification{}); err != nil || !report.Structure ||
			len(report.Faults) > 0 {
			t.Errorf("with amcheck: %+v, %v", report, err)
		}
	})
}
