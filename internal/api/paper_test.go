package api_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/paper"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// paperVariable makes the test program the child that reads papers.
const paperVariable = "ALIQUOT_TEST_READS_PAPER"

// readPaperInChild runs that child.
func readPaperInChild() {
	if err := paper.Child(os.Stdin, os.Stdout, filepath.Join(os.TempDir(), "aliquot-test-engine")); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// paperScene is a scene with a request under the lab's own form, where papers are read.
type paperScene struct {
	*scene
	form    []byte
	request string // the path of it
}

var formLines = []string{"Material transfer agreement of the lab",
	"This agreement is between the provider and the recipient named below.",
	"Institution of the recipient: ____________________",
	"The recipient uses the material for teaching and for research only.",
	"The recipient does not pass the material on without consent."}

func newPaperScene(t *testing.T, db *store.DB) *paperScene {
	t.Helper()
	s := &paperScene{scene: newScene(t, db, exchange.AccessMembers), form: pdfOf(formLines...)}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.app.PaperReader = paper.Reader{Command: []string{program},
		Env: []string{paperVariable + "=1", "TMPDIR=" + os.TempDir()}, Limit: time.Minute}
	material := s.newMaterial()
	form := s.owner.upload("mta.pdf", s.form, obj{"owned_by_org": s.id}).id()
	s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", material), obj{"mta_attachment_id": form, "needs_mta": true})
	s.request = fmt.Sprintf("/material-requests/%d",
		s.requester().want(201, "POST", "/material-requests", obj{"material": material}).id())
	return s
}

// pdfOf returns a PDF with a line of text each.
func pdfOf(lines ...string) []byte {
	text := "BT /F 9 Tf 20 800 Td 12 TL "
	for _, line := range lines {
		text += "(" + line + ") Tj T* "
	}
	text += "ET"
	b := bytes.NewBufferString("%PDF-1.7\n")
	var offsets []int
	for i, o := range []string{"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1" +
			"/BaseFont/Helvetica>>>>>>>>", fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(text), text)} {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return b.Bytes()
}

// submit has somebody upload a document of the request.
func (s *paperScene) submit(by *testPerson, slot string, content []byte) {
	s.t.Helper()
	id := by.upload("signed.pdf", content, nil).id()
	by.want(200, "PATCH", s.request, obj{slot + "_attachment": id})
}

// papers returns what was found in the papers of the request, as who reads it: document, state, classes, problem.
func (s *paperScene) papers(who *testPerson) string {
	s.t.Helper()
	var lines []string
	list, _ := who.want(200, "GET", s.request+"/paper-findings", nil).Body["papers"].([]any)
	for _, one := range list {
		p := obj(one.(map[string]any))
		lines = append(lines, strings.TrimSpace(fmt.Sprint(p["document"], " ", p["state"], " ",
			valuesOf(p, "findings", "class"), p["problem"])))
	}
	return strings.Join(lines, "; ")
}

// becomes waits until the papers of the request are so.
func (s *paperScene) becomes(want string) {
	s.t.Helper()
	jobtest.Poll(s.t, want, func() bool { return strings.HasPrefix(s.papers(s.requester()), want) })
}

func TestPapers_AreCheckedAsDocumentsOfARequest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newPaperScene(t, db)
		if got := s.papers(s.requester()); got != "" {
			t.Errorf("without a document there is %q", got)
		}
		s.submit(s.requester(), "requester_signed_mta", s.form)
		if got := s.papers(s.requester()); got != "requester_signed_mta WAITING" {
			t.Errorf("before the job: %q", got)
		}
		s.work(s.app, job.Config{})
		s.becomes("requester_signed_mta CHECKED BLANK_TEMPLATE")
		s.refusedToStrangers()
		s.member.want(200, "PATCH", s.request, obj{"status": "APPROVED"}) // findings keep nobody from anything

		filled := strings.Replace(strings.Join(formLines, "\n"), "____________________", "Berg Institute", 1)
		s.submit(s.requester(), "requester_signed_mta", pdfOf(strings.Split(filled, "\n")...))
		s.becomes("requester_signed_mta CHECKED")
		if got := s.papers(s.member); got != "requester_signed_mta CHECKED" {
			t.Errorf("the form that was filled in: %q", got)
		}
		changed := strings.Replace(filled, "does not pass the material on", "may pass the material on", 1)
		s.submit(s.member, "executed_mta", pdfOf(strings.Split(changed, "\n")...))
		s.becomes("requester_signed_mta CHECKED; executed_mta CHECKED TEXT_DIFFERS")
		s.submit(s.member, "executed_mta", []byte("\x89PNG\r\n\x1a\nno picture"))
		s.becomes("requester_signed_mta CHECKED; executed_mta UNREADABLE the file is not a PDF")
		s.member.want(200, "PATCH", s.request, obj{"executed_mta_attachment": nil})
		if got := s.papers(s.member); got != "requester_signed_mta CHECKED" {
			t.Errorf("after it was withdrawn: %q", got)
		}
	})
}

// refusedToStrangers checks that nobody but the parties and admins read what was found.
func (s *paperScene) refusedToStrangers() {
	s.t.Helper()
	s.people["stranger"].refused(403, "FORBIDDEN", "GET", s.request+"/paper-findings", nil)
	s.people["former"].refused(403, "FORBIDDEN", "GET", s.request+"/paper-findings", nil)
}

func TestPapers_OfALetterAreComparedWithIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newPaperScene(t, db)
		request := s.newPlasmid()
		letter := s.sendLetter(request)
		s.request = fmt.Sprintf("/material-requests/%d", request)
		s.work(s.app, job.Config{})
		s.submit(s.requester(), "requester_signed_mta", s.requester().want(200, "GET", letter+"/document", nil).Raw)
		s.becomes("requester_signed_mta CHECKED")
		if got := s.papers(s.requester()); got != "requester_signed_mta CHECKED" {
			t.Errorf("the letter as it was printed: %q", got)
		}
		number := s.requester().want(200, "GET", letter, nil).Body["number"]
		s.submit(s.requester(), "requester_signed_mta", pdfOf(fmt.Sprint("Letter ", number, " with entirely other words")))
		s.becomes("requester_signed_mta CHECKED PARTS_MISSING")
	})
}

func TestLetter_FindsExpiredPermitsAndTwoAddresses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		var requests []int64
		for _, street := range []string{"1 Waterman St", "7 Hospital Road"} {
			home := address("Ines Ortega")
			home["address_line_1"] = street
			to := s.requester().want(200, "POST", fmt.Sprintf("/users/%s/addresses", s.requester().ID), home).id()
			q := s.newPlasmid()
			s.requester().want(200, "PATCH", fmt.Sprintf("/material-requests/%d", q), obj{"address": to})
			requests = append(requests, q)
		}
		permit := s.newPermit(s.requester(), obj{})
		s.requester().want(201, "POST", fmt.Sprintf("/material-requests/%d/permits", requests[1]), obj{"permit": permit})
		letter := s.sendLetter(requests...)
		found := func() string { return valuesOf(s.member.want(200, "GET", letter, nil).Body, "findings", "class") }
		if got := found(); got != "ADDRESSES_DIFFER" {
			t.Errorf("two addresses: %s", got)
		}
		s.requester().want(200, "PATCH", fmt.Sprintf("/permits/%d", permit), obj{"until": "2021-01-01"})
		if got := found(); got != "ADDRESSES_DIFFER PERMIT_EXPIRED" {
			t.Errorf("and a permit that expired: %s", got)
		}
	})
}

// TestPapers_ThatTakeTooLongAreUnreadable, and their job is done.
func TestPapers_ThatTakeTooLongAreUnreadable(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newPaperScene(t, db)
		s.app.PaperReader = paper.Reader{Command: []string{"/bin/sh", "-c", "while :; do :; done"}, Limit: 100 * time.Millisecond}
		s.submit(s.requester(), "requester_signed_mta", s.form)
		s.work(s.app, job.Config{})
		s.becomes("requester_signed_mta UNREADABLE reading the file takes too long")
		jobtest.Poll(t, "the job is done", func() bool {
			return s.newestCheck().State == exchange.JobDone
		})
	})
}

// TestPapers_WithoutAReaderSaySoAndAreReadWhenThereIsOne.
func TestPapers_WithoutAReaderSaySoAndAreReadWhenThereIsOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newPaperScene(t, db)
		works := s.app.PaperReader
		s.app.PaperReader = paper.Reader{Command: []string{filepath.Join(t.TempDir(), "no program")}, Limit: time.Minute}
		s.submit(s.requester(), "requester_signed_mta", s.form)
		stop := s.work(s.app, job.Config{})
		s.becomes("requester_signed_mta NO_READER papers cannot be read here")
		failed := jobtest.Wait(t, db, s.newestCheck().ID, exchange.JobFailed)
		stop()
		s.app.PaperReader = works
		s.people["admin"].want(200, "POST", fmt.Sprintf("/jobs/%d/retry", failed.ID), nil)
		s.work(s.app, job.Config{})
		s.becomes("requester_signed_mta CHECKED BLANK_TEMPLATE")
	})
}

// newestCheck returns the job that was enqueued last to check a paper.
func (s *paperScene) newestCheck() exchange.Job {
	s.t.Helper()
	kind := core.CheckPaper.Name
	jobs, err := s.db.Read().Jobs.List(s.t.Context(), exchange.Page{Limit: 1}, nil, exchange.JobFilter{Kind: &kind})
	if err != nil || len(jobs.Items) != 1 {
		s.t.Fatal("no paper is to be checked", err)
	}
	return jobs.Items[0]
}
