package api_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// importing is a lab whose member owns a grant.
func importing(t *testing.T, db *store.DB) (s *scene, order func(source, identifier string) obj) {
	t.Helper()
	s = newScene(t, db, exchange.AccessMembers)
	grant := s.newGrant()
	return s, func(source, identifier string) obj {
		body := obj{"import_source": source, "accession": identifier, "organization_id": s.id, "grant_id": grant}
		if source == "PROTOCOLS_REPOSITORY" {
			delete(body, "accession")
			body["protocol_doi"] = identifier
		}
		return body
	}
}

func TestImport_FillsEverythingTheSourceSays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, order := importing(t, db)
		for _, c := range []struct {
			source, id, url string
			meta            obj
			title, pubmed   string
		}{
			{"GEO", "GSE93374", "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE93374",
				obj{"accession_code": "GSE93374", "description": "What was measured.",
					"platform":   "Sequencer 93374 (Mus musculus) (GPL93374)",
					"technology": "Expression profiling by high throughput sequencing", "num_samples": 2.0},
				"Series 93374", "93374"},
			{"SRA", "SRP096361", "https://www.ncbi.nlm.nih.gov/sra/?term=SRP096361",
				obj{"accession_code": "SRP096361", "description": "What was sequenced.",
					"platform": "Illumina HiSeq 2500", "technology": "RNA-Seq", "num_samples": 2.0}, "Study 96361",
				"96361"},
			{"PROTOCOLS_REPOSITORY", "https://doi.org/10.17504/protocols.io.BBMUIK6W",
				"https://www.protocols.io/view/protocol-bbmuik6w",
				obj{"protocol_name": "Protocol bbmuik6w", "abstract": "How it is done."}, "Protocol bbmuik6w", ""},
		} {
			body := order(c.source, c.id)
			a := s.member.want(200, "POST", "/materials/import/", body)
			meta, _ := a.Body["additional_metadata"].(map[string]any)
			for key, want := range c.meta {
				if meta[key] != want {
					t.Errorf("%s: %s is %v, want %v", c.id, key, meta[key], want)
				}
			}
			want := obj{"title": c.title, "url": c.url, "pubmed_id": c.pubmed, "import_source": c.source,
				"imported": true, "organization": float64(s.id),
				"contact_user": s.member.ID.String(), "embargo_date": nil, "is_archived": false, "needs_mta": false,
				"shipping_requirements": nil}
			if c.pubmed != "" {
				want["publication_title"] = "Publication " + c.pubmed + "."
				if list := fmt.Sprint(a.Body["organism"],
					a.Body["organisms"]); list != "[Mus musculus] [Mus musculus]" {
					t.Errorf("%s: organisms are %s", c.id, list)
				}
			} else if _, has := a.Body["organism"]; has || a.Body["category"] != "PROTOCOL" {
				t.Errorf("%s: %s", c.id, a.Raw)
			}
			for field, value := range want {
				if a.Body[field] != value {
					t.Errorf("%s: %s is %v, want %v", c.id, field, a.Body[field], value)
				}
			}
			if citation, _ := a.Body["citation"].(string); !strings.Contains(citation, "doi:10.") {
				t.Errorf("%s: the citation is %q", c.id, citation)
			}
			if got := fmt.Sprint(a.Body["grants"]); got != fmt.Sprint([]any{body["grant_id"]}) {
				t.Errorf("%s: grants are %s", c.id, got)
			}
			shown := s.anonymous().want(200, "GET", fmt.Sprintf("/materials/%d", a.id()), nil)
			if shown.Body["title"] != c.title || shown.at("contact_user.id") != s.member.ID.String() {
				t.Errorf("%s: it is shown as %s", c.id, shown.Raw)
			}
			if got := s.audits(fmt.Sprintf("material %d", a.id())); !slices.Equal(got,
				[]string{"member material.import"}) {
				t.Errorf("%s: its history is %v", c.id, got)
			}
			again := s.member.want(200, "POST", "/materials/import/", body)
			if again.Body["error_code"] != "ALREADY_IMPORTED" || again.at("material.id") != float64(a.id()) ||
				again.at("material.contact_user") != s.member.ID.String() ||
				!strings.Contains(again.Body["error"].(string), "was imported already") {
				t.Errorf("%s again: %s", c.id, again.Raw)
			}
		}
	})
}

func TestImport_NamesEveryWrongParameter(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, order := importing(t, db)
		for _, c := range []struct {
			body   obj
			fields []string
		}{
			{obj{}, []string{"accession", "grant_id", "import_source", "organization_id"}},
			{obj{"import_source": "GEO"}, []string{"accession", "grant_id", "organization_id"}},
			{obj{"import_source": "SRA", "accession": " ", "organization_id": s.id, "grant_id": 1},
				[]string{"accession"}},
			{obj{"import_source": "PROTOCOLS_REPOSITORY", "accession": "GSE1"},
				[]string{"grant_id", "organization_id", "protocol_doi"}},
			{obj{"import_source": "ARRAYEXPRESS", "accession": "E-MTAB-1", "organization_id": s.id, "grant_id": 1},
				[]string{"import_source"}},
			{with(order("GEO", "GSE1"), obj{"import_source": nil}), []string{"import_source"}},
			{with(order("GEO", "GSE1"), obj{"accession": 93374}), []string{"accession"}},
			{with(order("GEO", "GSE1"), obj{"accession": []any{"GSE1"}}), []string{"accession"}},
			{with(order("GEO", "GSE1"), obj{"organization_id": 99999, "grant_id": 99999}),
				[]string{"grant_id", "organization_id"}},
			{with(order("GEO", "GSE1"), obj{"organization_id": "x", "grant_id": -1}),
				[]string{"grant_id", "organization_id"}},
			{order("GEO", "SRP045225"), []string{"accession"}},
			{order("GEO", "GPL570"), []string{"accession"}},
			{order("SRA", "GSE2122"), []string{"accession"}},
			{order("SRA", "SRA713167"), []string{"accession"}},
			{order("PROTOCOLS_REPOSITORY", "10.1038/nature10910"), []string{"protocol_doi"}},
			{order("GEO", "GSE900001"), []string{"accession"}},
			{order("SRA", "PRJNA900001"), []string{"accession"}},
			{order("PROTOCOLS_REPOSITORY", "protocols.io.x900001"), []string{"protocol_doi"}},
		} {
			s.unchanged(fmt.Sprint(c.body), func() {
				a := s.member.refused(400, "INVALID_INPUT", "POST", "/materials/import/", c.body)
				fields, _ := a.Body["fields"].(map[string]any)
				if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, c.fields) {
					t.Errorf("%v: %s", c.body, a.Raw)
				}
			})
		}
		if hint := s.member.refused(400, "INVALID_INPUT", "POST", "/materials/import/",
			order("GEO", "SRP045225")); !strings.Contains(string(hint.Raw), "import_source SRA") {
			t.Errorf("no hint: %s", hint.Raw)
		}
	})
}

// with is a body with other values; nil takes one out.
func with(body, change obj) obj {
	for key, value := range change {
		if body[key] = value; value == nil {
			delete(body, key)
		}
	}
	return body
}

func TestImport_TwentyAtOnceMakeOneMaterial(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, order := importing(t, db)
		before := s.rows()["materials"]
		spellings := []string{"GSE77", "gse77", "GEO: GSE77",
			"https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE77&targ=self", "GSM77"}
		answers := make([]answer, 20)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				answers[i] = s.member.call("POST", "/materials/import/", order("GEO", spellings[i%len(spellings)]))
			})
		}
		all.Wait()
		made := map[any]int{}
		for _, a := range answers {
			switch {
			case a.Status != 200:
				t.Errorf("%d %s", a.Status, a.Raw)
			case a.Body["error_code"] == "ALREADY_IMPORTED":
				made[a.at("material.id")]++
			default:
				made[a.Body["id"]] += 100
			}
		}
		if len(made) != 1 || slices.Collect(maps.Values(made))[0] != 119 || s.rows()["materials"] != before+1 {
			t.Errorf("one made and 19 duplicates are 119 of one id: %v; %d materials more", made,
				s.rows()["materials"]-before)
		}
	})
}

func TestImport_AccessIsCheckedBeforeTheSourceIsAsked(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, order := importing(t, db)
		s.unchanged("a refusal", func() {
			// it is the member's grant
			s.owner.refused(403, "FORBIDDEN", "POST", "/materials/import", order("GEO", "GSE1"))
			s.member.refused(403, "FORBIDDEN", "POST", "/materials/import",
				with(order("GEO", "GSE1"), obj{"organization_id": s.requester().Lab}))
			s.anonymous().refused(401, "NOT_AUTHENTICATED", "POST", "/materials/import", order("GEO", "GSE1"))
			s.anonymous().refused(401, "NOT_AUTHENTICATED", "GET", "/publications?pubmed_id=1", nil)
		})
		if n := s.sources.Calls.Load(); n > 0 {
			t.Errorf("%d calls of sources", n)
		}
	})
}

func TestImport_FailedSourceIsReportedAndNothingIsStored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, order := importing(t, db)
		orders := []obj{order("GEO", "GSE1"), order("SRA", "SRP000001"),
			order("PROTOCOLS_REPOSITORY", "protocols.io.abc")}
		for _, c := range []struct {
			status     int
			code       string
			retryAfter string
			answer     http.HandlerFunc
		}{
			{503, "UNAVAILABLE", "30",
				func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }},
			{503, "UNAVAILABLE", "90", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "90")
				w.WriteHeader(http.StatusTooManyRequests)
			}},
			{502, "INVALID_ANSWER", "",
				func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>Sorry</html>") }},
		} {
			s.sources.Break("/", c.answer)
			for _, path := range []string{"/materials/import", "/materials/import/preview"} {
				for _, body := range orders {
					s.unchanged(path, func() {
						a := s.member.refused(c.status, c.code, "POST", path, body)
						if a.Header.Get("Retry-After") != c.retryAfter || a.Body["source"] == nil {
							t.Errorf("%s %v: Retry-After %q: %s", path, body, a.Header.Get("Retry-After"), a.Raw)
						}
					})
				}
			}
		}
		s.sources.Break("/", nil)
		for _, body := range orders { // a failure is not remembered
			s.member.want(200, "POST", "/materials/import", body)
		}
	})
}

func TestImportPreview_ShowsTheResultAndStoresNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, order := importing(t, db)
		body := order("SRA", "https://www.ncbi.nlm.nih.gov/sra/?term=SRR000123")
		var first answer
		s.unchanged("a preview", func() {
			first = s.requester().want(200, "POST", "/materials/import/preview/",
				obj{"import_source": "SRA", "accession": body["accession"]})
		})
		if first.Body["existing"] != nil || first.at("material.title") != "Study 123" ||
			first.at("material.additional_metadata.accession_code") != "SRP000123" {
			t.Errorf("got %s", first.Raw)
		}
		made := s.member.want(200, "POST", "/materials/import/", body)
		draft, _ := first.Body["material"].(map[string]any)
		for field, value := range draft {
			if field != "contact_user" && fmt.Sprint(made.Body[field]) != fmt.Sprint(value) {
				t.Errorf("%s: the preview has %v, the material %v", field, value, made.Body[field])
			}
		}
		again := s.requester().want(200, "POST", "/materials/import/preview/",
			obj{"import_source": "SRA", "accession": "SRP000123"})
		if again.at("existing.id") != float64(made.id()) {
			t.Errorf("got %s", again.Raw)
		}
		// What was shown can be listed by hand; the duplicate rule is the same.
		draft["organization_id"] = s.id
		if a := s.member.want(200, "POST", "/materials", draft); a.Body["error_code"] != "ALREADY_IMPORTED" {
			t.Errorf("got %s", a.Raw)
		}
		s.requester().refused(400, "INVALID_INPUT", "POST", "/materials/import/preview",
			obj{"import_source": "SRA", "accession": "SRP900001"})
	})
}

func TestImport_OfALaterReleaseIsUnderEmbargoUntilThen(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, order := importing(t, db)
		s.sources.Break("/geo/", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "^SERIES = GSE1\n!Series_title = Soon\n!Series_status = Public on Jan 02 "+
				"2999\n!Series_sample_organism = Mus musculus\n")
		})
		if a := s.member.want(200, "POST", "/materials/import",
			order("GEO", "GSE1")); a.Body["embargo_date"] != "2999-01-02" {
			t.Errorf("got %s", a.Raw)
		}
	})
}

// TestImport_HoldsNoTransactionWhileItWaitsForASource would hang on SQLite, which has one writer.
func TestImport_HoldsNoTransactionWhileItWaitsForASource(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, order := importing(t, db)
		arrived, answer := make(chan struct{}), make(chan struct{})
		var once sync.Once
		s.sources.Break("/works/", nil)
		s.sources.Break("/geo/", func(w http.ResponseWriter, _ *http.Request) {
			once.Do(func() { close(arrived) })
			<-answer
			_, _ = io.WriteString(w, "^SERIES = GSE1\n!Series_title = A\n!Series_sample_organism = Mus musculus\n")
		})
		done := make(chan int)
		go func() { done <- s.member.call("POST", "/materials/import", order("GEO", "GSE1")).Status }()
		<-arrived
		s.newMaterial()
		s.member.want(200, "PATCH", fmt.Sprintf("/grants/%d", order("GEO", "GSE1")["grant_id"]),
			obj{"title": "Changed meanwhile"})
		close(answer)
		if status := <-done; status != 200 {
			t.Errorf("got %d", status)
		}
	})
}

func TestImport_PublicationFillsAMaterial(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/materials/%d", s.newMaterial())
		for _, c := range []struct {
			query string
			want  obj
		}{
			{"pubmed_id=PMID:13052",
				obj{"pubmed_id": "13052", "publication_title": "Publication 13052.", "pre_print_doi": nil,
					"citation": "Doe J. Publication 13052. Nature. 2012 Feb 22;483(7391):589-93. doi:10.1000/13052"}},
			{"doi=https://doi.org/10.1101/2020.05.11",
				obj{"pubmed_id": "13052", "publication_title": "Publication 13052.",
					"pre_print_doi":   "10.1101/2020.05.11",
					"pre_print_title": "Work 10.1101/2020.05.11",
					"citation": "Doe JA. Work 10.1101/2020.05.11. Nature. 2020-05-11;1:2-3. " +
						"doi:10.1101/2020.05.11"}},
			{"doi=10.1000/7", obj{"publication_title": "Work 10.1000/7"}},
		} {
			found := s.member.want(200, "GET", "/publications?"+c.query, nil)
			a := s.member.want(200, "PATCH", path, found.Body)
			for field, want := range c.want {
				if a.Body[field] != want {
					t.Errorf("%s: %s is %v, want %v", c.query, field, a.Body[field], want)
				}
			}
		}
		for _, query := range []string{"", "pubmed_id=1&doi=10.1000/1", "pubmed_id=x", "doi=x", "pubmed_id=900001",
			"doi=10.1000/900001", "doi=%zz"} {
			s.member.refused(400, "INVALID_INPUT", "GET", "/publications?"+query, nil)
		}
	})
}
