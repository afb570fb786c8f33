package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"

	"aliquot/internal/exchange"
)

// refusal translates a failed token request by the codes of RFC 6749 section 5.2: what the person
// can mend by logging in again is InvalidCode, everything else Unavailable.
func (c *Client) refusal(ctx context.Context, err error) error {
	said, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || said.Response.StatusCode >= http.StatusInternalServerError {
		return unavailable(ctx, err)
	}
	switch said.ErrorCode {
	case "invalid_grant", "invalid_request":
		return invalidCode(err)
	case "invalid_client", "unauthorized_client":
		return &exchange.Error{
			Code:    exchange.Unavailable,
			Message: "Logging in is not set up correctly on this server. Please tell the people who run it.",
			Cause: brief{fmt.Errorf("the provider %s refuses our client %q; check identity-client-id and identity-client-secret: %w",
				c.cfg.Issuer, c.cfg.ClientID, err)},
		}
	}
	return unavailable(ctx, err)
}

func invalidCode(cause error) error {
	e := exchange.Fail(exchange.InvalidCode, "The identity provider does not accept this code: it was used before, is too old, "+
		"or was issued for another redirect address. Please log in again.")
	if cause != nil {
		e.Cause = brief{cause}
	}
	return e
}

// unavailable keeps the end of ctx as a cause of its own, since the libraries lose it on the way.
func unavailable(ctx context.Context, cause error) error {
	return &exchange.Error{
		Code:    exchange.Unavailable,
		Message: "The identity provider does not answer as it should. Please try again in a few minutes.",
		Cause:   brief{errors.Join(ctx.Err(), cause)},
	}
}

// brief is an error that quotes a provider: one line of at most 500 characters for the log.
type brief struct{ error }

func (b brief) Error() string { return clean(b.error.Error(), 500) }
func (b brief) Unwrap() error { return b.error }
