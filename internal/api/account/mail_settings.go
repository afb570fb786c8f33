package account

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange/mailing"
)

// GetMailSettings serves GET /users/{id}/mail-settings.
func GetMailSettings(c *rest.Call, _ rest.None) (shape.MailSettings, error) {
	s, err := c.App.Accounts.MailSettings(c.Context(), c.Actor, c.User)
	return shape.ShowMailSettings(s), err
}

// RetryMail serves POST /users/{id}/mail-settings/retry.
func RetryMail(c *rest.Call, _ rest.None) (shape.MailSettings, error) {
	s, err := c.App.Accounts.RetryMail(c.Context(), c.Actor, c.User)
	return shape.ShowMailSettings(s), err
}

// UpdateMailSettings serves PUT and PATCH /users/{id}/mail-settings.
func UpdateMailSettings(c *rest.Call, in mailing.Patch) (shape.MailSettings, error) {
	s, err := c.App.Accounts.UpdateMailSettings(c.Context(), c.Actor, c.User, in,
		rest.IfMatch(c, shape.ShowMailSettings))
	return shape.ShowMailSettings(s), err
}
