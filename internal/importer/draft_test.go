package importer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/importer"
	"aliquot/internal/importer/sourcetest"

	"github.com/google/go-cmp/cmp"
)

// obj is a JSON object.
type obj map[string]any

// shown is what a draft makes of a material: its fields that are not empty, and of its metadata.
func shown(t testing.TB, d importer.Draft) obj {
	t.Helper()
	p := d.Material
	p.Organization = exchange.Some(exchange.Ref(1))
	m, err := p.Create()
	if err != nil {
		t.Fatal(err)
	}
	got := obj{}
	if err := json.Unmarshal(m.Metadata, &got); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"title": m.Title, "url": m.URL, "pubmed_id": m.PubMedID,
		"organisms": strings.Join(m.Organisms, ", "),
		"released":  string(d.Released), "publication_title": text(m.PublicationTitle), "citation": text(m.Citation),
		"additional_info": text(m.AdditionalInfo), "identifier": text(m.ImportIdentifier),
		"warnings": strings.Join(d.Warnings, " ")} {
		if value != "" {
			got[name] = value
		}
	}
	return got
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// fixture answers with a file of testdata/fixtures.
func fixture(t testing.TB, name string) http.HandlerFunc {
	t.Helper()
	raw, err := os.ReadFile("testdata/fixtures/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return says(string(raw))
}

// by answers by the value of a parameter; one that is not there is unknown.
func by(parameter string, answers map[string]http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if answer := answers[r.FormValue(parameter)]; answer != nil {
			answer(w, r)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}
}

func gone(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }

func TestDraft_HasAllThatTheSourcesSay(t *testing.T) {
	t.Parallel()
	series := by("acc", map[string]http.HandlerFunc{"GSE700": fixture(t, "geo/superseries.self.brief.txt"),
		"GPL1": fixture(t, "geo/GPL1.self.brief.txt")})
	family := func(w http.ResponseWriter, r *http.Request) { // the record does not name organisms; its samples do
		if raw, _ := os.ReadFile("testdata/fixtures/geo/family.soft"); r.FormValue("targ") == "gsm" {
			says(string(raw))(w, r)
		} else if r.FormValue("acc") == "GSE703" {
			head, _, _ := strings.Cut(string(raw), "^PLATFORM")
			says(head)(w, r)
		} else {
			fixture(t, "geo/GPL1.self.brief.txt")(w, r)
		}
	}
	for name, c := range map[string]struct {
		source, id string
		play       func(s *sourcetest.Server)
		change     func(c *importer.Config)
		want       obj
	}{
		"a SuperSeries of two organisms, platforms and publications": {"GEO",
			"https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE700&targ=self",
			func(s *sourcetest.Server) {
				s.Break("/geo/", series)
				s.Break("/entrez/eutils/esummary", fixture(t, "pubmed/11111111.esummary.json"))
			}, nil,
			obj{"title": "Heat and cold in two fishes",
				"url": "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE700", "identifier": "GSE700",
				"accession_code":      "GSE700",
				"description":         "This SuperSeries is composed of the SubSeries listed below.",
				"released":            "2009-01-29",
				"experimental_design": "Refer to individual Series",
				"organisms":           "Danio rerio, Pomacentrus moluccensis", "organism_ids": []any{"NCBITaxon:7955"},
				"platform": "Zebrafish 16K (GPL1); GPL2", "technology": "Expression profiling by array; Other",
				"num_samples": 3.0,
				"related_ids": []any{"GSE701", "GSE702", "PRJNA700"}, "pubmed_id": "11111111",
				"publication_title": "Does heat matter?",
				"citation": "A B, C D, E F, G H, I J, K L, et al. Does heat matter? Nature. 2012 Feb " +
					"22;483(7391):589-93. doi:10.1038/nature10910",
				"additional_info": "Further publications: PubMed 22222222."}},
		"a series whose record is missing": {"GEO", "GSE700", func(s *sourcetest.Server) {
			s.Break("/geo/", http.NotFound)
			s.Break("/entrez/eutils/esummary",
				by("db", map[string]http.HandlerFunc{"gds": fixture(t, "geo/GSE700.esummary-gds.json")}))
		}, nil, obj{"title": "Heat and cold in two fishes",
			"url": "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE700", "identifier": "GSE700",
			"accession_code": "GSE700", "description": "Two species.", "released": "2009-01-29",
			"organisms": "Danio rerio, Pomacentrus moluccensis",
			"platform":  "GPL1; GPL2", "technology": "Expression profiling by array; Other", "num_samples": 3.0,
			"related_ids": []any{"PRJNA700", "SRP000700"},
			"pubmed_id":   "11111111", "additional_info": "Further publications: PubMed 22222222.",
			"warnings": "PubMed gave no title and citation of its publication 11111111; look it up later."}},
		"a series while GEO is down": {"GEO", "gse8", func(s *sourcetest.Server) { s.Break("/geo/", gone) }, nil,
			obj{"title": "Series 8", "url": "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE8",
				"identifier": "GSE8", "accession_code": "GSE8",
				"description": "What was measured.", "released": "2017-06-07", "organisms": "Mus musculus",
				"platform":   "GPL8",
				"technology": "Expression profiling by high throughput sequencing", "num_samples": 2.0,
				"pubmed_id": "8", "publication_title": "Publication 8.",
				"citation": "Doe J. Publication 8. Nature. 2012 Feb 22;483(7391):589-93. doi:10.1000/8"}},
		"a series whose samples name the organisms": {"GEO", "GSE703", func(s *sourcetest.Server) {
			s.Break("/geo/", family)
			s.Break("/entrez/", gone)
		}, nil, obj{"title": "A series whose samples name the organisms",
			"url":        "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE703",
			"identifier": "GSE703", "accession_code": "GSE703", "description": "First paragraph.\n\nSecond paragraph.",
			"released":  "2006-04-03",
			"organisms": "Pomacentrus moluccensis, Danio rerio", "platform": "Zebrafish 16K (GPL1)",
			"technology": "stress response, CGH", "num_samples": 2.0}},
		"a study": {"SRA", "https://www.ncbi.nlm.nih.gov/sra/?term=SRP000700", func(s *sourcetest.Server) {
			s.Break("/entrez/eutils/efetch", fixture(t, "sra/two-studies.efetch.xml"))
			s.Break("/entrez/eutils/esummary", fixture(t, "pubmed/11111111.esummary.json"))
		}, nil, obj{"title": "Heat & cold", "url": "https://www.ncbi.nlm.nih.gov/sra/?term=SRP000700",
			"identifier": "SRP000700", "accession_code": "SRP000700",
			"description": "Two species.", "released": "2018-01-28",
			"organisms": "Danio rerio, Pomacentrus moluccensis", "organism_ids": []any{"NCBITaxon:7955"},
			"platform": "Illumina HiSeq 2500; MinION", "technology": "RNA-Seq; OTHER", "num_samples": 2.0,
			"related_ids": []any{"PRJNA700", "GSE700"},
			"pubmed_id":   "11111111", "publication_title": "Does heat matter?",
			"citation": "A B, C D, E F, G H, I J, K L, et al. Does heat matter? Nature. 2012 Feb " +
				"22;483(7391):589-93. doi:10.1038/nature10910"}},
		"a run that only ENA knows": {"SRA", "https://www.ebi.ac.uk/ena/browser/view/ERR0000700?show=reads",
			func(s *sourcetest.Server) {
				s.Break("/entrez/eutils/esearch", says(`{"esearchresult": {"count": "0", "idlist": []}}`))
				s.Break("/ena/portal", fixture(t, "ena/ERP000700.portal-read_run.json"))
				s.Break("/ena/browser", fixture(t, "ena/ERP000700.browser.xml"))
			}, nil, obj{"title": "European fishes", "url": "https://www.ncbi.nlm.nih.gov/sra/?term=ERP000700",
				"identifier": "ERP000700", "accession_code": "ERP000700",
				"description": "Abstract.", "released": "2017-09-25", "organisms": "Danio rerio",
				"organism_ids": []any{"NCBITaxon:7955"}, "platform": "MinION",
				"technology": "WGS", "num_samples": 1.0, "related_ids": []any{"PRJEB700"}, "pubmed_id": "11111111",
				"warnings": "PubMed gave no title and citation of its publication 11111111; look it up later."}},
		"a study without runs while NCBI is down": {"SRA", "ERP000700", func(s *sourcetest.Server) {
			s.Break("/entrez/", gone)
			s.Break("/ena/portal", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
			s.Break("/ena/browser", fixture(t, "ena/ERP000700.browser.xml"))
		}, nil, obj{"title": "European fishes", "url": "https://www.ncbi.nlm.nih.gov/sra/?term=ERP000700",
			"identifier": "ERP000700", "accession_code": "ERP000700",
			"description": "Abstract.", "released": "2017-09-25", "num_samples": 4.0, "related_ids": []any{"PRJEB700"},
			"pubmed_id": "11111111",
			"warnings":  "PubMed gave no title and citation of its publication 11111111; look it up later."}},
		"a study whose runs nobody reports": {"SRA", "ERP000701", func(s *sourcetest.Server) {
			s.Break("/entrez/", http.NotFound)
			s.Break("/ena/portal", http.NotFound)
			s.Break("/ena/browser/api/xml/ERP000701",
				says(`<STUDY_SET><STUDY accession="ERP000701"><DESCRIPTOR><STUDY_TITLE>Fishes</STUDY_TITLE></DESCRIPTOR><STUDY_LINKS>
				<STUDY_LINK><XREF_LINK><DB>ENA-SAMPLE</DB><ID>ERS000001-ERS000003</ID></XREF_LINK></STUDY_LINK>
				<STUDY_LINK><XREF_LINK><DB>ENA-EXPERIMENT</DB><ID>ERX000005,ERX000008</ID></XREF_LINK></STUDY_LINK></STUDY_LINKS></STUDY></STUDY_SET>`))
			s.Break("/ena/browser/api/xml/ERS000001",
				says(`<SAMPLE_SET><SAMPLE accession="ERS000001"><SAMPLE_NAME><TAXON_ID>7955</TAXON_ID>
				<SCIENTIFIC_NAME>Danio rerio</SCIENTIFIC_NAME></SAMPLE_NAME></SAMPLE></SAMPLE_SET>`))
			s.Break("/ena/browser/api/xml/ERX000005",
				says(`<EXPERIMENT_SET><EXPERIMENT accession="ERX000005"><DESIGN><LIBRARY_DESCRIPTOR>
				<LIBRARY_STRATEGY>WGS</LIBRARY_STRATEGY></LIBRARY_DESCRIPTOR></DESIGN><PLATFORM><ILLUMINA><INSTRUMENT_MODEL>MinION</INSTRUMENT_MODEL></ILLUMINA>
				</PLATFORM></EXPERIMENT></EXPERIMENT_SET>`))
		}, nil, obj{"title": "Fishes", "url": "https://www.ncbi.nlm.nih.gov/sra/?term=ERP000701",
			"identifier": "ERP000701", "accession_code": "ERP000701",
			"organisms": "Danio rerio", "organism_ids": []any{"NCBITaxon:7955"}, "platform": "MinION",
			"technology": "WGS", "num_samples": 3.0}},
		"a protocol in HTML, of version 3": {"PROTOCOLS_REPOSITORY", "doi:10.17504/PROTOCOLS.IO.heat1",
			func(s *sourcetest.Server) {
				s.Break("/api/v4", http.NotFound)
				s.Break("/api/v3", fixture(t, "protocols/html.v3.json"))
			}, nil, obj{"title": "Heat shock", "url": "https://www.protocols.io/view/heat-shock-heat1",
				"identifier":   "dx.doi.org/10.17504/protocols.io.heat1",
				"protocol_doi": "dx.doi.org/10.17504/protocols.io.heat1", "protocol_name": "Heat shock",
				"abstract": "Warm at 37 °C.\np < 0.05",
				"released": "2020-01-22", "citation": "Jane Doe. Heat shock. protocols.io. 2020-01-22. " +
					"doi:10.17504/protocols.io.heat1"}},
		"a protocol by an older version": {"PROTOCOLS_REPOSITORY", "https://doi.org/10.17504/protocols.io.cold0",
			func(s *sourcetest.Server) {
				s.Break("/api/v4", fixture(t, "protocols/document.v4.json"))
			}, nil, cold},
		"a protocol by its page": {"PROTOCOLS_REPOSITORY", "https://www.protocols.io/view/cold-shock-ddr1?step=1",
			func(s *sourcetest.Server) {
				s.Break("/api/v4/protocols/cold-shock-ddr1", fixture(t, "protocols/document.v4.json"))
			}, nil, cold},
		"a protocol without a token": {"PROTOCOLS_REPOSITORY", "protocols.io.heat1", func(s *sourcetest.Server) {},
			func(c *importer.Config) { c.ProtocolsToken = "" },
			obj{"title": "Work 10.17504/protocols.io.heat1", "url": "https://dx.doi.org/10.17504/protocols.io.heat1",
				"identifier":    "dx.doi.org/10.17504/protocols.io.heat1",
				"protocol_doi":  "dx.doi.org/10.17504/protocols.io.heat1",
				"protocol_name": "Work 10.17504/protocols.io.heat1",
				"citation": "Doe JA. Work 10.17504/protocols.io.heat1. Nature. 2020-05-11;1:2-3. " +
					"doi:10.17504/protocols.io.heat1",
				"warnings": "This server has no token for protocols.io (setting protocols-token): title and citation " +
					"are from Crossref, and the abstract is missing."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sourcetest.Start(t)
			c.play(s)
			im := of(t, s, func(cfg *importer.Config) {
				if c.change != nil {
					c.change(cfg)
				}
			})
			d, err := im.Draft(t.Context(), order(t, c.source, c.id))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, shown(t, d)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var cold = obj{"title": "Cold shock", "url": "https://www.protocols.io/view/cold-shock-ddr1",
	"identifier":   "dx.doi.org/10.17504/protocols.io.cold1/v2",
	"protocol_doi": "dx.doi.org/10.17504/protocols.io.cold1/v2", "protocol_name": "Cold shock",
	"abstract": "First.\nSecond.",
	"citation": "Jane Doe. Cold shock. protocols.io. doi:10.17504/protocols.io.cold1/v2"}

func TestDraft_OfSeveralStudiesIsRefusedWithTheirNames(t *testing.T) {
	t.Parallel()
	s := sourcetest.Start(t)
	s.Break("/entrez/eutils/efetch", fixture(t, "sra/two-studies.efetch.xml"))
	s.Break("/entrez/eutils/esearch", says(`{"esearchresult": {"count": "2", "idlist": ["200000700", "200000701"]}}`))
	for source, c := range map[string][2]string{"SRA": {"SRS000001",
		"SRS000001 is in SRP000700, SRP000799; please give the one to import"},
		"GEO": {"GSM1", "GSM1 is in GSE700, GSE701; please give the one to import"}} {
		_, err := s.Importer(t).Draft(t.Context(), order(t, source, c[0]))
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestDraft_CountsAllPagesOfAStudy has more experiments than one answer of efetch holds.
func TestDraft_CountsAllPagesOfAStudy(t *testing.T) {
	t.Parallel()
	s := sourcetest.Start(t)
	experiments := 0
	s.Break("/entrez/eutils/esearch", func(w http.ResponseWriter, r *http.Request) {
		ids := make([]string, experiments)
		for i := range ids {
			ids[i] = fmt.Sprint(i + 1)
		}
		raw, _ := json.Marshal(ids)
		says(fmt.Sprintf(`{"esearchresult": {"count": "%d", "idlist": %s}}`, experiments, raw))(w, r)
	})
	s.Break("/entrez/eutils/efetch", func(w http.ResponseWriter, r *http.Request) {
		var b strings.Builder
		for id := range strings.SplitSeq(r.FormValue("id"), ",") {
			fmt.Fprintf(&b, `<EXPERIMENT_PACKAGE><EXPERIMENT accession="SRX%[1]s"/><STUDY accession="SRP000001"><DESCRIPTOR><STUDY_TITLE>Many</STUDY_TITLE></DESCRIPTOR></STUDY><SAMPLE accession="SRS%[1]s"/></EXPERIMENT_PACKAGE>`, id)
		}
		says("<EXPERIMENT_PACKAGE_SET>"+b.String()+"</EXPERIMENT_PACKAGE_SET>")(w, r)
	})
	s.Break("/entrez/eutils/esummary", func(w http.ResponseWriter, r *http.Request) {
		records := obj{}
		ids := strings.Split(r.FormValue("id"), ",")
		for _, id := range ids {
			records[id] = obj{"expxml": fmt.Sprintf(`<Study acc="SRP000001"/><Sample acc="SRS%s"/><Library_descriptor><LIBRARY_STRATEGY>WGS</LIBRARY_STRATEGY></Library_descriptor>`, id)}
		}
		records["uids"] = ids
		raw, _ := json.Marshal(obj{"result": records})
		says(string(raw))(w, r)
	})
	for _, c := range []struct {
		experiments int
		samples     any
		calls       int64
	}{{200, 200.0, 2}, {201, 201.0, 3}, {1250, 1250.0, 6}, {4001, nil, 2}} {
		experiments = c.experiments
		before := s.Calls.Load()
		d, err := s.Importer(t).Draft(t.Context(), order(t, "SRA", "SRP000001"))
		if err != nil {
			t.Fatal(err)
		}
		got := shown(t, d)
		if got["num_samples"] != c.samples || s.Calls.Load()-before != c.calls ||
			(got["warnings"] == nil) != (c.samples != nil) {
			t.Errorf("%d experiments: %v samples in %d calls, %v", c.experiments, got["num_samples"],
				s.Calls.Load()-before, got["warnings"])
		}
	}
}

func TestDraft_ReadsTheFullRecordWhereTheSummaryIsBroken(t *testing.T) {
	t.Parallel()
	s := sourcetest.Start(t)
	s.Break("/entrez/eutils/esummary", says("<html>"))
	s.Break("/entrez/eutils/efetch", fixture(t, "pubmed/22222222.efetch.xml"))
	p, err := s.Importer(t).Publication(t.Context(), "22222222", "")
	want := material.Publication{PubMedID: "22222222", DOI: "10.3389/fphys.2018.01034", Title: `A "cold" H2O test`,
		Citation: `Doe J, Fish Consortium. A "cold" H2O test. Front Physiol. 2018 Spring;9:1034. doi:10.3389/fphys.2018.01034`}
	if err != nil || p != want {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestDraft_DistinguishesPreprintAndPublication(t *testing.T) {
	t.Parallel()
	im := sourcetest.Start(t).Importer(t)
	for doi, preprint := range map[string]bool{"10.1101/2020.05.11.088500": true, "10.1000/1": false} {
		if p, err := im.Publication(t.Context(), "", doi); err != nil || p.PrePrint != preprint || p.DOI != doi {
			t.Errorf("%s: %+v, %v", doi, p, err)
		}
	}
}

func TestDraft_RefusedTokenIsLoggedForTheOperator(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token  string
		answer http.HandlerFunc
	}{
		"expired": {"old", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fixture(t, "protocols/expired.json")(w, r)
		}},
		"expired with status 200":     {"old", fixture(t, "protocols/expired.json")},
		"wrong":                       {"wrong", nil},
		"none, and no word elsewhere": {"", nil},
	} {
		s := sourcetest.Start(t)
		s.Break("/api/", c.answer)
		s.Break("/works/", http.NotFound)
		_, err := of(t, s, func(cfg *importer.Config) { cfg.ProtocolsToken = c.token }).Draft(t.Context(),
			order(t, "PROTOCOLS_REPOSITORY", "protocols.io.abc"))
		if exchange.CodeOf(err) != exchange.Unavailable || !strings.Contains(err.Error(), "tell its operator") {
			t.Errorf("%s: %v", name, err)
		}
		if c.token == "" && !strings.Contains(err.Error(), "protocols-token") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDraft_TooLongTextIsVisiblyShortened(t *testing.T) {
	t.Parallel()
	s := sourcetest.Start(t)
	long := strings.Repeat("Ünï ", 10_000)
	s.Break("/geo/", says("^SERIES = GSE1\n!Series_title = "+long+"\n!Series_summary = "+long+"\n!Series_type = "+long+
		"\n!Series_sample_organism = "+long+"\n"))
	d, err := s.Importer(t).Draft(t.Context(), order(t, "GEO", "GSE1"))
	if err != nil {
		t.Fatal(err)
	}
	got := shown(t, d)
	for field, most := range map[string]int{"title": 500, "description": 20_000, "technology": 255, "organisms": 255} {
		value, _ := got[field].(string)
		if n := len([]rune(value)); n > most || n < most-5 || !strings.HasSuffix(value, "…") {
			t.Errorf("%s has %d characters: …%s", field, n, value[max(0, len(value)-20):])
		}
	}
}
