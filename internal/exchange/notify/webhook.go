package notify

import (
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
)

// Webhook is a web address that receives messages about what happens to the requests of an organization.
type Webhook struct {
	ID             int64
	OrganizationID int64
	URL            string
	Description    string
	Events         []EventType // that it receives; nil: all
	Secret         string      // that messages are signed with
	OldSecret      string      // also signs until OldUntil; ""
	OldUntil       *time.Time
	Enabled        bool
	OffReason      string // why Aliquot switched it off; "" if a person did, or it is on
	OffAt          *time.Time
	FailingSince   *time.Time // the first failure after the last success; nil: none
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// MaxWebhooks is how many webhooks an organization can have.
const MaxWebhooks = 20

// The periods after which something happens to a webhook.
const (
	RotationTime     = 24 * time.Hour      // how long the old secret signs too
	failingTime      = 5 * 24 * time.Hour  // time without a success after which a webhook is switched off
	DeliveryLifetime = 30 * 24 * time.Hour // how long a delivery is kept
)

// EventType is the type of a message to a webhook, in the form that Standard Webhooks recommends.
type EventType string

// Ping is the type of the message that tests a webhook.
const Ping EventType = "ping"

// TypeOf returns the type of the message about an event of a kind: request.made, request.status_changed.
func TypeOf(k request.EventKind) EventType {
	return EventType("request." + strings.TrimPrefix(string(k), "request_"))
}

// EventTypes lists the types that a webhook can choose from.
var EventTypes = func() (list []EventType) {
	for _, k := range request.EventKinds {
		list = append(list, TypeOf(k))
	}
	return append(list, AgreementTypes...)
}()

// AgreementTypes are the types of messages about agreements for requests of the organization.
var AgreementTypes = []EventType{"agreement.sent", "agreement.signed", "agreement.declined", "agreement.withdrawn",
	agreementExecuted}

const agreementExecuted EventType = "agreement.executed"

// TypesOf returns the types of the messages about an announcement, none for one that webhooks do not receive. The last
// signature of an agreement is two: that it was signed, and that it is executed.
func TypesOf(n Announcement) (list []EventType) {
	step, ok := strings.CutPrefix(string(n.Kind), "agreement_")
	if !ok {
		return nil
	}
	list = []EventType{EventType("agreement." + step)}
	if n.Detail.Executed {
		list = append(list, agreementExecuted)
	}
	return list
}

// WebhookPatch is the body of POST, PUT and PATCH of webhooks.
type WebhookPatch struct {
	URL         exchange.Opt[string]          `json:"url"`
	Description exchange.Opt[string]          `json:"description"`
	Events      exchange.Null[exchange.Names] `json:"events"`
	Enabled     exchange.Opt[bool]            `json:"enabled"`
}

// Create makes a webhook from p; check returns how to correct an address.
func (p WebhookPatch) Create(check func(url string) error) (Webhook, error) {
	return p.Patch(Webhook{Enabled: true}, check, time.Time{})
}

// Patch applies p to w. Switching a webhook on again clears its earlier failures.
func (p WebhookPatch) Patch(w Webhook, check func(url string) error, now time.Time) (Webhook, error) {
	var f exchange.FieldErrors
	was := w
	f.Line("url", p.URL, exchange.MaxURL, &w.URL)
	f.Need("url", w.URL)
	f.Amend("url", func(r *exchange.Rule) { r.Format, r.Examples = "uri", []string{"https://example.org/aliquot"} })
	if w.URL != was.URL {
		if err := check(w.URL); err != nil {
			f.Add("url", "%v", err)
		}
	}
	f.Line("description", p.Description, exchange.LineLength, &w.Description)
	f.Rule("events", exchange.Rule{Min: 1,
		Each: &exchange.Rule{Words: exchange.Strings(EventTypes), Name: "WebhookEvent"}})
	if p.Events.Set {
		w.Events = setEventTypes(&f, p.Events.Value)
	}
	switch w.Enabled = p.Enabled.Or(w.Enabled); {
	case w.Enabled && !was.Enabled:
		w.OffReason, w.OffAt, w.FailingSince = "", nil, nil
	case !w.Enabled && was.Enabled:
		w.OffAt = &now
	}
	return w, f.Err()
}

// Validate implements Body.
func (p WebhookPatch) Validate(bool) exchange.FieldErrors {
	_, err := p.Create(func(string) error { return nil }) // which addresses are allowed is not decided here
	return exchange.FieldsOf(err)
}

// setEventTypes returns the types named in a list, each once, in the order of EventTypes; nil for nil.
func setEventTypes(f *exchange.FieldErrors, names *exchange.Names) (list []EventType) {
	if names == nil {
		return nil
	}
	for _, name := range *names {
		if !slices.Contains(EventTypes, EventType(name)) {
			f.Add("events", "must be null for all, or a list of some of %v", EventTypes)
			return nil
		}
	}
	for _, t := range EventTypes {
		if slices.Contains(*names, string(t)) {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		f.Add("events", "must name at least one type, or be null for all; to switch a webhook off, use enabled")
	}
	return list
}

// Wants reports whether w receives messages of a type.
func (w Webhook) Wants(t EventType) bool {
	return w.Enabled && (w.Events == nil || slices.Contains(w.Events, t))
}

// Rotate returns w with a new secret; the previous one also signs for a day.
func (w Webhook) Rotate(secret string, now time.Time) Webhook {
	until := now.Add(RotationTime)
	w.Secret, w.OldSecret, w.OldUntil = secret, w.Secret, &until
	return w
}

// Lose returns w, whose secret was lost, switched off and with a new secret.
func (w Webhook) Lose(secret, why string, now time.Time) Webhook {
	w.Secret, w.OldSecret, w.OldUntil = secret, "", nil
	return w.off(why, now)
}

// Secrets returns the secrets that sign now, the current one first.
func (w Webhook) Secrets(now time.Time) []string {
	if w.OldUntil != nil && now.Before(*w.OldUntil) {
		return []string{w.Secret, w.OldSecret}
	}
	return []string{w.Secret}
}

// WebhookDelivery is one message to one webhook, which is sent until it is accepted or given up.
type WebhookDelivery struct {
	ID        int64
	WebhookID int64
	Event     *int64 // of a request that it is about; nil: an announcement, or a ping
	// that it is about; nil: an event, or a ping
	Announcement *int64
	MessageID    string // the same at every attempt
	Type         EventType
	Payload      string // the same bytes at every attempt
	State        DeliveryState
	Round        int64      // how often it was sent again by hand
	Tries        int        // in this round
	Attempts     int64      // in total, including earlier rounds
	Status       *int       // of the last response; nil: there was none
	Error        string     // of the last attempt; ""
	NextAt       *time.Time // when the next attempt is due; nil: never
	CreatedAt    time.Time
	EndedAt      *time.Time
}

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryPending   DeliveryState = "PENDING"   // the next attempt is at NextAt
	DeliveryDelivered DeliveryState = "DELIVERED" // the receiver accepted it
	DeliveryFailed    DeliveryState = "FAILED"    // given up; it can be sent again by hand
)

// DeliveryStates lists all of them.
var DeliveryStates = []DeliveryState{DeliveryPending, DeliveryDelivered, DeliveryFailed}

// DeliveryFilter narrows a list of deliveries.
type DeliveryFilter struct {
	State *DeliveryState `query:"state"`
	Type  *EventType     `query:"type"`
}

// Attempt is one attempt at a delivery, with its result.
type Attempt struct {
	ID         int64
	DeliveryID int64
	At         time.Time
	Took       time.Duration
	Status     *int   // nil: no response
	Error      string // why it counts as failed; "": it was accepted
	Excerpt    string // beginning of the response
}

// pauses holds how long a delivery waits after each failure, as Standard Webhooks recommends.
var pauses = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour,
	14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// MaxTries is the number of attempts after which a delivery is given up.
var MaxTries = len(pauses) + 1

// longestWait is the longest time that a receiver can ask us to wait.
const longestWait = 24 * time.Hour

// gone is the status with which a receiver states that it wants no more messages.
const gone = 410

// Tried returns a delivery of w after an attempt, and w after it. A receiver may ask us to wait longer than we would;
// jitter, from 0 to 1, spreads deliveries that failed together. A ping is tried once, and does not count as a failure
// of the webhook.
func (d WebhookDelivery) Tried(w Webhook, t Attempt, wait time.Duration, jitter float64) (WebhookDelivery, Webhook) {
	now := t.At.Add(t.Took)
	d.Tries, d.Status, d.Error, d.NextAt = d.Tries+1, t.Status, t.Error, nil
	switch {
	case t.Error == "":
		w.FailingSince = nil
		return d.end(DeliveryDelivered, now), w
	case t.Status != nil && *t.Status == gone:
		return d.end(DeliveryFailed, now), w.off("It answered 410 Gone: it wants no more messages.", now)
	case d.Type == Ping:
		return d.end(DeliveryFailed, now), w
	}
	if w.FailingSince == nil {
		w.FailingSince = &now
	}
	if d.Tries < MaxTries {
		pause := pauses[d.Tries-1]
		pause = max(pause, min(wait, longestWait)) + time.Duration(jitter*float64(pause)/4)
		d.NextAt = new(now.Add(pause).Truncate(time.Microsecond))
		return d, w
	}
	if now.Sub(*w.FailingSince) >= failingTime {
		w = w.off("Every message failed for five days. The last one: "+t.Error, now)
	}
	return d.end(DeliveryFailed, now), w
}

// Skip returns d as given up because its webhook is off.
func (d WebhookDelivery) Skip(now time.Time) WebhookDelivery {
	d.Error, d.NextAt = "The webhook is switched off.", nil
	return d.end(DeliveryFailed, now)
}

// Again returns d to be sent once more under its id, with as many attempts as a new one.
func (d WebhookDelivery) Again(now time.Time) WebhookDelivery {
	d.State, d.Round, d.Tries, d.NextAt, d.EndedAt = DeliveryPending, d.Round+1, 0, &now, nil
	return d
}

func (d WebhookDelivery) end(state DeliveryState, now time.Time) WebhookDelivery {
	d.State, d.EndedAt = state, &now
	return d
}

func (w Webhook) off(why string, now time.Time) Webhook {
	w.Enabled, w.OffReason, w.OffAt = false, why, &now
	return w
}
