package identity

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"aliquot/internal/exchange/identifier"
)

// DemoClientID is the client id of the built-in provider. The demo has no secrets and accepts any client.
const DemoClientID = "aliquot"

const (
	codeLifetime  = 5 * time.Minute
	tokenLifetime = time.Hour
	maxLogins     = 10_000 // codes, and access tokens, that are kept at once
)

// Demo is the built-in identity provider: an OpenID Connect provider that answers as ORCID does and believes everyone's
// claim of who they are. Only for a server that nobody else can reach. It keeps everything in memory.
type Demo struct {
	// Now is the clock of codes and tokens; replace it before the first request.
	Now func() time.Time

	issuer string // without a trailing slash
	people []Person
	mux    *http.ServeMux
	codes  *expiringStore[login]
	tokens *expiringStore[login]
	key    func() *jose.JSONWebKey
}

// login is one person's consent, stored first under a code and then under an access token.
type login struct {
	person  Person
	asked   authorizationRequest
	expires time.Time
}

// NewDemo returns a provider with the given issuer, such as http://127.0.0.1:8080/demo/identity, which offers the
// sample people. Mount it at the issuer's path and a slash, without StripPrefix. The error reports that the issuer is
// not an http or https address, or whose iD is malformed.
func NewDemo(issuer string, people []Person) (*Demo, error) {
	u, err := webAddress(issuer)
	if err != nil || u.RawQuery != "" || strings.HasSuffix(issuer, "/") {
		return nil, fmt.Errorf("the demo's issuer %q is not an http or https address without a slash at its end",
			issuer)
	}
	d := &Demo{
		Now:    time.Now,
		issuer: issuer,
		codes:  newExpiringStore[login](maxLogins),
		tokens: newExpiringStore[login](maxLogins),
		key:    sync.OnceValue(newKey),
		mux:    http.NewServeMux(),
	}
	for _, p := range people {
		if p.RegistryID, err = identifier.ORCID(p.RegistryID); err != nil {
			return nil, fmt.Errorf("demo person %q: %w", p.Name, err)
		}
		p.Name = cmp.Or(p.Name, fullName(p))
		d.people = append(d.people, p)
	}
	base := u.EscapedPath()
	d.mux.HandleFunc("GET "+base+"/.well-known/openid-configuration", d.discovery)
	d.mux.HandleFunc("GET "+base+"/authorize", d.authorize)
	d.mux.HandleFunc("POST "+base+"/token", d.token)
	d.mux.HandleFunc("GET "+base+"/userinfo", d.userinfo)
	d.mux.HandleFunc("GET "+base+"/keys", d.keys)
	return d, nil
}

// newKey takes a good part of a second, so it runs at the first sign-in rather than at start-up. A new process has a
// new key under a new id; clients then fetch the keys again.
func newKey() *jose.JSONWebKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // only for an invalid size
	}
	return &jose.JSONWebKey{Key: key, KeyID: rand.Text(), Algorithm: string(jose.RS256), Use: "sig"}
}

// ServeHTTP serves the endpoints under the issuer's path.
func (d *Demo) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.mux.ServeHTTP(w, r) }

// discovery describes the provider (OpenID Connect Discovery section 3).
func (d *Demo) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer":                                         d.issuer,
		"authorization_endpoint":                         d.issuer + "/authorize",
		"token_endpoint":                                 d.issuer + "/token",
		"userinfo_endpoint":                              d.issuer + "/userinfo",
		"jwks_uri":                                       d.issuer + "/keys",
		"scopes_supported":                               []string{"openid", "profile", "email"},
		"response_types_supported":                       []string{"code"},
		"grant_types_supported":                          []string{"authorization_code"},
		"subject_types_supported":                        []string{"public"},
		"id_token_signing_alg_values_supported":          []string{"RS256"},
		"token_endpoint_auth_methods_supported":          []string{"client_secret_post", "client_secret_basic", "none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
		"claims_supported": []string{"sub", "name", "given_name", "family_name", "email",
			"email_verified"},
	})
}

func (d *Demo) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{d.key().Public()}})
}

// token exchanges a code (RFC 6749 section 4.1.3, RFC 7636 section 4.6). The first attempt uses the code up, even a
// wrong one. A verifier for a code that was requested without a challenge is refused as well (RFC 9700 section 2.1.1).
func (d *Demo) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		oauthError(w, "invalid_request", "The body is not a form.")
		return
	}
	form := r.PostForm
	if form.Get("grant_type") != "authorization_code" {
		oauthError(w, "unsupported_grant_type", "Only authorization_code is supported.")
		return
	}
	basic, _, _ := r.BasicAuth()
	basic, _ = url.QueryUnescape(basic) // RFC 6749 section 2.3.1
	clientID := cmp.Or(form.Get("client_id"), basic)
	challenge := ""
	if verifier := form.Get("code_verifier"); verifier != "" {
		challenge = oauth2.S256ChallengeFromVerifier(verifier)
	}
	l, ok := d.codes.take(form.Get("code"))
	switch {
	case !ok:
		oauthError(w, "invalid_grant", "The code is unknown or was used before.")
	case d.Now().After(l.expires):
		oauthError(w, "invalid_grant", "The code is older than five minutes.")
	case form.Get("redirect_uri") != l.asked.RedirectURI:
		oauthError(w, "invalid_grant", "The code was issued for another redirect_uri.")
	case clientID != l.asked.ClientID:
		oauthError(w, "invalid_grant", "The code was issued to another client_id.")
	case challenge != l.asked.Challenge:
		oauthError(w, "invalid_grant", "The code_verifier does not match the code_challenge.")
	default:
		d.grant(w, l)
	}
}

// grant answers as ORCID's token endpoint does ("ORCID Auth with OpenID Connect"), with null for a missing name.
func (d *Demo) grant(w http.ResponseWriter, l login) {
	now := d.Now()
	l.expires = now.Add(tokenLifetime)
	idToken, err := d.sign(l, now)
	if err != nil {
		answer(w, http.StatusInternalServerError,
			map[string]string{"error": "server_error", "error_description": err.Error()})
		return
	}
	var name any
	if l.person.Name != "" {
		name = l.person.Name
	}
	answer(w, http.StatusOK, map[string]any{
		"access_token": d.tokens.put(l),
		"token_type":   "bearer",
		"expires_in":   int(tokenLifetime.Seconds()),
		"scope":        l.asked.Scope,
		"orcid":        l.person.RegistryID,
		"name":         name,
		"id_token":     idToken,
	})
}

// sign returns the id_token (OpenID Connect Core section 2).
func (d *Demo) sign(l login, now time.Time) (string, error) {
	said := claimsOf(l.person)
	said["iss"] = d.issuer
	said["aud"] = l.asked.ClientID
	said["iat"] = now.Unix()
	said["auth_time"] = now.Unix()
	said["exp"] = l.expires.Unix()
	if l.asked.Nonce != "" {
		said["nonce"] = l.asked.Nonce
	}
	payload, err := json.Marshal(said)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: d.key()}, nil)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// userinfo answers with the person of an access token (OpenID Connect Core section 5.3, RFC 6750).
func (d *Demo) userinfo(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	l, ok := d.tokens.get(token)
	if !ok || !strings.EqualFold(scheme, "Bearer") || d.Now().After(l.expires) {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_token"})
		return
	}
	answer(w, http.StatusOK, claimsOf(l.person))
}

// claimsOf returns the claims of id_token and userinfo about a person; unknown ones are left out.
func claimsOf(p Person) map[string]any {
	said := map[string]any{"sub": p.RegistryID}
	for name, value := range map[string]string{
		"name": p.Name, "given_name": p.GivenName, "family_name": p.FamilyName, "email": p.Email,
	} {
		if value != "" {
			said[name] = value
		}
	}
	if p.Email != "" {
		said["email_verified"] = true
	}
	return said
}

func fullName(p Person) string { return strings.TrimSpace(p.GivenName + " " + p.FamilyName) }

// webAddress parses an absolute http or https address with a host of plain characters, which are
// safe in a Content-Security-Policy too, and without user name and fragment.
func webAddress(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, err
	}
	odd := strings.Trim(strings.ToLower(u.Host), "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]")
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || odd != "" || u.User != nil ||
		strings.Contains(s, "#") {
		return nil, fmt.Errorf("%q is not an absolute http or https address without user name and fragment", s)
	}
	return u, nil
}

func oauthError(w http.ResponseWriter, code, description string) {
	answer(w, http.StatusBadRequest, map[string]string{"error": code, "error_description": description})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store") // RFC 6749 section 5.1
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}
