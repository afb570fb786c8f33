package account

import (
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

var accountPages = []ui.Route{
	ui.Get("/account", (*pageRequest).profile).Private(),
	ui.Post("/account", (*pageRequest).saveProfile),
	ui.Get("/account/notifications", (*pageRequest).showNotificationSettings).Private(),
	ui.Post("/account/notifications", (*pageRequest).saveMail),
	ui.Post("/account/notifications/switches", (*pageRequest).saveSwitches),
	ui.Post("/account/notifications/retry", (*pageRequest).retryMail),
	ui.Get("/account/appearance", (*pageRequest).appearance).Private(),
	ui.Post("/account/appearance", (*pageRequest).saveAppearance),
	ui.Get("/account/addresses", (*pageRequest).addresses).Private(),
	ui.Get("/account/addresses/new", (*pageRequest).newAddress).Private(),
	ui.Post("/account/addresses/new", (*pageRequest).saveAddress),
	ui.Get("/account/addresses/{id}", (*pageRequest).editAddress).Private(),
	ui.Post("/account/addresses/{id}", (*pageRequest).saveAddress),
	ui.PostID("/account/addresses/{id}/delete", (*pageRequest).deleteAddress),
	ui.Get("/account/searches", (*pageRequest).ownSearches).Private(),
	ui.PostID("/account/searches/{id}", (*pageRequest).saveOwnSearch),
	ui.PostID("/account/searches/{id}/delete", (*pageRequest).deleteOwnSearch),
	ui.Get("/account/tokens", (*pageRequest).tokens).Private(),
	ui.Post("/account/tokens", (*pageRequest).createToken),
	ui.PostID("/account/tokens/{id}/revoke", (*pageRequest).revokeToken),
	ui.Get("/account/sessions", (*pageRequest).sessions).Private(),
	ui.Post("/account/sessions/others", (*pageRequest).endOtherSessions),
	ui.Post("/account/sessions/all", (*pageRequest).endEverything),
	ui.Get("/account/storage", (*pageRequest).ownStorage).Private(),
	ui.PostID("/account/storage/{id}/delete", (*pageRequest).deleteOwnFile),
	ui.Get("/account/export", (*pageRequest).export).Private(),
	ui.Get("/account/export/data.zip", (*pageRequest).exportData).Private(),
	ui.Get("/welcome", (*pageRequest).welcome).Private(),
	ui.Post("/welcome", (*pageRequest).saveWelcome),
}

// accountPage is what every page of a person's settings has.
type accountPage struct {
	ui.Page
	ui.FormValues
	Tab string // the last segment of the page's address
}

func (v *pageRequest) accountPage(tab, title string) accountPage {
	return accountPage{Page: ui.Page{Title: title + ", settings", Section: "account"},
		FormValues: ui.FormValues{Form: v.PostForm}, Tab: tab}
}

// settingsTab is an entry of the settings' navigation.
type settingsTab struct{ Name, Icon, Text string }

// Tabs returns all entries of the settings' navigation.
func (accountPage) Tabs() []settingsTab {
	return []settingsTab{{"", "user", "Profile"}, {"notifications", "bell", "Notifications"},
		{"appearance", "eye", "Display and keyboard"}, {"addresses", "pin", "Addresses"},
		{"searches", "search", "Saved searches"}, {"tokens", "key", "API tokens"},
		{"passkeys", "edit", "Passkeys"}, {"sessions", "lock", "Sessions"},
		{"storage", "file", "Storage"}, {"export", "download", "Your data"},
		{"close", "x", "Close account"}}
}

// profilePage is the page on which people edit their name and e-mail address.
type profilePage struct {
	accountPage
	User      person.User
	Confirmed bool // the identity provider has confirmed their e-mail address
}

var profileLabels = map[string]string{"first_name": "the first name", "last_name": "the last name",
	"email": "the e-mail address"}

func (v *pageRequest) profilePage() *profilePage {
	u := v.Who.User
	p := &profilePage{accountPage: v.accountPage("", "Profile"), User: u, Confirmed: u.Email != "" &&
		strings.EqualFold(u.Email, u.VerifiedEmail)}
	if p.Form == nil {
		p.Form = map[string][]string{"first_name": {u.FirstName}, "last_name": {u.LastName}, "email": {u.Email}}
	}
	return p
}

func (v *pageRequest) profile() (ui.Response, error) { return ui.Show("account", v.profilePage()) }

func (v *pageRequest) saveProfile() (ui.Response, error) {
	_, err := v.App.Accounts.UpdateUser(v.Context(), v.Who.Actor, v.Who.ID, v.names(), nil)
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		p := v.profilePage()
		p.Errors = ui.SentencesOf(fields, profileLabels)
		return ui.Invalid("account", p)
	}
	return ui.SeeOther("/account").Saying("Profile saved."), err
}

// names returns the profile fields of the form.
func (v *pageRequest) names() person.UserPatch {
	var p person.UserPatch
	for name, field := range map[string]*exchange.Opt[string]{"first_name": &p.FirstName, "last_name": &p.LastName,
		"email": &p.Email} {
		if v.PostForm.Has(name) {
			*field = exchange.Some(v.PostFormValue(name))
		}
	}
	return p
}

// choiceLives is how long a browser keeps the choice of appearance: the longest time that browsers allow.
const choiceLives = 400 * 24 * time.Hour

// appearancePage is the choice of how pages look in this browser.
type appearancePage struct {
	accountPage
	Chosen string // theme
}

func (v *pageRequest) appearance() (ui.Response, error) {
	return ui.Show("account-appearance", &appearancePage{v.accountPage("appearance",
		"Display and keyboard"), v.Theme()})
}

func (v *pageRequest) saveAppearance() (ui.Response, error) {
	if theme := v.PostFormValue("theme"); theme == "light" || theme == "dark" {
		v.SetCookie(ui.ThemeCookie, theme, choiceLives)
	} else {
		v.ForgetCookie(ui.ThemeCookie)
	}
	if v.PostForm.Has("keys") {
		v.ForgetCookie(ui.KeysOffCookie)
	} else {
		v.SetCookie(ui.KeysOffCookie, "1", choiceLives)
	}
	return ui.SeeOther("/account/appearance").Saying("Saved in this browser."), nil
}
