package catalog

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

// suggested is one suggestion while somebody types a search.
type suggested struct {
	Text    string `json:"text"`
	Kind    string `json:"kind"`
	Address string `json:"address"`
}

const maxSuggested = 8

// suggest answers the script with suggestions while somebody types.
func (v *pageRequest) suggest() (ui.Response, error) {
	if err := ui.SearchSize("q", v.FormValue("q")); err != nil {
		return ui.Response{}, err
	}
	found, err := v.App.Materials.Suggest(v.Context(), v.Who.Actor, v.FormValue("q"), maxSuggested)
	if err != nil {
		return ui.Response{}, err
	}
	list := []suggested{}
	for _, s := range found {
		id := strconv.FormatInt(s.ID, 10)
		if s.Kind == "organization" {
			list = append(list, suggested{s.Text, "Lab", "/labs/" + id})
		} else {
			list = append(list, suggested{s.Text, "Material", "/catalog/" + id})
		}
	}
	text, err := json.Marshal(list)
	return ui.Response{Serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		ui.Send(w, r, http.StatusOK, text)
	}}, err
}

// saveSearch stores the search of the page that the form is on, with alerts.
func (v *pageRequest) saveSearch() (ui.Response, error) {
	filters, at := material.Filters{}, url.Values{}
	if q := v.PostFormValue("q"); q != "" {
		at.Set("q", q)
	}
	for _, f := range material.Facets {
		if values := v.PostForm[f.Name]; len(values) > 0 {
			filters[f.Name], at[f.Name] = values, values
		}
	}
	s, err := v.App.Materials.CreateSavedSearch(v.Context(), v.Who.Actor, v.Who.ID, material.SavedSearchPatch{
		Name: exchange.Some(v.PostFormValue("name")), Search: exchange.Some(v.PostFormValue("q")),
		Filters: exchange.Some(filters), Alerts: exchange.Some(true),
	})
	if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(ui.CatalogAddress(at)).Saying("Saved as “" + s.Name +
		"”. You will be notified once of each new listing that matches."), nil
}
