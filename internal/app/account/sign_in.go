package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/url"
	"path"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"

	"golang.org/x/net/idna"
)

// SignInStart is what a browser keeps while its user is at the identity provider.
type SignInStart struct {
	State    string `json:"s"`
	Nonce    string `json:"o"`
	Verifier string `json:"v"` // PKCE
	Provider string `json:"p"` // its name; "": the main one
}

// Returned reports whether state belongs to the sign-in that the browser with s began.
func (s SignInStart) Returned(state string) bool {
	return s.State != "" && s.Nonce != "" && s.Verifier != "" &&
		subtle.ConstantTimeCompare([]byte(s.State), []byte(state)) == 1
}

// Browser describes the browser that a session begins in: its name, and the token of its earlier session, which ends.
type Browser struct{ Name, Session string }

// provider returns the identity provider with a name; "" is that of the main one.
func (a Accounts) provider(name string) (*identity.Client, error) {
	if name == "" {
		if a.Identity == nil {
			return nil, exchange.Errorf(exchange.Unavailable,
				"No identity provider is configured; the operator sets --identity.")
		}
		return a.Identity, nil
	}
	for _, p := range a.Providers {
		if p.Name == name {
			return p.Client, nil
		}
	}
	return nil, core.FieldError("provider", "there is no identity provider with this name; leave it out for the main "+
		"one")
}

// ProviderLabel returns the name by which people know a provider that is not the main one.
func (a Accounts) ProviderLabel(issuer string) string {
	for _, p := range a.Providers {
		if p.Issuer() == issuer {
			return p.Label
		}
	}
	return issuer
}

// SessionIssuer returns the issuer of the identity provider by which the session of who began.
func (a Accounts) SessionIssuer(ctx context.Context, who exchange.Actor) (string, error) {
	session, err := a.DB.Read().Tokens.Get(ctx, who.TokenID)
	if err == nil && session.Issuer == "" && a.Identity != nil {
		return a.Identity.Issuer(), nil
	}
	return session.Issuer, err
}

// SignOutAt returns the page on which people sign out at the identity provider with an issuer, which sends them back to
// a path here; "" if there is none.
func (a Accounts) SignOutAt(issuer, back string) string {
	if a.Identity != nil && a.Identity.Issuer() == issuer {
		return a.Identity.EndSessionURL(a.PublicURL + back)
	}
	for _, p := range a.Providers {
		if p.Issuer() == issuer {
			return p.EndSessionURL(a.PublicURL + back)
		}
	}
	return ""
}

// StartSignIn returns the URL of an identity provider to which to redirect a browser.
func (a Accounts) StartSignIn(ctx context.Context, provider string) (address string, s SignInStart, err error) {
	client, err := a.provider(provider)
	if err != nil {
		return "", s, err
	}
	// RFC 7636: at least 43 characters
	s = SignInStart{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Provider: provider}
	address, err = client.AuthURL(ctx, a.callback(provider), s.State,
		identity.Proof{Nonce: s.Nonce, Verifier: s.Verifier})
	return address, s, err
}

// FinishSignIn begins a session from an identity provider's answer, whose state was checked. If it has no code, the
// error is InvalidCode with the provider's message.
func (a Accounts) FinishSignIn(ctx context.Context, s SignInStart, answer url.Values, b Browser) (Signed, error) {
	client, err := a.provider(s.Provider)
	if err != nil {
		return Signed{}, err
	}
	if err := client.CheckIssuer(ctx, answer.Get("iss")); err != nil {
		return Signed{}, err
	}
	if reason := answer.Get("error"); reason != "" {
		return Signed{}, identity.Declined(reason, answer.Get("error_description"))
	}
	r := person.Registration{Code: answer.Get("code"), OriginURL: a.callback(s.Provider),
		Provider: exchange.Some(s.Provider)}
	proof := identity.Proof{Nonce: s.Nonce, Verifier: s.Verifier}
	return a.login(ctx, r, proof, func(p identity.Person) (Signed, error) { return a.SignInBrowser(ctx, p, r, b) })
}

// WatchIdentity tries to reach the main identity provider until it can be used.
func (a Accounts) WatchIdentity(ctx context.Context) { a.Identity.Watch(ctx, a.callback(""), a.Log) }

// WatchProvider tries to reach another identity provider until it can be used.
func (a Accounts) WatchProvider(ctx context.Context, p identity.Provider) {
	p.Watch(ctx, a.callback(p.Name), a.Log)
}

// callback returns the URL to which an identity provider sends people back: each its own, so that no provider can pass
// off its answer as that of another (RFC 9700 section 4.4).
func (a Accounts) callback(provider string) string {
	address := a.PublicURL + "/signin/callback"
	if provider != "" {
		address += "/" + provider
	}
	return address
}

// isCallback reports whether a URL leads to a callback of ours, in any spelling.
func (a Accounts) isCallback(address string) bool {
	place, ok := placeOf(address)
	ours, _ := placeOf(a.callback(""))
	return ok && (place == ours || strings.HasPrefix(place, ours+"/"))
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
