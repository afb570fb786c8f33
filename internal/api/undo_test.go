package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestUndoImport_ArchivesWhatNothingHappenedTo: of each material that a spreadsheet listed, the report says that it was
// archived, or why not. The corrected spreadsheet lists the same references again.
func TestUndoImport_ArchivesWhatNothingHappenedTo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		old := s.newMaterial()
		done := s.bulk(s.member, "", fmt.Sprintf("id,reference,category,title\n,R1,OTHER,One\n,R2,OTHER,Two\n,R3,OTHER,Three\n"+
			",R4,OTHER,Four\n,R5,OTHER,Five\n%d,,OTHER,Old\n", old))
		if counts(done) != "true 5 1 0 0" {
			t.Fatalf("the import: %s", done.Raw)
		}
		ids := map[string]int64{}
		for _, m := range s.member.want(200, "GET", fmt.Sprintf("/organizations/%d/materials", s.id), nil).List {
			ids[m.(map[string]any)["title"].(string)] = int64(m.(map[string]any)["id"].(float64))
		}
		s.requester().want(201, "POST", "/material-requests", obj{"material": ids["Two"]})
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", ids["Three"]), obj{"citation": "A"})
		s.member.want(204, "DELETE", fmt.Sprintf("/materials/%d", ids["Four"]), nil)
		path := fmt.Sprintf("/jobs/%d/undo", done.id())
		s.requester().refused(403, "FORBIDDEN", "POST", path, nil)
		undo := s.owner.want(202, "POST", path, nil)
		if again := s.member.want(202, "POST", path, nil); again.id() != undo.id() {
			t.Errorf("undone twice: jobs %d and %d", undo.id(), again.id())
		}
		result := s.over(s.owner, undo.id())
		if counts(result) != "true 0 2 0 3" || result.at("result.mode") != "undo" {
			t.Errorf("the undo: %s", result.Raw)
		}
		report := s.member.want(200, "GET", fmt.Sprintf("/organizations/%d/materials/bulk/%d/report", s.id, undo.id()), nil)
		for title, want := range map[string]string{"One": "archived", "Two": "requested or asked about since",
			"Three": "changed since", "Four": "archived already", "Five": "archived"} {
			if !slices.ContainsFunc(strings.Split(string(report.Raw), "\n"), func(line string) bool {
				return strings.Contains(line, fmt.Sprint(ids[title])) && strings.Contains(line, want)
			}) {
				t.Errorf("%s is not %q in %s", title, want, report.Raw)
			}
		}
		for title, archived := range map[string]bool{"One": true, "Two": false, "Three": false, "Four": true, "Five": true} {
			m := s.member.want(200, "GET", fmt.Sprintf("/materials/%d", ids[title]), nil)
			if m.at("is_archived") != archived {
				t.Errorf("%s: %s", title, m.Raw)
			}
		}
		if m := s.member.want(200, "GET", fmt.Sprintf("/materials/%d", old), nil); m.at("title") != "Old" {
			t.Errorf("what the import changed: %s", m.Raw)
		}
		again := s.bulk(s.member, "", "reference,category,title\nR1,OTHER,First\nR5,OTHER,Fifth\n")
		if counts(again) != "true 2 0 0 0" {
			t.Errorf("the corrected import: %s", again.Raw)
		}
	})
}

// TestUndoImport_IsRefused for what is no import, lists nothing, still runs, or ended more than 30 days ago.
func TestUndoImport_IsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, "members")
		undo := func(id int64) string { return fmt.Sprintf("/jobs/%d/undo", id) }
		s.member.refused(404, "NOT_FOUND", "POST", undo(999999), nil)
		running := s.newBulk()
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE materials SET listed_by = $1 WHERE id = $2", running,
			s.newMaterial()); err != nil {
			t.Fatal(err)
		}
		s.member.refused(409, "CONFLICT", "POST", undo(running), nil)
		empty := s.newImport()
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE materials SET listed_by = NULL WHERE listed_by = $1",
			empty); err != nil {
			t.Fatal(err)
		}
		s.member.refused(409, "CONFLICT", "POST", undo(empty), nil)
		late := s.newImport()
		s.past("jobs", late, 31*24*time.Hour, "ended_at")
		s.member.refused(409, "CONFLICT", "POST", undo(late), nil)
	})
}
