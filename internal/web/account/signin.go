package account

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"aliquot/internal/app/account"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

// signInRequest is a request of somebody who signs in or out.
type signInRequest struct{ *ui.PageRequest }

var signInPages = []ui.Route{
	ui.Get("/signin", (*signInRequest).signIn),
	// no form: its action would have to name the provider in the policy
	ui.Get("/signin/start", (*signInRequest).beginSignIn),
	ui.Get("/signin/callback", (*signInRequest).endSignIn).Limited(),
	ui.Get("/signin/callback/{provider}", (*signInRequest).endSignIn).Limited(),
	ui.Get("/signin/link", (*signInRequest).link),
	ui.Post("/signin/link", (*signInRequest).makeLink),
	ui.PostID("/account/sign-ins/{id}/unlink", (*signInRequest).unlink),
	ui.Post("/signout", (*signInRequest).signOut).Open(),
	ui.Get("/signed-out", (*signInRequest).signedOut),
}

type signInPage struct {
	ui.Page
	Next     string
	Provider string // its name, as people know it
	Further  []furtherProvider
	Closed   bool // there is no identity provider
	Down     bool // the provider fails, or does not accept us
	Problem  string
}

// furtherProvider is an identity provider other than the main one.
type furtherProvider struct {
	Name, Label string
	Down        bool
}

func (v *signInRequest) signInPage(problem string) *signInPage {
	p := &signInPage{Page: ui.Page{Title: "Sign in", Narrow: true}, Next: ui.LocalAddress(v.FormValue("next")),
		Provider: v.provider(), Further: v.further(),
		Closed: v.App.Identity == nil, Problem: problem}
	p.Down = !p.Closed && v.App.Identity.Trouble() != nil
	return p
}

func (v *signInRequest) further() (list []furtherProvider) {
	for _, p := range v.App.Providers {
		list = append(list, furtherProvider{p.Name, p.Label, p.Trouble() != nil})
	}
	return list
}

func (v *signInRequest) signIn() (ui.Response, error) {
	if v.SignedIn() {
		return ui.SeeOther(ui.LocalAddress(v.FormValue("next"))), nil
	}
	return ui.Show("signin", v.signInPage(""))
}

// signingIn is kept in the browser while the visitor is at the identity provider.
type signingIn struct {
	account.SignInStart
	Next string `json:"n"`
}

func (v *signInRequest) beginSignIn() (ui.Response, error) {
	if v.App.Identity == nil {
		return ui.Invalid("signin", v.signInPage("This installation has no identity provider yet; ask the operator."))
	}
	address, start, err := v.App.Accounts.StartSignIn(v.Context(), v.FormValue("provider"))
	if exchange.CodeOf(err) == exchange.InvalidInput {
		return ui.Invalid("signin", v.signInPage("There is no such identity provider. Choose one of these."))
	}
	if err != nil {
		return ui.Response{}, err
	}
	text, err := json.Marshal(signingIn{start, ui.LocalAddress(v.FormValue("next"))})
	if err != nil {
		return ui.Response{}, err
	}
	v.SetCookie(ui.SignInCookie, base64.RawURLEncoding.EncodeToString(text), ui.SignInLives)
	return ui.SeeOther(address), nil
}

func (v *signInRequest) endSignIn() (ui.Response, error) {
	again := func(problem string) (ui.Response, error) {
		v.ForgetCookie(ui.SignInCookie)
		return ui.Invalid("signin", v.signInPage(problem))
	}
	var at signingIn
	text, err := base64.RawURLEncoding.DecodeString(v.CookieValue(ui.SignInCookie))
	if err != nil || json.Unmarshal(text, &at) != nil || !at.Returned(v.FormValue("state")) || v.App.Identity == nil ||
		at.Provider != v.PathValue("provider") {
		return again("This sign-in was started in another browser or has expired. Please sign in again.")
	}
	signed, err := v.App.Accounts.FinishSignIn(v.Context(), at.SignInStart, v.URL.Query(),
		account.Browser{Name: device(v.UserAgent()), Session: v.CookieValue(ui.SessionCookie)})
	switch e, _ := errors.AsType[*exchange.Error](err); exchange.CodeOf(err) {
	case exchange.InvalidCode:
		v.LogCause(err)
		v.NoteRefusal(err)
		return again(e.Message)
	case exchange.InvalidInput:
		return again("You are not signed in. Nothing was changed.")
	case exchange.RegistrationClosed:
		v.NoteRefusal(err)
		return again("Registration is closed. Ask the operator for access.")
	default:
		if err != nil {
			return ui.Response{}, err
		}
	}
	v.ForgetCookie(ui.SignInCookie)
	if signed.Unlinked != "" {
		v.SetCookie(ui.LinkCookie, signed.Unlinked, person.FreshSignIn)
		return ui.SeeOther("/signin/link"), nil
	}
	v.SetCookie(ui.SessionCookie, signed.Token, v.App.TokenLifetime)
	if signed.New {
		return ui.SeeOther("/welcome?next=" + url.QueryEscape(ui.LocalAddress(at.Next))), nil
	}
	return ui.SeeOther(ui.LocalAddress(at.Next)), nil
}

// linkPage asks to which account a sign-in at another provider belongs.
type linkPage struct {
	ui.Page
	Provider, Label string // the main provider, and the other one
	account.Unlinked
	Ready bool // the visitor has just signed in with the main provider
}

func (v *signInRequest) link() (ui.Response, error) {
	unlinked, err := v.App.SignIns.Unlinked(v.Context(), v.CookieValue(ui.LinkCookie))
	if exchange.CodeOf(err) == exchange.NotFound {
		v.ForgetCookie(ui.LinkCookie)
		return ui.Invalid("signin", v.signInPage(exchange.MessageOf(err)))
	}
	if err != nil {
		return ui.Response{}, err
	}
	p := &linkPage{Page: ui.Page{Title: "Link your sign-in", Narrow: true}, Provider: v.provider(),
		Label: v.App.Accounts.ProviderLabel(unlinked.Issuer), Unlinked: unlinked}
	if v.SignedIn() {
		err = v.App.SignIns.MayLink(v.Context(), v.App.DB.Read(), v.Who.Actor)
		p.Ready = err == nil
		if exchange.CodeOf(err) == exchange.Forbidden {
			err = nil
		}
	}
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("signin-link", p)
}

func (v *signInRequest) makeLink() (ui.Response, error) {
	err := v.App.SignIns.Link(v.Context(), v.Who.Actor, v.CookieValue(ui.LinkCookie))
	switch exchange.CodeOf(err) {
	case exchange.NotFound, exchange.Conflict:
		v.ForgetCookie(ui.LinkCookie)
		return ui.Invalid("signin", v.signInPage(exchange.MessageOf(err)))
	case exchange.Forbidden:
		return ui.SeeOther("/signin/link"), nil
	}
	if err != nil {
		return ui.Response{}, err
	}
	v.ForgetCookie(ui.LinkCookie)
	return ui.SeeOther("/account/sessions").Saying("Your sign-in is linked. From now on it opens this account."), nil
}

func (v *signInRequest) unlink(id int64) (ui.Response, error) {
	return ui.SeeOther("/account/sessions").Saying("Unlinked. That sign-in no longer opens your account."),
		v.App.SignIns.Unlink(v.Context(), v.Who.Actor, v.Who.ID, id)
}

// signedOutPath is the page after signing out, and the one to which identity providers send people back.
const signedOutPath = "/signed-out"

// signOut ends the session. If its identity provider lets people sign out there, the next page offers that: on a shared
// computer the next person would come in without a password otherwise.
func (v *signInRequest) signOut() (ui.Response, error) {
	next := ui.SeeOther("/").Saying("You are signed out.")
	if v.SignedIn() {
		issuer, err := v.App.Accounts.SessionIssuer(v.Context(), v.Who.Actor)
		if err != nil {
			return ui.Response{}, err
		}
		if err := v.App.Accounts.Logout(v.Context(), v.Who.Actor); err != nil {
			return ui.Response{}, err
		}
		if v.App.Accounts.SignOutAt(issuer, signedOutPath) != "" {
			next = ui.SeeOther(signedOutPath + "?from=" + url.QueryEscape(issuer))
		}
	}
	v.ForgetCookie(ui.SessionCookie)
	return next, nil
}

// signedOutPage is the page after signing out.
type signedOutPage struct {
	ui.Page
	Provider, Address string // where they may be signed in still, and its page to sign out; "" if there is none
}

func (v *signInRequest) signedOut() (ui.Response, error) {
	if v.SignedIn() {
		return ui.SeeOther("/"), nil
	}
	p := &signedOutPage{Page: ui.Page{Title: "Signed out", Narrow: true}}
	from := v.FormValue("from")
	if p.Address = v.App.Accounts.SignOutAt(from, signedOutPath); p.Address != "" {
		p.Provider = v.App.Accounts.ProviderLabel(from)
		if from == v.App.Identity.Issuer() {
			p.Provider = v.provider()
		}
	}
	return ui.Show("signed-out", p)
}

// provider returns the name by which people know the identity provider.
func (v *signInRequest) provider() string {
	if v.App.Identity == nil {
		return "your institution"
	}
	issuer := v.App.Identity.Issuer()
	u, err := url.Parse(issuer)
	switch {
	case err != nil:
		return issuer
	case u.Hostname() == "orcid.org" || strings.HasSuffix(u.Hostname(), ".orcid.org"):
		return "ORCID"
	case strings.HasSuffix(u.Path, "/demo/identity"):
		return "the sample people"
	}
	return u.Hostname()
}
