package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

const (
	experimentPage = 200   // experiments with all their records, per call
	summaryPage    = 300   // summaries per call; more make the address too long
	maxExperiments = 4_000 // that are read to count samples
)

// study returns the draft of a study of the Sequence Read Archives, or of the one that an experiment, run, sample or
// BioProject belongs to. NCBI is asked first; ENA is asked if NCBI does not know the study or does not answer.
func (im *Importer) study(ctx context.Context, accession string) (Draft, error) {
	s, err := im.ncbiStudy(ctx, accession)
	if f, ok := errors.AsType[*failure](err); err != nil && (!ok || f.hint == "") {
		other, errENA := im.enaStudy(ctx, accession)
		if errENA != nil {
			return Draft{}, worse(err, errENA)
		}
		s = other
	} else if err != nil {
		return Draft{}, err // it is known, and cannot be imported
	}
	return im.studyDraft(ctx, s)
}

func (im *Importer) studyDraft(ctx context.Context, s sraStudy) (Draft, error) {
	d := Draft{Released: exchange.Date(s.released)}
	samples := len(s.samples)
	if samples == 0 {
		samples = s.linkedSamples
	}
	if s.experiments > maxExperiments {
		samples = 0
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("It has %d experiments; its samples were not counted.", s.experiments))
	}
	d.Material.Category = exchange.Some("DATASET")
	d.Material.Title = exchange.Some(shorten(line(s.title), exchange.TitleLength))
	d.Material.URL = exchange.Some("https://www.ncbi.nlm.nih.gov/sra/?term=" + s.accession)
	d.Material.Metadata = metadata(map[string]any{
		"accession_code": s.accession,
		"description":    shorten(paragraphs(s.abstract), exchange.LongLength),
		"platform":       joined(s.instruments),
		"technology":     joined(s.strategies),
		"num_samples":    samples,
		"organism_ids":   taxonomy(s.taxa),
		"related_ids":    s.related[:min(len(s.related), maxRelated)],
	})
	d.organisms(s.organisms)
	return d, im.publish(ctx, &d, s.pubmed)
}

// isStudy reports whether an accession names a study itself.
func isStudy(accession string) bool {
	return len(accession) > 3 && accession[1:3] == "RP" && strings.Contains("SED", accession[:1])
}

func (im *Importer) ncbiStudy(ctx context.Context, accession string) (sraStudy, error) {
	field := "[Accession]"
	if strings.HasPrefix(accession, "PRJ") {
		field = "[BioProject]"
	}
	hits, err := im.search(ctx, "sra", accession+field)
	if err != nil {
		return sraStudy{}, err
	}
	if len(hits.ids) == 0 {
		return sraStudy{}, &failure{kind: unknown, source: im.eutils.name, cause: errors.New("no hit")}
	}
	first, err := im.packages(ctx, hits.ids[:min(len(hits.ids), experimentPage)])
	if err != nil {
		return sraStudy{}, err
	}
	if !isStudy(accession) {
		var in set
		in.add(slices.Sorted(maps.Keys(first))...)
		of, err := onlyOne(accession, "study", in)
		if err != nil {
			return sraStudy{}, err
		}
		return im.ncbiStudy(ctx, of)
	}
	s := first[accession]
	if s == nil || s.title == "" {
		return sraStudy{}, im.eutils.garbled(fmt.Errorf("no study %s among %d experiments", accession, len(hits.ids)))
	}
	all := s.copied()
	err = im.countRest(ctx, accession, hits, &all)
	return all, err
}

// packages asks NCBI for experiments with all their records, and groups them by study.
func (im *Importer) packages(ctx context.Context, ids []string) (map[string]*sraStudy, error) {
	return ask(ctx, im, im.eutils, "efetch.fcgi",
		url.Values{"db": {"sra"}, "id": {strings.Join(ids, ",")}, "rettype": {"full"}, "retmode": {"xml"}},
		func(r io.Reader) (map[string]*sraStudy, error) {
			studies, err := readSRA(r)
			if err == nil && len(studies) == 0 {
				err = &failure{kind: unknown, cause: errors.New("efetch: no experiment")}
			}
			return studies, err
		})
}

// countRest adds the experiments beyond the first page, from their summaries, which are a tenth as long.
func (im *Importer) countRest(ctx context.Context, accession string, hits found, s *sraStudy) error {
	if hits.count > maxExperiments {
		s.experiments = hits.count
		return nil
	}
	for page := range slices.Chunk(hits.ids[min(len(hits.ids), experimentPage):], summaryPage) {
		list, err := summaries[sraSummary](ctx, im, "sra", page...)
		if err != nil {
			return err
		}
		for _, one := range list {
			part, err := one.study()
			if err != nil {
				return im.eutils.garbled(err)
			}
			if part.accession == accession {
				s.join(part)
			}
		}
	}
	return nil
}

// copied returns a copy of a study that may be modified; the values from readers are shared with other callers.
func (s *sraStudy) copied() sraStudy {
	c := *s
	for _, list := range []*set{&c.pubmed, &c.related, &c.organisms, &c.taxa, &c.instruments, &c.strategies} {
		*list = slices.Clone(*list)
	}
	c.samples = maps.Clone(s.samples)
	return c
}

func (s *sraStudy) join(part sraStudy) {
	s.organisms.add(part.organisms...)
	s.taxa.add(part.taxa...)
	s.instruments.add(part.instruments...)
	s.strategies.add(part.strategies...)
	maps.Copy(s.samples, part.samples)
	s.experiments += part.experiments
	s.runs += part.runs
	s.addRelease(part.released)
}

// sraSummary is a record of E-utilities' database sra: an experiment, as texts that hold XML.
type sraSummary struct {
	Experiment string `json:"expxml"`
	Runs       string `json:"runs"`
}

// study returns the experiment's study according to the summary, which has no abstract.
func (s sraSummary) study() (sraStudy, error) {
	var experiment struct {
		Platform struct {
			Model string `xml:"instrument_model,attr"`
		} `xml:"Summary>Platform"`
		Study struct {
			Accession string `xml:"acc,attr"`
			Title     string `xml:"name,attr"`
		} `xml:"Study"`
		Organism struct {
			Taxon string `xml:"taxid,attr"`
			Name  string `xml:"ScientificName,attr"`
		} `xml:"Organism"`
		Sample struct {
			Accession string `xml:"acc,attr"`
		} `xml:"Sample"`
		Strategy string `xml:"Library_descriptor>LIBRARY_STRATEGY"`
		Project  string `xml:"Bioproject"`
	}
	var runs struct {
		List []struct{} `xml:"Run"`
	}
	if err := errors.Join(fragment(s.Experiment, &experiment), fragment(s.Runs, &runs)); err != nil {
		return sraStudy{}, err
	}
	study := sraStudy{accession: experiment.Study.Accession, title: experiment.Study.Title, samples: map[string]bool{}}
	study.experiments, study.runs = 1, len(runs.List)
	study.related.add(related(experiment.Project)...)
	study.instruments.add(experiment.Platform.Model)
	study.strategies.add(experiment.Strategy)
	study.sample(experiment.Sample.Accession, experiment.Organism.Name, experiment.Organism.Taxon)
	return study, nil
}

// enaRun is a row of ENA's file report.
type enaRun struct {
	Run        string `json:"run_accession"`
	Experiment string `json:"experiment_accession"`
	Sample     string `json:"sample_accession"`
	Project    string `json:"study_accession"`
	Study      string `json:"secondary_study_accession"`
	Title      string `json:"study_title"`
	Taxon      string `json:"tax_id"`
	Organism   string `json:"scientific_name"`
	Model      string `json:"instrument_model"`
	Strategy   string `json:"library_strategy"`
	Public     string `json:"first_public"`
}

var enaFields = "run_accession,experiment_accession,sample_accession,study_accession,secondary_study_accession," +
	"study_title,tax_id,scientific_name,instrument_model,library_strategy,first_public"

// readRuns reads a file report, which is empty if there is no run, and groups it by study.
func readRuns(r io.Reader) (map[string]*sraStudy, error) {
	studies := map[string]*sraStudy{}
	d := json.NewDecoder(r)
	if opening, err := d.Token(); errors.Is(err, io.EOF) {
		return studies, nil
	} else if err != nil || opening != json.Delim('[') {
		return nil, fmt.Errorf("ENA: no list of runs: %w", errors.Join(err, errors.New("it does not begin with [")))
	}
	for d.More() {
		var run enaRun
		if err := d.Decode(&run); err != nil {
			return nil, fmt.Errorf("ENA: %w", err)
		}
		s := studies[run.Study]
		if s == nil {
			s = &sraStudy{accession: run.Study, title: run.Title, samples: map[string]bool{}}
			studies[run.Study] = s
		}
		s.runs++
		s.related.add(related(run.Project)...)
		s.instruments.add(run.Model)
		s.strategies.add(run.Strategy)
		s.sample(run.Sample, run.Organism, run.Taxon)
		s.addRelease(run.Public)
	}
	_, err := d.Token()
	return studies, err
}

// enaStudy is a study as ENA knows it: its runs, and the record with the abstract.
func (im *Importer) enaStudy(ctx context.Context, accession string) (sraStudy, error) {
	runs, err := ask(ctx, im, im.ena, "portal/api/filereport",
		url.Values{"accession": {accession}, "result": {"read_run"},
			"fields": {enaFields}, "format": {"json"}, "limit": {"0"}}, readRuns)
	if err != nil && kindOf(err) != unknown {
		return sraStudy{}, err
	}
	if !isStudy(accession) {
		var in set
		in.add(slices.Sorted(maps.Keys(runs))...)
		if accession, err = onlyOne(accession, "study", in); err != nil {
			return sraStudy{}, err
		}
	}
	records, err := ask(ctx, im, im.ena, "browser/api/xml/"+url.PathEscape(accession), nil, readSRA)
	if err != nil {
		return sraStudy{}, err
	}
	record := records[accession]
	if record == nil || record.title == "" {
		return sraStudy{}, im.ena.garbled(fmt.Errorf("no record of %s among %d", accession, len(records)))
	}
	s := record.copied()
	if counted := runs[accession]; counted != nil {
		s.join(*counted)
		return s, nil
	}
	// Without a report of its runs, one of its experiments and one of its samples stand for all.
	for _, part := range []string{s.firstExperiment, s.firstSample} {
		if part == "" {
			continue
		}
		records, err := ask(ctx, im, im.ena, "browser/api/xml/"+url.PathEscape(part), nil, readSRA)
		if err != nil && ctx.Err() != nil {
			return sraStudy{}, err
		}
		for _, one := range records { // at most one
			s.organisms.add(one.organisms...)
			s.taxa.add(one.taxa...)
			s.instruments.add(one.instruments...)
			s.strategies.add(one.strategies...)
		}
	}
	return s, nil
}
