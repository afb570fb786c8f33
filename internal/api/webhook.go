package api

import (
	"encoding/json"

	"aliquot/internal/exchange/notify"
)

// Webhook is a web address that receives the events of the requests of an organization.
type Webhook struct {
	ID             int64              `json:"id"`
	Organization   int64              `json:"organization"`
	URL            string             `json:"url"`
	Description    string             `json:"description"`
	Events         []notify.EventType `json:"events"` // null: all
	Enabled        bool               `json:"enabled"`
	DisabledReason *string            `json:"disabled_reason"`
	DisabledAt     *Time              `json:"disabled_at"`
	FailingSince   *Time              `json:"failing_since"`
	OldSecretUntil *Time              `json:"old_secret_until"`
	CreatedAt      Time               `json:"created_at"`
	UpdatedAt      Time               `json:"updated_at"`
}

// WebhookSecret is a webhook with its secret, which is shown only when it is created.
type WebhookSecret struct {
	Webhook
	Secret string `json:"secret"`
}

// WebhookDelivery is one message to a webhook.
type WebhookDelivery struct {
	ID        int64                `json:"id"`
	Webhook   int64                `json:"webhook"`
	Event     *int64               `json:"event"` // null: a ping
	MessageID string               `json:"message_id"`
	Type      notify.EventType     `json:"type"`
	State     notify.DeliveryState `json:"state"`
	Tries     int64                `json:"tries"`
	Status    *int                 `json:"last_status"`
	Error     *string              `json:"last_error"`
	NextAt    *Time                `json:"next_try_at"`
	CreatedAt Time                 `json:"created_at"`
	EndedAt   *Time                `json:"ended_at"`
}

// LoggedDelivery is a delivery with its message and every attempt.
type LoggedDelivery struct {
	WebhookDelivery
	Payload  json.RawMessage `json:"payload"`
	Attempts []Attempt       `json:"attempts"`
}

// Attempt is one attempt at a delivery.
type Attempt struct {
	At      Time    `json:"at"`
	Took    int64   `json:"took_ms"`
	Status  *int    `json:"status"`
	Error   *string `json:"error"`
	Excerpt string  `json:"excerpt"`
}

// orNone returns null for an empty text.
func orNone(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func showWebhook(w notify.Webhook) Webhook {
	return Webhook{w.ID, w.OrganizationID, w.URL, w.Description, w.Events, w.Enabled, orNone(w.OffReason),
		timeOf(w.OffAt),
		timeOf(w.FailingSince), timeOf(w.OldUntil), Time(w.CreatedAt), Time(w.UpdatedAt)}
}

func showDelivery(d notify.WebhookDelivery) WebhookDelivery {
	return WebhookDelivery{d.ID, d.WebhookID, d.Event, d.MessageID, d.Type, d.State, d.Attempts, d.Status,
		orNone(d.Error), timeOf(d.NextAt),
		Time(d.CreatedAt), timeOf(d.EndedAt)}
}

func showAttempt(t notify.Attempt) Attempt {
	return Attempt{Time(t.At), t.Took.Milliseconds(), t.Status, orNone(t.Error), t.Excerpt}
}

func listWebhooks(c *Call, _ None) ([]Webhook, error) {
	part, err := c.App.Notifications.Webhooks(c.Context(), c.Actor, c.id("id"), c.list.page)
	return answerList(c, part, err, showWebhook)
}

func createWebhook(c *Call, in notify.WebhookPatch) (WebhookSecret, error) {
	organization := c.id("id")
	w, err := c.App.Notifications.CreateWebhook(c.Context(), c.Actor, organization, in)
	c.location(err, "/organizations/%d/webhooks/%d", organization, w.ID)
	return WebhookSecret{showWebhook(w), w.Secret}, err
}

func getWebhook(c *Call, _ None) (Webhook, error) {
	w, err := c.App.Notifications.Webhook(c.Context(), c.Actor, c.id("id"), c.id("webhook"))
	return showWebhook(w), err
}

func updateWebhook(c *Call, in notify.WebhookPatch) (Webhook, error) {
	w, err := c.App.Notifications.UpdateWebhook(c.Context(), c.Actor, c.id("id"), c.id("webhook"), in,
		ifMatch(c, showWebhook))
	return showWebhook(w), err
}

func deleteWebhook(c *Call, _ None) (None, error) {
	return None{}, c.App.Notifications.DeleteWebhook(c.Context(), c.Actor, c.id("id"), c.id("webhook"),
		ifMatch(c, showWebhook))
}

func rotateWebhook(c *Call, _ None) (WebhookSecret, error) {
	w, err := c.App.Notifications.RotateWebhook(c.Context(), c.Actor, c.id("id"), c.id("webhook"))
	return WebhookSecret{showWebhook(w), w.Secret}, err
}

func pingWebhook(c *Call, _ None) (WebhookDelivery, error) {
	organization := c.id("id")
	id := c.id("webhook")
	d, err := c.App.Notifications.PingWebhook(c.Context(), c.Actor, organization, id)
	c.location(err, "/organizations/%d/webhooks/%d/deliveries/%d", organization, id, d.ID)
	return showDelivery(d), err
}

func listDeliveries(c *Call, f notify.DeliveryFilter) ([]WebhookDelivery, error) {
	part, err := c.App.Notifications.Deliveries(c.Context(), c.Actor, c.id("id"), c.id("webhook"), c.list.page, f)
	return answerList(c, part, err, showDelivery)
}

func getDelivery(c *Call, _ None) (LoggedDelivery, error) {
	d, attempts, err := c.App.Notifications.Delivery(c.Context(), c.Actor, c.id("id"), c.id("webhook"),
		c.id("delivery"))
	return LoggedDelivery{showDelivery(d), json.RawMessage(d.Payload), list(attempts, showAttempt)}, err
}

func redeliver(c *Call, _ None) (WebhookDelivery, error) {
	organization := c.id("id")
	id := c.id("webhook")
	d, err := c.App.Notifications.Redeliver(c.Context(), c.Actor, organization, id, c.id("delivery"))
	c.location(err, "/organizations/%d/webhooks/%d/deliveries/%d", organization, id, d.ID)
	return showDelivery(d), err
}
