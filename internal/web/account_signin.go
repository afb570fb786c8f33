package web

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
)

var signInPages = []page{
	get("/signin", (*pageRequest).signIn),
	// no form: its action would have to name the provider in the policy
	get("/signin/start", (*pageRequest).beginSignIn),
	get("/signin/callback", (*pageRequest).endSignIn).limited(),
	post("/signout", (*pageRequest).signOut).open(),
}

type signInPage struct {
	Page
	Next     string
	Provider string // its name, as people know it
	Closed   bool   // there is no identity provider
	Down     bool   // the provider fails, or does not accept us
	Problem  string
}

func (v *pageRequest) signInPage(problem string) *signInPage {
	p := &signInPage{Page: Page{Title: "Sign in", Narrow: true}, Next: ours(v.FormValue("next")), Provider: v.provider(),
		Closed: v.app.Identity == nil, Problem: problem}
	p.Down = !p.Closed && v.app.Identity.Trouble() != nil
	return p
}

func (v *pageRequest) signIn() (response, error) {
	if v.signedIn() {
		return seeOther(ours(v.FormValue("next"))), nil
	}
	return show("signin", v.signInPage(""))
}

// signingIn is kept in the browser while the visitor is at the identity provider.
type signingIn struct {
	app.SignInStart
	Next string `json:"n"`
}

const signInLives = 15 * time.Minute

func (v *pageRequest) beginSignIn() (response, error) {
	if v.app.Identity == nil {
		return invalid("signin", v.signInPage("This installation has no identity provider yet; ask its operator."))
	}
	address, start, err := v.app.StartSignIn(v.Context())
	if err != nil {
		return response{}, err
	}
	text, err := json.Marshal(signingIn{start, ours(v.FormValue("next"))})
	if err != nil {
		return response{}, err
	}
	v.setCookie(signInCookie, base64.RawURLEncoding.EncodeToString(text), signInLives)
	return seeOther(address), nil
}

func (v *pageRequest) endSignIn() (response, error) {
	again := func(problem string) (response, error) {
		v.forget(signInCookie)
		return invalid("signin", v.signInPage(problem))
	}
	var at signingIn
	text, err := base64.RawURLEncoding.DecodeString(v.cookie(signInCookie))
	if err != nil || json.Unmarshal(text, &at) != nil || !at.Returned(v.FormValue("state")) || v.app.Identity == nil {
		return again("This sign-in was not begun in this browser, or a while ago. Begin again.")
	}
	signed, err := v.app.FinishSignIn(v.Context(), at.SignInStart, v.URL.Query(),
		app.Browser{Name: device(v.UserAgent()), Session: v.cookie(sessionCookie)})
	switch e, _ := errors.AsType[*exchange.Error](err); exchange.CodeOf(err) {
	case exchange.InvalidCode:
		v.logCause(err)
		v.noteRefusal(err)
		return again(e.Message)
	case exchange.InvalidInput:
		return again("You were not signed in. Nothing was changed.")
	case exchange.RegistrationClosed:
		v.noteRefusal(err)
		return again("Registration is closed here. Ask the operator to let you in.")
	default:
		if err != nil {
			return response{}, err
		}
	}
	v.forget(signInCookie)
	v.setCookie(sessionCookie, signed.Token, v.app.TokenLifetime)
	if signed.New {
		return seeOther("/welcome?next=" + url.QueryEscape(ours(at.Next))), nil
	}
	return seeOther(ours(at.Next)), nil
}

func (v *pageRequest) signOut() (response, error) {
	if v.signedIn() {
		if err := v.app.Logout(v.Context(), v.who.Actor); err != nil {
			return response{}, err
		}
	}
	v.forget(sessionCookie)
	return seeOther("/").saying("You are signed out."), nil
}

// provider returns the name by which people know the identity provider.
func (v *pageRequest) provider() string {
	if v.app.Identity == nil {
		return "your institution"
	}
	issuer := v.app.Identity.Issuer()
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
