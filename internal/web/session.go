package web

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/server"
)

// The cookies. Because of their prefix browsers accept them only from this host, over TLS or on the same machine.
const (
	sessionCookie = "__Host-session" // the session's token, of which the database has a revocable row with the hash
	signInCookie  = "__Host-signin"  // while the visitor is at the identity provider
	noteCookie    = "__Host-note"    // the message on the next page
	themeCookie   = "__Host-theme"   // light or dark
	keysOff       = "__Host-nokeys"  // no keyboard shortcuts
)

var signInPages = []page{
	get("/signin", (*pageRequest).signIn),
	// no form: its action would have to name the provider in the policy
	get("/signin/start", (*pageRequest).beginSignIn),
	get("/signin/callback", (*pageRequest).endSignIn).limited(),
	post("/signout", (*pageRequest).signOut).open(),
}

// note is the message on the next page: what was done, or what is pending and can be undone.
type flash struct {
	Text string `json:"t"`
	Undo int64  `json:"u,omitempty"` // the pending action
}

func (v *pageRequest) setCookie(name, value string, lives time.Duration) {
	http.SetCookie(v.w, &http.Cookie{Name: name, Value: value, Path: "/", Secure: true, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: int(lives.Seconds())})
}

func (v *pageRequest) forget(name string) { v.setCookie(name, "", -time.Second) }

// cookie returns the value of a cookie, "" if there is none.
func (v *pageRequest) cookie(name string) string {
	c, err := v.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

func (v *pageRequest) has(name string) bool { return v.cookie(name) != "" }

// recognize identifies the visitor. An ended session counts as none.
func (v *pageRequest) recognize() error {
	token := v.cookie(sessionCookie)
	if token == "" {
		return nil
	}
	who, err := v.app.Visitor(v.Context(), token)
	if err != nil {
		return err
	}
	if who.Anonymous() {
		v.forget(sessionCookie)
		if v.limits != nil {
			v.limits.Refused(app.Hash(token), v.RemoteAddr)
		}
		return nil
	}
	v.who = who
	server.SetUser(v.w, who.ID.String())
	if v.limits != nil {
		v.limits.Proved(app.Hash(token), who.ID)
	}
	return nil
}

func (v *pageRequest) theme() string {
	if theme := v.cookie(themeCookie); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

// noteLives is long enough for a redirect.
const noteLives = 15 * time.Second

func (v *pageRequest) remember(n flash) {
	text, _ := json.Marshal(n) // such a struct always marshals
	v.setCookie(noteCookie, base64.RawURLEncoding.EncodeToString(text), noteLives)
}

// recall returns the message for this page and removes it.
func (v *pageRequest) recall() *flash {
	text, err := base64.RawURLEncoding.DecodeString(v.cookie(noteCookie))
	var n flash
	if err != nil || json.Unmarshal(text, &n) != nil || n.Text == "" {
		return nil
	}
	v.forget(noteCookie)
	return &n
}

// toSignIn sends the visitor to sign in, and back here afterwards; after a form, to the form's page.
func (v *pageRequest) toSignIn() response {
	next := v.URL.RequestURI()
	if v.Method != http.MethodGet {
		next = "/"
		if from, err := url.Parse(v.Referer()); err == nil && from.Host == v.Host {
			next = from.RequestURI()
		}
	}
	return seeOther("/signin?next=" + url.QueryEscape(next))
}

// ours returns next if it is an address on this host, "/" otherwise.
func ours(next string) string {
	u, err := url.Parse(next)
	if err != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		strings.ContainsAny(next, "\\\r\n\t") || u.Host != "" || u.Scheme != "" {
		return "/"
	}
	return next
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
	p := &signInPage{Page: Page{Title: "Sign in", Narrow: true}, Next: ours(v.FormValue("next")), Provider: v.provider,
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
