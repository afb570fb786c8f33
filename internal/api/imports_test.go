package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// shelf is a scene whose member imports many materials.
type shelf struct {
	*scene
	grant int64
}

// eachShelf runs a test on each kind of database.
func eachShelf(t *testing.T, test func(t *testing.T, s shelf)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		test(t, shelf{s, s.newGrant()})
	})
}

func (s shelf) order(identifiers ...string) obj {
	return obj{"identifiers": identifiers, "organization_id": s.id, "grant_id": s.grant}
}

// enqueue asks for imports, and returns the job.
func (s shelf) enqueue(body obj) int64 {
	s.t.Helper()
	a := s.member.want(202, "POST", "/materials/imports", body)
	if want := fmt.Sprintf("/v1/jobs/%d", a.id()); !strings.HasSuffix(a.Header.Get("Location"), want) ||
		a.Body["kind"] != "materials.import" {
		s.t.Errorf("Location %q, want %s: %s", a.Header.Get("Location"), want, a.Raw)
	}
	return a.id()
}

// result waits until a job is done.
func (s shelf) result(id int64) (r material.BatchImportResult) {
	s.t.Helper()
	j := jobtest.Wait(s.t, s.db, id, exchange.JobDone)
	if err := json.Unmarshal(j.Result, &r); err != nil {
		s.t.Fatal(err)
	}
	if n := int64(len(r.Outcomes)); j.Progress.Done != n || j.Progress.Total != n ||
		r.Imported+r.Existing+r.Refused+r.WouldImport != int(n) {
		s.t.Errorf("%d outcomes, progress %v: %s", n, j.Progress, j.Result)
	}
	return r
}

// words are the outcomes in a line.
func words(r material.BatchImportResult) string {
	list := make([]string, len(r.Outcomes))
	for i, o := range r.Outcomes {
		list[i] = string(o.Outcome)
	}
	return strings.Join(list, ", ")
}

func (s shelf) materials() int { return s.rows()["materials"] }

// series answers what GEO answers of a series.
func series(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprintf(w, "^SERIES = %s\n!Series_title = A\n!Series_sample_organism = Mus musculus\n",
		r.FormValue("acc"))
}

func TestImports_KeepTheOrderOfTheIdentifiers(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		there := s.member.want(200, "POST", "/materials/import",
			obj{"import_source": "GEO", "accession": "GSE10", "organization_id": s.id, "grant_id": s.grant}).id()
		before := s.materials()
		s.work(s.app, job.Config{})
		given := []string{" gse11 ", "https://www.ncbi.nlm.nih.gov/sra/?term=SRR000123", "protocols.io.abc", "GSM11",
			"GSE900001", "GSE11", "GSE10"}
		r := s.result(s.enqueue(s.order(given...)))
		if got := words(r); got != "imported, imported, imported, existing, refused, existing, existing" ||
			r.Imported != 3 || r.Existing != 3 || r.Refused != 1 || r.Preview {
			t.Fatalf("got %+v", r)
		}
		for i, want := range []string{"GEO GSE11 Series 11 [Mus musculus]", "SRA SRP000123 Study 123 [Mus musculus]",
			"PROTOCOLS_REPOSITORY dx.doi.org/10.17504/protocols.io.abc Protocol abc []",
			"GEO GSE11 Series 11 [Mus musculus]"} {
			o := r.Outcomes[i]
			if got := fmt.Sprint(o.Source, " ", o.Accession, " ", *o.Title, " ", o.Organisms); got != want ||
				o.Identifier != given[i] || o.Error != nil {
				t.Errorf("%s is %s, want %s", given[i], got, want)
			}
			shown := s.anonymous().want(200, "GET", fmt.Sprintf("/materials/%d", *o.Material), nil)
			if shown.at("contact_user.id") != s.member.ID.String() || shown.Body["title"] != *o.Title {
				t.Errorf("%s is shown as %s", given[i], shown.Raw)
			}
			if got := s.audits(fmt.Sprintf("material %d", *o.Material)); !slices.Equal(got,
				[]string{"member material.import"}) {
				t.Errorf("the history of %s is %v", given[i], got)
			}
		}
		if first := *r.Outcomes[0].Material; *r.Outcomes[3].Material != first || *r.Outcomes[5].Material != first ||
			*r.Outcomes[6].Material != there {
			t.Errorf("what exists is not told: %+v", r.Outcomes)
		}
		o := r.Outcomes[4]
		if o.Material != nil || o.Title != nil || *o.Field != "accession" ||
			!strings.Contains(*o.Error, "no public record") {
			t.Errorf("the unknown one is %+v", o)
		}
		if list := s.member.want(200, "GET", fmt.Sprintf("/grants/%d/materials", s.grant),
			nil).List; s.materials() != before+3 || len(list) != 5 {
			t.Errorf("%d materials more, %d of the grant", s.materials()-before, len(list))
		}
	})
}

func TestImports_PreviewStoresNothingButItsResult(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		there := s.member.want(200, "POST", "/materials/import",
			obj{"import_source": "GEO", "accession": "GSE10", "organization_id": s.id, "grant_id": s.grant}).id()
		body := s.order("GSE11", "GSM11", "GSE10", "SRP900001")
		body["preview"] = true
		s.work(s.app, job.Config{})
		before := s.rows()
		r := s.result(s.enqueue(body))
		if got := words(r); got != "would be imported, existing, existing, refused" || !r.Preview ||
			r.WouldImport != 1 || grew(before, s.rows()) != "jobs+1" {
			t.Errorf("%s, %s: %+v", got, grew(before, s.rows()), r)
		}
		if o := r.Outcomes[0]; o.Material != nil || *o.Title != "Series 11" || o.Accession != "GSE11" ||
			fmt.Sprint(o.Organisms) != "[Mus musculus]" {
			t.Errorf("the draft is %+v", o)
		}
		if o := r.Outcomes[1]; o.Material != nil || !slices.Contains(o.Warnings, "It is the same as identifiers[0].") {
			t.Errorf("the same again is %+v", o)
		}
		if o := r.Outcomes[2]; *o.Material != there {
			t.Errorf("what exists is %+v", o)
		}
	})
}

func TestImports_PreviewNeedsNoGrant(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		body := obj{"identifiers": []string{"GSE11", "GSE12"}, "organization_id": s.id}
		s.unchanged("an import without a grant", func() {
			a := s.member.refused(400, "INVALID_INPUT", "POST", "/materials/imports", body)
			if a.at("fields.grant_id") == nil {
				t.Error(a.Raw)
			}
		})
		s.work(s.app, job.Config{})
		body["preview"] = true
		if r := s.result(s.enqueue(body)); words(r) != "would be imported, would be imported" {
			t.Errorf("%s: %+v", words(r), r)
		}
	})
}

func TestImports_InvalidIdentifiersAreNamedFirst(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		many := make([]string, material.MaxImports+1)
		for i := range many {
			many[i] = fmt.Sprint("GSE", i+1)
		}
		for _, c := range []struct {
			identifiers []string
			want        []string
		}{
			{[]string{}, []string{"is required"}},
			{many, []string{"must be at most 500; there are 501"}},
			{[]string{"GSE1", "nonsense", "SRP000001", "GPL570", "", "10.1038/nature10910"},
				[]string{`[1] "nonsense": it is not a GEO or SRA accession`, `[3] "GPL570": GPL570 is a GEO platform`,
					`[4] "": it is not a GEO or SRA`, `[5] "10.1038/nature10910": it is not a GEO or SRA`}},
			{[]string{"SRA713167", "GSE1?" + strings.Repeat("x", 300)},
				[]string{`[0] "SRA713167": SRA713167 is an SRA submission`, `[1] "GSE1?xxx`}},
		} {
			s.unchanged(fmt.Sprint(c.identifiers), func() {
				a := s.member.refused(400, "INVALID_INPUT", "POST", "/materials/imports", s.order(c.identifiers...))
				got, _ := a.at("fields.identifiers").([]any)
				for i, want := range c.want {
					if len(got) != len(c.want) || !strings.HasPrefix(got[i].(string), want) {
						t.Errorf("got %v, want %v", got, c.want)
						break
					}
				}
			})
		}
	})
}

func TestImports_SourceThatIsDownIsRetriedWhileOthersContinue(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		before := s.materials()
		var asked atomic.Int64
		s.sources.Break("/entrez/",
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
		s.sources.Break("/geo/", func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) > 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			series(w, r)
		})
		s.work(s.app, job.Config{})
		id := s.enqueue(s.order("GSE1", "GSE2", "GSE3", "GSE4", "protocols.io.abc"))
		var waiting answer
		jobtest.Poll(t, "it waits for GEO", func() bool {
			waiting = s.member.want(200, "GET", fmt.Sprintf("/jobs/%d", id), nil)
			return waiting.Body["state"] == "READY" && waiting.Body["failures"] != 0.0
		})
		if why, _ := waiting.Body["error"].(string); waiting.at("progress.done") != 2.0 ||
			!strings.Contains(why, "does not answer") || s.materials() != before+2 {
			t.Errorf("it waits so: %s", waiting.Raw)
		}
		s.sources.Break("/entrez/", nil)
		s.sources.Break("/geo/", nil)
		if r := s.result(id); r.Imported != 5 || s.materials() != before+5 {
			t.Errorf("got %+v", r)
		}
	})
}

// TestImports_UnansweredIdentifierDoesNotDelayTheOthers has the first of a list never answered.
func TestImports_UnansweredIdentifierDoesNotDelayTheOthers(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		before := s.materials()
		s.sources.Break("/geo/", func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("acc") == "GSE1" {
				w.WriteHeader(http.StatusGatewayTimeout)
				return
			}
			series(w, r)
		})
		s.sources.Break("/entrez/",
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGatewayTimeout) })
		s.work(s.app, job.Config{})
		id := s.enqueue(s.order("GSE1", "GSE2", "GSE3"))
		jobtest.Poll(t, "the others are there", func() bool { return s.materials() == before+2 })
		s.sources.Break("/geo/", nil)
		if r := s.result(id); words(r) != "imported, imported, imported" {
			t.Errorf("got %+v", r)
		}
	})
}

func TestImports_UnusableAnswerRefusesOnlyThatIdentifier(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		s.sources.Break("/api/v4/protocols/",
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Sorry</html>") })
		s.sources.Break("/works/",
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Sorry</html>") })
		s.work(s.app, job.Config{})
		r := s.result(s.enqueue(s.order("protocols.io.abc", "GSE1")))
		if o := r.Outcomes[0]; words(r) != "refused, imported" || o.Field != nil ||
			!strings.Contains(*o.Error, "cannot be used") {
			t.Errorf("got %+v", r)
		}
	})
}

// held lets GEO answer of all series but one, for which it waits until release is called; arrived is closed
// when it is asked for.
func (s shelf) held(accession string) (arrived chan struct{}, release func()) {
	arrived, answer := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.sources.Break("/geo/", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("acc") == accession {
			first := false
			once.Do(func() { first = true })
			if first {
				close(arrived)
				<-answer
			}
		}
		series(w, r)
	})
	release = sync.OnceFunc(func() { close(answer) })
	s.t.Cleanup(release)
	return arrived, release
}

func TestImports_StopForAFormerMember(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		before := s.materials()
		arrived, release := s.held("GSE2")
		s.work(s.app, job.Config{})
		id := s.enqueue(s.order("GSE1", "GSE2", "GSE3"))
		<-arrived
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"members": []any{s.assignee.ID}})
		calls := s.sources.Calls.Load()
		release()
		r := s.result(id)
		if words(r) != "imported, refused, refused" || !strings.Contains(*r.Outcomes[2].Error, "not allowed") ||
			s.materials() != before+1 {
			t.Errorf("got %+v", r)
		}
		if n := s.sources.Calls.Load() - calls; n > 0 {
			t.Errorf("the sources were asked %d times more", n)
		}
	})
}

func TestImports_CancelStopsAndKeepsWhatWasImported(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		before := s.materials()
		arrived, release := s.held("GSE2")
		stop := s.work(s.app, job.Config{Lease: 300 * time.Millisecond})
		id := s.enqueue(s.order("GSE1", "GSE2", "GSE3"))
		<-arrived
		s.member.want(200, "POST", fmt.Sprintf("/jobs/%d/cancel", id), nil)
		release()
		stop()
		if j := s.member.want(200, "GET", fmt.Sprintf("/jobs/%d", id), nil); j.Body["state"] != "CANCELLED" ||
			j.at("progress.done") != 1.0 || s.materials() != before+1 {
			t.Errorf("%d materials more: %s", s.materials()-before, j.Raw)
		}
	})
}

// TestImports_WorkerThatLostItsLeaseStoresNothing has one wait for a source for longer than its
// lease, as a process that was suspended.
func TestImports_WorkerThatLostItsLeaseStoresNothing(t *testing.T) {
	t.Parallel()
	eachShelf(t, func(t *testing.T, s shelf) {
		before := s.materials()
		arrived, release := s.held("GSE2")
		stop := s.work(s.app, job.Config{})
		id := s.enqueue(s.order("GSE1", "GSE2", "GSE3"))
		<-arrived
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE jobs SET due_at = $1 WHERE id = $2",
			s.db.Read().Now.Add(-time.Second), id); err != nil {
			t.Fatal(err)
		}
		cfg := s.app.Config // of another process, with answers of its own
		cfg.DB, cfg.Importer = storetest.Again(t, s.db), s.sources.Importer(t)
		s.work(app.New(cfg), job.Config{})
		r := s.result(id)
		release()
		stop()
		if words(r) != "imported, imported, imported" || s.materials() != before+3 {
			t.Errorf("%d materials more: %+v", s.materials()-before, r)
		}
		if j := jobtest.Wait(t, s.db, id, exchange.JobDone); j.Lease != 2 {
			t.Errorf("lease %d", j.Lease)
		}
	})
}
