package api

import (
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
)

// me in a path stands for the id of the caller.
const me = "me"

// Token is a token without its secret.
type Token struct {
	ID           int64            `json:"id"`
	Name         string           `json:"name"`
	Scopes       []exchange.Scope `json:"scopes"`       // empty: a sign-in, with all rights of its user
	Organization *int64           `json:"organization"` // the only one that it can access
	CreatedAt    Time             `json:"created_at"`
	LastUsed     Time             `json:"last_used"` // to the hour
	Expires      Expiry           `json:"expires"`
	Presented    bool             `json:"presented"` // by this call
}

// NewToken is a new token with its secret, which is shown only once.
type NewToken struct {
	Token  string           `json:"token"`
	ID     int64            `json:"id"`
	Name   string           `json:"name"`
	Scopes []exchange.Scope `json:"scopes"`

	Organization *int64 `json:"organization"`
	CreatedAt    Time   `json:"created_at"`
	Expires      Expiry `json:"expires"`
}

func scopesOf(t person.Token) []exchange.Scope {
	switch t.Scope {
	case exchange.ScopeWrite:
		return []exchange.Scope{exchange.ScopeRead, exchange.ScopeWrite}
	case exchange.ScopeRead:
		return []exchange.Scope{exchange.ScopeRead}
	}
	return []exchange.Scope{}
}

func createToken(c *Call, in person.TokenNew) (NewToken, error) {
	c.noStore()
	t, secret, err := c.App.Accounts.CreateToken(c.Context(), c.Actor, c.user, in)
	return NewToken{secret, t.ID, t.Name, scopesOf(t), t.Organization, Time(t.CreatedAt), Expiry(t.ExpiresAt)}, err
}

func listTokens(c *Call, _ None) ([]Token, error) {
	for i, match := range c.list.page.Where { // the call knows which token is presented
		if match.Field == "presented" {
			c.list.page.Where[i] = exchange.FieldEquals{Field: map[any]string{true: "id",
				false: "other than"}[match.Value], Value: c.Actor.TokenID}
		}
	}
	part, err := c.App.Accounts.Tokens(c.Context(), c.Actor, c.user, c.list.page)
	return answerList(c, part, err, func(t person.Token) Token {
		return Token{t.ID, t.Name, scopesOf(t), t.Organization, Time(t.CreatedAt), Time(t.UsedAt), Expiry(t.ExpiresAt),
			t.ID == c.Actor.TokenID}
	})
}

func revokeToken(c *Call, _ None) (None, error) {
	return None{}, c.App.Accounts.RevokeToken(c.Context(), c.Actor, c.user, c.id("token"), ifNoTag(c))
}

func revokeTokens(c *Call, _ None) (None, error) {
	return None{}, c.App.Accounts.RevokeTokens(c.Context(), c.Actor, c.user, ifNoTag(c))
}
