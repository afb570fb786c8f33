package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/url"
	"path"
	"strings"

	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"

	"golang.org/x/net/idna"
)

// SignInStart is what a browser keeps while its user is at the identity provider.
type SignInStart struct {
	State    string `json:"s"`
	Nonce    string `json:"o"`
	Verifier string `json:"v"` // PKCE
}

// Returned reports whether state belongs to the sign-in that the browser with s began.
func (s SignInStart) Returned(state string) bool {
	return s.State != "" && s.Nonce != "" && s.Verifier != "" &&
		subtle.ConstantTimeCompare([]byte(s.State), []byte(state)) == 1
}

// Browser describes the browser that a session begins in: its name, and the token of its earlier session, which ends.
type Browser struct{ Name, Session string }

// StartSignIn returns the URL of the identity provider to which to redirect a browser.
func (a Accounts) StartSignIn(ctx context.Context) (address string, s SignInStart, err error) {
	// RFC 7636: at least 43 characters
	s = SignInStart{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text()}
	address, err = a.Identity.AuthURL(ctx, a.callback(), s.State, identity.Proof{Nonce: s.Nonce, Verifier: s.Verifier})
	return address, s, err
}

// FinishSignIn begins a session from the identity provider's answer, whose state was checked. If it has no code, the
// error is InvalidCode with the provider's message.
func (a Accounts) FinishSignIn(ctx context.Context, s SignInStart, answer url.Values, b Browser) (Signed, error) {
	if err := a.Identity.CheckIssuer(ctx, answer.Get("iss")); err != nil {
		return Signed{}, err
	}
	if reason := answer.Get("error"); reason != "" {
		return Signed{}, identity.Declined(reason, answer.Get("error_description"))
	}
	r := person.Registration{Code: answer.Get("code"), OriginURL: a.callback()}
	proof := identity.Proof{Nonce: s.Nonce, Verifier: s.Verifier}
	return a.login(ctx, r, proof, func(p identity.Person) (Signed, error) { return a.SignInBrowser(ctx, p, r, b) })
}

// WatchIdentity tries to reach the identity provider until it can be used.
func (a Accounts) WatchIdentity(ctx context.Context) { a.Identity.Watch(ctx, a.callback(), a.Log) }

// callback returns the URL to which the identity provider sends people back.
func (a Accounts) callback() string { return a.PublicURL + "/signin/callback" }

// isCallback reports whether a URL leads to callback, in any spelling.
func (a Accounts) isCallback(address string) bool {
	place, ok := placeOf(address)
	ours, _ := placeOf(a.callback())
	return ok && place == ours
}

// placeOf returns host, port and path of a web address in normal form. Scheme, query and fragment are ignored.
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
