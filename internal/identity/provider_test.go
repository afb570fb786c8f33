package identity

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// provider plays an outside identity provider over HTTP. It behaves unless a test replaces one of
// its handlers or what it says.
type provider struct {
	issuer    string // its own address unless a test says otherwise
	address   string
	answer    map[string]any // of the token endpoint, besides id_token
	claims    map[string]any // of the id_token; nil: no id_token
	info      map[string]any // of userinfo
	said      map[string]any // of discovery, besides its addresses
	signer    *rsa.PrivateKey
	discovery http.HandlerFunc
	token     http.HandlerFunc
	keys      http.HandlerFunc
	userinfo  http.HandlerFunc
}

var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func startProvider(t *testing.T, change func(*provider)) *provider {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p := &provider{
		issuer: server.URL, address: server.Listener.Addr().String(),
		answer: map[string]any{"access_token": "secret", "token_type": "bearer", "expires_in": 631138518},
		claims: map[string]any{"iss": server.URL, "aud": DemoClientID, "sub": josiahID,
			"exp": time.Now().Add(time.Hour).Unix()},
		info:   map[string]any{"sub": josiahID},
		signer: testKey(),
	}
	p.discovery = p.describe
	p.token = p.grant
	p.keys = func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: testKey().Public(), KeyID: "1"}}})
	}
	p.userinfo = func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, p.info) }
	if change != nil {
		change(p)
	}
	mux.HandleFunc("/.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("/oauth/token", p.token)
	mux.HandleFunc("/oauth/jwks", p.keys)
	mux.HandleFunc("/oauth/userinfo", p.userinfo)
	return p
}

func (p *provider) describe(w http.ResponseWriter, _ *http.Request) {
	said := map[string]any{
		"issuer":                 p.issuer,
		"authorization_endpoint": p.issuer + "/oauth/authorize",
		"token_endpoint":         p.issuer + "/oauth/token",
		"jwks_uri":               p.issuer + "/oauth/jwks",
		"userinfo_endpoint":      p.issuer + "/oauth/userinfo",
		"scopes_supported":       []string{"openid"},
	}
	maps.Copy(said, p.said)
	answer(w, http.StatusOK, said)
}

func (p *provider) grant(w http.ResponseWriter, _ *http.Request) {
	if p.claims != nil {
		payload, _ := json.Marshal(p.claims)
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256,
			Key: jose.JSONWebKey{Key: p.signer, KeyID: "1"}}, nil)
		if err != nil {
			panic(err)
		}
		signed, err := signer.Sign(payload)
		if err != nil {
			panic(err)
		}
		p.answer["id_token"], _ = signed.CompactSerialize()
	}
	answer(w, http.StatusOK, p.answer)
}

// dialed is a client whose every connection goes to the provider, whatever host it asks for.
func (p *provider) dialed() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, p.address)
		},
	}}
}
