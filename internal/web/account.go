package web

import (
	"strings"

	"aliquot/internal/exchange"
)

var accountPages = []page{
	get("/account", (*pageRequest).profile).private(),
	post("/account", (*pageRequest).saveProfile),
	get("/account/notifications", (*pageRequest).told).private(),
	post("/account/notifications", (*pageRequest).saveMail),
	post("/account/notifications/switches", (*pageRequest).saveSwitches),
	post("/account/notifications/retry", (*pageRequest).retryMail),
	get("/account/appearance", (*pageRequest).appearance).private(),
	post("/account/appearance", (*pageRequest).saveAppearance),
	get("/account/addresses", (*pageRequest).addresses).private(),
	get("/account/addresses/new", (*pageRequest).newAddress).private(),
	post("/account/addresses/new", (*pageRequest).saveAddress),
	get("/account/addresses/{id}", (*pageRequest).editAddress).private(),
	post("/account/addresses/{id}", (*pageRequest).saveAddress),
	post("/account/addresses/{id}/delete", (*pageRequest).deleteAddress),
	get("/account/searches", (*pageRequest).ownSearches).private(),
	post("/account/searches/{id}", (*pageRequest).saveOwnSearch),
	post("/account/searches/{id}/delete", (*pageRequest).deleteOwnSearch),
	get("/account/tokens", (*pageRequest).tokens).private(),
	post("/account/tokens", (*pageRequest).createToken),
	post("/account/tokens/{id}/revoke", (*pageRequest).revokeToken),
	get("/account/sessions", (*pageRequest).sessions).private(),
	post("/account/sessions/others", (*pageRequest).endOtherSessions),
	post("/account/sessions/all", (*pageRequest).endEverything),
	get("/account/storage", (*pageRequest).ownStorage).private(),
	post("/account/storage/{id}/delete", (*pageRequest).deleteOwnFile),
	get("/account/export", (*pageRequest).export).private(),
	get("/account/export/data.zip", (*pageRequest).exportData).private(),
	get("/welcome", (*pageRequest).welcome).private(),
	post("/welcome", (*pageRequest).saveWelcome),
}

// accountPage is what every page of a person's settings has.
type accountPage struct {
	Page
	typed
	Tab string // the last segment of the page's address
}

func (v *pageRequest) accountPage(tab, title string) accountPage {
	return accountPage{Page: Page{Title: title + ", settings", Section: "account"}, typed: typed{v.PostForm}, Tab: tab}
}

// settingsTab is an entry of the settings' navigation.
type settingsTab struct{ Name, Icon, Text string }

// Tabs returns all entries of the settings' navigation.
func (accountPage) Tabs() []settingsTab {
	return []settingsTab{{"", "user", "Profile"}, {"notifications", "bell", "Notifications"},
		{"appearance", "eye", "Display and keys"}, {"addresses", "pin", "Addresses"},
		{"searches", "search", "Saved searches"}, {"tokens", "key", "API tokens"}, {"sessions", "lock", "Sessions"},
		{"storage", "file", "Storage"}, {"export", "download", "Your data"},
		{"close", "x", "Close account"}}
}

// profilePage is the page on which people edit their name and e-mail address.
type profilePage struct {
	accountPage
	User      exchange.User
	Confirmed bool // the identity provider has confirmed their e-mail address
}

var profileLabels = map[string]string{"first_name": "the first name", "last_name": "the last name",
	"email": "the e-mail address"}

func (v *pageRequest) profilePage() *profilePage {
	u := v.who.User
	p := &profilePage{accountPage: v.accountPage("", "Profile"), User: u, Confirmed: u.Email != "" &&
		strings.EqualFold(u.Email, u.VerifiedEmail)}
	if p.Form == nil {
		p.Form = map[string][]string{"first_name": {u.FirstName}, "last_name": {u.LastName}, "email": {u.Email}}
	}
	return p
}

func (v *pageRequest) profile() (response, error) { return show("account", v.profilePage()) }

func (v *pageRequest) saveProfile() (response, error) {
	_, err := v.app.UpdateUser(v.Context(), v.who.Actor, v.who.ID, v.names(), nil)
	if fields, wrong := faults(err); wrong {
		p := v.profilePage()
		p.Errors = sentencesOf(fields, profileLabels)
		return invalid("account", p)
	}
	return seeOther("/account").saying("Your profile is saved."), err
}

// names returns the profile fields of the form.
func (v *pageRequest) names() exchange.UserPatch {
	var p exchange.UserPatch
	for name, field := range map[string]*exchange.Opt[string]{"first_name": &p.FirstName, "last_name": &p.LastName,
		"email": &p.Email} {
		if v.PostForm.Has(name) {
			*field = exchange.Some(v.PostFormValue(name))
		}
	}
	return p
}
