package account

import (
	"aliquot/internal/agreement/signing"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
)

// ListPasskeys serves GET /users/{id}/passkeys.
func ListPasskeys(c *rest.Call, _ rest.None) ([]shape.Passkey, error) {
	page, err := c.App.Signing.Passkeys(c.Context(), c.Actor, c.User, c.List.Page)
	return rest.AnswerList(c, page, err, shape.ShowPasskey)
}

// BeginPasskey serves POST /users/{id}/passkeys/options.
func BeginPasskey(c *rest.Call, _ rest.None) (shape.PasskeyOptions, error) {
	c.NoStore()
	options, err := c.App.Signing.BeginPasskey(c.Context(), c.Actor, c.User)
	return shape.PasskeyOptions{Options: options}, err
}

// RegisterPasskey serves POST /users/{id}/passkeys.
func RegisterPasskey(c *rest.Call, in signing.PasskeyNew) (shape.Passkey, error) {
	made, err := c.App.Signing.RegisterPasskey(c.Context(), c.Actor, c.User, in)
	return shape.ShowPasskey(made), err
}

// RemovePasskey serves DELETE /users/{id}/passkeys/{passkey}.
func RemovePasskey(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Signing.RemovePasskey(c.Context(), c.Actor, c.User, c.ID("passkey"), rest.IfNoTag(c))
}
