// Package publish describes a material for readers outside of Aliquot: as linked data for search engines and
// harvesters, and as a reference for a bibliography. Its output is open to everyone who may read the material and
// contains no e-mail address.
package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
)

// site is the name of Aliquot for catalogues and bibliographies.
const site = "Aliquot"

// Listing is a material with everything that is published about it.
type Listing struct {
	material.Shown
	Organization lab.Organization
	Site         string    // address of Aliquot, without a trailing slash
	Now          time.Time // decides whether the embargo is over
}

// address returns the permanent address of the material.
func (l Listing) address() string { return fmt.Sprintf("%s/materials/%d", l.Site, l.ID) }

// page returns the address of the material's page.
func (l Listing) page() string { return fmt.Sprintf("%s/catalog/%d", l.Site, l.ID) }

// published returns the day since when the material is available: that of its listing, or the end of its embargo if
// that is later.
func (l Listing) published() time.Time {
	day := l.CreatedAt.UTC().Truncate(24 * time.Hour)
	if l.EmbargoDate != nil {
		if end, err := time.Parse(time.DateOnly, string(*l.EmbargoDate)); err == nil && end.After(day) {
			return end
		}
	}
	return day
}

// details holds the values of additional_metadata for the fields of the category. Each is a string, a json.Number, a
// bool or a list of them; unknown values are absent.
type details struct {
	category category.Category
	values   map[string]any
}

func (l Listing) details() details {
	c, _ := category.Get(l.Category)
	d := details{category: c}
	shown, _ := category.Public(l.Category, l.Metadata, l.Organization.PublicKeys) // for everybody: others may read it
	decoder := json.NewDecoder(bytes.NewReader(shown))
	decoder.UseNumber()
	_ = decoder.Decode(&d.values) // it is stored as an object
	return d
}

// texts returns the values of a field as texts, those of a choice by their labels.
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

// get returns the texts of the field with a key.
func (d details) get(key string) []string {
	f, ok := d.category.Field(key)
	if !ok {
		return nil
	}
	return d.texts(f)
}

// text returns the first value under one of some keys.
func (d details) text(keys ...string) string {
	for _, key := range keys {
		if list := d.get(key); len(list) > 0 {
			return list[0]
		}
	}
	return ""
}

// choice returns the option value of a field; values of a choice are stored in any spelling of it.
func (d details) choice(key string) string {
	f, _ := d.category.Field(key)
	sent, _ := d.values[key].(string)
	option, _ := f.Option(sent)
	return option.Value
}

// identifiers returns the identifiers that authorities gave the material, in the order of the form. It leaves lists
// out, since these name other things: publications, organisms, related records.
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

// license returns the address of the licence: that of the SPDX License List if it is listed there, or the one that the
// lab entered; "" if there is none.
func (d details) license() string {
	license := d.text("license")
	if name, err := identifier.SPDX(license); err == nil {
		return identifier.Kind("spdx").Address(name)
	}
	if strings.HasPrefix(license, "https://") || strings.HasPrefix(license, "http://") {
		return license
	}
	return ""
}

// article is a publication about the material; unknown values are "".
type article struct {
	title, doi, pmid string
	text             string // the citation as the lab wrote it
	preprint         bool
}

var citedDOI = regexp.MustCompile(`(?i)(?:doi\.org/|\bdoi:?\s*)(10\.\d{4,9}/[^\s"<>]+)`)

// articles returns the publication and the pre-print of a material, if known.
func (l Listing) articles() []article {
	var list []article
	paper := article{title: value(l.PublicationTitle), pmid: l.PubMedID, text: value(l.Citation)}
	if found := citedDOI.FindStringSubmatch(paper.text); found != nil {
		doi := strings.TrimRight(found[1], "].,;")
		if strings.Count(doi, ")") > strings.Count(doi, "(") {
			doi = strings.TrimSuffix(doi, ")") // from the sentence around it
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

// ids returns the identifiers of an article.
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
