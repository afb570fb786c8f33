package identity

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"aliquot/internal/exchange"
)

func TestClientSecret_GoesOnceTheWayThatTheProviderAnnounces(t *testing.T) {
	t.Parallel()
	const secret = "s/e c+r%t:é" // each of them is something else in a header, in a form, or in both
	basic := "Basic bGFiJTNBMTpzJTJGZStjJTJCciUyNXQlM0ElQzMlQTk="
	for name, test := range map[string]struct {
		methods      any // token_endpoint_auth_methods_supported; nil: left out
		secret       string
		header, form string // "" for neither: the provider is of no use
	}{
		"none named": {nil, secret, basic, "code=c1"},
		"both":       {[]string{"client_secret_post", "client_secret_basic"}, secret, basic, "code=c1"},
		"basic":      {[]string{"client_secret_basic"}, secret, basic, "code=c1"},
		"post, as ORCID": {[]string{"client_secret_post"}, secret, "",
			"client_id=lab%3A1&client_secret=s%2Fe+c%2Br%25t%3A%C3%A9&code=c1"},
		"neither":                 {[]string{"private_key_jwt"}, secret, "", ""},
		"a client with no secret": {[]string{"none"}, "", "", "client_id=lab%3A1&code=c1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []string
			p := startProvider(t, func(p *provider) {
				if test.methods != nil {
					p.said = map[string]any{"token_endpoint_auth_methods_supported": test.methods}
				}
				p.token = func(w http.ResponseWriter, r *http.Request) {
					_ = r.ParseForm()
					r.PostForm.Del("grant_type")
					r.PostForm.Del("redirect_uri")
					calls = append(calls, r.Header.Get("Authorization")+" "+r.PostForm.Encode())
					w.WriteHeader(http.StatusUnauthorized)
				}
			})
			_, err := newClient(t, Config{Issuer: p.issuer, ClientID: "lab:1",
				ClientSecret: test.secret}).Exchange(t.Context(), "c1", origin, Proof{})
			wantCode(t, err, exchange.Unavailable)
			var want []string
			if test.form != "" {
				want = []string{test.header + " " + test.form}
			}
			if diff := cmp.Diff(want, calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNonce_MustComeBackInTheIDToken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*provider)
		want   exchange.Code // "" for accepted
	}{
		"the same": {func(p *provider) { p.claims["nonce"] = "n-1" }, ""},
		"another":  {func(p *provider) { p.claims["nonce"] = "n-2" }, exchange.InvalidCode},
		"none":     {func(*provider) {}, exchange.InvalidCode},
		"no id_token, but an iD": {func(p *provider) { p.claims, p.answer["orcid"] = nil, josiahID },
			exchange.Unavailable},
		"ORCID's answer, as it is": {func(p *provider) {
			p.claims["nonce"], p.answer["orcid"], p.answer["name"] = "n-1", josiahID, "Josiah Carberry"
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProvider(t, test.change)
			person, err := newClient(t, Config{Issuer: p.issuer}).Exchange(t.Context(), "code", origin,
				Proof{Nonce: "n-1"})
			if test.want != "" {
				wantCode(t, err, test.want)
				return
			}
			if err != nil || person.RegistryID != josiahID {
				t.Errorf("%+v, %v", person, err)
			}
		})
	}
}

func TestCode_IsOfNoUseWithoutTheVerifierOfItsChallenge(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	c := newClient(t, Config{Issuer: d.issuer, ClientSecret: "any"})
	proof := Proof{Nonce: "n-1", Verifier: oauth2.GenerateVerifier()}
	address, err := c.AuthURL(t.Context(), origin, "s t&/", proof)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	asked := u.Query()
	if asked.Get("code_challenge_method") != "S256" ||
		asked.Get("code_challenge") != oauth2.S256ChallengeFromVerifier(proof.Verifier) || asked.Get("nonce") != "n-1" {
		t.Errorf("asked with %v", asked)
	}
	asked.Set("login_hint", josiahID)
	for name, wrong := range map[string]Proof{"none": {Nonce: "n-1"},
		"another":       {Nonce: "n-1", Verifier: oauth2.GenerateVerifier()},
		"another nonce": {Nonce: "n-2", Verifier: proof.Verifier}} {
		if _, err := c.Exchange(t.Context(), d.code(t, asked), origin,
			wrong); exchange.CodeOf(err) != exchange.InvalidCode {
			t.Errorf("verifier %s: %v", name, err)
		}
	}
	if person, err := c.Exchange(t.Context(), d.code(t, asked), origin, proof); err != nil ||
		person.RegistryID != josiahID {
		t.Errorf("%+v, %v", person, err)
	}
}

func TestCheckIssuer_TakesNoAnswerOfAnotherProvider(t *testing.T) {
	t.Parallel()
	for _, announced := range []bool{false, true} {
		p := startProvider(t, func(p *provider) {
			if announced {
				p.said = map[string]any{"authorization_response_iss_parameter_supported": true}
			}
		})
		c := newClient(t, Config{Issuer: p.issuer})
		for iss, good := range map[string]bool{p.issuer: true, "": !announced, p.issuer + "/": false,
			"https://orcid.org": false} {
			err := c.CheckIssuer(t.Context(), iss)
			if good != (err == nil) || err != nil && exchange.CodeOf(err) != exchange.InvalidCode {
				t.Errorf("announced %v, iss %q: %v", announced, iss, err)
			}
		}
	}
	d := startDemo(t)
	_, location := d.authorize(t, url.Values{"login_hint": {josiahID}})
	if back, err := url.Parse(location); err != nil || back.Query().Get("iss") != d.issuer {
		t.Errorf("the built-in provider leads to %s", location)
	}
	if err := newClient(t, Config{Issuer: d.issuer}).CheckIssuer(t.Context(),
		""); exchange.CodeOf(err) != exchange.InvalidCode {
		t.Errorf("the built-in provider does not announce iss: %v", err)
	}
}

func TestDeclined_HasTheProvidersWordsOnOneShortLine(t *testing.T) {
	t.Parallel()
	err := Declined("access_denied", "The user\nsaid \u202eno "+strings.Repeat("x", 5000))
	if text := err.Error(); !strings.Contains(text, "access_denied: The user said no xxx") ||
		strings.ContainsAny(text, "\n\u202e") || len(err.Message) > 450 {
		t.Errorf("%s", text)
	}
}

func TestCheck_TellsAWrongClientFromAWrongCode(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		code   string
		cause  string // "" for: all is well
	}{
		"code refused":            {400, "invalid_grant", ""},
		"code looked at first":    {-401, "invalid_client", "identity-client-secret"},
		"nothing was revoked":     {-200, "", ""},
		"refused for another why": {400, "invalid_scope", ""},
		"client refused":          {401, "invalid_client", "identity-client-secret"},
		"client refused with 400": {400, "unauthorized_client", "identity-client-secret"},
		"401 without words":       {401, "", "identity-client-secret"},
		"no such address":         {404, "", "404"},
		"broken":                  {502, "invalid_grant", "is not responding correctly"},
		"takes anything":          {200, "", "made-up code"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			revokes := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if id, secret, _ := r.BasicAuth(); id != DemoClientID || secret != "hush" ||
					r.FormValue("token") == "" {
					t.Errorf("revoked as %q %q, token %q", id, secret, r.FormValue("token"))
				}
				answer(w, max(-test.status, 200), map[string]string{"error": test.code})
			}))
			t.Cleanup(revokes.Close)
			p := startProvider(t, func(p *provider) {
				if test.status < 0 {
					p.said = map[string]any{"revocation_endpoint": revokes.URL}
				}
				p.token = func(w http.ResponseWriter, r *http.Request) {
					if r.FormValue("redirect_uri") != origin {
						t.Errorf("asked for %q", r.FormValue("redirect_uri"))
					}
					if test.status < 0 { // it tells at the revocation alone
						answer(w, 400, map[string]string{"error": "invalid_grant"})
						return
					}
					if test.status == 200 {
						p.grant(w, r)
						return
					}
					answer(w, test.status, map[string]string{"error": test.code})
				}
			})
			err := newClient(t, Config{Issuer: p.issuer, ClientSecret: "hush"}).check(t.Context(), origin)
			if (err == nil) != (test.cause == "") || err != nil &&
				(!strings.Contains(err.Error(), test.cause) || strings.Contains(err.Error(), "hush")) {
				t.Errorf("%v", err)
			}
		})
	}
}

// buffer is a log that several goroutines may use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestWatch_TriesUntilTheProviderKnowsUs(t *testing.T) {
	t.Parallel()
	var right atomic.Bool
	p := startProvider(t, func(p *provider) {
		p.token = func(w http.ResponseWriter, _ *http.Request) {
			if right.Load() {
				answer(w, 400, map[string]string{"error": "invalid_grant"})
				return
			}
			answer(w, 401, map[string]string{"error": "invalid_client", "error_description": "no such client"})
		}
	})
	c := newClient(t, Config{Issuer: p.issuer, ClientSecret: "hush"})
	if c.Ready(t.Context()) == nil || c.Trouble() != nil {
		t.Errorf("before the first try: ready %v, trouble %v", c.Ready(t.Context()), c.Trouble())
	}
	var log buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Watch(t.Context(), origin, slog.New(slog.NewTextHandler(&log, nil)))
	}()
	for c.Trouble() == nil && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if c.Ready(t.Context()) == nil {
		t.Error("ready though the provider does not know us")
	}
	right.Store(true)
	<-ended
	if c.Ready(t.Context()) != nil || c.Trouble() != nil {
		t.Errorf("afterwards: ready %v, trouble %v", c.Ready(t.Context()), c.Trouble())
	}
	for _, want := range []string{"check identity-client-id and identity-client-secret", "no such client",
		"the identity provider is ready"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "hush") {
		t.Error("the secret is in the log")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	newClient(t, Config{Issuer: p.issuer}).Watch(gone, origin, slog.New(slog.DiscardHandler)) // ends with the process
}
