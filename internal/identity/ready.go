package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// How long Watch waits after a failure: initially, and at most.
const (
	firstWait   = time.Second
	longestWait = time.Minute
)

// Watch checks the provider until it works: its description must be found, and it must accept our client id and secret.
// Each failure is logged with its cause.
func (c *Client) Watch(ctx context.Context, redirectURI string, log *slog.Logger) {
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		err := c.check(ctx, redirectURI)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			c.trouble.Store(nil)
			c.ready.Store(true)
			log.InfoContext(ctx, "the identity provider is ready", "issuer", c.cfg.Issuer)
			return
		}
		c.trouble.Store(&err)
		log.ErrorContext(ctx, "the identity provider cannot be used, so no one can sign in", "issuer", c.cfg.Issuer,
			"again_in", wait.String(), "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Ready returns why people cannot sign in yet; nil once Watch found that the provider works.
func (c *Client) Ready(context.Context) error {
	if c.ready.Load() {
		return nil
	}
	if err := c.Trouble(); err != nil {
		return err
	}
	return errors.New("the identity provider was not tried yet")
}

// Trouble returns the error of Watch's last check; nil if it succeeded, or there was none yet.
func (c *Client) Trouble() error {
	if err := c.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// check asks the token endpoint to exchange a made-up code, because no OAuth request only authenticates the client. A
// provider checks the client before the code (RFC 6749 section 4.1.3), so invalid_client means that id or secret are
// wrong. Some check the code first: if a provider announces where tokens are revoked, a made-up token is revoked as
// well, which does nothing and needs the same authentication.
func (c *Client) check(ctx context.Context, redirectURI string) error {
	ctx, cancel := c.begin(ctx)
	defer cancel()
	p, err := c.discover(ctx)
	if err != nil {
		return unavailable(ctx, err)
	}
	_, err = c.oauth(p, redirectURI).Exchange(ctx, "aliquot-checks-its-client-secret",
		oauth2.VerifierOption(oauth2.GenerateVerifier()))
	said, refused := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case err == nil:
		return unavailable(ctx, errors.New("the token endpoint accepted a made-up code"))
	case !refused || said.Response.StatusCode >= http.StatusInternalServerError ||
		said.Response.StatusCode == http.StatusNotFound:
		return unavailable(ctx, err)
	case said.Response.StatusCode == http.StatusUnauthorized || clientRefused(said):
		return c.unknownClient(err)
	}
	return c.revokeNothing(ctx, p)
}

// revokeNothing revokes a token that does not exist (RFC 7009). It returns an error if the provider does not accept the
// client.
func (c *Client) revokeNothing(ctx context.Context, p *providerInfo) error {
	if !c.usable(p.revokes) || c.cfg.ClientSecret == "" {
		return nil
	}
	form := url.Values{"token": {"aliquot-checks-its-client-secret"}, "token_type_hint": {"refresh_token"}}
	if p.authStyle == oauth2.AuthStyleInParams {
		form.Set("client_id", c.cfg.ClientID)
		form.Set("client_secret", c.cfg.ClientSecret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.revokes, strings.NewReader(form.Encode()))
	if err != nil {
		return unavailable(ctx, err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if p.authStyle == oauth2.AuthStyleInHeader {
		r.SetBasicAuth(url.QueryEscape(c.cfg.ClientID), url.QueryEscape(c.cfg.ClientSecret))
	}
	response, err := c.cfg.HTTP.Do(r)
	if err != nil {
		return unavailable(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.NewDecoder(response.Body).Decode(&said) // a success has no body
	if response.StatusCode == http.StatusUnauthorized || said.Error == "invalid_client" {
		return c.unknownClient(fmt.Errorf("revocation: %s: %q %q", response.Status, said.Error, said.Description))
	}
	return nil
}
