package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"
)

// crossrefWork looks a publication up by its DOI.
func (im *Importer) crossrefWork(ctx context.Context, doi string) (material.Publication, error) {
	w, err := ask(ctx, im, im.crossref, "works/"+url.PathEscape(doi), nil, readWork)
	if err != nil {
		return material.Publication{}, err
	}
	if w.doi != doi {
		return material.Publication{}, im.crossref.garbled(fmt.Errorf("asked for %s, got %.100q", doi, w.doi))
	}
	return w.publication(), nil
}

// readWork reads the JSON of Crossref's /works/{doi}.
func readWork(r io.Reader) (work, error) {
	var answer struct {
		Message *struct {
			DOI     string   `json:"DOI"`
			Type    string   `json:"type"`
			Title   []string `json:"title"`
			Journal []string `json:"container-title"`
			Short   []string `json:"short-container-title"`
			Volume  string   `json:"volume"`
			Issue   string   `json:"issue"`
			Pages   string   `json:"page"`
			Authors []struct {
				Given  string `json:"given"`
				Family string `json:"family"`
				Name   string `json:"name"` // of a group
			} `json:"author"`
			Issued struct {
				Parts [][]flexString `json:"date-parts"`
			} `json:"issued"`
		} `json:"message"`
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return work{}, fmt.Errorf("no work of Crossref: %w", err)
	}
	m := answer.Message
	if m == nil || len(m.Title) == 0 || line(m.Title[0]) == "" {
		return work{}, errors.New("no work of Crossref: no title")
	}
	doi, err := identifier.DOI(m.DOI)
	if err != nil {
		return work{}, fmt.Errorf("no work of Crossref: %w", err)
	}
	w := work{doi: doi, title: plain(m.Title[0]), volume: m.Volume, issue: m.Issue, pages: m.Pages,
		preprint: m.Type == "posted-content"}
	for _, names := range [][]string{m.Short, m.Journal} {
		if len(names) > 0 && w.journal == "" {
			w.journal = plain(names[0])
		}
	}
	for _, a := range m.Authors {
		initials := ""
		for _, given := range strings.FieldsFunc(a.Given, func(r rune) bool { return strings.ContainsRune(" .-", r) }) {
			initials += string([]rune(given)[:1])
		}
		if name := line(a.Family + " " + initials + a.Name); name != "" {
			w.authors = append(w.authors, name)
		}
	}
	if len(m.Issued.Parts) > 0 {
		var parts []string
		for _, part := range m.Issued.Parts[0] {
			if len(part) == 1 {
				part = "0" + part
			}
			parts = append(parts, string(part))
		}
		w.date = strings.Join(parts, "-")
	}
	return w, nil
}
