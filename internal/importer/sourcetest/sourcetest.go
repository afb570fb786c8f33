// Package sourcetest plays the public sources for tests: every number below Unknown is a record
// there, made up in the form that the source documents. It is one server for all of them, as
// setting base addresses without a path allows.
package sourcetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"aliquot/internal/importer"
)

// Unknown is the first number that no source has a record of.
const Unknown = 900_000

// Server plays the sources.
type Server struct {
	URL   string
	Calls atomic.Int64 // that came in
	mu    sync.Mutex
	wrong map[string]http.HandlerFunc // by path prefix
}

// Start starts a server that ends with t.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{wrong: map[string]http.HandlerFunc{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /geo/query/acc.cgi", geo)
	mux.HandleFunc("GET /entrez/eutils/esearch.fcgi", search)
	mux.HandleFunc("GET /entrez/eutils/esummary.fcgi", summary)
	mux.HandleFunc("GET /entrez/eutils/efetch.fcgi", fetch)
	mux.HandleFunc("GET /ena/portal/api/filereport", report)
	mux.HandleFunc("GET /ena/browser/api/xml/{accession}", browser)
	mux.HandleFunc("GET /api/v4/protocols/{id}", protocol)
	mux.HandleFunc("GET /works/{doi}", work)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Calls.Add(1)
		s.mu.Lock()
		var wrong http.HandlerFunc
		longest := ""
		for prefix, handler := range s.wrong {
			if strings.HasPrefix(r.URL.Path, prefix) && len(prefix) > len(longest) {
				longest, wrong = prefix, handler
			}
		}
		s.mu.Unlock()
		if wrong != nil {
			wrong(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Break lets handler answer for paths that begin with prefix, unless a longer one is broken too; nil
// repairs them.
func (s *Server) Break(prefix string, handler http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong[prefix] = handler
}

// Config is for an Importer that asks the server without pauses worth mentioning.
func (s *Server) Config() importer.Config {
	return importer.Config{GEO: s.URL, EUtils: s.URL, ENA: s.URL, Protocols: s.URL, Crossref: s.URL,
		ProtocolsToken: "token",
		Email:          "materials@example.org", Pace: 1000, Pause: 1}
}

// Importer is an Importer that asks the server.
func (s *Server) Importer(t testing.TB) *importer.Importer {
	t.Helper()
	im, err := importer.New(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// Environment are the settings that point a process at the server.
func (s *Server) Environment() []string {
	list := []string{"ALIQUOT_PROTOCOLS_TOKEN=token"}
	for _, source := range []string{"GEO", "EUTILS", "ENA", "PROTOCOLS", "CROSSREF"} {
		list = append(list, "ALIQUOT_"+source+"_URL="+s.URL)
	}
	return list
}

var digits = regexp.MustCompile(`\d+`)

// number is the first in a text; known reports whether there is a record of it.
func number(text string) (n int, known bool) {
	n, err := strconv.Atoi(digits.FindString(text))
	return n, err == nil && n < Unknown
}

func say(w http.ResponseWriter, kind, format string, args ...any) {
	w.Header().Set("Content-Type", kind)
	_, _ = fmt.Fprintf(w, format, args...)
}

const (
	jsonType = "application/json"
	xmlType  = "text/xml"
)

func geo(w http.ResponseWriter, r *http.Request) {
	accession := r.FormValue("acc")
	n, known := number(accession)
	switch {
	case !known:
		say(w, "text/html", "<html><body>Could not find a public or private accession \"%s\"</body></html>", accession)
	case strings.HasPrefix(accession, "GPL"):
		say(w, "geo/text", "^PLATFORM = %s\n!Platform_title = Sequencer %d (Mus musculus)\n!Platform_technology = "+
			"high-throughput sequencing\n"+
			"!Platform_organism = Mus musculus\n!Platform_taxid = 10090\n", accession, n)
	default:
		say(w, "geo/text", "^SERIES = %s\n!Series_title = Series %d\n!Series_geo_accession = %s\n!Series_status = "+
			"Public on Jun 07 2017\n"+
			"!Series_pubmed_id = %d\n!Series_summary = What was measured.\n!Series_overall_design = Two groups\n"+
			"!Series_type = Expression profiling by high throughput sequencing\n!Series_sample_id = "+
			"GSM%d1\n!Series_sample_id = GSM%d2\n"+
			"!Series_platform_id = GPL%d\n!Series_sample_organism = Mus musculus\n!Series_sample_taxid = 10090\n"+
			"!Series_relation = SRA: https://www.ncbi.nlm.nih.gov/sra?term=SRP%06d\n", accession, n, accession, n, n, n,
			n, n)
	}
}

func search(w http.ResponseWriter, r *http.Request) {
	n, known := number(r.FormValue("term"))
	ids := []string{}
	switch {
	case known && r.FormValue("db") == "gds":
		ids = append(ids, fmt.Sprintf("2%08d", n))
	case known:
		ids = append(ids, fmt.Sprint(n*10+1), fmt.Sprint(n*10+2)) // two experiments
	}
	raw, _ := json.Marshal(ids)
	say(w, jsonType, `{"header":{"type":"esearch"},"esearchresult":{"count":"%d","retmax":"%d","retstart":"0",`+
		`"idlist":%s}}`, len(ids), len(ids), raw)
}

func summary(w http.ResponseWriter, r *http.Request) {
	id := r.FormValue("id")
	n, _ := strconv.Atoi(id)
	switch db := r.FormValue("db"); {
	case db == "gds":
		n -= 200_000_000
		say(w, jsonType, `{"result":{"uids":["%s"],"%s":{"uid":"%s","accession":"GSE%d","entrytype":"GSE",`+
			`"title":"Series %d","summary":"What was measured.",`+
			`"gpl":"%d","gse":"%d","taxon":"Mus musculus","gdstype":"Expression profiling by high throughput `+
			`sequencing","pdat":"2017/06/07",`+
			`"n_samples":2,"pubmedids":["%d"],"extrelations":[]}}}`, id, id, id, n, n, n, n, n)
	case db == "pubmed" && n < Unknown:
		say(w, jsonType, `{"result":{"uids":["%s"],"%s":{"uid":"%s","pubdate":"2012 Feb 22","source":"Nature",`+
			`"authors":[{"name":"Doe J"}],`+
			`"title":"Publication %d.","volume":"483","issue":"7391","pages":"589-93","articleids":[{"idtype":"doi",`+
			`"value":"10.1000/%d"}]}}}`, id, id, id, n, n)
	default:
		say(w, jsonType, `{"result":{"uids":["%s"],"%s":{"uid":"%s","error":"cannot get document summary"}}}`, id, id,
			id)
	}
}

func fetch(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("db") == "pubmed" { // whose summaries tell it all
		say(w, xmlType, `<?xml version="1.0" ?><PubmedArticleSet></PubmedArticleSet>`)
		return
	}
	var packages strings.Builder
	for id := range strings.SplitSeq(r.FormValue("id"), ",") {
		n, _ := strconv.Atoi(id)
		fmt.Fprintf(&packages, `<EXPERIMENT_PACKAGE><EXPERIMENT accession="SRX%[1]d"><STUDY_REF `+
			`accession="SRP%06[2]d"/><DESIGN><LIBRARY_DESCRIPTOR>`+
			`<LIBRARY_STRATEGY>RNA-Seq</LIBRARY_STRATEGY></LIBRARY_DESCRIPTOR></DESIGN><PLATFORM><ILLUMINA>`+
			`<INSTRUMENT_MODEL>Illumina HiSeq 2500</INSTRUMENT_MODEL>`+
			`</ILLUMINA></PLATFORM></EXPERIMENT><STUDY accession="SRP%06[2]d"><DESCRIPTOR><STUDY_TITLE>Study `+
			`%[2]d</STUDY_TITLE><STUDY_ABSTRACT>What was sequenced.`+
			`</STUDY_ABSTRACT></DESCRIPTOR><STUDY_LINKS><STUDY_LINK><XREF_LINK><DB>pubmed</DB><ID>%[2]d</ID>`+
			`</XREF_LINK></STUDY_LINK></STUDY_LINKS></STUDY>`+
			`<SAMPLE accession="SRS%[1]d"><SAMPLE_NAME><TAXON_ID>10090</TAXON_ID><SCIENTIFIC_NAME>Mus `+
			`musculus</SCIENTIFIC_NAME></SAMPLE_NAME></SAMPLE>`+
			`<RUN_SET><RUN accession="SRR%[1]d" published="2019-01-28 15:33:07"/></RUN_SET></EXPERIMENT_PACKAGE>`, n,
			n/10)
	}
	say(w, xmlType, `<?xml version="1.0" ?><EXPERIMENT_PACKAGE_SET>%s</EXPERIMENT_PACKAGE_SET>`, &packages)
}

// report names one run, whose study has the number of what is asked for.
func report(w http.ResponseWriter, r *http.Request) {
	accession := r.FormValue("accession")
	n, known := number(accession)
	if !known {
		say(w, jsonType, "[]")
		return
	}
	study := fmt.Sprintf("ERP%06d", n)
	if strings.HasPrefix(accession, "S") {
		study = fmt.Sprintf("SRP%06d", n)
	}
	say(w, jsonType, `[{"run_accession":"ERR%d","sample_accession":"SAMEA%d","study_accession":"PRJEB%d",`+
		`"secondary_study_accession":"%s",`+
		`"tax_id":"9606","scientific_name":"Homo sapiens","instrument_model":"Illumina HiSeq 2000",`+
		`"library_strategy":"WGS","first_public":"2014-05-01"}]`, n, n, n, study)
}

func browser(w http.ResponseWriter, r *http.Request) {
	accession := r.PathValue("accession")
	n, known := number(accession)
	if !known {
		w.WriteHeader(http.StatusNotFound)
		say(w, xmlType, "<ErrorDetails><status>404</status></ErrorDetails>")
		return
	}
	say(w, xmlType, `<?xml version="1.0"?><STUDY_SET><STUDY accession="%s" alias="E-MTAB-%d"><DESCRIPTOR>`+
		`<STUDY_TITLE>European study %d</STUDY_TITLE>`+
		`<STUDY_ABSTRACT>What was sequenced.</STUDY_ABSTRACT></DESCRIPTOR></STUDY></STUDY_SET>`, accession, n, n)
}

// protocol answers to 10.17504/protocols.io.CODE; a code with a digit that is Unknown is none.
func protocol(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer token" {
		w.WriteHeader(http.StatusUnauthorized)
		say(w, jsonType, `{"status_code":401,"status_text":"no token"}`)
		return
	}
	code := strings.TrimPrefix(r.PathValue("id"), "10.17504/protocols.io.")
	if n, err := strconv.Atoi(digits.FindString(code)); err == nil && n >= Unknown {
		w.WriteHeader(http.StatusNotFound)
		say(w, jsonType, `{"status_code":404,"status_text":"not found"}`)
		return
	}
	say(w, jsonType, `{"status_code":0,"payload":{"id":1,"title":"Protocol %s","description":"<div>How it is <b>`+
		`done</b>.</div>",`+
		`"doi":"dx.doi.org/10.17504/protocols.io.%s","uri":"protocol-%s","published_on":1579707473,`+
		`"authors":[{"name":"Josh Doe"}],"versions":[]}}`, code, code, code)
}

func work(w http.ResponseWriter, r *http.Request) {
	doi := r.PathValue("doi")
	if n, _ := strconv.Atoi(digits.FindString(strings.TrimPrefix(doi, "10.1000/"))); strings.HasPrefix(doi,
		"10.1000/") && n >= Unknown {
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, "Resource not found.")
		return
	}
	kind := "journal-article"
	if strings.HasPrefix(doi, "10.1101/") {
		kind = "posted-content"
	}
	say(w, jsonType, `{"status":"ok","message":{"DOI":"%s","type":"%s","title":["Work %s"],`+
		`"container-title":["Nature"],"volume":"1","page":"2-3",`+
		`"author":[{"given":"Jane A.","family":"Doe"}],"issued":{"date-parts":[[2020,5,11]]}}}`, doi, kind, doi)
}
