package api

import (
	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
)

// Page is one page of the results of a search.
type Page[T any] struct {
	Count       int64                        `json:"count"`
	CountIs     CountIs                      `json:"count_is"`
	Results     []T                          `json:"results"`
	Facets      map[string]map[string]int64  `json:"facets"`
	More        map[string]int               `json:"facets_more"`
	Labels      map[string]map[string]string `json:"facet_labels"`
	Approximate []string                     `json:"approximate"`
	Meant       *string                      `json:"did_you_mean"`
	Next        *string                      `json:"next"`
	Previous    *string                      `json:"previous"`
}

// CountIs says what the count of a search is.
type CountIs string

// What a count is.
const (
	countExactly CountIs = "exact"
	countAtLeast CountIs = "at_least"
)

// pageOf returns the answer of a search.
func pageOf[T, Out any](c *Call, found catalog.Results[T], err error, show func(T) Out) (Page[Out], error) {
	if err != nil {
		return Page[Out]{}, err
	}
	h := Page[Out]{
		Count: found.Count.N, CountIs: countExactly, Results: list(found.Items, show),
		Facets: map[string]map[string]int64{},
		More:   map[string]int{},
		Labels: map[string]map[string]string{}, Approximate: append([]string{}, found.Approximate...),
	}
	if found.Count.AtLeast {
		h.CountIs = countAtLeast
	}
	for name, f := range found.Facets {
		h.Facets[name] = f.Values
		if f.More > 0 {
			h.More[name] = f.More
		}
	}
	for name, labels := range found.Labels {
		h.Labels[name] = labels
	}
	if found.Meant != "" {
		h.Meant = &found.Meant
	}
	h.Next, h.Previous = c.addresses(found.Next)
	return h, nil
}

// MaterialHit is a material in the results.
type MaterialHit struct {
	Material
	Highlights map[string][]Piece `json:"highlights"`
}

// MarshalJSON writes the material with its highlights.
func (h MaterialHit) MarshalJSON() ([]byte, error) { return h.appendJSON(nil) }

func (h MaterialHit) appendJSON(b []byte) ([]byte, error) {
	b, err := h.appendFields(append(b, '{'), "")
	if err == nil {
		b, err = appendEncoded(append(b, `,"highlights":`...), h.Highlights)
	}
	return append(b, '}'), err
}

// OrganizationHit is an organization in the results.
type OrganizationHit struct {
	Organization
	Highlights map[string][]Piece `json:"highlights"`
}

// MarshalJSON writes the organization with its highlights.
func (h OrganizationHit) MarshalJSON() ([]byte, error) { return h.with("highlights", h.Highlights) }

// Piece is a part of a text that either matches the search or does not.
type Piece struct {
	Text  string `json:"text"`
	Match bool   `json:"match"`
}

// highlights returns the parts of some texts that are shown with a hit.
func highlights(q fulltext.Query, texts []exchange.NamedText) map[string][]Piece {
	shown := map[string][]Piece{}
	for name, pieces := range exchange.Highlights(q, texts) {
		shown[name] = list(pieces, func(p fulltext.Piece) Piece { return Piece(p) })
	}
	return shown
}

// Suggestions are completions of what someone types.
type Suggestions struct {
	Results []Suggestion `json:"results"`
}

// Suggestion is one completion.
type Suggestion struct {
	Text string `json:"text"`
	Kind string `json:"kind"`
	ID   int64  `json:"id"`
}

func showSuggestion(s exchange.Suggestion) Suggestion { return Suggestion{s.Text, s.Kind, s.ID} }
