package api

import "aliquot/internal/exchange"

// Token is what is known of a token beside its secret.
type Token struct {
	ID        int64  `json:"id"`
	CreatedAt Time   `json:"created_at"`
	Expires   Expiry `json:"expires"`
	Presented bool   `json:"presented"` // by this very call
}

func (a *API) listTokens(c *Call, _ None) ([]Token, error) {
	user, err := c.pathUser()
	if err != nil {
		return nil, err
	}
	part, err := a.App.Tokens(c.Context(), c.Actor, user, c.list.page)
	return listed(c, part, err, func(t exchange.Token) Token {
		return Token{t.ID, Time(t.CreatedAt), Expiry(t.ExpiresAt), t.ID == c.Actor.TokenID}
	})
}

func (a *API) revokeToken(c *Call, _ None) (None, error) {
	user, err := c.pathUser()
	if err != nil {
		return None{}, err
	}
	id, err := c.pathID("token")
	if err != nil {
		return None{}, err
	}
	return None{}, a.App.RevokeToken(c.Context(), c.Actor, user, id)
}

func (a *API) revokeTokens(c *Call, _ None) (None, error) {
	user, err := c.pathUser()
	if err != nil {
		return None{}, err
	}
	return None{}, a.App.RevokeTokens(c.Context(), c.Actor, user)
}
