// Package publish writes a material for readers outside of Aliquot: as linked data for search
// engines and harvesters, and as a reference for a bibliography. What it writes is open to
// everyone who may read the material and holds no e-mail address.
package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/identifier"
)

// site is what catalogues and bibliographies call Aliquot.
const site = "Aliquot"

// Listing is a material with all that is said about it outside.
type Listing struct {
	exchange.ShownMaterial
	Organization exchange.Organization
	Site         string    // address of Aliquot, without a slash at its end
	Now          time.Time // which reports whether the embargo is over
}

// address is what the material is known by for ever.
func (l Listing) address() string { return fmt.Sprintf("%s/materials/%d", l.Site, l.ID) }

// page is where people read of the material.
func (l Listing) page() string { return fmt.Sprintf("%s/catalog/%d", l.Site, l.ID) }

// published is the day since when the material is offered: that of its listing, or the end of its
// embargo where that is later.
func (l Listing) published() time.Time {
	day := l.CreatedAt.UTC().Truncate(24 * time.Hour)
	if l.EmbargoDate != nil {
		if end, err := time.Parse(time.DateOnly, string(*l.EmbargoDate)); err == nil && end.After(day) {
			return end
		}
	}
	return day
}

// details are the values of additional_metadata under the fields of the category. Each is a string,
// a json.Number, a bool or a list of them; what is not known is absent.
type details struct {
	category category.Category
	values   map[string]any
}

func (l Listing) details() details {
	c, _ := category.Get(l.Category)
	d := details{category: c}
	shown, _ := category.Public(l.Category, l.Metadata, l.Organization.PublicKeys) // whoever looks: others read on
	decoder := json.NewDecoder(bytes.NewReader(shown))
	decoder.UseNumber()
	_ = decoder.Decode(&d.values) // it is stored as an object
	return d
}

// texts are the values of a field as texts, those of a choice by their labels.
func (d details) texts(f category.Field) []string {
	items, many := d.values[f.Key].([]any)
	if !many {
		items = []any{d.values[f.Key]}
	}
	var list []string
	for _, item := range items {
		switch item.(type) {
		case string, json.Number, bool:
		default:
			continue
		}
		text := strings.TrimSpace(fmt.Sprint(item))
		if option, ok := f.Option(text); ok {
			text = option.Label
		}
		if text != "" {
			list = append(list, text)
		}
	}
	return list
}

// get is texts by the key of a field.
func (d details) get(key string) []string {
	f, ok := d.category.Field(key)
	if !ok {
		return nil
	}
	return d.texts(f)
}

// text is the first value under one of some keys.
func (d details) text(keys ...string) string {
	for _, key := range keys {
		if list := d.get(key); len(list) > 0 {
			return list[0]
		}
	}
	return ""
}

// choice is the value of a field's option; values of a choice are kept in any spelling of it.
func (d details) choice(key string) string {
	f, _ := d.category.Field(key)
	sent, _ := d.values[key].(string)
	option, _ := f.Option(sent)
	return option.Value
}

// identifiers are what authorities call the material, in the order of the form. Lists name other
// things: publications, organisms, records beside this one.
func (d details) identifiers() []identifier.ID {
	var list []identifier.ID
	for _, f := range d.category.Fields {
		if f.Type != category.Identifier {
			continue
		}
		canonical, _, err := identifier.Parse(f.Vocabulary, d.text(f.Key))
		if err != nil {
			continue
		}
		for _, id := range identifier.Same(identifier.ID{Kind: f.Vocabulary, Canonical: canonical}) {
			if !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	return list
}

// article is a publication about the material; what is not known is "".
type article struct {
	title, doi, pmid string
	text             string // the citation as the lab wrote it
	preprint         bool
}

var citedDOI = regexp.MustCompile(`(?i)(?:doi\.org/|\bdoi:?\s*)(10\.\d{4,9}/[^\s"<>]+)`)

// articles are the publication and the pre-print of a material, as far as they are known.
func (l Listing) articles() []article {
	var list []article
	paper := article{title: value(l.PublicationTitle), pmid: l.PubMedID, text: value(l.Citation)}
	if found := citedDOI.FindStringSubmatch(paper.text); found != nil {
		doi := strings.TrimRight(found[1], "].,;")
		if strings.Count(doi, ")") > strings.Count(doi, "(") {
			doi = strings.TrimSuffix(doi, ")") // of the sentence around it
		}
		if doi, err := identifier.DOI(doi); err == nil {
			paper.doi = doi
		}
	}
	switch {
	case paper.title != "":
	case paper.text != "":
		paper.title = paper.text
	case paper.pmid != "":
		paper.title = "PubMed " + paper.pmid
	}
	preprint := article{title: value(l.PrePrintTitle), doi: value(l.PrePrintDOI), preprint: true}
	if preprint.title == "" && preprint.doi != "" {
		preprint.title = "Pre-print " + preprint.doi
	}
	for _, a := range []article{paper, preprint} {
		if a.title != "" {
			list = append(list, a)
		}
	}
	return list
}

// ids are the identifiers of an article.
func (a article) ids() []identifier.ID {
	var list []identifier.ID
	if a.doi != "" {
		list = append(list, identifier.ID{Kind: "doi", Canonical: a.doi})
	}
	if a.pmid != "" {
		list = append(list, identifier.ID{Kind: "pmid", Canonical: a.pmid})
	}
	return list
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
