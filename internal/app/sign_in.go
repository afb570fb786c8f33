package app

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/url"
	"path"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/identity"

	"golang.org/x/net/idna"
)

// SignInStart is what a browser keeps while its user is at the identity provider.
type SignInStart struct {
	State    string `json:"s"`
	Nonce    string `json:"o"`
	Verifier string `json:"v"` // PKCE
}

// Returned reports whether the browser that keeps s began the sign-in that state comes back from.
func (s SignInStart) Returned(state string) bool {
	return s.State != "" && s.Nonce != "" && s.Verifier != "" &&
		subtle.ConstantTimeCompare([]byte(s.State), []byte(state)) == 1
}

// Browser is what a session begins in: what it is called, and the token of the session that it had, which ends.
type Browser struct{ Name, Session string }

// StartSignIn gives the page of the identity provider that a browser goes to.
func (a *App) StartSignIn(ctx context.Context) (address string, s SignInStart, err error) {
	// RFC 7636: at least 43 characters
	s = SignInStart{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text()}
	address, err = a.Identity.AuthURL(ctx, a.callback(), s.State, identity.Proof{Nonce: s.Nonce, Verifier: s.Verifier})
	return address, s, err
}

// FinishSignIn begins a session with what the identity provider sent the browser back with, whose state was
// checked. Where it sent no code the error is InvalidCode and has the provider's words.
func (a *App) FinishSignIn(ctx context.Context, s SignInStart, answer url.Values, b Browser) (Signed, error) {
	if err := a.Identity.CheckIssuer(ctx, answer.Get("iss")); err != nil {
		return Signed{}, err
	}
	if reason := answer.Get("error"); reason != "" {
		return Signed{}, identity.Declined(reason, answer.Get("error_description"))
	}
	r := exchange.Registration{Code: answer.Get("code"), OriginURL: a.callback()}
	proof := identity.Proof{Nonce: s.Nonce, Verifier: s.Verifier}
	return a.login(ctx, r, proof, func(p identity.Person) (Signed, error) { return a.SignInBrowser(ctx, p, r, b) })
}

// WatchIdentity tries the identity provider until it can be used.
func (a *App) WatchIdentity(ctx context.Context) { a.Identity.Watch(ctx, a.callback(), a.Log) }

// callback is where the identity provider sends people back to the pages.
func (a *App) callback() string { return a.PublicURL + "/signin/callback" }

// isCallback reports whether an address leads to callback, however it is written.
func (a *App) isCallback(address string) bool {
	place, ok := placeOf(address)
	ours, _ := placeOf(a.callback())
	return ok && place == ours
}

// placeOf is host, port and path of a web address in one spelling. Scheme, query and fragment do not count.
func placeOf(address string) (place string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "", false
	}
	host := strings.TrimRight(u.Hostname(), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	port := u.Port()
	if port == "80" || port == "443" {
		port = ""
	}
	return strings.ToLower(net.JoinHostPort(host, port) + path.Clean("/"+strings.ReplaceAll(u.Path, `\`, "/"))), true
}
