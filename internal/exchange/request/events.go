package request

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"

	"github.com/google/uuid"
)

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	Made              EventKind = "request_made"
	StatusChanged     EventKind = "status_changed"
	Assigned          EventKind = "assigned"
	DocumentAdded     EventKind = "document_added"
	DocumentWithdrawn EventKind = "document_withdrawn"
	DocumentAccepted  EventKind = "document_accepted"
	DocumentReturned  EventKind = "document_returned"
	AbstractChanged   EventKind = "abstract_changed"
	AddressChanged    EventKind = "address_changed"
	PaymentChanged    EventKind = "payment_changed"
	DetailsChanged    EventKind = "details_changed"
	Messaged          EventKind = "message"
	IssueOpened       EventKind = "issue_opened"
	IssueClosed       EventKind = "issue_closed"
	AgreementExecuted EventKind = "agreement_executed"
	ShipmentChanged   EventKind = "shipment_changed"
	Closed            EventKind = "closed"
	Reopened          EventKind = "reopened"
	Reminded          EventKind = "reminded"
	Escalated         EventKind = "escalated"
	Snoozed           EventKind = "snoozed"
	Unsnoozed         EventKind = "unsnoozed"
	Deleted           EventKind = "deleted"
)

// EventKinds lists all of them.
var EventKinds = []EventKind{
	Made, StatusChanged, Assigned, DocumentAdded, DocumentWithdrawn, DocumentAccepted, DocumentReturned,
	AbstractChanged, AddressChanged, PaymentChanged, DetailsChanged, Messaged, IssueOpened, IssueClosed,
	AgreementExecuted, ShipmentChanged, Closed, Reopened, Reminded, Escalated, Snoozed, Unsnoozed, Deleted,
}

// Event is one thing that happened to a request. Events are only ever added, and each carries the hash of the one
// before, so that tampering can be detected.
type Event struct {
	ID        int64
	RequestID int64
	Seq       int64 // 1, 2, 3, ... within a request
	Kind      EventKind
	Actor     uuid.UUID // uuid.Nil: Aliquot itself
	At        time.Time // UTC, whole microseconds
	Detail    EventDetail
	Raw       string // Detail as JSON, byte for byte as it was hashed and stored
	Prev      string // hex SHA-256 of the event before; "" for the first
	Hash      string
}

// OrganizationEvent is an event in the feed of the organization that owns the material.
type OrganizationEvent struct {
	Event
	Material int64
	Title    string // of the material
}

// Head is the last event of a request's chain; the zero Head is that of an empty chain.
type Head struct {
	Seq  int64
	Hash string
}

// EventDetail holds the details of an event; only those that apply are set.
type EventDetail struct {
	From       Status        `json:"from,omitempty"`
	To         Status        `json:"to,omitempty"`
	Reason     string        `json:"reason,omitempty"`
	Override   string        `json:"override_reason,omitempty"`
	Missing    []Need        `json:"missing,omitempty"`
	AssignedTo *uuid.UUID    `json:"assigned_to,omitempty"`
	Slot       document.Slot `json:"document,omitempty"`
	Attachment int64         `json:"attachment,omitempty"`
	Supersedes int64         `json:"supersedes,omitempty"`
	Issue      int64         `json:"issue,omitempty"`
	Fields     []string      `json:"fields,omitempty"`
	Text       string        `json:"text,omitempty"`
	// of a reminder or an escalation: whose turn it is, for what, since when, and which day of the turn it is
	Party Side              `json:"party,omitempty"`
	What  []string          `json:"what,omitempty"`
	Since *exchange.Instant `json:"since,omitempty"`
	Days  int               `json:"days,omitempty"`
	Until *exchange.Instant `json:"until,omitempty"` // of a snooze
	// of a request that was sent in one step with others: their group, and how many they are together
	Group    int64 `json:"group,omitempty"`
	Together int   `json:"together,omitempty"`

	Erased bool `json:"erased,omitempty"` // what was written here was erased
}

// EraseWordsOf takes from an event what a person wrote who opened the issues of some ids, and returns it. The event
// keeps its hash, and HashLeft is what it can be checked by.
func (e *Event) EraseWordsOf(user uuid.UUID, issues []int64) (words []string, err error) {
	var theirs []*string
	if e.Actor == user {
		theirs = append(theirs, &e.Detail.Reason, &e.Detail.Override)
	}
	// whoever resolves a problem quotes the one who reported it; the text of a shipment or an agreement is its number
	if e.Kind == IssueClosed && slices.Contains(issues, e.Detail.Issue) ||
		e.Actor == user && e.Kind != IssueClosed && e.Kind != ShipmentChanged &&
			e.Kind != AgreementExecuted {
		theirs = append(theirs, &e.Detail.Text)
	}
	for _, text := range theirs {
		if *text != "" {
			words = append(words, *text)
			*text, e.Detail.Erased = "", true
		}
	}
	if len(words) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(e.Detail)
	e.Raw = string(raw)
	return words, err
}

// HashLeft is the hash of an event as it is now, of which something was erased.
func (e Event) HashLeft() string { return e.sum() }

// Seal appends e to a chain, behind the event with number seq and hash prev, and hashes it.
func (e Event) Seal(seq int64, prev string) (Event, error) {
	raw, err := json.Marshal(e.Detail)
	if err != nil {
		return e, err
	}
	e.Seq, e.Prev, e.Raw = seq+1, prev, string(raw)
	e.Hash = e.sum()
	return e, nil
}

// Follows reports whether e is unaltered and directly follows the event with number seq and hash prev. left is the
// HashLeft of an event of which something was erased, so that its own hash cannot be computed any more; "": nothing
// was.
func (e Event) Follows(seq int64, prev, left string) bool {
	if left == "" {
		left = e.Hash
	}
	return e.Seq == seq+1 && e.Prev == prev && left == e.sum()
}

// sum returns the SHA-256 of all members of e, each preceded by its length, so that no two different events are hashed
// as the same bytes.
func (e Event) sum() string {
	h := sha256.New()
	for _, part := range []string{
		e.Prev, strconv.FormatInt(e.RequestID, 10), strconv.FormatInt(e.Seq, 10), string(e.Kind),
		e.Actor.String(), strconv.FormatInt(e.At.UnixMicro(), 10), e.Raw,
	} {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ChangesSearchText reports whether e changes the Text of its request.
func (e Event) ChangesSearchText() bool {
	switch e.Kind {
	case Made, Assigned, DocumentAdded, AgreementExecuted, AbstractChanged, ShipmentChanged:
		return true
	}
	return false
}

// ChangesIndex reports whether e changes the rows by which a search finds its request.
func (e Event) ChangesIndex() bool {
	return e.ChangesSearchText() || e.Kind == Messaged || e.Kind == IssueOpened || e.Kind == Deleted
}
