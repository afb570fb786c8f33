package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// soft is the content of a SOFT text of GEO: "^KIND = ACCESSION" begins a section, "!Key = value" lines follow, and a
// key may be repeated.
type soft struct {
	series    softSeries
	platforms []softPlatform
	organisms set // of the samples
	taxa      set // ids of the same
}

type softSeries struct {
	accession, title string
	summary, design  []string
	released         string // "2009-01-29"
	types            set
	organisms, taxa  set // of its samples, if the series record has them
	pubmed           set
	platforms        set // accessions
	relations        []string
	samples          int
}

type softPlatform struct {
	accession, title, technology string
	organisms, taxa              set
}

const (
	longestLine = 1 << 20   // bytes
	maxText     = 256 << 10 // bytes of text that are kept of one answer
)

// readSOFT reads a SOFT text. Anything else from GEO is an HTML page, which may give the reason.
func readSOFT(r io.Reader) (soft, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	first, err := b.Peek(1)
	if err != nil {
		return soft{}, errors.New("GEO: an empty answer")
	}
	if first[0] != '^' {
		return soft{}, page(b)
	}
	var s soft
	kept := 0
	lines := bufio.NewScanner(b)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(key, "^"):
			s.begin(key[1:], value)
		case ok && strings.HasPrefix(key, "!"):
			if !strings.HasPrefix(key, "!Sample_") {
				kept += len(value)
			}
			if kept > maxText {
				return soft{}, errors.New("GEO: more text than any record has")
			}
			s.keep(key[1:], value)
		}
	}
	return s, lines.Err()
}

func (s *soft) begin(kind, accession string) {
	switch kind {
	case "SERIES":
		s.series.accession = accession
	case "PLATFORM":
		s.platforms = append(s.platforms, softPlatform{accession: accession})
	}
}

func (s *soft) keep(key, value string) {
	g := &s.series
	switch key {
	case "Series_title":
		g.title = value
	case "Series_summary":
		g.summary = append(g.summary, value)
	case "Series_overall_design":
		g.design = append(g.design, value)
	case "Series_status":
		if day, err := time.Parse("Jan 02 2006", strings.TrimPrefix(value, "Public on ")); err == nil {
			g.released = day.Format(time.DateOnly)
		}
	case "Series_type":
		g.types.add(value)
	case "Series_pubmed_id":
		g.pubmed.add(value)
	case "Series_platform_id":
		g.platforms.add(value)
	case "Series_sample_organism":
		g.organisms.add(value)
	case "Series_sample_taxid":
		g.taxa.add(value)
	case "Series_relation":
		g.relations = append(g.relations, value)
	case "Series_sample_id":
		g.samples++
	case "Sample_organism_ch1", "Sample_organism_ch2":
		s.organisms.add(value)
	case "Sample_taxid_ch1", "Sample_taxid_ch2":
		s.taxa.add(value)
	}
	if len(s.platforms) == 0 {
		return
	}
	p := &s.platforms[len(s.platforms)-1]
	switch key {
	case "Platform_title":
		p.title = value
	case "Platform_technology":
		p.technology = value
	case "Platform_organism":
		p.organisms.add(value)
	case "Platform_taxid":
		p.taxa.add(value)
	}
}

var (
	noRecord = regexp.MustCompile(`Could not find a public or private accession`)
	pageText = map[string]*regexp.Regexp{
		"GEO has no public record of it; please check the number": noRecord,
		"GEO has deleted this record":                             regexp.MustCompile(`was deleted by the GEO staff`),
	}
	private = regexp.MustCompile(`is currently private` +
		`(?: and is scheduled to be released on ([A-Z][a-z]{2} \d{1,2}, \d{4}))?`)
)

// page returns the error that an HTML page of GEO reports about the record.
func page(r io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(r, 256<<10))
	if err != nil {
		return err
	}
	if m := private.FindSubmatch(raw); m != nil {
		if len(m[1]) > 0 {
			return noSuchRecord("it is private at GEO until %s; import it when it is public", m[1])
		}
		return noSuchRecord("it is private at GEO; import it when it is public")
	}
	for _, hint := range slices.Sorted(maps.Keys(pageText)) {
		if pageText[hint].Match(raw) {
			return noSuchRecord("%s", hint)
		}
	}
	return fmt.Errorf("GEO: no SOFT text but %.60q", bytes.TrimSpace(raw))
}
