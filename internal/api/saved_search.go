package api

import (
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// SavedSearch is a search of materials that a person saved.
type SavedSearch struct {
	ID        int64            `json:"id"`
	User      uuid.UUID        `json:"user"`
	Name      string           `json:"name"`
	Search    string           `json:"search"`
	Filters   exchange.Filters `json:"filters"`
	Alerts    bool             `json:"alerts"`
	Address   string           `json:"address"`
	Feed      string           `json:"feed"`
	CreatedAt Time             `json:"created_at"`
	UpdatedAt Time             `json:"updated_at"`
}

func showSavedSearch(s exchange.SavedSearch) SavedSearch {
	const found = "/search/materials"
	return SavedSearch{s.ID, s.UserID, s.Name, s.Search, s.Filters, s.Alerts, s.Address(found),
		s.Address(found + "/feed"),
		Time(s.CreatedAt), Time(s.UpdatedAt)}
}

// Matches are the new results of a saved search.
type Matches struct {
	Count     int                        `json:"count"`
	Materials []exchange.MaterialPayload `json:"materials"` // the newest
}

func (a *API) listSavedSearches(c *Call, _ None) ([]SavedSearch, error) {
	user, err := c.pathUser()
	if err != nil {
		return nil, err
	}
	part, err := a.App.SavedSearches(c.Context(), c.Actor, user, c.list.page)
	return answerList(c, part, err, showSavedSearch)
}

func (a *API) createSavedSearch(c *Call, in exchange.SavedSearchPatch) (SavedSearch, error) {
	user, err := c.pathUser()
	if err != nil {
		return SavedSearch{}, err
	}
	s, err := a.App.CreateSavedSearch(c.Context(), c.Actor, user, in)
	c.location(err, "/users/%s/saved-searches/%d", user, s.ID)
	return showSavedSearch(s), err
}

// pathSavedSearch returns the saved search in the path, with its user.
func (c *Call) pathSavedSearch() (user uuid.UUID, search int64, err error) {
	if user, err = c.pathUser(); err == nil {
		search, err = c.pathID("saved_search")
	}
	return user, search, err
}

func (a *API) getSavedSearch(c *Call, _ None) (SavedSearch, error) {
	user, id, err := c.pathSavedSearch()
	if err != nil {
		return SavedSearch{}, err
	}
	s, err := a.App.SavedSearch(c.Context(), c.Actor, user, id)
	return showSavedSearch(s), err
}

func (a *API) updateSavedSearch(c *Call, in exchange.SavedSearchPatch) (SavedSearch, error) {
	user, id, err := c.pathSavedSearch()
	if err != nil {
		return SavedSearch{}, err
	}
	s, err := a.App.UpdateSavedSearch(c.Context(), c.Actor, user, id, in, ifMatch(c, showSavedSearch))
	return showSavedSearch(s), err
}

func (a *API) deleteSavedSearch(c *Call, _ None) (None, error) {
	user, id, err := c.pathSavedSearch()
	if err != nil {
		return None{}, err
	}
	return None{}, a.App.DeleteSavedSearch(c.Context(), c.Actor, user, id, ifMatch(c, showSavedSearch))
}
