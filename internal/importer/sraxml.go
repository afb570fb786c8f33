package importer

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// sraStudy is a study with the combined details of its experiments, samples and runs.
type sraStudy struct {
	accession, title, abstract string
	pubmed                     set
	related                    set
	organisms, taxa            set
	instruments, strategies    set
	samples                    map[string]bool // by accession
	experiments, runs          int
	linkedSamples              int    // counted by the study record itself, at ENA
	firstSample                string // of these
	firstExperiment            string // likewise
	released                   string // the earliest day
}

// The parts of SRA XML that are used, at NCBI inside EXPERIMENT_PACKAGE, at ENA each on its own.
type (
	sraPackage struct {
		Experiment sraExperiment `xml:"EXPERIMENT"`
		Study      sraRecord     `xml:"STUDY"`
		Samples    []sraSample   `xml:"SAMPLE"`
		Members    []sraMember   `xml:"Pool>Member"`
		Runs       []sraRun      `xml:"RUN_SET>RUN"`
	}
	sraExperiment struct {
		Accession string `xml:"accession,attr"`
		Study     struct {
			Accession string `xml:"accession,attr"`
		} `xml:"STUDY_REF"`
		Strategy string `xml:"DESIGN>LIBRARY_DESCRIPTOR>LIBRARY_STRATEGY"`
		Platform struct {
			Family []struct {
				Model string `xml:"INSTRUMENT_MODEL"`
			} `xml:",any"` // ILLUMINA, OXFORD_NANOPORE, ...
		} `xml:"PLATFORM"`
	}
	sraRecord struct {
		Accession   string     `xml:"accession,attr"`
		Alias       string     `xml:"alias,attr"`
		External    []string   `xml:"IDENTIFIERS>EXTERNAL_ID"`
		Secondary   []string   `xml:"IDENTIFIERS>SECONDARY_ID"`
		Title       string     `xml:"DESCRIPTOR>STUDY_TITLE"`
		Abstract    string     `xml:"DESCRIPTOR>STUDY_ABSTRACT"`
		Description string     `xml:"DESCRIPTOR>STUDY_DESCRIPTION"`
		Links       []sraLink  `xml:"STUDY_LINKS>STUDY_LINK>XREF_LINK"`
		Attributes  []sraValue `xml:"STUDY_ATTRIBUTES>STUDY_ATTRIBUTE"`
	}
	sraLink struct {
		DB string `xml:"DB"`
		ID string `xml:"ID"`
	}
	sraValue struct {
		Tag   string `xml:"TAG"`
		Value string `xml:"VALUE"`
	}
	sraSample struct {
		Accession string `xml:"accession,attr"`
		Taxon     string `xml:"SAMPLE_NAME>TAXON_ID"`
		Organism  string `xml:"SAMPLE_NAME>SCIENTIFIC_NAME"`
	}
	sraMember struct {
		Accession string `xml:"accession,attr"`
		Taxon     string `xml:"tax_id,attr"`
		Organism  string `xml:"organism,attr"`
	}
	sraRun struct {
		Published string    `xml:"published,attr"` // 2019-01-28 15:33:07
		Links     []sraLink `xml:"RUN_LINKS>RUN_LINK>XREF_LINK"`
	}
)

// sraRoots are the root elements of efetch at NCBI and of the browser API at ENA.
const sraRoots = "EXPERIMENT_PACKAGE_SET STUDY_SET EXPERIMENT_SET SAMPLE_SET RUN_SET ERROR"

// readSRA streams through the XML of studies, one experiment at a time, and combines the details of each study. A
// record without a study belongs to "".
func readSRA(r io.Reader) (map[string]*sraStudy, error) {
	studies := map[string]*sraStudy{}
	kept := 0
	err := elements(r, sraRoots, func(d *xml.Decoder, start xml.StartElement) error {
		var p sraPackage
		into := map[string]any{"EXPERIMENT_PACKAGE": &p, "STUDY": &p.Study,
			"EXPERIMENT": &p.Experiment}[start.Name.Local]
		switch start.Name.Local {
		case "SAMPLE":
			p.Samples = make([]sraSample, 1)
			into = &p.Samples[0]
		case "RUN":
			p.Runs = make([]sraRun, 1)
			into = &p.Runs[0]
		}
		if into == nil {
			return nil
		}
		if err := d.DecodeElement(into, &start); err != nil {
			return err
		}
		accession := p.study()
		if studies[accession] == nil {
			if kept += len(p.Study.Abstract) + len(p.Study.Title); kept > maxText || len(studies) > searchPage {
				return errors.New("more studies than any answer has")
			}
			studies[accession] = &sraStudy{accession: accession, samples: map[string]bool{}}
		}
		studies[accession].add(p)
		return nil
	})
	return studies, err
}

// study returns the accession of the study that a part belongs to.
func (p sraPackage) study() string {
	for _, run := range p.Runs {
		for _, link := range run.Links {
			if link.DB == "ENA-STUDY" {
				return link.ID
			}
		}
	}
	if p.Study.Accession != "" {
		return p.Study.Accession
	}
	return p.Experiment.Study.Accession
}

func (s *sraStudy) add(p sraPackage) {
	if s.title == "" {
		s.describe(p.Study)
	}
	if p.Experiment.Accession != "" {
		s.experiments++
		s.strategies.add(p.Experiment.Strategy)
		for _, family := range p.Experiment.Platform.Family {
			s.instruments.add(family.Model)
		}
	}
	for _, m := range p.Samples {
		s.sample(m.Accession, m.Organism, m.Taxon)
	}
	for _, m := range p.Members {
		s.sample(m.Accession, m.Organism, m.Taxon)
	}
	for _, run := range p.Runs {
		s.runs++
		day, _, _ := strings.Cut(run.Published, " ")
		s.addRelease(day)
	}
}

func (s *sraStudy) sample(accession, organism, taxon string) {
	if accession != "" {
		s.samples[accession] = true
	}
	s.organisms.add(organism)
	s.taxa.add(taxon)
}

// addRelease records a day of release.
func (s *sraStudy) addRelease(day string) {
	if day != "" && (s.released == "" || day < s.released) {
		s.released = day
	}
}

func (s *sraStudy) describe(r sraRecord) {
	s.title, s.abstract = r.Title, r.Abstract
	if line(s.abstract) == "" {
		s.abstract = r.Description
	}
	for _, id := range append(append(r.External, r.Secondary...), r.Alias) {
		if id != r.Accession {
			s.related.add(related(id)...)
		}
	}
	for _, link := range r.Links {
		switch strings.ToLower(line(link.DB)) {
		case "pubmed":
			s.pubmed.add(link.ID)
		case "ena-sample":
			s.linkedSamples += span(link.ID)
			s.firstSample = cmp.Or(s.firstSample, partOf.FindString(line(link.ID)))
		case "ena-experiment":
			s.firstExperiment = cmp.Or(s.firstExperiment, partOf.FindString(line(link.ID)))
		}
	}
	for _, a := range r.Attributes {
		if line(a.Tag) == "ENA-FIRST-PUBLIC" {
			s.addRelease(line(a.Value))
		}
	}
}

// partOf matches the first accession of a range.
var partOf = regexp.MustCompile(`^[SED]R[XS]\d{6,12}`)

// span counts the accessions in ranges such as "ERS185022-ERS185139,ERS185141".
func span(ranges string) int {
	n := 0
	for part := range strings.SplitSeq(line(ranges), ",") {
		first, last, ok := strings.Cut(part, "-")
		if !ok {
			last = first
		}
		a, errA := strconv.Atoi(strings.TrimLeft(first, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		b, errB := strconv.Atoi(strings.TrimLeft(last, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		if errA == nil && errB == nil && b >= a && b-a < 1_000_000 {
			n += b - a + 1
		}
	}
	return n
}
