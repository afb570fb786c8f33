package catalog

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange/material"
)

// ListSavedSearches serves GET /users/{id}/saved-searches.
func ListSavedSearches(c *rest.Call, _ rest.None) ([]shape.SavedSearch, error) {
	part, err := c.App.Materials.SavedSearches(c.Context(), c.Actor, c.User, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowSavedSearch)
}

// CreateSavedSearch serves POST /users/{id}/saved-searches.
func CreateSavedSearch(c *rest.Call, in material.SavedSearchPatch) (shape.SavedSearch, error) {
	s, err := c.App.Materials.CreateSavedSearch(c.Context(), c.Actor, c.User, in)
	c.Location(err, "/users/%s/saved-searches/%d", c.User, s.ID)
	return shape.ShowSavedSearch(s), err
}

// GetSavedSearch serves GET /users/{id}/saved-searches/{saved_search}.
func GetSavedSearch(c *rest.Call, _ rest.None) (shape.SavedSearch, error) {
	s, err := c.App.Materials.SavedSearch(c.Context(), c.Actor, c.User, c.ID("saved_search"))
	return shape.ShowSavedSearch(s), err
}

// UpdateSavedSearch serves PUT and PATCH /users/{id}/saved-searches/{saved_search}.
func UpdateSavedSearch(c *rest.Call, in material.SavedSearchPatch) (shape.SavedSearch, error) {
	s, err := c.App.Materials.UpdateSavedSearch(c.Context(), c.Actor, c.User, c.ID("saved_search"), in,
		rest.IfMatch(c, shape.ShowSavedSearch))
	return shape.ShowSavedSearch(s), err
}

// DeleteSavedSearch serves DELETE /users/{id}/saved-searches/{saved_search}.
func DeleteSavedSearch(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Materials.DeleteSavedSearch(c.Context(), c.Actor, c.User, c.ID("saved_search"),
		rest.IfMatch(c, shape.ShowSavedSearch))
}
