package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/clamd"
	"aliquot/internal/clamd/clamdtest"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// infected is a PDF with what every scanner reports.
var infected = []byte("%PDF-1.4\n" + clamdtest.Eicar + "\n%%EOF\n")

// scanned is a scene whose uploads are scanned.
func scanned(t *testing.T, db *store.DB, by *clamd.Client) *scene {
	t.Helper()
	s := newScene(t, db, exchange.AccessMembers)
	s.app.Scanner = by
	return s
}

// scan has version 1 of an attachment scanned, and returns its record afterwards.
func (s *scene) scan(by *testPerson, id int64) answer {
	s.t.Helper()
	defer s.work(s.app, job.Config{})()
	key := document.ScannedVersion{Attachment: id, Version: 1}
	jobtest.Wait(s.t, s.db, jobtest.Enqueue(s.t, s.db, documents.ScanContent, key,
		job.EnqueueOptions{Key: fmt.Sprintf("%d.1", id)}), exchange.JobDone)
	return by.want(200, "GET", fmt.Sprintf("/attachments/%d", id), nil)
}

// TestScan_WithholdsAFileUntilItIsClean from everybody, its owner included, wherever files are read.
func TestScan_WithholdsAFileUntilItIsClean(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := scanned(t, db, clamdtest.Start(t).Client)
		made := s.requester().upload("signed.pdf", pdf, nil)
		id, url := made.id(), made.Body["download_url"].(string)
		if made.Body["scan"] != "CHECKING" {
			t.Errorf("a new file is %v", made.Body["scan"])
		}
		request := fmt.Sprintf("/material-requests/%d", s.needsIRB())
		s.requester().want(200, "PATCH", request, obj{"irb_attachment": id})
		accept := request + "/documents/irb/accept"
		for _, p := range []*testPerson{s.requester(), s.member, s.people["admin"]} {
			if a := p.refused(409, "FILE_WITHHELD", "GET", url, nil); a.Body["scan"] != "CHECKING" {
				t.Errorf("%v", a.Body)
			}
			p.refused(409, "FILE_WITHHELD", "GET", fmt.Sprintf("/attachments/%d/versions/1", id), nil)
		}
		s.people["stranger"].refused(403, "FORBIDDEN", "GET", url, nil)
		s.member.refused(409, "FILE_WITHHELD", "POST", accept, nil)
		if a := s.scan(s.requester(), id); a.Body["scan"] != "CLEAN" {
			t.Errorf("a clean file is %v", a.Body["scan"])
		}
		s.member.want(200, "GET", url, nil)
		s.member.want(200, "POST", accept, nil)
		s.recordHolds()
	})
}

// quarantined are all files in quarantine, as the operator sees them.
func (s *scene) quarantined() (list []document.WithheldVersion) {
	s.t.Helper()
	for w, err := range s.app.Documents.Quarantined(s.t.Context()) {
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, w)
	}
	return list
}

// TestScan_QuarantinesAVirusAndNotifiesWhoUploadedIt; its bytes stay as they are.
func TestScan_QuarantinesAVirusAndNotifiesWhoUploadedIt(t *testing.T) {
	t.Parallel()
	real := clamdtest.HasReal()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		by := clamdtest.Start(t).Client
		if real {
			by = clamdtest.StartReal(t).Client
		}
		s := scanned(t, db, by)
		made := s.owner.upload("form.pdf", infected, obj{"owned_by_org": s.id})
		id, url := made.id(), made.Body["download_url"].(string)
		if a := s.scan(s.owner, id); a.Body["scan"] != "INFECTED" || a.Body["sha256"] != made.Body["sha256"] {
			t.Errorf("%v", a.Body)
		}
		s.people["admin"].refused(409, "FILE_WITHHELD", "GET", url, nil)
		for name, want := range map[string]int{"owner": 1, "member": 0} {
			p := s.people[name]
			list := p.want(200, "GET", fmt.Sprintf("/users/%s/notifications?kind=file_infected", p.ID), nil).List
			if len(list) != want {
				t.Fatalf("%s has %d notifications, want %d", name, len(list), want)
			}
			for _, n := range list {
				if n := n.(obj2); n["attachment"] != float64(id) || !strings.Contains(n["text"].(string), clamdtest.Found) {
					t.Errorf("%v", n)
				}
			}
		}
		acts := s.people["admin"].want(200, "GET", fmt.Sprintf("/audit-events?action=attachment.scan&object=attachment+%d", id),
			nil).List
		if len(acts) != 1 || acts[0].(obj2)["actor"] != nil {
			t.Errorf("events: %v", acts)
		}
		// a clean version of it can be read at once, and the infected one never
		s.owner.put(t, http.StatusOK, url, pdf)
		s.owner.refused(409, "FILE_WITHHELD", "GET", fmt.Sprintf("/attachments/%d/versions/1", id), nil)
		// a scanner that was wrong before says so the next time that it is asked
		version := document.ScannedVersion{Attachment: id, Version: 1}
		if list := s.quarantined(); len(list) != 1 || list[0].ScannedVersion != version ||
			list[0].Scan.Found != clamdtest.Found {
			t.Fatalf("in quarantine: %v", list)
		}
		right, _ := clamdtest.Serve(t, clamdtest.Clean)
		s.app.Scanner = right
		if err := s.app.Documents.Rescan(t.Context(), version); err != nil {
			t.Fatal(err)
		}
		s.scan(s.owner, id)
		if a := s.owner.want(200, "GET", fmt.Sprintf("/attachments/%d/versions/1", id), nil); string(a.Raw) != string(infected) {
			t.Errorf("the content was changed: %.40q", a.Raw)
		}
		s.recordHolds()
	})
}

// TestScan_ReturnsAVirusToWhoSubmittedIt in each request that waits for a review of it: it is their turn again, and
// the reason is among the events.
func TestScan_ReturnsAVirusToWhoSubmittedIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := scanned(t, db, clamdtest.Start(t).Client)
		id := s.requester().upload("approval.pdf", infected, nil).id()
		var requests []string
		for range 2 {
			path := fmt.Sprintf("/material-requests/%d", s.needsIRB())
			s.member.want(200, "PATCH", path, obj{"status": "APPROVED"})
			s.requester().want(200, "PATCH", path, obj{"irb_attachment": id})
			requests = append(requests, path)
		}
		waits := func(path, party string) {
			t.Helper()
			if a := s.member.want(200, "GET", path, nil); a.Body["waiting_on"].(obj2)["party"] != party {
				t.Errorf("it waits for %v, not %s", a.Body["waiting_on"], party)
			}
		}
		waits(requests[0], "lab")
		s.scan(s.requester(), id)
		key := job.EnqueueOptions{Key: fmt.Sprintf("%d.1", id)}
		version := document.ScannedVersion{Attachment: id, Version: 1}
		end := s.work(s.app, job.Config{})
		jobtest.Wait(t, db, jobtest.Enqueue(t, db, core.ReturnInfected, version, key), exchange.JobDone)
		end()
		for _, path := range requests {
			waits(path, "requester")
			events := s.member.want(200, "GET", path+"/events", nil).List
			last := events[0].(obj2)
			if last["kind"] != "document_returned" || last["actor"] != nil ||
				!strings.Contains(fmt.Sprint(last["detail"]), clamdtest.Found) {
				t.Errorf("the last event: %v", last)
			}
		}
		s.recordHolds()
	})
}

// TestScan_WaitsWhileTheScannerIsAway: files come, none of them is served, and all are scanned once it is back, also
// those whose jobs were given up, and those from before there was a scanner, which are served meanwhile.
func TestScan_WaitsWhileTheScannerIsAway(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var later atomic.Int64
		db.Clock = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		scanner := clamdtest.Start(t)
		scanner.Away.Store(true)
		s := newScene(t, db, exchange.AccessMembers)
		before := s.requester().upload("before.pdf", infected, nil)
		s.app.Scanner = scanner.Client
		during := s.requester().upload("during.pdf", pdf, nil)
		s.requester().want(200, "GET", before.Body["download_url"].(string), nil)
		stop := s.work(s.app, job.Config{})
		filter := exchange.JobFilter{Kind: &documents.ScanContent.Name}
		jobtest.Poll(t, "a failure", func() bool {
			list, err := db.Read().Jobs.List(t.Context(), exchange.Page{Limit: 10}, nil, filter)
			return err == nil && len(list.Items) == 1 && list.Items[0].Failures > 0
		})
		stop()
		s.requester().refused(409, "FILE_WITHHELD", "GET", during.Body["download_url"].(string), nil)
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE jobs SET state = 'FAILED', due_at = NULL WHERE kind = $1",
			*filter.Kind); err != nil {
			t.Fatal(err)
		}
		scanner.Away.Store(false)
		later.Store(int64(20 * time.Minute))
		s.run(documents.ScanRest)
		defer s.work(s.app, job.Config{})()
		for _, made := range []struct {
			answer
			want document.ScanState
		}{{before, document.Infected}, {during, document.Clean}} {
			jobtest.Poll(t, "a scan", func() bool {
				a := s.requester().want(200, "GET", fmt.Sprintf("/attachments/%d", made.id()), nil)
				return a.Body["scan"] == string(made.want)
			})
		}
		s.requester().refused(409, "FILE_WITHHELD", "GET", before.Body["download_url"].(string), nil)
		s.requester().want(200, "GET", during.Body["download_url"].(string), nil)
	})
}

// TestScan_QuarantineIsListedWhole, however much is in it.
func TestScan_QuarantineIsListedWhole(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := scanned(t, db, clamdtest.Start(t).Client)
		id := s.owner.upload("form.pdf", pdf, obj{"owned_by_org": s.id}).id()
		const versions = 250 // of which some hundred are read at once
		for v := range versions {
			if _, err := s.sql.ExecContext(t.Context(), `INSERT INTO attachment_versions (attachment_id, version, filename,
				content_key, size, sha256, media_type, scan, scan_found, replaced_by, replaced_at)
				SELECT id, $1, filename, $2, size, sha256, media_type, 'INFECTED', 'Test', owned_by_user, updated_at
				FROM attachments WHERE id = $3`, v+2, fmt.Sprint("key ", v), id); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[int64]bool{}
		for _, w := range s.quarantined() {
			seen[w.Version] = true
		}
		if len(seen) != versions {
			t.Errorf("%d of %d versions are listed", len(seen), versions)
		}
	})
}
