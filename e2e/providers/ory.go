package main

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v3"
	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/openid"
	"github.com/ory/fosite/storage"
	"github.com/ory/fosite/token/jwt"
	"golang.org/x/crypto/bcrypt"
)

var loginPage = template.Must(template.New("").Parse(`<form method="post"><input name="username"><input ` +
	`name="password" type="password"><button>Sign in</button></form>`))

// ory is ory/fosite, of which Hydra is made, with its memory and a page to sign in. The client proves itself by
// client_secret_post.
func ory(issuer string, c client) (http.Handler, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	hashed, err := bcrypt.GenerateFromPassword([]byte(c.secret), bcrypt.MinCost)
	if err != nil {
		return nil, err
	}
	store := storage.NewMemoryStore()
	store.Clients[c.id] = &fosite.DefaultOpenIDConnectClient{
		DefaultClient: &fosite.DefaultClient{ID: c.id, Secret: hashed, RedirectURIs: c.redirects,
			ResponseTypes: []string{"code"},
			GrantTypes:    []string{"authorization_code"}, Scopes: []string{"openid", "profile"}},
		TokenEndpointAuthMethod: "client_secret_post",
	}
	cfg := &fosite.Config{GlobalSecret: []byte(rand.Text() + rand.Text())[:32], IDTokenIssuer: issuer,
		EnforcePKCE: true, SendDebugMessagesToClients: true}
	provider := compose.ComposeAllEnabled(cfg, store, key)
	extra := map[string]any{"name": "Test User", "email": "test-user@example.org", "email_verified": true}
	maps.Copy(extra, c.claims)
	session := func(subject string) *openid.DefaultSession {
		return &openid.DefaultSession{Subject: subject, Headers: &jwt.Headers{Extra: map[string]any{"kid": "1"}},
			Claims: &jwt.IDTokenClaims{Issuer: issuer, Subject: subject, RequestedAt: time.Now(), AuthTime: time.Now(),
				Extra: extra}}
	}
	mux := http.NewServeMux()
	say := func(what any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(what)
		}
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", say(map[string]any{
		"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
		"jwks_uri":                 issuer + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"}, "scopes_supported": []string{"openid"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		"code_challenge_methods_supported":      []string{"S256"},
	}))
	mux.HandleFunc("GET /keys",
		say(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1", Algorithm: "RS256",
			Use: "sig"}}}))
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		asked, err := provider.NewAuthorizeRequest(ctx, r)
		if err != nil {
			provider.WriteAuthorizeError(ctx, w, asked, err)
			return
		}
		if asked.GetRequestForm().Get("prompt") == "none" { // nobody is signed in here before
			provider.WriteAuthorizeError(ctx, w, asked, fosite.ErrLoginRequired)
			return
		}
		if r.PostFormValue("username") != username || r.PostFormValue("password") != password {
			_ = loginPage.Execute(w, nil)
			return
		}
		asked.GrantScope("openid")
		answer, err := provider.NewAuthorizeResponse(ctx, asked, session("ory|7"))
		if err != nil {
			provider.WriteAuthorizeError(ctx, w, asked, err)
			return
		}
		provider.WriteAuthorizeResponse(ctx, w, asked, answer)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		asked, err := provider.NewAccessRequest(ctx, r, session(""))
		if err != nil {
			provider.WriteAccessError(ctx, w, asked, err)
			return
		}
		answer, err := provider.NewAccessResponse(ctx, asked)
		if err != nil {
			provider.WriteAccessError(ctx, w, asked, err)
			return
		}
		provider.WriteAccessResponse(ctx, w, asked, answer)
	})
	return mux, nil
}
