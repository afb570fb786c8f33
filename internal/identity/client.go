package identity

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// maxParameter bounds codes, redirect addresses and every other OAuth parameter, in bytes.
const maxParameter = 2048

// Config names the provider to use, and the client to be there.
type Config struct {
	Issuer       string // such as https://orcid.org, exactly as the provider writes it
	ClientID     string
	ClientSecret string
	ORCID        bool         // its subjects are ORCID iDs, though it is not orcid.org
	Further      bool         // it is not the main provider: people are known there by issuer and subject
	Scopes       []string     // to ask for in addition
	Affiliations bool         // it is asked for affiliations
	HTTP         *http.Client // nil: the default transport
}

// Client asks one provider who has signed in. It may be used by several goroutines at once.
type Client struct {
	cfg     Config
	isORCID bool
	found   atomic.Pointer[providerInfo] // nil until discovery has succeeded once
	ready   atomic.Bool                  // Watch found that the provider works
	trouble atomic.Pointer[error]        // the last error that Watch found
}

// providerInfo is a provider according to its discovery document.
type providerInfo struct {
	*oidc.Provider
	scopes    []string
	authStyle oauth2.AuthStyle
	sendsIss  bool   // its authorization responses carry iss (RFC 9207)
	revokes   string // where tokens are revoked; "" if not announced
	ends      string // where people sign out; "" if not announced
}

// Proof ties a code to the browser that requested it. Empty fields are not sent and not checked.
type Proof struct {
	Nonce    string // of the id_token (OpenID Connect Core section 3.1.2.1), which the answer must then have
	Verifier string // PKCE, S256 (RFC 7636)
}

// New returns a client without asking the provider, which may be our own process, not listening yet. The error names
// the invalid setting.
func New(cfg Config) (*Client, error) {
	issuer, err := url.Parse(cfg.Issuer)
	if err != nil || issuer.Host == "" || (issuer.Scheme != "https" && issuer.Scheme != "http") {
		return nil, fmt.Errorf("the identity provider %q is not an http or https address", cfg.Issuer)
	}
	if cfg.ClientID == "" {
		return nil, errors.New("the identity provider needs a client id")
	}
	cfg.HTTP = limitedClient(cfg.HTTP)
	host := strings.ToLower(issuer.Hostname())
	return &Client{cfg: cfg, isORCID: cfg.ORCID || host == "orcid.org" || strings.HasSuffix(host, ".orcid.org")}, nil
}

// ByORCID reports whether the provider's subjects are ORCID iDs, as with ORCID and the demo provider.
func (c *Client) ByORCID() bool { return c.isORCID }

// Issuer returns the address of the provider.
func (c *Client) Issuer() string { return c.cfg.Issuer }

// AuthURL returns the provider's page to send a person to. They come back to redirectURI with a code for Exchange and
// the same state. Errors: Unavailable.
func (c *Client) AuthURL(ctx context.Context, redirectURI, state string, proof Proof) (string, error) {
	ctx, cancel := c.begin(ctx)
	defer cancel()
	p, err := c.discover(ctx)
	if err != nil {
		return "", unavailable(ctx, err)
	}
	conf := c.oauth(p, redirectURI)
	for _, scope := range []string{"profile", "email"} { // ORCID offers only openid, and refuses others
		if slices.Contains(p.scopes, scope) && !slices.Contains(c.cfg.Scopes, scope) {
			conf.Scopes = append(conf.Scopes, scope)
		}
	}
	conf.Scopes = append(conf.Scopes, c.cfg.Scopes...)
	var options []oauth2.AuthCodeOption
	if proof.Nonce != "" {
		options = append(options, oidc.Nonce(proof.Nonce))
	}
	if proof.Verifier != "" {
		options = append(options, oauth2.S256ChallengeOption(proof.Verifier))
	}
	return conf.AuthCodeURL(state, options...), nil
}

// CheckIssuer checks that iss, of an authorization response, is our provider (RFC 9207 section 2.4): it must be present
// if the provider announces it, and correct if present. Errors: InvalidCode, Unavailable.
func (c *Client) CheckIssuer(ctx context.Context, iss string) error {
	ctx, cancel := c.begin(ctx)
	defer cancel()
	p, err := c.discover(ctx)
	if err != nil {
		return unavailable(ctx, err)
	}
	if iss == c.cfg.Issuer || iss == "" && !p.sendsIss {
		return nil
	}
	return invalidCode(fmt.Errorf("the authorization response comes from %q, not from %s", iss, c.cfg.Issuer))
}

// EndSessionURL returns the provider's page on which people sign out there (OpenID Connect RP-Initiated Logout 1.0
// section 2), which sends them back to backURI, if that is registered. It is "" if the provider announces none, or was
// not reached yet. No id_token is kept to be the hint of whose session ends, so the provider asks the person.
func (c *Client) EndSessionURL(backURI string) string {
	p := c.found.Load()
	if p == nil || !c.usable(p.ends) {
		return ""
	}
	u, err := url.Parse(p.ends)
	if err != nil {
		return ""
	}
	q := u.Query()
	q.Set("client_id", c.cfg.ClientID)
	q.Set("post_logout_redirect_uri", backURI)
	u.RawQuery = q.Encode()
	return u.String()
}

// Exchange exchanges an authorization code (RFC 6749 section 4.1.3) and returns the person. redirectURI must be the one
// that the code was issued for. The whole takes at most 10 seconds.
//
// Both kinds of answer are accepted: OpenID Connect's id_token, verified against the provider's keys, and the bare
// `orcid` and `name` of ORCID's /authenticate scope ("ORCID Auth with OpenID Connect"). If both are present they must
// name the same person. With a nonce, only an id_token that carries it is accepted: with a provider without PKCE, such
// as ORCID, the nonce is the only proof of the browser.
//
// Errors: InvalidCode if the provider refuses the code; Unavailable if it does not answer, answers something unusable,
// or does not know us as a client.
func (c *Client) Exchange(ctx context.Context, code, redirectURI string, proof Proof) (Person, error) {
	if code == "" || len(code) > maxParameter || len(redirectURI) > maxParameter {
		return Person{}, invalidCode(nil)
	}
	ctx, cancel := c.begin(ctx)
	defer cancel()
	p, err := c.discover(ctx)
	if err != nil {
		return Person{}, unavailable(ctx, err)
	}
	var options []oauth2.AuthCodeOption
	if proof.Verifier != "" {
		options = append(options, oauth2.VerifierOption(proof.Verifier))
	}
	answer, err := c.oauth(p, redirectURI).Exchange(ctx, code, options...)
	if err != nil {
		return Person{}, c.refusal(ctx, err)
	}
	person, err := c.read(ctx, p, answer, proof.Nonce)
	switch {
	case errors.Is(err, errOtherNonce):
		return Person{}, invalidCode(err)
	case err != nil:
		return Person{}, unavailable(ctx, err)
	}
	return person, nil
}

// begin limits the time of a use of the provider and makes both libraries use our HTTP client.
func (c *Client) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(oidc.ClientContext(ctx, c.cfg.HTTP), timeout)
}

// discover fetches the provider's description (OpenID Connect Discovery section 4) on first use. A success is
// remembered, a failure is not. Several concurrent first uses each fetch it, harmlessly.
func (c *Client) discover(ctx context.Context) (*providerInfo, error) {
	if p := c.found.Load(); p != nil {
		return p, nil
	}
	provider, err := oidc.NewProvider(ctx, c.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("discovery at %s: %w", c.cfg.Issuer, err)
	}
	var said struct {
		Authorize string   `json:"authorization_endpoint"`
		Token     string   `json:"token_endpoint"`
		Keys      string   `json:"jwks_uri"`
		Scopes    []string `json:"scopes_supported"`
		Methods   []string `json:"token_endpoint_auth_methods_supported"`
		SendsIss  bool     `json:"authorization_response_iss_parameter_supported"`
		Revokes   string   `json:"revocation_endpoint"`
		Ends      string   `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&said); err != nil {
		return nil, fmt.Errorf("discovery at %s: %w", c.cfg.Issuer, err)
	}
	for _, address := range []string{said.Authorize, said.Token, said.Keys,
		cmp.Or(provider.UserInfoEndpoint(), said.Token)} {
		if !c.usable(address) {
			return nil, fmt.Errorf("discovery at %s names the unusable address %q", c.cfg.Issuer, address)
		}
	}
	p := &providerInfo{Provider: provider, scopes: said.Scopes, sendsIss: said.SendsIss, revokes: said.Revokes,
		ends: said.Ends}
	if p.authStyle, err = c.authStyle(said.Methods); err != nil {
		return nil, fmt.Errorf("discovery at %s: %w", c.cfg.Issuer, err)
	}
	c.found.Store(p)
	return p, nil
}

// authStyle returns how the client authenticates at the token endpoint: client_secret_basic is preferred, which every
// provider supports that names no methods (OpenID Connect Discovery section 3).
func (c *Client) authStyle(methods []string) (oauth2.AuthStyle, error) {
	switch {
	case c.cfg.ClientSecret == "": // a public client only sends its id
		return oauth2.AuthStyleInParams, nil
	case methods == nil || slices.Contains(methods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader, nil
	case slices.Contains(methods, "client_secret_post"):
		return oauth2.AuthStyleInParams, nil
	}
	return 0, fmt.Errorf("the provider takes a client's secret neither by client_secret_basic nor by "+
		"client_secret_post, only by %q", methods)
}

// usable reports whether an address from discovery is absolute and no less protected than the issuer.
func (c *Client) usable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" &&
		(u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(c.cfg.Issuer, "http:"))
}

// oauth returns a configuration that sends the client's id and secret in the one way that the provider announced. If
// x/oauth2 had to find out, it would try another way first and could use up the one-time code.
func (c *Client) oauth(p *providerInfo, redirectURI string) *oauth2.Config {
	endpoint := p.Endpoint()
	endpoint.AuthStyle = p.authStyle
	return &oauth2.Config{
		ClientID:     c.cfg.ClientID,
		ClientSecret: c.cfg.ClientSecret,
		Endpoint:     endpoint,
		RedirectURL:  redirectURI,
		Scopes:       []string{oidc.ScopeOpenID},
	}
}

// read returns the person in a token answer; with a nonce, its id_token must carry it.
func (c *Client) read(ctx context.Context, p *providerInfo, answer *oauth2.Token, nonce string) (Person, error) {
	orcid, err1 := textMember(answer, "orcid")
	name, err2 := textMember(answer, "name")
	rawToken, err3 := textMember(answer, "id_token")
	if err := errors.Join(err1, err2, err3); err != nil {
		return Person{}, err
	}
	if c.cfg.Further {
		orcid = "" // only the subject counts
	}
	who := claims{Name: name}
	if rawToken == "" && nonce != "" {
		return Person{}, errors.New("the provider's token answer has no id_token, though openid was asked for")
	}
	if rawToken != "" {
		verified, err := p.Verifier(&oidc.Config{ClientID: c.cfg.ClientID}).Verify(ctx, rawToken)
		if err != nil {
			return Person{}, err
		}
		if nonce != "" && subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(nonce)) != 1 {
			return Person{}, errOtherNonce
		}
		if err := verified.Claims(&who); err != nil {
			return Person{}, fmt.Errorf("id_token: %w", err)
		}
		if who.Subject == "" {
			return Person{}, errors.New("id_token without a subject")
		}
		asked := c.cfg.Affiliations && len(who.all()) == 0
		if who.namesNoOne() || asked {
			if who, err = withUserInfo(ctx, p, answer, who); err != nil && asked {
				return Person{}, fmt.Errorf("userinfo, for affiliations: %w", err)
			}
		}
	}
	id, err := registryID(orcid, who.Subject, c.isORCID)
	if err != nil {
		return Person{}, err
	}
	person := who.person(id)
	if c.cfg.Further {
		person.Issuer = c.cfg.Issuer
	}
	if c.cfg.Affiliations {
		person.Affiliations = who.all()
		err = checkAffiliations(person.Affiliations)
	}
	return person, err
}

// withUserInfo adds what who lacks of the userinfo endpoint (OpenID Connect Core section 5.3): names with the address,
// and affiliations. The identity is proven already, so if the provider refuses or fails here, who is returned with the
// error; claims about another subject are ignored (section 5.3.2).
func withUserInfo(ctx context.Context, p *providerInfo, answer *oauth2.Token, who claims) (claims, error) {
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(answer))
	if err != nil {
		return who, err
	}
	if info.Subject != who.Subject {
		return who, errors.New("it is about another subject")
	}
	more := claims{Name: who.Name}
	if err := info.Claims(&more); err != nil {
		return who, err
	}
	if len(who.all()) > 0 {
		more.affiliations = who.affiliations
	}
	if !who.namesNoOne() {
		who.affiliations = more.affiliations
		return who, nil
	}
	if more.verifiedEmail() == "" {
		more.Email, more.EmailVerified = who.Email, who.EmailVerified
	}
	return more, nil
}

// errOtherNonce refuses a code that was issued for another browser.
var errOtherNonce = errors.New("the id_token carries another nonce: the code was made for another browser")

// textMember returns a text of the token answer: empty if it is absent or null.
func textMember(answer *oauth2.Token, name string) (string, error) {
	switch v := answer.Extra(name).(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	return "", fmt.Errorf("the provider's token answer has a %s that is not a text", name)
}
