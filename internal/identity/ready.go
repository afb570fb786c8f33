package identity

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// How long Watch waits after a failure: at first, and at most.
const (
	firstWait   = time.Second
	longestWait = time.Minute
)

// Watch tries the provider until it can be used: its description must be found, and it must know our
// client id and secret. Each failure is a line of the log with its cause.
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
		log.ErrorContext(ctx, "the identity provider cannot be used, so nobody can sign in", "issuer", c.cfg.Issuer, "again_in", wait.String(), "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Ready reports why people cannot sign in yet; nil once Watch found the provider in order.
func (c *Client) Ready(context.Context) error {
	if c.ready.Load() {
		return nil
	}
	if err := c.Trouble(); err != nil {
		return err
	}
	return errors.New("the identity provider was not tried yet")
}

// Trouble is what Watch found wrong at its last try; nil where nothing is, or it has not tried.
func (c *Client) Trouble() error {
	if err := c.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// check asks the token endpoint to exchange a made-up code, since no request of OAuth proves who the client
// is and does nothing else. A provider looks at the client before it looks at the code (RFC 6749 section
// 4.1.3), so invalid_client says that id or secret are wrong, and invalid_grant that they are right. Any other
// refusal is about the code as well.
func (c *Client) check(ctx context.Context, redirectURI string) error {
	ctx, cancel := c.begin(ctx)
	defer cancel()
	p, err := c.discover(ctx)
	if err != nil {
		return unavailable(ctx, err)
	}
	_, err = c.oauth(p, redirectURI).Exchange(ctx, "aliquot-checks-its-client-secret", oauth2.VerifierOption(oauth2.GenerateVerifier()))
	said, refused := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case err == nil:
		return unavailable(ctx, errors.New("the token endpoint accepted a made-up code"))
	case !refused || said.Response.StatusCode >= http.StatusInternalServerError || said.Response.StatusCode == http.StatusNotFound:
		return unavailable(ctx, err)
	case said.Response.StatusCode == http.StatusUnauthorized || clientRefused(said):
		return c.unknownClient(err)
	}
	return nil
}
