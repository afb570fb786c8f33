package web

import (
	"net/http"
	"net/url"

	"aliquot/internal/exchange"
)

// welcomePage is the first page that a new user sees.
type welcomePage struct {
	Page
	typed
	Next      string
	AskEmail  bool // the identity provider gave no e-mail address
	Addressed bool // an address was begun
}

func (v *pageRequest) welcomePage() *welcomePage {
	p := &welcomePage{Page: Page{Title: "Welcome", Section: "account", Narrow: true}, typed: typed{v.PostForm},
		Next: ours(v.FormValue("next")), AskEmail: v.who.User.Email == ""}
	if v.Method != http.MethodPost {
		u := v.who.User
		p.Form = url.Values{"first_name": {u.FirstName}, "last_name": {u.LastName}, "email": {u.Email},
			"time_zone": {v.who.Zone.String()}, "name": {u.Name()}}
	}
	p.Addressed = begun(p.Form)
	return p
}

// begun reports whether an address was typed: its name is prefilled.
func begun(form url.Values) bool {
	for _, field := range addressFields {
		if field != "name" && form.Get(field) != "" {
			return true
		}
	}
	return false
}

func (v *pageRequest) welcome() (response, error) { return show("welcome", v.welcomePage()) }

// saveWelcome stores the form, and continues to the page that the visitor came for.
func (v *pageRequest) saveWelcome() (response, error) {
	steps := exchange.FirstSteps{User: v.names(),
		Mail: exchange.MailSettingsPatch{TimeZone: exchange.Some(v.PostFormValue("time_zone"))}}
	if begun(v.PostForm) {
		a := addressOf(v.PostForm)
		a.SavedForUse = exchange.Some(true)
		steps.Address = &a
	}
	err := v.app.TakeFirstSteps(v.Context(), v.who.Actor, steps)
	if fields, wrong := faults(err); wrong {
		p := v.welcomePage()
		p.Errors = sentencesOf(fields, addressLabels)
		for _, labels := range []map[string]string{profileLabels, mailLabels} {
			for field := range labels {
				if texts := fields[field]; texts != nil {
					p.Errors[field] = sentencesOf(map[string][]string{field: texts}, labels)[field]
				}
			}
		}
		return invalid("welcome", p)
	}
	return seeOther(ours(v.PostFormValue("next"))).saying("Your profile is saved. You can change it in your settings."),
		err
}
