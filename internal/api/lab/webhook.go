package lab

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange/notify"
)

// ListWebhooks serves GET /organizations/{id}/webhooks.
func ListWebhooks(c *rest.Call, _ rest.None) ([]shape.Webhook, error) {
	part, err := c.App.Webhooks.List(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowWebhook)
}

// CreateWebhook serves POST /organizations/{id}/webhooks.
func CreateWebhook(c *rest.Call, in notify.WebhookPatch) (shape.WebhookSecret, error) {
	organization := c.ID("id")
	w, err := c.App.Webhooks.Create(c.Context(), c.Actor, organization, in)
	c.Location(err, "/organizations/%d/webhooks/%d", organization, w.ID)
	return shape.ShowWebhookSecret(w), err
}

// GetWebhook serves GET /organizations/{id}/webhooks/{webhook}.
func GetWebhook(c *rest.Call, _ rest.None) (shape.Webhook, error) {
	w, err := c.App.Webhooks.Get(c.Context(), c.Actor, c.ID("id"), c.ID("webhook"))
	return shape.ShowWebhook(w), err
}

// UpdateWebhook serves PUT and PATCH /organizations/{id}/webhooks/{webhook}.
func UpdateWebhook(c *rest.Call, in notify.WebhookPatch) (shape.Webhook, error) {
	w, err := c.App.Webhooks.Update(c.Context(), c.Actor, c.ID("id"), c.ID("webhook"), in,
		rest.IfMatch(c, shape.ShowWebhook))
	return shape.ShowWebhook(w), err
}

// DeleteWebhook serves DELETE /organizations/{id}/webhooks/{webhook}.
func DeleteWebhook(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Webhooks.Delete(c.Context(), c.Actor, c.ID("id"), c.ID("webhook"),
		rest.IfMatch(c, shape.ShowWebhook))
}

// RotateWebhook serves POST /organizations/{id}/webhooks/{webhook}/rotate.
func RotateWebhook(c *rest.Call, _ rest.None) (shape.WebhookSecret, error) {
	w, err := c.App.Webhooks.Rotate(c.Context(), c.Actor, c.ID("id"), c.ID("webhook"))
	return shape.ShowWebhookSecret(w), err
}

// PingWebhook serves POST /organizations/{id}/webhooks/{webhook}/ping.
func PingWebhook(c *rest.Call, _ rest.None) (shape.WebhookDelivery, error) {
	organization := c.ID("id")
	id := c.ID("webhook")
	d, err := c.App.Webhooks.Ping(c.Context(), c.Actor, organization, id)
	c.Location(err, "/organizations/%d/webhooks/%d/deliveries/%d", organization, id, d.ID)
	return shape.ShowDelivery(d), err
}

// ListDeliveries serves GET /organizations/{id}/webhooks/{webhook}/deliveries.
func ListDeliveries(c *rest.Call, f notify.DeliveryFilter) ([]shape.WebhookDelivery, error) {
	part, err := c.App.Webhooks.Deliveries(c.Context(), c.Actor, c.ID("id"), c.ID("webhook"), c.List.Page, f)
	return rest.AnswerList(c, part, err, shape.ShowDelivery)
}

// GetDelivery serves GET /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}.
func GetDelivery(c *rest.Call, _ rest.None) (shape.LoggedDelivery, error) {
	d, attempts, err := c.App.Webhooks.Delivery(c.Context(), c.Actor, c.ID("id"), c.ID("webhook"),
		c.ID("delivery"))
	return shape.ShowLoggedDelivery(d, attempts), err
}

// Redeliver serves POST /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}/redeliver.
func Redeliver(c *rest.Call, _ rest.None) (shape.WebhookDelivery, error) {
	organization := c.ID("id")
	id := c.ID("webhook")
	d, err := c.App.Webhooks.Redeliver(c.Context(), c.Actor, organization, id, c.ID("delivery"))
	c.Location(err, "/organizations/%d/webhooks/%d/deliveries/%d", organization, id, d.ID)
	return shape.ShowDelivery(d), err
}
