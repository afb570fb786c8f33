package api

import (
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"

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

func showSavedSearch(s material.SavedSearch) SavedSearch {
	const found = "/search/materials"
	return SavedSearch{s.ID, s.UserID, s.Name, s.Search, s.Filters, s.Alerts, s.Address(found),
		s.Address(found + "/feed"),
		Time(s.CreatedAt), Time(s.UpdatedAt)}
}

// Matches are the new results of a saved search.
type Matches struct {
	Count     int                      `json:"count"`
	Materials []notify.MaterialPayload `json:"materials"` // the newest
}

func listSavedSearches(c *Call, _ None) ([]SavedSearch, error) {
	part, err := c.App.Materials.SavedSearches(c.Context(), c.Actor, c.user, c.list.page)
	return answerList(c, part, err, showSavedSearch)
}

func createSavedSearch(c *Call, in material.SavedSearchPatch) (SavedSearch, error) {
	s, err := c.App.Materials.CreateSavedSearch(c.Context(), c.Actor, c.user, in)
	c.location(err, "/users/%s/saved-searches/%d", c.user, s.ID)
	return showSavedSearch(s), err
}

func getSavedSearch(c *Call, _ None) (SavedSearch, error) {
	s, err := c.App.Materials.SavedSearch(c.Context(), c.Actor, c.user, c.id("saved_search"))
	return showSavedSearch(s), err
}

func updateSavedSearch(c *Call, in material.SavedSearchPatch) (SavedSearch, error) {
	s, err := c.App.Materials.UpdateSavedSearch(c.Context(), c.Actor, c.user, c.id("saved_search"), in,
		ifMatch(c, showSavedSearch))
	return showSavedSearch(s), err
}

func deleteSavedSearch(c *Call, _ None) (None, error) {
	return None{}, c.App.Materials.DeleteSavedSearch(c.Context(), c.Actor, c.user, c.id("saved_search"),
		ifMatch(c, showSavedSearch))
}
