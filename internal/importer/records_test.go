package importer

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// records are answers of the real services, which may lie beside the project.
const records = "../../../shared/data/external"

// readers are tried by the end of a file's name, in the order of its table.
var readers = []struct {
	suffix string
	read   func(io.Reader) (string, error)
}{
	{".soft", toldSOFT}, {".self.brief.txt", toldSOFT}, {".self.full.txt", toldSOFT},
	{".esearch-gds.json", toldSearch}, {".esearch-sra.json", toldSearch},
	{".esummary-gds.json", toldSeries}, {".esummary-gds.xml", toldSeries},
	{".esummary-sra.json", toldExperiments}, {".esummary-sra.xml", toldExperiments},
	{".portal-read_run.json", toldRuns},
	{".efetch.xml", toldXML}, {".browser.xml", toldSRA}, {".browser.404.xml", toldSRA},
	{".esummary.json", toldPublications}, {".esummary.xml", toldPublications},
	{".work.json", toldWork},
	{".json", toldProtocol},
}

// told returns what our reader makes of a file, as one line that can be compared.
func told(name string, r io.Reader) (string, error) {
	for _, reader := range readers {
		if strings.HasSuffix(name, reader.suffix) {
			return reader.read(r)
		}
	}
	return "", fmt.Errorf("nothing reads %s", name)
}

func words(parts ...any) string {
	var list []string
	for _, part := range parts {
		if s, ok := part.(set); ok {
			part = strings.Join(s, ", ")
		}
		list = append(list, fmt.Sprint(part))
	}
	return strings.Join(list, " | ")
}

func toldSOFT(r io.Reader) (string, error) {
	s, err := readSOFT(r)
	if err != nil {
		return "", err
	}
	var lines []string
	if g := s.series; g.accession != "" {
		organisms := g.organisms
		if len(organisms) == 0 {
			organisms = s.organisms
		}
		var more set
		for _, relation := range g.relations {
			more.add(related(relation)...)
		}
		lines = append(lines, words(g.accession, g.title, organisms, g.platforms, g.types, g.samples, g.pubmed,
			g.released, more))
	}
	for _, p := range s.platforms {
		lines = append(lines, words(p.accession, p.title, p.technology, p.organisms))
	}
	return strings.Join(lines, " || "), nil
}

func toldSearch(r io.Reader) (string, error) {
	f, err := readSearch(r)
	return words(f.count, set(f.ids)), err
}

func toldSeries(r io.Reader) (string, error) {
	list, err := readSummaries[gdsSummary](r)
	if err != nil {
		return "", err
	}
	accession := "GSE" + string(list[0].Series)
	if !list[0].isSeries(accession) {
		return "", fmt.Errorf("the first of %d is no series", len(list))
	}
	g := list[0].series(accession)
	return words(g.accession, line(g.title), g.organisms, g.platforms, g.types, g.samples, g.pubmed, g.released,
		g.related), nil
}

func toldExperiments(r io.Reader) (string, error) {
	list, err := readSummaries[sraSummary](r)
	if err != nil {
		return "", err
	}
	all, err := list[0].study()
	for _, one := range list[1:] {
		part, errPart := one.study()
		if errPart != nil {
			return "", errPart
		}
		all.join(part)
	}
	return toldStudy(&all), err
}

func toldStudy(s *sraStudy) string {
	return words(s.accession, line(s.title), s.organisms, s.instruments, s.strategies, len(s.samples), s.linkedSamples,
		s.experiments, s.runs, s.pubmed, s.released, s.related)
}

func toldStudies(studies map[string]*sraStudy, err error) (string, error) {
	var lines []string
	for _, accession := range slices.Sorted(maps.Keys(studies)) {
		lines = append(lines, toldStudy(studies[accession]))
	}
	return strings.Join(lines, " || "), err
}

func toldSRA(r io.Reader) (string, error)  { return toldStudies(readSRA(r)) }
func toldRuns(r io.Reader) (string, error) { return toldStudies(readRuns(r)) }

// toldXML is an efetch answer of either database.
func toldXML(r io.Reader) (string, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	if !strings.Contains(string(raw), "<PubmedArticle") {
		return toldSRA(strings.NewReader(string(raw)))
	}
	works, err := readArticles(strings.NewReader(string(raw)))
	return toldWorks(works), err
}

func toldWorks(works []work) string {
	var lines []string
	for _, w := range works {
		lines = append(lines, words(w.pmid, w.title, w.publication().Citation))
	}
	return strings.Join(lines, " || ")
}

func toldPublications(r io.Reader) (string, error) {
	list, err := readSummaries[pubmedSummary](r)
	var works []work
	for _, s := range list {
		works = append(works, s.work())
	}
	return toldWorks(works), err
}

func toldWork(r io.Reader) (string, error) {
	w, err := readWork(r)
	return toldWorks([]work{w}), err
}

func toldProtocol(r io.Reader) (string, error) {
	p, err := readProtocol(r)
	if err != nil {
		return "", err
	}
	d := p.draft("dx.doi.org/10.17504/protocols.io.asked")
	var meta struct {
		DOI string `json:"protocol_doi"`
	}
	if err := json.Unmarshal(d.Material.Metadata.Value, &meta); err != nil {
		return "", err
	}
	return words(d.Material.Title.Value, d.Material.URL.Value, shorten(line(p.abstract()), 80), d.Released, meta.DOI,
		strings.Join(p.authors(), ", ")), nil
}

// facts are the lines "FILE: FACTS" of a table; "-" and a reason stand for what nothing reads.
func facts(t *testing.T, table string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for row := range strings.Lines(string(raw)) {
		if file, fact, ok := strings.Cut(row, ": "); ok && !strings.HasPrefix(row, "#") {
			rows[file] = strings.TrimSpace(fact)
		}
	}
	return rows
}

// compare reads the files of a folder and holds what they tell against the rows of a table.
func compare(t *testing.T, folder, table string) {
	t.Helper()
	rows := facts(t, table)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if service, _, _ := strings.Cut(name,
			"/"); !slices.Contains([]string{"geo", "sra", "ena", "pubmed", "protocols", "crossref"}, service) {
			return nil
		}
		want, ok := rows[name]
		delete(rows, name)
		switch {
		case !ok:
			t.Errorf("%s has no row in %s", name, table)
			return nil
		case strings.HasPrefix(want, "- "):
			return nil
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		got, err := told(name, file)
		if err != nil {
			got = "error " + err.Error()
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range rows {
		t.Errorf("%s is in %s and not there", name, table)
	}
}

func TestRecords_OurFixtures(t *testing.T) {
	t.Parallel()
	compare(t, "testdata/fixtures", "testdata/fixtures.txt")
}

// TestRecords_RecordedAnswers runs where the records lie beside the project.
func TestRecords_RecordedAnswers(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(records); err == nil {
		compare(t, records, "testdata/records.txt")
	}
}
