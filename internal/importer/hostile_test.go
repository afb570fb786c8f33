package importer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/importer"
	"aliquot/internal/importer/sourcetest"
)

// order is what an import asks the importer for.
func order(t testing.TB, source, identifier string) material.ImportOptions {
	t.Helper()
	id := exchange.Some(material.IDText(identifier))
	o, err := material.ImportName{Source: exchange.Some(source), Accession: id, ProtocolDOI: id}.Check()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// of makes an Importer of a server, with changed settings.
func of(t testing.TB, s *sourcetest.Server, change func(*importer.Config)) *importer.Importer {
	t.Helper()
	cfg := s.Config()
	change(&cfg)
	im, err := importer.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// wrongs are the ways in which a source goes wrong, and what the caller is told.
var wrongs = map[string]struct {
	answer http.HandlerFunc
	want   exchange.Code
}{
	"500": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		exchange.Unavailable},
	"429": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		exchange.Unavailable},
	"503": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		exchange.Unavailable},
	"a broken line": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		exchange.Unavailable},
	"nothing":        {func(http.ResponseWriter, *http.Request) {}, exchange.InvalidAnswer},
	"an HTML page":   {says("<!DOCTYPE html><html><body><p>Sorry<br>&nbsp;</body></html>"), exchange.InvalidAnswer},
	"half an object": {says(`{"result": {"uids": ["1"`), exchange.InvalidAnswer},
	"half XML": {says(`<?xml version="1.0"?><EXPERIMENT_PACKAGE_SET><EXPERIMENT_PACKAGE><STUDY`),
		exchange.InvalidAnswer},
	"other JSON":       {says(`[1, 2]`), exchange.InvalidAnswer},
	"other XML":        {says(`<?xml version="1.0"?><ROOT/>`), exchange.InvalidAnswer},
	"binary":           {says("\x00\xff\xfe\x1f\x8b"), exchange.InvalidAnswer},
	"a million laughs": {says(`<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><STUDY_SET><STUDY accession="SRP000001">&b;</STUDY></STUDY_SET>`), exchange.InvalidAnswer},
	"a file from here": {says(`<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><STUDY_SET>&a;</STUDY_SET>`), exchange.InvalidAnswer},
	"deep JSON":        {says(strings.Repeat("[", 100_000)), exchange.InvalidAnswer},
	"cut off": {func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, beginning(r))
	}, exchange.Unavailable},
	"slow": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, exchange.Unavailable},
	"a slow drip": {func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, beginning(r)); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}, exchange.Unavailable},
	"50 MB": {func(w http.ResponseWriter, _ *http.Request) {
		line := "!Sample_description = " + strings.Repeat("x", 1000) + "\n"
		_, _ = io.WriteString(w, "^SERIES = GSE1\n")
		for range 50_000 {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	}, exchange.InvalidAnswer},
	"one endless line": {func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "^SERIES = GSE1\n!Series_title = ")
		for range 3000 {
			_, _ = io.WriteString(w, strings.Repeat("x", 1000))
		}
	}, exchange.InvalidAnswer},
}

// beginning is how an answer may begin, and go on.
func beginning(r *http.Request) string {
	if strings.HasSuffix(r.URL.Path, "acc.cgi") {
		return "^SERIES = GSE1\n"
	}
	return " "
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// targets name something at each source.
var targets = map[string]string{material.SourceGEO: "GSE1", material.SourceSRA: "SRP000001",
	material.SourceProtocols: "10.17504/protocols.io.abc"}

func TestSource_ErrorsAreDistinguished(t *testing.T) {
	t.Parallel()
	for name, wrong := range wrongs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sourcetest.Start(t)
			s.Break("/", wrong.answer)
			im := of(t, s, func(c *importer.Config) {
				if strings.Contains(name, "slow") {
					c.Patience = 200 * time.Millisecond
				}
			})
			for source, id := range targets {
				_, err := im.Draft(t.Context(), order(t, source, id))
				e, ok := errors.AsType[*exchange.Error](err)
				if !ok || e.Code != wrong.want || e.Details["source"] == "" || e.Fields != nil {
					t.Errorf("%s: %v", source, err)
					continue
				}
				if seconds, _ := e.Details["retry_after"].(int); (e.Code == exchange.Unavailable) != (seconds > 0) {
					t.Errorf("%s: retry_after is %d", source, seconds)
				}
				if strings.Contains(e.Error(), "@") || strings.Contains(e.Error(), "token\"") {
					t.Errorf("%s: the log learns of ours: %v", source, e)
				}
			}
			for _, p := range [][2]string{{"1", ""}, {"", "10.1000/1"}} {
				if _, err := im.Publication(t.Context(), p[0], p[1]); exchange.CodeOf(err) != wrong.want {
					t.Errorf("publication %v: %v", p, err)
				}
			}
		})
	}
}

func TestRedirects_StayAtTheSource(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(elsewhere.Close)
	for _, to := range []string{elsewhere.URL, "file:///etc/passwd", "//" +
		strings.TrimPrefix(elsewhere.URL, "http://"), "http://169.254.169.254/latest"} {
		s := sourcetest.Start(t)
		s.Break("/", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		for source, id := range targets {
			_, err := s.Importer(t).Draft(t.Context(), order(t, source, id))
			if code := exchange.CodeOf(err); code != exchange.InvalidAnswer && code != exchange.Unavailable {
				t.Errorf("%s to %s: %v", source, to, err)
			}
		}
		if n := s.Calls.Load(); n > 20 {
			t.Errorf("a redirect to %s was tried %d times", to, n)
		}
	}
	if reached.Load() > 0 {
		t.Error("a redirect was followed to another host")
	}
	s := sourcetest.Start(t)
	s.Break("/geo/", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("moved") == "" {
			http.Redirect(w, r, r.URL.Path+"?moved=1&"+r.URL.RawQuery, http.StatusMovedPermanently)
			return
		}
		says("^SERIES = GSE1\n!Series_title = Moved\n!Series_sample_organism = Mus musculus\n")(w, r)
	})
	if d, err := s.Importer(t).Draft(t.Context(), order(t, "GEO", "GSE1")); err != nil ||
		d.Material.Title.Value != "Moved" {
		t.Errorf("a redirect within the source: %v", err)
	}
}

func TestSource_IsRetriedAfterItsRetryAfter(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 503} {
		s := sourcetest.Start(t)
		var calls atomic.Int32
		began := time.Now()
		s.Break("/works/", func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) == 1 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(status)
				return
			}
			says(`{"message": {"DOI": "10.1000/1", "title": ["Work"]}}`)(w, r)
		})
		p, err := s.Importer(t).Publication(t.Context(), "", "10.1000/1")
		if took := time.Since(began); err != nil || p.Title != "Work" || calls.Load() != 2 || took < time.Second {
			t.Errorf("%d: %v after %d calls and %s: %v", status, p, calls.Load(), took, err)
		}
	}
	s := sourcetest.Start(t)
	s.Break("/works/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := s.Importer(t).Publication(t.Context(), "", "10.1000/1")
	if e, ok := errors.AsType[*exchange.Error](err); !ok || e.Details["retry_after"] != 120 || s.Calls.Load() != 1 {
		t.Errorf("a long pause is passed on: %v after %d calls", err, s.Calls.Load())
	}
}

func TestErrors_NameTheIdentifier(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]http.HandlerFunc{
		"unknown": says(`<html>Could not find a public or private accession</html>`),
		"private": says(`<html>Accession is currently private and is scheduled to be released on Dec 31, 2027.</html>`),
		"garbled": says("<html>Welcome</html>"),
		"down":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
	} {
		s := sourcetest.Start(t)
		s.Break("/geo/", fault)
		if name == "garbled" || name == "down" { // else a second source answers
			s.Break("/entrez/", fault)
		}
		_, err := s.Importer(t).Draft(t.Context(), order(t, "GEO", "GSE2122"))
		e, ok := errors.AsType[*exchange.Error](err)
		if !ok || !strings.Contains(e.Message+fmt.Sprint(e.Fields), "GSE2122") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSource_UnknownIdentifierIsAnErrorOfTheField(t *testing.T) {
	t.Parallel()
	s := sourcetest.Start(t)
	im := s.Importer(t)
	for _, c := range []struct{ source, id, field, hint string }{
		{"GEO", "GSE900001", "accession", "no public record"},
		{"GEO", "GSM900001", "accession", "no public series of GSM900001"},
		{"SRA", "SRP900001", "accession", "no public record"},
		{"SRA", "ERR9000010", "accession", "no public study of ERR9000010"},
		{"SRA", "PRJEB900001", "accession", "no public study of PRJEB900001"},
		{"PROTOCOLS_REPOSITORY", "10.17504/protocols.io.x900001", "protocol_doi", "no public record"},
	} {
		_, err := im.Draft(t.Context(), order(t, c.source, c.id))
		e, ok := errors.AsType[*exchange.Error](err)
		if !ok || e.Code != exchange.InvalidInput || !strings.Contains(fmt.Sprint(e.Fields[c.field]), c.hint) {
			t.Errorf("%s: %v", c.id, err)
		}
	}
	for page, hint := range map[string]string{
		`<p>Accession "GSE2" is currently private and is scheduled to be released on Dec 31, 2027.</p>`: "private at GEO until Dec 31, 2027",
		`Accession "GSE2" is currently private.`:                                                        "private at GEO; import",
		`Accession "GSE2" was deleted by the GEO staff on Jan 1, 2020`:                                  "deleted",
		`Could not find a public or private accession "GSE2"`:                                           "no public record",
	} {
		s.Break("/geo/", says("<html>"+page+"</html>"))
		_, err := im.Draft(t.Context(), order(t, "GEO", "GSE2"))
		if e, ok := errors.AsType[*exchange.Error](err); !ok ||
			!strings.Contains(fmt.Sprint(e.Fields["accession"]), hint) {
			t.Errorf("%s: %v", page, err)
		}
	}
	if _, err := im.Publication(t.Context(), "900001", ""); exchange.CodeOf(err) != exchange.InvalidInput {
		t.Errorf("an unknown PubMed id: %v", err)
	}
	if _, err := im.Publication(t.Context(), "", "10.1000/900001"); exchange.CodeOf(err) != exchange.InvalidInput {
		t.Errorf("an unknown DOI: %v", err)
	}
}

func TestSource_AnswerAboutAnotherRecordIsRefused(t *testing.T) {
	t.Parallel()
	s := sourcetest.Start(t)
	s.Break("/geo/", says("^SERIES = GSE2\n!Series_title = Another\n"))
	s.Break("/entrez/", says(`{"esearchresult": {"count": "1", "idlist": ["200000002"]}, "result": {"uids": ["200000002"],
		"200000002": {"uid": "200000002", "accession": "GSE2", "entrytype": "GSE", "title": "Another"}}}`))
	s.Break("/api/", says(`{"status_code": 0, "payload": {"title": "Another", "doi": "dx.doi.org/10.17504/protocols.io.other"}}`))
	s.Break("/works/", says(`{"message": {"DOI": "10.1000/2", "title": ["Another"]}}`))
	s.Break("/ena/", says(`<STUDY_SET><STUDY accession="SRP000002"><DESCRIPTOR><STUDY_TITLE>Another</STUDY_TITLE></DESCRIPTOR></STUDY></STUDY_SET>`))
	im := s.Importer(t)
	for source, id := range targets {
		if _, err := im.Draft(t.Context(), order(t, source, id)); exchange.CodeOf(err) != exchange.InvalidAnswer {
			t.Errorf("%s: %v", source, err)
		}
	}
	if _, err := im.Publication(t.Context(), "", "10.1000/1"); exchange.CodeOf(err) != exchange.InvalidAnswer {
		t.Errorf("DOI: %v", err)
	}
}

func TestCalls_TwentyAtOnceAreOne(t *testing.T) {
	t.Parallel()
	s := sourcetest.Start(t)
	im := s.Importer(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := im.Draft(t.Context(), order(t, "GEO", "GSE7")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	once := s.Calls.Load() // the series, its platform, its publication
	if once != 3 {
		t.Errorf("%d calls, want 3", once)
	}
	if _, err := im.Draft(t.Context(), order(t, "GEO", "gse7")); err != nil || s.Calls.Load() != once {
		t.Errorf("the answers were not remembered: %v", err)
	}
}

func TestCalls_AreCancelledWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	s := sourcetest.Start(t)
	arrived, gone := make(chan struct{}, 8), make(chan struct{}, 8)
	s.Break("/geo/", func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	})
	im := s.Importer(t)
	one, leave := context.WithCancel(t.Context())
	two, leaveToo := context.WithCancel(t.Context())
	defer leaveToo()
	var all sync.WaitGroup
	for _, ctx := range []context.Context{one, two} {
		all.Go(func() {
			if _, err := im.Draft(ctx, order(t, "GEO", "GSE1")); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
	<-arrived
	for im.Waiting() < 2 {
		time.Sleep(time.Millisecond)
	}
	leave()
	select {
	case <-gone:
		t.Error("the call ended while one still waited")
	case <-time.After(50 * time.Millisecond):
	}
	leaveToo()
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Error("the call went on for nobody")
	}
	all.Wait()
}

func TestCalls_NameTheCaller(t *testing.T) {
	t.Parallel()
	s := sourcetest.Start(t)
	s.Break("/", func(w http.ResponseWriter, r *http.Request) {
		agent, email := r.Header.Get("User-Agent"), r.FormValue("email")+r.FormValue("mailto")
		if agent != "aliquot materials@example.org" || strings.HasPrefix(r.URL.Path, "/entrez/") &&
			(r.FormValue("tool") != "aliquot" || r.FormValue("api_key") != "") ||
			(email == "materials@example.org") != (strings.HasPrefix(r.URL.Path, "/entrez/") ||
				strings.HasPrefix(r.URL.Path, "/works/")) {
			t.Errorf("%s says %s", r.URL, agent)
		}
		w.WriteHeader(http.StatusNotFound)
	})
	for source, id := range targets {
		_, _ = s.Importer(t).Draft(t.Context(), order(t, source, id))
	}
	_, _ = s.Importer(t).Publication(t.Context(), "", "10.1000/1")
	if n := s.Calls.Load(); n != 8 {
		t.Errorf("%d calls", n)
	}
}

func TestKey_IsSentOnlyToItsSource(t *testing.T) {
	t.Parallel()
	s := sourcetest.Start(t)
	s.Break("/entrez/", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("api_key") != "hush" {
			t.Errorf("no key in %s", r.URL)
		}
		w.WriteHeader(http.StatusInternalServerError)
	})
	s.Break("/works/", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("api_key") != "" || r.Header.Get("Authorization") != "" {
			t.Errorf("Crossref learns of %s", r.URL)
		}
		w.WriteHeader(http.StatusInternalServerError)
	})
	im := of(t, s, func(c *importer.Config) { c.EUtilsKey = "hush" })
	for _, p := range [][2]string{{"1", ""}, {"", "10.1000/1"}} {
		if _, err := im.Publication(t.Context(), p[0], p[1]); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%v", err)
		}
	}
	s.URL = "http://127.0.0.1:1" // nobody listens there
	im = of(t, s, func(c *importer.Config) { c.EUtilsKey = "hush" })
	if _, err := im.Publication(t.Context(), "1", ""); exchange.CodeOf(err) != exchange.Unavailable ||
		strings.Contains(err.Error(), "hush") {
		t.Errorf("%v", err)
	}
}

func TestNew_InvalidAddressNamesItsSetting(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"geo", "ftp://example.org", "http://", "http://user@example.org",
		"http://example.org?x=1", "://"} {
		for setting, cfg := range map[string]importer.Config{
			"geo-url": {GEO: bad}, "eutils-url": {EUtils: bad}, "ena-url": {ENA: bad},
			"protocols-url": {Protocols: bad}, "crossref-url": {Crossref: bad},
		} {
			if _, err := importer.New(cfg); err == nil || !strings.HasPrefix(err.Error(), setting+": ") {
				t.Errorf("%s %q: %v", setting, bad, err)
			}
		}
	}
}
