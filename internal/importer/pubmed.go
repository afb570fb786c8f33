package importer

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"
)

// Publication looks up a publication by its PubMed id, or else by its DOI, both in canonical form. Errors are those of
// Draft, on pubmed_id or doi.
func (im *Importer) Publication(ctx context.Context, pmid, doi string) (material.Publication, error) {
	within, cancel := context.WithTimeout(ctx, whole)
	defer cancel()
	if pmid != "" {
		p, err := im.pubmed(within, pmid)
		if err != nil {
			err = contractError(ctx, "pubmed_id", pmid, err)
		}
		return p, err
	}
	p, err := im.crossrefWork(within, doi)
	if err != nil {
		err = contractError(ctx, "doi", doi, err)
	}
	return p, err
}

// publish fills in the publication of a draft: the first of its PubMed ids; the others are mentioned. If PubMed does
// not answer, the draft is returned nevertheless: with its id it can be looked up later.
func (im *Importer) publish(ctx context.Context, d *Draft, pmids set) error {
	var ids set
	for _, id := range pmids {
		if pmid, err := identifier.PMID(id); err == nil {
			ids.add(pmid)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	d.Material.PubMedID = exchange.Some(ids[0])
	if len(ids) > 1 {
		others := "Further publications: PubMed " + strings.Join(ids[1:], ", ") + "."
		d.Material.AdditionalInfo = exchange.NullOf(shorten(others, exchange.LongLength))
	}
	p, err := im.pubmed(ctx, ids[0])
	if err != nil {
		d.Warnings = append(d.Warnings, fmt.Sprintf("PubMed gave no title and citation of its publication %s; look "+
			"it up later.", ids[0]))
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return nil
	}
	d.Material.PublicationTitle, d.Material.Citation = exchange.NullOf(p.Title), exchange.NullOf(p.Citation)
	return nil
}

// pubmed looks a publication up by its summary; if that is missing or broken, by the whole record.
func (im *Importer) pubmed(ctx context.Context, pmid string) (material.Publication, error) {
	list, err := summaries[pubmedSummary](ctx, im, "pubmed", pmid)
	if err == nil && (list[0].UID != pmid || line(list[0].Title) == "") {
		err = im.eutils.garbled(fmt.Errorf("asked for PubMed %s, got %.20q", pmid, list[0].UID))
	}
	if err == nil {
		return list[0].work().publication(), nil
	}
	if kindOf(err) > garbled {
		return material.Publication{}, err
	}
	works, other := ask(ctx, im, im.eutils, "efetch.fcgi",
		url.Values{"db": {"pubmed"}, "id": {pmid}, "retmode": {"xml"}}, readArticles)
	if other != nil {
		return material.Publication{}, worse(err, other)
	}
	i := slices.IndexFunc(works, func(w work) bool { return w.pmid == pmid && w.title != "" })
	if i < 0 {
		return material.Publication{}, &failure{kind: unknown, source: im.eutils.name, cause: errors.New("no article")}
	}
	return works[i].publication(), nil
}

// work is a publication as the sources describe it.
type work struct {
	pmid, doi, title                    string
	authors                             []string
	journal, date, volume, issue, pages string
	preprint                            bool
}

// publication returns the work with its citation: "Authors. Title Journal. Date;Volume(Issue):Pages. doi:...", with at
// most six authors (ICMJE Recommendations, samples of formatted references).
func (w work) publication() material.Publication {
	title := shorten(line(plain(w.title)), exchange.TitleLength)
	authors := w.authors
	if len(authors) > 6 {
		authors = append(slices.Clone(authors[:6]), "et al")
	}
	var parts []string
	for _, part := range []string{strings.Join(authors, ", "), title, w.journal, w.issued()} {
		if part = line(plain(part)); part != "" {
			if !strings.ContainsAny(part[len(part)-1:], ".?!") {
				part += "."
			}
			parts = append(parts, part)
		}
	}
	if w.doi != "" {
		parts = append(parts, "doi:"+w.doi)
	}
	return material.Publication{PubMedID: w.pmid, DOI: w.doi, PrePrint: w.preprint, Title: title,
		Citation: shorten(strings.Join(parts, " "), exchange.LongLength)}
}

// issued returns "Date;Volume(Issue):Pages" as far as it is known.
func (w work) issued() string {
	s, where := w.date, w.volume
	if w.issue != "" {
		where += "(" + w.issue + ")"
	}
	if w.pages != "" {
		where += ":" + w.pages
	}
	if s != "" && where != "" {
		s += ";"
	}
	return s + where
}

// pubmedSummary is a record of E-utilities' database pubmed.
type pubmedSummary struct {
	UID     string          `json:"uid"`
	Title   string          `json:"title"`
	Authors []author        `json:"authors"`
	Old     []author        `json:"authorlist"` // in the XML of version 1.0
	Source  string          `json:"source"`
	Date    string          `json:"pubdate"`
	Volume  string          `json:"volume"`
	Issue   string          `json:"issue"`
	Pages   string          `json:"pages"`
	IDs     json.RawMessage `json:"articleids"` // another form in the XML
}

// author is a name, or an object that has one.
type author string

// UnmarshalJSON accepts both.
func (a *author) UnmarshalJSON(raw []byte) error {
	var object struct {
		Name string `json:"name"`
	}
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(a))
	}
	err := json.Unmarshal(raw, &object)
	*a = author(object.Name)
	return err
}

func (s pubmedSummary) work() work {
	w := work{pmid: s.UID, title: s.Title, journal: s.Source, date: s.Date, volume: s.Volume, issue: s.Issue,
		pages: s.Pages}
	for _, a := range slices.Concat(s.Authors, s.Old) {
		w.authors = append(w.authors, line(string(a)))
	}
	var ids []struct {
		Type  string `json:"idtype"`
		Value string `json:"value"`
	}
	_ = json.Unmarshal(s.IDs, &ids) // other forms contain no DOI for us
	for _, id := range ids {
		if doi, err := identifier.DOI(id.Value); err == nil && id.Type == "doi" {
			w.doi = doi
		}
	}
	return w
}

// pubmedArticle is a record of efetch.
type pubmedArticle struct {
	PMID    string `xml:"MedlineCitation>PMID"`
	Article struct {
		Title   inner `xml:"ArticleTitle"`
		Authors []struct {
			Last     string `xml:"LastName"`
			Initials string `xml:"Initials"`
			Group    string `xml:"CollectiveName"`
		} `xml:"AuthorList>Author"`
		Journal struct {
			Short  string `xml:"ISOAbbreviation"`
			Title  string `xml:"Title"`
			Volume string `xml:"JournalIssue>Volume"`
			Issue  string `xml:"JournalIssue>Issue"`
			Year   string `xml:"JournalIssue>PubDate>Year"`
			Month  string `xml:"JournalIssue>PubDate>Month"`
			Day    string `xml:"JournalIssue>PubDate>Day"`
			Other  string `xml:"JournalIssue>PubDate>MedlineDate"`
		} `xml:"Journal"`
		Pages string `xml:"Pagination>MedlinePgn"`
	} `xml:"MedlineCitation>Article"`
	Journal string `xml:"MedlineCitation>MedlineJournalInfo>MedlineTA"`
	IDs     []struct {
		Type  string `xml:"IdType,attr"`
		Value string `xml:",chardata"`
	} `xml:"PubmedData>ArticleIdList>ArticleId"`
}

// inner is an element that may contain mark-up.
type inner struct {
	XML string `xml:",innerxml"`
}

// readArticles reads an answer of efetch, streamed article by article.
func readArticles(r io.Reader) ([]work, error) {
	var works []work
	err := elements(r, "PubmedArticleSet", func(d *xml.Decoder, start xml.StartElement) error {
		if start.Name.Local != "PubmedArticle" {
			return nil
		}
		var a pubmedArticle
		if err := d.DecodeElement(&a, &start); err != nil {
			return err
		}
		if len(works) == summaryPage {
			return errors.New("more articles than were asked for")
		}
		works = append(works, a.work())
		return nil
	})
	return works, err
}

func (a pubmedArticle) work() work {
	j := a.Article.Journal
	w := work{pmid: line(a.PMID), title: plain(a.Article.Title.XML), journal: line(j.Short), volume: line(j.Volume),
		issue: line(j.Issue),
		pages: line(a.Article.Pages), date: line(j.Year + " " + j.Month + " " + j.Day + " " + j.Other)}
	for _, name := range []string{a.Journal, j.Title} {
		if w.journal == "" {
			w.journal = line(name)
		}
	}
	for _, person := range a.Article.Authors {
		w.authors = append(w.authors, line(person.Last+" "+person.Initials+person.Group))
	}
	for _, id := range a.IDs {
		if doi, err := identifier.DOI(id.Value); err == nil && id.Type == "doi" {
			w.doi = doi
		}
	}
	return w
}
