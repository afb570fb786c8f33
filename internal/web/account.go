package web

import (
	"strings"

	"aliquot/internal/exchange"
)

var accountPages = []page{
	get("/account", (*visit).profile).private(),
	post("/account", (*visit).saveProfile),
	get("/account/notifications", (*visit).told).private(),
	post("/account/notifications", (*visit).saveMail),
	post("/account/notifications/switches", (*visit).saveSwitches),
	post("/account/notifications/retry", (*visit).retryMail),
	get("/account/appearance", (*visit).appearance).private(),
	post("/account/appearance", (*visit).saveAppearance),
	get("/account/addresses", (*visit).addresses).private(),
	get("/account/addresses/new", (*visit).newAddress).private(),
	post("/account/addresses/new", (*visit).saveAddress),
	get("/account/addresses/{id}", (*visit).editAddress).private(),
	post("/account/addresses/{id}", (*visit).saveAddress),
	post("/account/addresses/{id}/delete", (*visit).deleteAddress),
	get("/account/searches", (*visit).ownSearches).private(),
	post("/account/searches/{id}", (*visit).saveOwnSearch),
	post("/account/searches/{id}/delete", (*visit).deleteOwnSearch),
	get("/account/tokens", (*visit).tokens).private(),
	post("/account/tokens", (*visit).createToken),
	post("/account/tokens/{id}/revoke", (*visit).revokeToken),
	get("/account/sessions", (*visit).sessions).private(),
	post("/account/sessions/others", (*visit).endOtherSessions),
	post("/account/sessions/all", (*visit).endEverything),
	get("/account/storage", (*visit).ownStorage).private(),
	post("/account/storage/{id}/delete", (*visit).deleteOwnFile),
	get("/account/export", (*visit).export).private(),
	get("/account/export/data.zip", (*visit).exportData).private(),
	get("/account/close", (*visit).askClose).private(),
	post("/account/close", (*visit).closeOwn),
	get("/account/closed", (*visit).accountClosed),
	get("/welcome", (*visit).welcome).private(),
	post("/welcome", (*visit).saveWelcome),
}

// accountPage is one page of a person's settings.
type accountPage struct {
	Page
	typed
	Tab string // the last word of its address
}

func (v *visit) accountPage(tab, title string) accountPage {
	return accountPage{Page: Page{Title: title + ", settings", Section: "account"}, typed: typed{v.PostForm}, Tab: tab}
}

// settingsTab is an entry of the navigation beside the settings.
type settingsTab struct{ Name, Icon, Text string }

// Tabs are all of them.
func (accountPage) Tabs() []settingsTab {
	return []settingsTab{{"", "user", "Profile"}, {"notifications", "bell", "Notifications"}, {"appearance", "eye", "Display and keys"}, {"addresses", "pin", "Addresses"},
		{"searches", "search", "Saved searches"}, {"tokens", "key", "API tokens"}, {"sessions", "lock", "Sessions"}, {"storage", "file", "Storage"}, {"export", "download", "Your data"},
		{"close", "x", "Close account"}}
}

// profilePage is who a person is.
type profilePage struct {
	accountPage
	User      exchange.User
	Confirmed bool // the identity provider vouched for their e-mail address
}

var profileLabels = map[string]string{"first_name": "the first name", "last_name": "the last name", "email": "the e-mail address"}

func (v *visit) profilePage() *profilePage {
	u := v.who.User
	p := &profilePage{accountPage: v.accountPage("", "Profile"), User: u, Confirmed: u.Email != "" && strings.EqualFold(u.Email, u.VerifiedEmail)}
	if p.Form == nil {
		p.Form = map[string][]string{"first_name": {u.FirstName}, "last_name": {u.LastName}, "email": {u.Email}}
	}
	return p
}

func (v *visit) profile() (reply, error) { return show("account", v.profilePage()) }

func (v *visit) saveProfile() (reply, error) {
	_, err := v.app.UpdateUser(v.Context(), v.who.Actor, v.who.ID, v.names())
	if fields, wrong := faults(err); wrong {
		p := v.profilePage()
		p.Errors = sentencesOf(fields, profileLabels)
		return invalid("account", p)
	}
	return seeOther("/account").saying("Your profile is saved."), err
}

// names are what the visitor says about themselves.
func (v *visit) names() exchange.UserPatch {
	var p exchange.UserPatch
	for name, field := range map[string]*exchange.Opt[string]{"first_name": &p.FirstName, "last_name": &p.LastName, "email": &p.Email} {
		if v.PostForm.Has(name) {
			*field = exchange.Some(v.PostFormValue(name))
		}
	}
	return p
}
