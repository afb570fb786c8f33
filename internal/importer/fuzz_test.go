package importer

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"aliquot/internal/exchange"
)

// fuzz runs a reader on the fixtures of some services and what grows from them. No answer may make
// it fail otherwise than with an error, or tell what cannot be stored.
func fuzz[T any](f *testing.F, read func(io.Reader) (T, error), check func(t *testing.T, value T), services ...string) {
	f.Helper()
	for _, service := range services {
		err := filepath.WalkDir("testdata/fixtures/"+service, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			f.Add(raw)
			return err
		})
		if err != nil {
			f.Fatal(err)
		}
	}
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if value, err := read(bytes.NewReader(raw)); err == nil {
			check(t, value)
		}
	})
}

// storable fails where a draft of a source could not be stored.
func storable(t *testing.T, d Draft) {
	t.Helper()
	p := d.Material
	p.Organization = exchange.Some(exchange.Ref(1))
	p.Imported, p.ImportSource = exchange.Some(true), exchange.Some("GEO")
	if p.Title.Value == "" {
		p.Title = exchange.Some("none")
	}
	if _, err := p.Create(); err != nil {
		t.Errorf("%+v: %v", p, err)
	}
}

func wellFormed(t *testing.T, w work) {
	t.Helper()
	p := w.publication()
	for _, s := range []string{p.Title, p.Citation} {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\n\x00") || len([]rune(s)) > exchange.LongLength {
			t.Errorf("%q", s)
		}
	}
}

func FuzzSOFT(f *testing.F) {
	im := &Importer{}
	fuzz(f, readSOFT, func(t *testing.T, s soft) {
		// the one is asked for, and to look the other up needs a source
		s.series.accession, s.series.pubmed = "GSE1", nil
		d, err := im.seriesDraft(t.Context(), geoSeries{softSeries: s.series, platformNames: s.series.platforms})
		if err == nil && s.series.title != "" {
			storable(t, d)
		}
	}, "geo")
}

func FuzzSearch(f *testing.F) {
	fuzz(f, readSearch, func(t *testing.T, found found) {
		if found.count < 0 {
			t.Errorf("%d hits", found.count)
		}
	}, "geo")
}

func FuzzSeriesSummary(f *testing.F) {
	im := &Importer{}
	fuzz(f, readSummaries[gdsSummary], func(t *testing.T, list []gdsSummary) {
		for _, s := range list {
			g := s.series("GSE1")
			g.pubmed = nil
			if d, err := im.seriesDraft(t.Context(), g); err == nil {
				storable(t, d)
			}
		}
	}, "geo")
}

func FuzzExperimentSummary(f *testing.F) {
	fuzz(f, readSummaries[sraSummary], func(t *testing.T, list []sraSummary) {
		for _, s := range list {
			if study, err := s.study(); err == nil && len(study.samples) > 1 {
				t.Errorf("%d samples of one experiment", len(study.samples))
			}
		}
	}, "sra")
}

func FuzzSRA(f *testing.F) {
	fuzz(f, readSRA, func(t *testing.T, studies map[string]*sraStudy) {
		for _, s := range studies {
			s.accession, s.pubmed = "SRP000001", nil
			if d, err := (&Importer{}).studyDraft(t.Context(), *s); err == nil {
				storable(t, d)
			}
		}
	}, "sra", "ena")
}

func FuzzRuns(f *testing.F) {
	fuzz(f, readRuns, func(t *testing.T, studies map[string]*sraStudy) {
		for accession, s := range studies {
			if s.accession != accession || s.runs == 0 {
				t.Errorf("%q: %+v", accession, s)
			}
		}
	}, "ena")
}

func FuzzPubMed(f *testing.F) {
	fuzz(f, readSummaries[pubmedSummary], func(t *testing.T, list []pubmedSummary) {
		for _, s := range list {
			wellFormed(t, s.work())
		}
	}, "pubmed")
}

func FuzzArticles(f *testing.F) {
	fuzz(f, readArticles, func(t *testing.T, works []work) {
		for _, w := range works {
			wellFormed(t, w)
		}
	}, "pubmed")
}

func FuzzWork(f *testing.F) {
	fuzz(f, readWork, wellFormed, "crossref")
}

func FuzzProtocol(f *testing.F) {
	fuzz(f, readProtocol, func(t *testing.T, p ioProtocol) {
		d := p.draft("dx.doi.org/10.17504/protocols.io.abc")
		storable(t, d)
		if !strings.HasPrefix(d.Material.URL.Value, "https://") {
			t.Errorf("its page is %q", d.Material.URL.Value)
		}
	}, "protocols")
}
