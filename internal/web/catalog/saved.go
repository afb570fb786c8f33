package catalog

import (
	"net/url"
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

// suggest answers the script with suggestions while somebody types.
func (v *pageRequest) suggest() (ui.Response, error) {
	if err := ui.SearchSize("q", v.FormValue("q")); err != nil {
		return ui.Response{}, err
	}
	found, err := v.App.Materials.Suggest(v.Context(), v.Who.Actor, v.FormValue("q"), ui.MaxSuggested)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Suggest(suggestionsOf(found))
}

func suggestionsOf(found []exchange.Suggestion) (list []ui.Suggestion) {
	for _, s := range found {
		line := ui.Suggestion{Text: s.Text, Kind: "Material", Address: materialAt(s.ID)}
		if s.Kind == "organization" {
			line.Kind, line.Address = "Lab", "/labs/"+strconv.FormatInt(s.ID, 10)
		}
		list = append(list, line)
	}
	return list
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
