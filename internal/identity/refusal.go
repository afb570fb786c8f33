package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"

	"aliquot/internal/exchange"
)

// refusal translates a failed token request by the codes of RFC 6749 section 5.2: what the person can solve by signing
// in again is InvalidCode, everything else Unavailable.
func (c *Client) refusal(ctx context.Context, err error) error {
	said, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || said.Response.StatusCode >= http.StatusInternalServerError {
		return unavailable(ctx, err)
	}
	switch {
	case said.ErrorCode == "invalid_grant", said.ErrorCode == "invalid_request":
		return invalidCode(err)
	case clientRefused(said):
		return c.unknownClient(err)
	}
	return unavailable(ctx, err)
}

// clientRefused reports whether a token endpoint does not accept us as a client.
func clientRefused(said *oauth2.RetrieveError) bool {
	return said.ErrorCode == "invalid_client" || said.ErrorCode == "unauthorized_client"
}

func (c *Client) unknownClient(cause error) error {
	settings := "identity-client-id and identity-client-secret"
	if c.cfg.Further {
		settings = "client_id and client_secret_file in identity-providers"
	}
	return &exchange.Error{
		Code:    exchange.Unavailable,
		Message: "Logging in is not set up correctly on this server. Please tell its operator.",
		Cause: shortError{fmt.Errorf("the provider %s refuses our client %q; check %s: %w", c.cfg.Issuer,
			c.cfg.ClientID, settings, cause)},
	}
}

// Declined returns why the provider sent a person back without a code, from the error and error_description of its
// authorization response (RFC 6749 section 4.1.2.1).
func Declined(code, description string) *exchange.Error {
	const maxWords = 300
	said := clean(code, maxWords)
	if text := clean(description, maxWords); text != "" {
		said += ": " + text
	}
	return &exchange.Error{
		Code:    exchange.InvalidCode,
		Message: fmt.Sprintf("You are not signed in, and nothing was changed. The identity provider says: %s", said),
		Cause:   fmt.Errorf("the provider declined a sign-in: %s", said),
	}
}

func invalidCode(cause error) error {
	e := exchange.Errorf(exchange.InvalidCode, "The identity provider does not accept this code: it was used before, "+
		"is too old, or was issued for another redirect address. Please sign in again.")
	if cause != nil {
		e.Cause = shortError{cause}
	}
	return e
}

// unavailable adds the end of ctx as a cause of its own, because the libraries lose it.
func unavailable(ctx context.Context, cause error) error {
	return &exchange.Error{
		Code:    exchange.Unavailable,
		Message: "The identity provider is not responding correctly. Please try again in a few minutes.",
		Cause:   shortError{errors.Join(ctx.Err(), cause)},
	}
}

// shortError shortens an error that quotes a provider to one line of at most 500 characters for the log.
type shortError struct{ error }

func (b shortError) Error() string { return clean(b.error.Error(), 500) }
func (b shortError) Unwrap() error { return b.error }
