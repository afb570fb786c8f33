package shape

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

// ShowWebhook returns the JSON form of its argument.
func ShowWebhook(w notify.Webhook) Webhook {
	return Webhook{w.ID, w.OrganizationID, w.URL, w.Description, w.Events, w.Enabled, orNone(w.OffReason),
		timeOf(w.OffAt),
		timeOf(w.FailingSince), timeOf(w.OldUntil), Time(w.CreatedAt), Time(w.UpdatedAt)}
}

// ShowDelivery returns the JSON form of its argument.
func ShowDelivery(d notify.WebhookDelivery) WebhookDelivery {
	return WebhookDelivery{d.ID, d.WebhookID, d.Event, d.MessageID, d.Type, d.State, d.Attempts, d.Status,
		orNone(d.Error), timeOf(d.NextAt),
		Time(d.CreatedAt), timeOf(d.EndedAt)}
}

func showAttempt(t notify.Attempt) Attempt {
	return Attempt{Time(t.At), t.Took.Milliseconds(), t.Status, orNone(t.Error), t.Excerpt}
}

// ShowWebhookSecret returns the JSON form of its argument.
func ShowWebhookSecret(w notify.Webhook) WebhookSecret {
	return WebhookSecret{ShowWebhook(w), w.Secret}
}

// ShowLoggedDelivery is the JSON form of a delivery with its attempts.
func ShowLoggedDelivery(d notify.WebhookDelivery, attempts []notify.Attempt) LoggedDelivery {
	return LoggedDelivery{ShowDelivery(d), json.RawMessage(d.Payload), List(attempts, showAttempt)}
}
