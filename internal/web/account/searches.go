package account

import (
	"net/url"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

// ownSearchesPage lists a person's saved searches.
type ownSearchesPage struct {
	accountPage
	Searches []material.SavedSearch
	Wrong    int64 // the id of the search that could not be changed
}

// Find returns the address of a saved search's results.
func (*ownSearchesPage) Find(s material.SavedSearch) string {
	at := url.Values{}
	if s.Search != "" {
		at.Set("q", s.Search)
	}
	for facet, values := range s.Filters {
		at[facet] = values
	}
	return ui.CatalogAddress(at)
}

func (v *pageRequest) ownSearchesPage() (*ownSearchesPage, error) {
	list, err := v.App.Materials.SavedSearches(v.Context(), v.Who.Actor, v.Who.ID, exchange.Page{})
	return &ownSearchesPage{accountPage: v.accountPage("searches", "Saved searches"), Searches: list.Items}, err
}

func (v *pageRequest) ownSearches() (ui.Response, error) {
	p, err := v.ownSearchesPage()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("account-searches", p)
}

// saveOwnSearch renames a saved search, or switches its alerts.
func (v *pageRequest) saveOwnSearch(id int64) (ui.Response, error) {
	s, err := v.App.Materials.UpdateSavedSearch(v.Context(), v.Who.Actor, v.Who.ID, id, material.SavedSearchPatch{
		Name: exchange.Some(v.PostFormValue("name")), Alerts: exchange.Some(v.PostForm.Has("alerts"))}, nil)
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		p, err := v.ownSearchesPage()
		if err != nil {
			return ui.Response{}, err
		}
		p.Wrong, p.Errors = id, ui.SentencesOf(fields, map[string]string{"name": "the name"})
		return ui.Invalid("account-searches", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	text := s.Name + " saved. You will be notified of new matches."
	if !s.Alerts {
		text = s.Name + " saved, without alerts."
	}
	return ui.SeeOther("/account/searches").Saying(text), nil
}

func (v *pageRequest) deleteOwnSearch(id int64) (ui.Response, error) {
	return ui.SeeOther("/account/searches").Saying("Saved search deleted."),
		v.App.Materials.DeleteSavedSearch(v.Context(), v.Who.Actor, v.Who.ID, id, nil)
}
