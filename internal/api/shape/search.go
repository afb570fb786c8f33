package shape

import (
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/material"

	"github.com/google/uuid"
)

// SavedSearch is a search of materials that a person saved.
type SavedSearch struct {
	ID        int64            `json:"id"`
	User      uuid.UUID        `json:"user"`
	Name      string           `json:"name"`
	Search    string           `json:"search"`
	Filters   material.Filters `json:"filters"`
	Alerts    bool             `json:"alerts"`
	Address   string           `json:"address"`
	Feed      string           `json:"feed"`
	CreatedAt Time             `json:"created_at"`
	UpdatedAt Time             `json:"updated_at"`
}

// ShowSavedSearch returns the JSON form of its argument.
func ShowSavedSearch(s material.SavedSearch) SavedSearch {
	const found = "/search/materials"
	return SavedSearch{s.ID, s.UserID, s.Name, s.Search, s.Filters, s.Alerts, s.Address(found),
		s.Address(found + "/feed"),
		Time(s.CreatedAt), Time(s.UpdatedAt)}
}

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
	CountExactly CountIs = "exact"
	CountAtLeast CountIs = "at_least"
)

// MaterialHit is a material in the results.
type MaterialHit struct {
	Material
	Highlights map[string][]fulltext.Piece `json:"highlights"`
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
	Highlights map[string][]fulltext.Piece `json:"highlights"`
}

// MarshalJSON writes the organization with its highlights.
func (h OrganizationHit) MarshalJSON() ([]byte, error) { return h.with("highlights", h.Highlights) }

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

// ShowSuggestion returns the JSON form of its argument.
func ShowSuggestion(s exchange.Suggestion) Suggestion { return Suggestion{s.Text, s.Kind, s.ID} }
