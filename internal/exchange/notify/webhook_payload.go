package notify

import (
	"slices"
	"strconv"
	"time"

	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// EventMessage is the message about an event that webhooks receive. It contains no addresses, no mail addresses and no
// content of documents.
type EventMessage struct {
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"` // when the event happened
	Data      EventData `json:"data"`
}

// EventData is the data of an EventMessage.
type EventData struct {
	Organization int64          `json:"organization"`
	Request      RequestPayload `json:"request"`
	Event        EventPayload   `json:"event"`
	WaitingOn    *TurnPayload   `json:"waiting_on"`
}

// RequestPayload is a request as it was when the message was made.
type RequestPayload struct {
	ID        int64           `json:"id"`
	URL       string          `json:"url"` // address of its page
	API       string          `json:"api"`
	Status    request.Status  `json:"status"`
	Active    bool            `json:"is_active"`
	Material  MaterialPayload `json:"material"`
	Requester PersonPayload   `json:"requester"`
	Group     *int64          `json:"group"` // of the requests that were sent in the same step; null: none
}

// MaterialPayload names a material.
type MaterialPayload struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

// PersonPayload names a person.
type PersonPayload struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// EventPayload is the event.
type EventPayload struct {
	ID     int64               `json:"id"`
	Seq    int64               `json:"seq"`
	Kind   request.EventKind   `json:"kind"`
	Actor  *PersonPayload      `json:"actor"` // null: Aliquot itself
	At     time.Time           `json:"at"`
	Detail request.EventDetail `json:"detail"`
}

// TurnPayload is whose turn it was when the message was made; null: nobody's.
type TurnPayload struct {
	Party request.Side `json:"party"`
	What  []string     `json:"what"`
	Since time.Time    `json:"since"`
	Due   *time.Time   `json:"due"`
}

// AgreementMessage is the message about an agreement that webhooks receive. It contains no mail addresses and no text
// of the agreement.
type AgreementMessage struct {
	Type      EventType     `json:"type"`
	Timestamp time.Time     `json:"timestamp"` // when it happened
	Data      AgreementData `json:"data"`
}

// AgreementData is the data of an AgreementMessage.
type AgreementData struct {
	Organization int64            `json:"organization"`
	Agreement    AgreementPayload `json:"agreement"`
	Event        AgreementEvent   `json:"event"`
}

// AgreementPayload is an agreement as it was when the message was made.
type AgreementPayload struct {
	ID         int64    `json:"id"`
	Number     string   `json:"number"`
	URL        string   `json:"url"` // address of its page
	API        string   `json:"api"`
	State      string   `json:"state"`
	Version    int      `json:"version"`
	SHA256     string   `json:"sha256"`
	Instrument string   `json:"instrument"`
	Provider   int64    `json:"provider"`  // institution
	Recipient  int64    `json:"recipient"` // institution
	Requests   []int64  `json:"requests"`
	Unsigned   []string `json:"unsigned"` // the roles that have not signed
}

// AgreementEvent is what somebody did with an agreement.
type AgreementEvent struct {
	Actor    *PersonPayload `json:"actor"`    // null: somebody without an account
	External string         `json:"external"` // the name of who did it without an account
	Role     string         `json:"role"`     // in which it was signed; empty for all but signatures
	Reason   string         `json:"reason"`
}

// PingMessage is the message that tests a webhook.
type PingMessage struct {
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      PingData  `json:"data"`
}

// PingData is the data of a PingMessage.
type PingData struct {
	Organization int64 `json:"organization"`
	Webhook      int64 `json:"webhook"`
}

// NewEventMessage returns the message about e, an event of q; people are those involved in it, and base is the address
// of the installation.
func NewEventMessage(e request.Event, q request.Detail, people []person.User, base string) EventMessage {
	person := func(id uuid.UUID) PersonPayload {
		i := slices.IndexFunc(people, func(u person.User) bool { return u.ID == id })
		return PersonPayload{id, people[i].Name()}
	}
	id := strconv.FormatInt(q.ID, 10)
	m := EventMessage{Type: TypeOf(e.Kind), Timestamp: e.At, Data: EventData{
		Organization: q.Organization,
		Request: RequestPayload{q.ID, base + "/requests/" + id, base + "/v1/material-requests/" + id, q.Status,
			q.Active,
			MaterialPayload{q.MaterialID, q.Material}, person(q.Requester), nil},
		Event: EventPayload{ID: e.ID, Seq: e.Seq, Kind: e.Kind, At: e.At, Detail: e.Detail},
	}}
	if q.Group != 0 {
		m.Data.Request.Group = &q.Group
	}
	if e.Actor != uuid.Nil {
		m.Data.Event.Actor = new(person(e.Actor))
	}
	if t := request.WaitingOn(q.Terms, q.Targets, q.Request); t != nil {
		m.Data.WaitingOn = &TurnPayload{t.Side, t.What, t.Since, t.Due}
	}
	return m
}
