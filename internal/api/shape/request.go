package shape

import (
	"aliquot/internal/app"
	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// Request is a material request.
type Request struct {
	ID           int64          `json:"id"`
	Material     int64          `json:"material"`
	Requester    uuid.UUID      `json:"requester"`
	SignedMTA    *int64         `json:"requester_signed_mta_attachment"`
	IRB          *int64         `json:"irb_attachment"`
	ExecutedMTA  *int64         `json:"executed_mta_attachment"`
	Active       bool           `json:"is_active"`
	Status       request.Status `json:"status"`
	AssignedTo   uuid.UUID      `json:"assigned_to"`
	Quantity     string         `json:"quantity"`
	Note         string         `json:"note"`
	Abstract     string         `json:"requester_abstract"`
	Address      *Address       `json:"address"`
	Payment      string         `json:"payment_method"`
	PaymentNotes string         `json:"payment_method_notes"`
	Rejection    string         `json:"rejection_reason"`
	Override     string         `json:"override_reason"`
	Correction   string         `json:"correction"`
	Shipment     *Shipment      `json:"shipment"`
	OpenIssues   int            `json:"open_issues"`
	Documents    []Document     `json:"documents"`
	Requirements []Requirement  `json:"requirements"`
	WaitingOn    *Turn          `json:"waiting_on"`
	Clock        Clock          `json:"clock"`
	MTA          *MTA           `json:"mta"`   // null: the material had none
	Group        *int64         `json:"group"` // null: it was sent alone
	CreatedAt    Time           `json:"created_at"`
	UpdatedAt    Time           `json:"updated_at"`
}

// MTA is the blank agreement of the material at the time of the request.
type MTA struct {
	Attachment  int64  `json:"attachment"`
	Version     int64  `json:"version"`
	DownloadURL string `json:"download_url"`
}

// Requirement is one of the requirements of a request.
type Requirement struct {
	Name  request.Need `json:"name"`
	State request.Due  `json:"state"`
	Note  string       `json:"note,omitempty"`
}

// Turn says whose turn it is; due is only shown to the lab, by its own targets.
type Turn struct {
	Party        request.Side `json:"party"`
	What         []string     `json:"what"`
	Since        Time         `json:"since"`
	Due          *Time        `json:"due"`
	ReminderAt   *Time        `json:"reminder_at"`   // null: never
	EscalationAt *Time        `json:"escalation_at"` // null: never, or already escalated
	SnoozedUntil *Time        `json:"snoozed_until"` // null: not snoozed
}

// Clock holds how many seconds each side has had the turn, and how many the request was in each status, until the
// current turn began. The reader adds the time since then, so that the object stays the same while nothing happens.
type Clock struct {
	Requester int64                    `json:"requester"`
	Lab       int64                    `json:"lab"`
	Nobody    int64                    `json:"nobody"`
	Stages    map[request.Status]int64 `json:"stages"`
	Until     Time                     `json:"until"`
}

// RequestTurn is one turn of a request.
type RequestTurn struct {
	ID      int64          `json:"id"`
	Seq     int64          `json:"seq"`
	Status  request.Status `json:"status"`
	Party   *request.Side  `json:"party"` // null: nobody's
	What    []string       `json:"what"`
	BeganAt Time           `json:"began_at"`
	EndedAt *Time          `json:"ended_at"` // null: it is the current one
}

// ShowTurn returns the JSON form of its argument.
func ShowTurn(t request.TurnRecord) RequestTurn {
	out := RequestTurn{t.ID, t.Seq, t.Status, &t.Side, t.What, Time(t.BeganAt), timeOf(t.EndedAt)}
	if t.Side == request.Nobody {
		out.Party = nil
	}
	return out
}

// Document is one version of a document of a request.
type Document struct {
	Name       document.Slot   `json:"name"`
	Attachment int64           `json:"attachment"`
	State      document.Review `json:"state"`
	Reason     string          `json:"reason"`
	AddedBy    uuid.UUID       `json:"added_by"`
	AddedAt    Time            `json:"added_at"`
	ReviewedAt *Time           `json:"reviewed_at"`
}

// Shipment holds the details of the shipment.
type Shipment struct {
	Carrier    string `json:"carrier"`
	Tracking   string `json:"tracking"`
	Conditions string `json:"conditions"`
	SentAt     *Time  `json:"sent_at"`
}

// ShowRequest returns what makes a request's JSON form; when its next reminders are due follows from a's settings.
func ShowRequest(a *app.App) func(request.Detail) Request {
	return func(q request.Detail) Request { return requestOf(a, q) }
}

func requestOf(a *app.App, q request.Detail) Request {
	out := Request{
		ID: q.ID, Material: q.MaterialID, Requester: q.Requester, Active: q.Active, Status: q.Status,
		AssignedTo: q.AssignedTo,
		SignedMTA:  q.AttachmentIn(document.SignedMTA), IRB: q.AttachmentIn(document.IRB),
		ExecutedMTA: q.AttachmentIn(document.ExecutedMTA),
		Quantity:    q.Quantity, Note: q.Note, Abstract: q.Abstract, Payment: q.Payment, PaymentNotes: q.PaymentNotes,
		Rejection: q.Rejection, Override: q.Override, Correction: q.Correction, OpenIssues: q.OpenIssues,
		CreatedAt: Time(q.CreatedAt), UpdatedAt: Time(q.UpdatedAt),
		Clock: Clock{q.Clock.Sides[request.RequesterSide], q.Clock.Sides[request.LabSide],
			q.Clock.Sides[request.Nobody],
			q.Clock.Stages, Time(q.Clock.Since)},
		Documents: List(q.Documents, func(d document.Document) Document {
			return Document{d.Slot, d.AttachmentID, d.State, d.Reason, d.AddedBy, Time(d.AddedAt), timeOf(d.ReviewedAt)}
		}),
		Requirements: List(request.Requirements(q.Terms, q.Request), func(r request.Requirement) Requirement {
			return Requirement{r.Need, r.State, r.Note}
		}),
	}
	if out.Clock.Stages == nil {
		out.Clock.Stages = map[request.Status]int64{}
	}
	if q.Address != nil {
		address := ShowAddress(*q.Address)
		out.Address = &address
	}
	if q.Group != 0 {
		out.Group = &q.Group
	}
	if m := q.MTA; m != nil {
		out.MTA = &MTA{m.Attachment, m.Version, m.DownloadPath()}
	}
	if s := q.Shipment; s != nil {
		out.Shipment = &Shipment{s.Carrier, s.Tracking, s.Conditions, timeOf(s.SentAt)}
	}
	if t := request.WaitingOn(q.Terms, q.Targets, q.Request); t != nil {
		out.WaitingOn = &Turn{t.Side, t.What, Time(t.Since), timeOf(t.Due), timeOf(a.Reminders.At(q.Request)),
			timeOf(a.Escalation.At(q.Request)), nil}
		if q.Snoozing(a.DB.Read().Now) {
			out.WaitingOn.SnoozedUntil = timeOf(q.SnoozedUntil)
		}
	}
	return out
}

// Event is one event of a request, with the hashes that chain it.
type Event struct {
	ID       int64               `json:"id"`
	Seq      int64               `json:"seq"`
	Kind     request.EventKind   `json:"kind"`
	Actor    *uuid.UUID          `json:"actor"` // null: Aliquot itself
	At       Time                `json:"at"`
	Detail   request.EventDetail `json:"detail"`
	PrevHash string              `json:"prev_hash"`
	Hash     string              `json:"hash"`
}

// ShowEvent returns the JSON form of its argument.
func ShowEvent(e request.Event) Event {
	out := Event{e.ID, e.Seq, e.Kind, &e.Actor, Time(e.At), e.Detail, e.Prev, e.Hash}
	if e.Actor == uuid.Nil {
		out.Actor = nil
	}
	return out
}

// OrganizationEvent is one entry of an organization's feed.
type OrganizationEvent struct {
	Event
	Request  int64  `json:"request"`
	Material int64  `json:"material"`
	Title    string `json:"title"` // of the material
}

// ShowOrganizationEvent returns the JSON form of its argument.
func ShowOrganizationEvent(e request.OrganizationEvent) OrganizationEvent {
	return OrganizationEvent{ShowEvent(e.Event), e.RequestID, e.Material, e.Title}
}

// Message is a message on a request.
type Message struct {
	ID      int64     `json:"id"`
	Request int64     `json:"request"`
	Sender  uuid.UUID `json:"sender"`
	Text    string    `json:"text"`
	SentAt  Time      `json:"sent_at"`
}

// ShowMessage returns the JSON form of its argument.
func ShowMessage(e request.Event) Message {
	return Message{e.ID, e.RequestID, e.Actor, e.Detail.Text, Time(e.At)}
}

// Issue is a problem with a transfer.
type Issue struct {
	ID       int64     `json:"id"`
	Request  int64     `json:"request"`
	Text     string    `json:"text"`
	OpenedBy uuid.UUID `json:"opened_by"`
	OpenedAt Time      `json:"opened_at"`
	ClosedAt *Time     `json:"closed_at"`
}

// ShowIssue returns the JSON form of its argument.
func ShowIssue(i request.Issue) Issue {
	return Issue{i.ID, i.RequestID, i.Text, i.OpenedBy, Time(i.OpenedAt), timeOf(i.ClosedAt)}
}

// EventProof proves that an event is in the log.
type EventProof struct {
	Chain string `json:"chain"`
	Seq   int64  `json:"seq"`
	Hash  string `json:"hash"`
	Event string `json:"event"`
	Proof string `json:"proof"`
}

// ShowEventProof returns a proof as answers have it.
func ShowEventProof(p evidence.EventProof) EventProof {
	return EventProof{p.Event.Chain, p.Event.Seq, p.Event.Hash, string(p.Event.Bytes()), string(p.Proof.Marshal())}
}
