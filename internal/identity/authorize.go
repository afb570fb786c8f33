package identity

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	"aliquot/internal/exchange/identifier"
)

// authorizationRequest is an authorization request (RFC 6749 section 4.1.1, RFC 7636 section 4.3).
type authorizationRequest struct {
	ClientID    string
	RedirectURI string
	State       string
	Scope       string
	Nonce       string
	Challenge   string // PKCE, S256; empty: none

	target *url.URL // RedirectURI, parsed
}

// parseAuthorizationRequest reads the request from its query. A parameter that is left out gets its default; an invalid
// one is refused without a redirect, because the redirect address itself may be wrong.
func parseAuthorizationRequest(q url.Values) (authorizationRequest, error) {
	for name := range q {
		if len(q.Get(name)) > maxParameter {
			return authorizationRequest{},
				fmt.Errorf("the parameter %.40q is longer than %d characters", name, maxParameter)
		}
	}
	target, err := webAddress(q.Get("redirect_uri"))
	if err != nil {
		return authorizationRequest{}, fmt.Errorf("redirect_uri: %w", err)
	}
	if kind := q.Get("response_type"); kind != "" && kind != "code" {
		return authorizationRequest{}, fmt.Errorf("response_type must be code, not %q", kind)
	}
	if q.Get("code_challenge") != "" && q.Get("code_challenge_method") != "S256" {
		return authorizationRequest{}, errors.New("code_challenge_method must be S256")
	}
	return authorizationRequest{
		ClientID:    cmp.Or(q.Get("client_id"), DemoClientID),
		RedirectURI: q.Get("redirect_uri"),
		State:       q.Get("state"),
		Scope:       cmp.Or(q.Get("scope"), "openid"),
		Nonce:       q.Get("nonce"),
		Challenge:   q.Get("code_challenge"),
		target:      target,
	}, nil
}

// query returns the request as parameters again, for the links and the form of the page.
func (a authorizationRequest) query() url.Values {
	q := url.Values{
		"response_type": {"code"},
		"client_id":     {a.ClientID},
		"redirect_uri":  {a.RedirectURI},
		"scope":         {a.Scope},
	}
	if a.State != "" {
		q.Set("state", a.State)
	}
	if a.Nonce != "" {
		q.Set("nonce", a.Nonce)
	}
	if a.Challenge != "" {
		q.Set("code_challenge", a.Challenge)
		q.Set("code_challenge_method", "S256")
	}
	return q
}

// redirectURL returns the redirect address with the code, the issuer (RFC 9207) and, if one was given, the state. A
// query that the address has already is kept (RFC 6749 section 3.1.2).
func (a authorizationRequest) redirectURL(issuer, code string) string {
	u := *a.target
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "code=" + url.QueryEscape(code) + "&iss=" + url.QueryEscape(issuer)
	if a.State != "" {
		u.RawQuery += "&state=" + url.QueryEscape(a.State)
	}
	return u.String()
}

// authorize signs a person in: at once with login_hint, otherwise after a choice on the page.
func (d *Demo) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ask, err := parseAuthorizationRequest(q)
	if err != nil {
		d.show(w, http.StatusBadRequest, page{Fault: err.Error() + "."})
		return
	}
	hint := q.Get("login_hint")
	if hint == "" {
		d.show(w, http.StatusOK, page{Asked: &ask})
		return
	}
	id, err := identifier.ORCID(hint)
	if err != nil {
		d.show(w, http.StatusBadRequest, page{Asked: &ask, Typed: hint,
			Fault: fmt.Sprintf("%q is not a well-formed ORCID iD: %v.", hint, err)})
		return
	}
	person := d.personOf(id, q)
	code := d.codes.put(login{person: person, asked: ask, expires: d.Now().Add(codeLifetime)})
	protect(w, "")
	http.Redirect(w, r, ask.redirectURL(d.issuer, code), http.StatusFound)
}

// personOf returns the sample person with this iD, or a new one; the query's values take precedence.
func (d *Demo) personOf(id string, q url.Values) Person {
	claims := Person{
		RegistryID: id,
		GivenName:  clean(q.Get("given_name"), maxText),
		FamilyName: clean(q.Get("family_name"), maxText),
		Email:      clean(q.Get("email"), maxText),
	}
	claims.Name = fullName(claims)
	for _, p := range d.people {
		if p.RegistryID == id {
			p.Email = cmp.Or(claims.Email, p.Email)
			if claims.Name != "" {
				p.GivenName, p.FamilyName, p.Name = claims.GivenName, claims.FamilyName, claims.Name
			}
			return p
		}
	}
	return claims
}

// page is the data of page.html.
type page struct {
	Fault  string
	Typed  string
	Asked  *authorizationRequest // nil if the request is invalid
	People []choice
	Hidden url.Values // of the form
	Style  template.CSS
}

// choice is a sample person and the link that signs them in.
type choice struct {
	Person
	Link string
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// pageStyle is the hash of the only style that the page's policy allows (CSP Level 3 section 2.3.1).
var pageStyle = func() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// show answers with the page: without script, without other hosts, and with one known style.
func (d *Demo) show(w http.ResponseWriter, status int, p page) {
	p.Style = template.CSS(pageCSS)
	formTarget := "'none'"
	if p.Asked != nil {
		p.Hidden = p.Asked.query()
		for _, person := range d.people {
			link := p.Asked.query()
			link.Set("login_hint", person.RegistryID)
			p.People = append(p.People, choice{person, "authorize?" + link.Encode()})
		}
		// Browsers apply form-action to the redirect after a form as well.
		formTarget = "'self' " + p.Asked.target.Scheme + "://" + p.Asked.target.Host
	}
	var html bytes.Buffer
	if err := pageTemplate.Execute(&html, p); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	protect(w, "; style-src "+pageStyle+"; form-action "+formTarget)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(html.Bytes())
}

// protect sets a policy that forbids everything except what more allows.
func protect(w http.ResponseWriter, more string) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"+more)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}
