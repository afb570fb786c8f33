package web

import (
	"net/url"

	"aliquot/internal/exchange"
)

// ownSearchesPage lists a person's saved searches.
type ownSearchesPage struct {
	accountPage
	Searches []exchange.SavedSearch
	Wrong    int64 // the id of the search that could not be changed
}

// Find returns the address of a saved search's results.
func (*ownSearchesPage) Find(s exchange.SavedSearch) string {
	at := url.Values{}
	if s.Search != "" {
		at.Set("q", s.Search)
	}
	for facet, values := range s.Filters {
		at[facet] = values
	}
	return catalogAt(at)
}

func (v *pageRequest) ownSearchesPage() (*ownSearchesPage, error) {
	list, err := v.app.SavedSearches(v.Context(), v.who.Actor, v.who.ID, exchange.Page{})
	return &ownSearchesPage{accountPage: v.accountPage("searches", "Saved searches"), Searches: list.Items}, err
}

func (v *pageRequest) ownSearches() (response, error) {
	p, err := v.ownSearchesPage()
	if err != nil {
		return response{}, err
	}
	return show("account-searches", p)
}

// saveOwnSearch renames a saved search, or switches its alerts.
func (v *pageRequest) saveOwnSearch() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	s, err := v.app.UpdateSavedSearch(v.Context(), v.who.Actor, v.who.ID, id, exchange.SavedSearchPatch{
		Name: exchange.Some(v.PostFormValue("name")), Alerts: exchange.Some(v.PostForm.Has("alerts"))}, nil)
	if fields, wrong := faults(err); wrong {
		p, err := v.ownSearchesPage()
		if err != nil {
			return response{}, err
		}
		p.Wrong, p.Errors = id, sentencesOf(fields, map[string]string{"name": "the name"})
		return invalid("account-searches", p)
	} else if err != nil {
		return response{}, err
	}
	text := s.Name + " is saved. You are told of what is new in it."
	if !s.Alerts {
		text = s.Name + " is saved, without alerts."
	}
	return seeOther("/account/searches").saying(text), nil
}

func (v *pageRequest) deleteOwnSearch() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	return seeOther("/account/searches").saying("The saved search is deleted."),
		v.app.DeleteSavedSearch(v.Context(), v.who.Actor, v.who.ID, id, nil)
}
