package api_test

import (
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// largeStock is a spreadsheet that does not fit into one transaction.
func largeStock(rows int, disease string) string {
	var b strings.Builder
	b.WriteString("Reference,Category,Name,Disease\n")
	for i := range rows {
		fmt.Fprintf(&b, "LN2-%d,CELL_LINE,HT-29 tube %d,%s\n", i, i, disease)
	}
	return b.String()
}

// begin sends a spreadsheet that is stored as a whole and returns the id of its job.
func (s *scene) begin(body string) int64 {
	s.t.Helper()
	a := s.member.sendWith(nil, "POST", fmt.Sprintf("/organizations/%d/materials/bulk", s.id), "text/csv",
		strings.NewReader(body))
	if a.Status != 202 {
		s.t.Fatalf("%d %s", a.Status, a.Raw)
	}
	return a.id()
}

// storing waits until a job has stored some of its rows.
func (s *scene) storing(id int64) {
	s.t.Helper()
	jobtest.Poll(s.t, "the job stores rows", func() bool {
		a := s.member.want(200, "GET", fmt.Sprintf("/jobs/%d", id), nil)
		if a.Body["ended_at"] != nil {
			s.t.Fatalf("it is over: %s", a.Raw)
		}
		done, total := a.at("progress.done").(float64), a.at("progress.total").(float64)
		return a.at("progress.note") == "storing rows" && done > 0 && done < total
	})
}

// listed is how many materials a member sees of the organization.
func (s *scene) listed() string {
	return s.owner.want(200, "GET", fmt.Sprintf("/organizations/%d/materials?limit=1", s.id),
		nil).Header.Get("X-Total-Count")
}

// TestBulk_ALargeSpreadsheetIsSeenAsAWhole: while its rows are written others write too, and nobody sees some of them
// alone. Its references are taken by then.
func TestBulk_ALargeSpreadsheetIsSeenAsAWhole(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		const rows = 2000
		before := s.listed()
		id := s.begin(largeStock(rows, "Colon cancer"))
		s.storing(id)
		s.owner.refused(409, "CONFLICT", "POST", "/materials",
			obj{"category": "OTHER", "title": "b", "organization_id": s.id, "reference": "LN2-0"})
		seen, n := map[string]bool{}, 0
		for s.member.want(200, "GET", fmt.Sprintf("/jobs/%d", id), nil).Body["ended_at"] == nil {
			seen[s.listed()] = true
			s.owner.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.material), obj{"title": fmt.Sprint("HT-29 ", n)})
			n++
		}
		a := s.over(s.member, id)
		all := s.listed()
		if counts(a) != fmt.Sprintf("true %d 0 0 0", rows) || len(s.report(s.member, a)) != rows {
			t.Fatalf("%s", a.Raw)
		}
		for count := range seen {
			if count != before && count != all {
				t.Errorf("%s materials were seen, of %s before and %s afterwards", count, before, all)
			}
		}
		if n == 0 {
			t.Error("nobody else wrote meanwhile")
		}
		last := s.owner.want(200, "GET", fmt.Sprintf("/organizations/%d/materials?limit=1&ordering=-id", s.id),
			nil).List[0].(map[string]any)
		if last["reference"] != fmt.Sprintf("LN2-%d", rows-1) ||
			len(s.owner.want(200, "GET", fmt.Sprintf("/materials/%v/history", last["id"]), nil).List) != 1 {
			t.Errorf("the last one is %v", last)
		}
		if found := s.owner.want(200, "GET", fmt.Sprintf("/search/materials?search=tube+%d", rows-1),
			nil); !strings.Contains(string(found.Raw), fmt.Sprintf("LN2-%d", rows-1)) {
			t.Errorf("it is not found: %s", found.Raw)
		}
		if s.staged() != 0 {
			t.Errorf("%d materials are staged yet", s.staged())
		}
		if a = s.bulk(s.member, "", largeStock(rows, "Colon carcinoma")); counts(a) != fmt.Sprintf("true 0 %d 0 0",
			rows) {
			t.Errorf("changed: %s", a.Raw)
		}
		if a = s.bulk(s.member, "", largeStock(rows, "Colon carcinoma")+
			"LN2-X,OTHER,one more,\n"); counts(a) != fmt.Sprintf("true 1 0 %d 0", rows) {
			t.Errorf("one more: %s", a.Raw)
		}
		if a = s.bulk(s.member, "", strings.Replace(largeStock(rows, "Colon carcinoma"), "tube 7,", "tube seven,", 1)+
			"LN2-Y,OTHER,one more,\n"); counts(a) != fmt.Sprintf("true 1 1 %d 0", rows-1) {
			t.Errorf("one more and one changed: %s", a.Raw)
		}
	})
}

// staged is how many rows of materials are staged.
func (s *scene) staged() (n int) {
	s.t.Helper()
	db := storetest.SQL(s.t, s.db)
	defer db.Close() // it is asked in a loop
	if err := db.QueryRowContext(s.t.Context(),
		"SELECT COUNT(*) FROM materials WHERE staged_in IS NOT NULL").Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// TestBulk_NothingIsLeftOfALargeSpreadsheetThatIsCancelled in the midst of it, and all of it is listed once when it
// is tried again.
func TestBulk_NothingIsLeftOfALargeSpreadsheetThatIsCancelled(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		const rows = 3000
		before := s.rows()
		id := s.begin(largeStock(rows, "Colon cancer"))
		s.storing(id)
		s.member.want(200, "POST", fmt.Sprintf("/jobs/%d/cancel", id), nil)
		jobtest.Poll(t, "what was staged is taken back", func() bool { return s.staged() == 0 })
		if after := s.rows(); after["materials"] != before["materials"] ||
			after["material_index"] != before["material_index"] {
			t.Errorf("left: %s", grew(before, after))
		}
		s.admin().want(200, "POST", fmt.Sprintf("/jobs/%d/retry", id), nil)
		if a := s.over(s.member, id); counts(a) != fmt.Sprintf("true %d 0 0 0", rows) ||
			s.rows()["materials"] != before["materials"]+rows {
			t.Errorf("again: %s", a.Raw)
		}
	})
}

// TestBulk_ACancelledSpreadsheetFilesNoDocument that its rows name as their MTA; one that is stored files it.
func TestBulk_ACancelledSpreadsheetFilesNoDocument(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		mta := s.member.upload("mta.pdf", pdf, nil).id()
		var b strings.Builder
		b.WriteString("Reference,Category,Title,mta_attachment_id\n")
		const rows = 3000
		for i := range rows {
			fmt.Fprintf(&b, "LN2-%d,OTHER,Tube %d,%d\n", i, i, mta)
		}
		ofLab := func() bool {
			return s.member.want(200, "GET", fmt.Sprintf("/attachments/%d", mta), nil).Body["owned_by_org"] != nil
		}
		id := s.begin(b.String())
		s.storing(id)
		if ofLab() {
			t.Error("it is the lab's before anything is listed")
		}
		s.member.want(200, "POST", fmt.Sprintf("/jobs/%d/cancel", id), nil)
		jobtest.Poll(t, "what was staged is taken back", func() bool { return s.staged() == 0 })
		if ofLab() {
			t.Error("it is the lab's though nothing was listed")
		}
		s.admin().want(200, "POST", fmt.Sprintf("/jobs/%d/retry", id), nil)
		if a := s.over(s.member, id); counts(a) != fmt.Sprintf("true %d 0 0 0", rows) || !ofLab() {
			t.Errorf("once it is listed: the lab's %v, %s", ofLab(), a.Raw)
		}
	})
}
