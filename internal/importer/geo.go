package importer

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"
)

// series returns the draft of a GEO series, or of the one that a sample (GSM) belongs to. The series record has nearly
// everything; if it is missing, the summary of E-utilities is used.
func (im *Importer) series(ctx context.Context, accession string) (Draft, error) {
	if strings.HasPrefix(accession, "GSM") {
		var err error
		if accession, err = im.seriesOf(ctx, accession); err != nil {
			return Draft{}, err
		}
	}
	record, err := im.seriesRecord(ctx, accession)
	if f, ok := errors.AsType[*failure](err); ok && f.kind == unknown && f.hint != "" {
		return Draft{}, err // GEO gave the reason in words
	}
	if err != nil {
		summary, other := im.seriesSummary(ctx, accession)
		if other != nil {
			return Draft{}, worse(err, other)
		}
		record = summary
	}
	if len(record.organisms) == 0 {
		record.organisms, record.taxa = im.organisms(ctx, accession, record)
	}
	return im.seriesDraft(ctx, record)
}

// geoSeries is a series with what a draft needs.
type geoSeries struct {
	softSeries
	platformNames []string // "Title (GPL570)" in the order of platforms, or only the accession
	related       set
}

func (im *Importer) seriesRecord(ctx context.Context, accession string) (geoSeries, error) {
	text, err := im.record(ctx, accession, "self")
	if err != nil {
		return geoSeries{}, err
	}
	g := text.series
	if g.accession != accession || g.title == "" {
		return geoSeries{}, im.geo.garbled(fmt.Errorf("asked for %s, got the series %.20q with the title %.50q",
			accession, g.accession, g.title))
	}
	series := geoSeries{softSeries: g}
	for _, relation := range g.relations {
		series.related.add(related(relation)...)
	}
	for i, id := range g.platforms {
		name := id
		if i < maxPlatforms { // a few series have dozens
			p, err := im.record(ctx, id, "self")
			switch {
			case err == nil && len(p.platforms) == 1 && p.platforms[0].accession == id && p.platforms[0].title != "":
				name = fmt.Sprintf("%s (%s)", line(p.platforms[0].title), id)
			case ctx.Err() != nil:
				return geoSeries{}, err
			}
		}
		series.platformNames = append(series.platformNames, name)
	}
	return series, nil
}

const maxPlatforms = 8 // whose names are fetched

// record gets a record from GEO; target is "self", or "gsm" for the samples of a series.
func (im *Importer) record(ctx context.Context, accession, target string) (soft, error) {
	return ask(ctx, im, im.geo, "query/acc.cgi",
		url.Values{"acc": {accession}, "targ": {target}, "form": {"text"}, "view": {"brief"}}, readSOFT)
}

var mentioned = regexp.MustCompile(`\b(?:GSE[1-9]\d*|PRJ[DEN][A-Z]\d+|[SED]RP\d{6,})\b`)

// related returns the accessions in a relation, such as "SRA: https://www.ncbi.nlm.nih.gov/sra?term=SRP006676".
func related(relation string) []string { return mentioned.FindAllString(relation, -1) }

// gdsSummary is a record of E-utilities' database gds.
type gdsSummary struct {
	Accession string       `json:"accession"`
	EntryType string       `json:"entrytype"`
	Title     string       `json:"title"`
	Summary   string       `json:"summary"`
	Taxon     string       `json:"taxon"`
	Type      string       `json:"gdstype"`
	Platform  flexString   `json:"gpl"` // numbers, separated by ;
	Series    flexString   `json:"gse"` // likewise
	Samples   flexString   `json:"n_samples"`
	Released  string       `json:"pdat"` // 2017/01/31
	PubMed    []flexString `json:"pubmedids"`
	Project   string       `json:"bioproject"`
	Relations []struct {
		Target string `json:"targetobject"`
	} `json:"extrelations"`
}

// isSeries reports whether a summary is of a series; one in the old XML has no accession of its own.
func (s gdsSummary) isSeries(accession string) bool {
	return s.EntryType == "GSE" &&
		(s.Accession == accession || s.Accession == "" && "GSE"+string(s.Series) == accession)
}

// seriesSummary reads the summary of a series, whose uid is 200000000 plus its number.
func (im *Importer) seriesSummary(ctx context.Context, accession string) (geoSeries, error) {
	number, err := strconv.Atoi(strings.TrimPrefix(accession, "GSE"))
	if err != nil || number >= 100_000_000 {
		return geoSeries{}, &failure{kind: unknown, source: im.eutils.name,
			cause: errors.New("no series has such a number")}
	}
	list, err := summaries[gdsSummary](ctx, im, "gds", fmt.Sprint(200_000_000+number))
	if err != nil {
		return geoSeries{}, err
	}
	i := slices.IndexFunc(list, func(s gdsSummary) bool { return s.isSeries(accession) })
	if i < 0 || list[i].Title == "" {
		return geoSeries{}, im.eutils.garbled(fmt.Errorf("no summary of %s among %d", accession, len(list)))
	}
	return list[i].series(accession), nil
}

// series converts a summary into the form of the record.
func (s gdsSummary) series(accession string) geoSeries {
	var g geoSeries
	g.accession, g.title, g.summary = accession, s.Title, []string{s.Summary}
	g.released = strings.ReplaceAll(s.Released, "/", "-")
	g.samples, _ = strconv.Atoi(string(s.Samples))
	g.organisms.add(strings.Split(s.Taxon, ";")...)
	g.types.add(strings.Split(s.Type, ";")...)
	for number := range strings.SplitSeq(string(s.Platform), ";") {
		if number = strings.TrimSpace(number); number != "" {
			g.platforms.add("GPL" + number)
		}
	}
	g.platformNames = g.platforms
	for _, id := range s.PubMed {
		g.pubmed.add(string(id))
	}
	g.related.add(related(s.Project)...)
	for _, relation := range s.Relations {
		g.related.add(related(relation.Target)...)
	}
	return g
}

// organisms returns those of a series whose own record does not name them: from its summary, or its samples, or its
// platforms. If none of them names any, that is not a failure.
func (im *Importer) organisms(ctx context.Context, accession string, record geoSeries) (names, taxa set) {
	if summary, err := im.seriesSummary(ctx, accession); err == nil && len(summary.organisms) > 0 {
		return summary.organisms, nil
	}
	if samples, err := im.record(ctx, accession, "gsm"); err == nil && len(samples.organisms) > 0 {
		return samples.organisms, samples.taxa
	}
	for _, id := range record.platforms[:min(len(record.platforms), maxPlatforms)] {
		if p, err := im.record(ctx, id, "self"); err == nil && len(p.platforms) == 1 {
			names.add(p.platforms[0].organisms...)
			taxa.add(p.platforms[0].taxa...)
		}
	}
	return names, taxa
}

// seriesOf returns the series that a sample belongs to.
func (im *Importer) seriesOf(ctx context.Context, sample string) (string, error) {
	// Samples and platforms match the accession too, so the term restricts the search to series.
	hits, err := im.search(ctx, "gds", sample+"[ACCN] AND gse[ETYP]")
	if err != nil {
		return "", err
	}
	var in set
	for _, id := range hits.ids {
		if number, ok := strings.CutPrefix(id, "2"); ok && len(id) == 9 {
			in.add("GSE" + strings.TrimLeft(number, "0"))
		}
	}
	return onlyOne(sample, "series", in)
}

// onlyOne returns the one study that a part belongs to.
func onlyOne(part, what string, studies set) (string, error) {
	switch len(studies) {
	case 0:
		return "", noSuchRecord("no public %s of %s is known; please give the %s", what, part, what)
	case 1:
		return studies[0], nil
	}
	return "", noSuchRecord("%s is in %s; please give the one to import", part,
		shorten(strings.Join(studies, ", "), exchange.LineLength))
}

func (im *Importer) seriesDraft(ctx context.Context, g geoSeries) (Draft, error) {
	platforms := strings.Join(g.platformNames, "; ")
	if len([]rune(platforms)) > exchange.LineLength {
		platforms = strings.Join(g.platforms, "; ")
	}
	d := Draft{Released: exchange.Date(g.released)}
	d.Material.Category = exchange.Some("DATASET")
	d.Material.Title = exchange.Some(shorten(line(g.title), exchange.TitleLength))
	d.Material.URL = exchange.Some("https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=" + g.accession)
	d.Material.Metadata = metadata(map[string]any{
		"accession_code":      g.accession,
		"description":         shorten(paragraphs(strings.Join(g.summary, "\n")), exchange.LongLength),
		"experimental_design": shorten(paragraphs(strings.Join(g.design, "\n")), exchange.LongLength),
		"platform":            shorten(platforms, exchange.LineLength),
		"technology":          joined(g.types),
		"num_samples":         g.samples,
		"organism_ids":        taxonomy(g.taxa),
		"related_ids":         g.related[:min(len(g.related), maxRelated)],
	})
	d.organisms(g.organisms)
	return d, im.publish(ctx, &d, g.pubmed)
}

const maxRelated = 100

// organisms sets the field, shortened to its maximum length.
func (d *Draft) organisms(names set) {
	if most := material.MaxOrganisms; len(names) > most {
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("It lists %d organisms; the first %d are kept.", len(names), most))
		names = names[:most]
	}
	list := []string{}
	for _, name := range names {
		list = append(list, shorten(name, exchange.LineLength))
	}
	d.Material.Organisms = exchange.NullOf(exchange.Names(list))
}

// taxonomy returns the ids of organisms in canonical form; invalid ones are left out.
func taxonomy(taxa set) set {
	var ids set
	for _, id := range taxa[:min(len(taxa), maxRelated)] {
		if canonical, err := identifier.Taxonomy(id); err == nil {
			ids.add(canonical)
		}
	}
	return ids
}
