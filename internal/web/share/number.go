package share

import (
	"net/url"
	"strconv"
	"strings"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/web/ui"
)

// listByNumber shows the form of a new material, filled in with what is known of the number that was pasted. If nothing
// says what the material is, the visitor chooses its category, and the number is looked up again.
func (v *pageRequest) listByNumber() (ui.Response, error) {
	asked := v.URL.Query()
	number := strings.TrimSpace(asked.Get("number"))
	chosen, _ := category.Get(asked.Get("category"))
	again := func(notes []string) (ui.Response, error) {
		p, err := v.sharePage()
		if err != nil {
			return ui.Response{}, err
		}
		p.Number, p.Errors = number, ui.FieldErrors{"number": notes}
		return ui.Invalid("share", p)
	}
	found, err := v.App.Materials.ByNumber(v.Context(), v.Who.Actor, number, chosen.Code)
	if fields, is := ui.FieldErrorsIn(err); is {
		return again(ui.AsSentences(fields["number"]))
	} else if err != nil {
		return ui.Response{}, err
	}
	if found.Material.Category == "" {
		if found.From != "" {
			found.Notes = append(found.Notes, "It is "+found.From+". Choose what the material is.")
		}
		return again(found.Notes)
	}
	p := &listingPage{Notes: found.Notes}
	if p.Options, err = v.App.Materials.MaterialFormOptions(v.Context(), v.Who.Actor, v.shareLab(asked.Get("lab")),
		nil); err != nil {
		return ui.Response{}, err
	}
	if p.Options.Lab.ID == 0 {
		return ui.SeeOther("/share"), nil
	}
	p.fillIn(found.Material)
	if found.From != "" {
		p.Found = "Filled in from " + found.From + ". Check it before you publish."
	}
	if err := v.begin(p); err != nil {
		return ui.Response{}, err
	}
	return ui.Show("share_edit", p)
}

// NewAddress returns the address of the form for a new material of a category, with the number that was pasted.
func (p *sharePage) NewAddress(code string) string {
	query := url.Values{"category": {code}, "lab": {strconv.FormatInt(p.Options.Lab.ID, 10)}}
	if p.Number == "" {
		return "/share/new?" + query.Encode()
	}
	query.Set("number", p.Number)
	return "/share/number?" + query.Encode()
}

// suggestOrganisms answers the script of the field of organisms.
func (v *pageRequest) suggestOrganisms() (ui.Response, error) {
	var list []ui.Suggestion
	for _, o := range identifier.SuggestOrganisms(v.FormValue("q"), ui.MaxSuggested) {
		list = append(list, ui.Suggestion{Text: o.Name, Kind: o.Common, Value: o.Name})
	}
	return ui.Suggest(list)
}
