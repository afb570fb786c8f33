package account

import (
	"net/http"
	"net/url"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

// welcomePage is the first page that a new user sees.
type welcomePage struct {
	ui.Page
	ui.FormValues
	Next      string
	AskEmail  bool // the identity provider gave no e-mail address
	Addressed bool // an address was begun
}

func (v *pageRequest) welcomePage() *welcomePage {
	p := &welcomePage{Page: ui.Page{Title: "Welcome", Section: "account", Narrow: true},
		FormValues: ui.FormValues{Form: v.PostForm},
		Next:       ui.LocalAddress(v.FormValue("next")), AskEmail: v.Who.User.Email == ""}
	if v.Method != http.MethodPost {
		u := v.Who.User
		p.Form = url.Values{"first_name": {u.FirstName}, "last_name": {u.LastName}, "email": {u.Email},
			"time_zone": {v.Who.Zone.String()}, "name": {u.Name()}}
	}
	p.Addressed = begun(p.Form)
	return p
}

// begun reports whether an address was typed: its name is prefilled.
func begun(form url.Values) bool {
	for _, field := range ui.AddressFields {
		if field != "name" && form.Get(field) != "" {
			return true
		}
	}
	return false
}

func (v *pageRequest) welcome() (ui.Response, error) { return ui.Show("welcome", v.welcomePage()) }

// saveWelcome stores the form, and continues to the page that the visitor came for.
func (v *pageRequest) saveWelcome() (ui.Response, error) {
	steps := person.FirstSteps{User: v.names(),
		Mail: mailing.Patch{TimeZone: exchange.Some(v.PostFormValue("time_zone"))}}
	if begun(v.PostForm) {
		a := ui.AddressOf(v.PostForm)
		a.SavedForUse = exchange.Some(true)
		steps.Address = &a
	}
	err := v.App.Accounts.TakeFirstSteps(v.Context(), v.Who.Actor, steps)
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		p := v.welcomePage()
		p.Errors = ui.SentencesOf(fields, ui.AddressLabels)
		for _, labels := range []map[string]string{profileLabels, mailLabels} {
			for field := range labels {
				if texts := fields[field]; texts != nil {
					p.Errors[field] = ui.SentencesOf(map[string][]string{field: texts}, labels)[field]
				}
			}
		}
		return ui.Invalid("welcome", p)
	}
	return ui.SeeOther(ui.LocalAddress(v.PostFormValue("next"))).Saying("Profile saved. You can change it in your " +
			"settings."),
		err
}
