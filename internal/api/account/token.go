package account

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
)

// CreateToken serves POST /users/{id}/tokens.
func CreateToken(c *rest.Call, in person.TokenNew) (shape.NewToken, error) {
	c.NoStore()
	t, secret, err := c.App.Accounts.CreateToken(c.Context(), c.Actor, c.User, in)
	return shape.ShowNewToken(t, secret), err
}

// ListTokens serves GET /users/{id}/tokens.
func ListTokens(c *rest.Call, _ rest.None) ([]shape.Token, error) {
	for i, match := range c.List.Page.Where { // the call knows which token is presented
		if match.Field == "presented" {
			c.List.Page.Where[i] = exchange.FieldEquals{Field: map[any]string{true: "id",
				false: "other than"}[match.Value], Value: c.Actor.TokenID}
		}
	}
	part, err := c.App.Accounts.Tokens(c.Context(), c.Actor, c.User, c.List.Page)
	return rest.AnswerList(c, part, err, func(t person.Token) shape.Token {
		return shape.ShowToken(t, t.ID == c.Actor.TokenID)
	})
}

// RevokeToken serves DELETE /users/{id}/tokens/{token}.
func RevokeToken(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Accounts.RevokeToken(c.Context(), c.Actor, c.User, c.ID("token"), rest.IfNoTag(c))
}

// RevokeTokens serves DELETE /users/{id}/tokens.
func RevokeTokens(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Accounts.RevokeTokens(c.Context(), c.Actor, c.User, rest.IfNoTag(c))
}
