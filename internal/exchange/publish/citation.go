package publish

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Format is a reference format that bibliography programs read.
type Format string

// The formats. BibTeX and RIS are UTF-8.
const (
	BibTeX  Format = "bibtex"
	RIS     Format = "ris"
	CSLJSON Format = "csl-json"
)

// Formats lists all formats, the default first.
var Formats = []Format{BibTeX, RIS, CSLJSON}

// MediaType returns the content type of a format.
func (f Format) MediaType() string {
	return map[Format]string{
		BibTeX: "application/x-bibtex", RIS: "application/x-research-info-systems",
		CSLJSON: "application/vnd.citationstyles.csl+json",
	}[f]
}

// Extension returns the file name extension of a format, without a dot.
func (f Format) Extension() string {
	return map[Format]string{BibTeX: "bib", RIS: "ris", CSLJSON: "json"}[f]
}

// reference is one entry of a bibliography; unknown values are "". Every text is a single line.
type reference struct {
	key       string
	work      work
	genre     string
	title     string
	author    string // an organization
	publisher string
	date      time.Time
	url       string
	doi       string
	pmid      string
	note      string
}

// work is the type of what is cited, in the vocabulary of each format. No format has a type for a cell line.
type work struct{ bibtex, ris, csl string }

var (
	aDataset  = work{"misc", "DATA", "dataset"}
	aMaterial = work{"misc", "GEN", "document"}
	anArticle = work{"article", "JOUR", "article-journal"}
	aPreprint = work{"misc", "UNPB", "article"}
)

// Citation returns the references of a material: first the material itself, then the articles about it. The title ends
// in its RRID, or else its accession, because the Resource Identification Initiative asks for that in every citation,
// and every citation style shows the title.
func Citation(l Listing, f Format) ([]byte, error) {
	list := l.references()
	switch f {
	case BibTeX:
		return bibtex(list), nil
	case RIS:
		return ris(list), nil
	default:
		return csl(list)
	}
}

func (l Listing) references() []reference {
	d := l.details()
	key := fmt.Sprintf("aliquot-%d", l.ID)
	own := reference{
		key: key, work: aMaterial, genre: d.category.Label, title: l.Title, author: l.Organization.Name,
		publisher: site, date: l.published(), url: l.page(),
	}
	if l.Category == "DATASET" {
		own.work = aDataset
	}
	numbers := ""
	for _, id := range d.identifiers() {
		text := id.Canonical
		if id.Kind == "addgene" {
			text = "Addgene " + text
		}
		switch {
		case id.Kind == "doi":
			own.doi = id.Canonical
		case numbers == "" && !strings.Contains(own.title, text):
			own.title += " (" + text + ")"
			fallthrough
		case !strings.Contains(numbers, id.Canonical): // not if it is contained in the RRID
			numbers += text + ", "
		}
	}
	own.note = fmt.Sprintf("%s, %s%s listing %d", own.genre, numbers, site, l.ID)
	list := []reference{own}
	for _, a := range l.articles() {
		r := reference{key: key + "-article", work: anArticle, title: a.title, doi: a.doi, pmid: a.pmid}
		if a.text != a.title {
			r.note = a.text
		}
		if a.preprint {
			r.key, r.work, r.genre = key+"-preprint", aPreprint, "Pre-print"
		}
		if ids := a.ids(); len(ids) > 0 {
			r.url = ids[0].Address()
		}
		list = append(list, r)
	}
	for i := range list {
		r := &list[i]
		for _, text := range []*string{&r.title, &r.author, &r.url, &r.doi, &r.pmid, &r.note} {
			*text = oneLine(*text)
		}
	}
	return list
}

// oneLine returns a text as one line of valid UTF-8 without control characters: in line-based formats the text after a
// break would be read as another field.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// tex escapes a text so that TeX prints it unchanged. Braces become commands, since BibTeX counts them even after a
// backslash.
var tex = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\textbraceleft{}`, `}`, `\textbraceright{}`, `~`, `\textasciitilde{}`, `^`,
	`\textasciicircum{}`,
	`<`, `\textless{}`, `>`, `\textgreater{}`, `|`, `\textbar{}`,
	`$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`,
)

// verbatim escapes an address or a DOI, which TeX takes literally except for braces and backslashes.
var verbatim = strings.NewReplacer(`\`, "%5C", `{`, "%7B", `}`, "%7D")

// bibtex writes entries in BibTeX syntax, which biblatex reads too. Double braces keep the spelling of a title, and
// prevent an organization from being read as a person.
func bibtex(list []reference) []byte {
	var b strings.Builder
	for i, r := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "@%s{%s", r.work.bibtex, r.key)
		field := func(name, open, value, end string) {
			if value != "" {
				fmt.Fprintf(&b, ",\n  %-9s = %s%s%s", name, open, value, end)
			}
		}
		field("title", "{{", tex.Replace(r.title), "}}")
		field("author", "{{", tex.Replace(r.author), "}}")
		field("publisher", "{", tex.Replace(r.publisher), "}")
		if !r.date.IsZero() {
			field("year", "{", r.date.Format("2006"), "}")
			field("month", "", strings.ToLower(r.date.Format("Jan")), "")
		}
		field("doi", "{", verbatim.Replace(r.doi), "}")
		field("url", "{", verbatim.Replace(r.url), "}")
		field("pmid", "{", r.pmid, "}")
		field("note", "{", tex.Replace(r.note), "}")
		b.WriteString("\n}\n")
	}
	return []byte(b.String())
}

// ris writes entries in RIS: each line has a tag, two blanks, a dash, a blank and a value, and ends in CR LF. A value
// has no line breaks, so it cannot start another tag.
func ris(list []reference) []byte {
	var b strings.Builder
	for _, r := range list {
		line := func(tag, value string) {
			if value != "" {
				fmt.Fprintf(&b, "%s  - %s\r\n", tag, value)
			}
		}
		line("TY", r.work.ris)
		line("ID", r.key)
		line("TI", r.title)
		line("AU", r.author)
		line("PB", r.publisher)
		if !r.date.IsZero() {
			line("PY", r.date.Format("2006"))
			line("DA", r.date.Format("2006/01/02"))
		}
		line("M3", r.genre)
		line("DO", r.doi)
		line("AN", r.pmid)
		line("UR", r.url)
		line("N1", r.note)
		b.WriteString("ER  - \r\n")
	}
	return []byte(b.String())
}

// item is an entry of CSL-JSON (citationstyles.org, csl-data.json).
type item struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Genre     string `json:"genre,omitempty"`
	Title     string `json:"title"`
	Author    []name `json:"author,omitempty"`
	Publisher string `json:"publisher,omitempty"`
	Issued    *date  `json:"issued,omitempty"`
	DOI       string `json:"DOI,omitempty"`
	PMID      string `json:"PMID,omitempty"`
	URL       string `json:"URL,omitempty"`
	Note      string `json:"note,omitempty"`
}

type name struct {
	Literal string `json:"literal"`
}

type date struct {
	Parts [][]int `json:"date-parts"`
}

func csl(list []reference) ([]byte, error) {
	items := make([]item, len(list))
	for i, r := range list {
		items[i] = item{r.key, r.work.csl, r.genre, r.title, nil, r.publisher, nil, r.doi, r.pmid, r.url, r.note}
		if r.author != "" {
			items[i].Author = []name{{r.author}}
		}
		if !r.date.IsZero() {
			items[i].Issued = &date{[][]int{{r.date.Year(), int(r.date.Month()), r.date.Day()}}}
		}
	}
	return json.Marshal(items)
}
