package exchange

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Request tracks one transfer of a material from the lab that owns it to a requester.
type Request struct {
	ID           int64
	MaterialID   int64
	Requester    uuid.UUID
	AssignedTo   uuid.UUID
	Status       Status
	Active       bool
	Quantity     string
	Note         string
	Abstract     string // the requester's research abstract
	Documents    []Document
	Address      *Address // as it was when the request was sent
	Payment      string   // payment_method
	PaymentNotes string
	Rejection    string // rejection_reason
	Override     string // override_reason: why a member continued with something missing
	Correction   string // why the request was returned; "" once the requester answered
	Shipment     *Shipment
	OpenIssues   int
	PutBack      bool       // an open issue moved it back from FULFILLED
	Party        Side       // whose turn it is; Nobody: it is closed or resolved
	Step         string     // what that side has to do first, one of the values of Turn.What
	WaitingSince time.Time  // when the current turn began
	Reminded     int        // day of the current turn of the last reminder; 0: none yet
	Escalates    bool       // it is the lab's turn, and its owner was not notified yet
	SnoozedUntil *time.Time // no reminders of the current turn before that
	Clock        Clock
	MTA          *MTA // the one that the material showed when the request was made; nil: none
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// MTA is one version of a blank agreement.
type MTA struct{ Attachment, Version int64 }

// DownloadPath returns the path of its content.
func (m MTA) DownloadPath() string {
	return fmt.Sprintf("/v1/attachments/%d/versions/%d", m.Attachment, m.Version)
}

// RequestDetail is a request with what its rules need of the material and the lab.
type RequestDetail struct {
	Request
	Material     string // its title
	Organization int64  // the one that owns the material
	Terms        Terms
	Targets      Targets
	Head         Head // the last event of its chain
}

// WithoutAddress returns q for use in messages, which must not contain the address.
func (q RequestDetail) WithoutAddress() RequestDetail {
	if q.Address != nil {
		q.Address = &Address{}
	}
	return q
}

// Slot is the place of a document in a request.
type Slot string

// The three documents of a request, by the specification's field names without "_attachment".
const (
	SignedMTA   Slot = "requester_signed_mta"
	IRB         Slot = "irb"
	ExecutedMTA Slot = "executed_mta"
)

// Slots lists all slots in the order in which they are filled.
var Slots = []Slot{SignedMTA, IRB, ExecutedMTA}

// Review is the state of a document version.
type Review string

// The states of a document version. One that was not reviewed counts as delivered.
const (
	Delivered  Review = "delivered"
	Accepted   Review = "accepted"
	Returned   Review = "returned"   // it is owed again
	Superseded Review = "superseded" // replaced by a newer version, or withdrawn
)

// Document is one version of a document of a request; old versions are kept.
type Document struct {
	ID           int64
	RequestID    int64
	Slot         Slot
	AttachmentID int64
	State        Review
	Reason       string // why it was returned
	AddedBy      uuid.UUID
	AddedAt      time.Time
	ReviewedAt   *time.Time
}

// Current returns the current version in a slot, nil if there is none.
func (r Request) Current(s Slot) *Document {
	for i := range r.Documents {
		if d := &r.Documents[i]; d.Slot == s && d.State != Superseded {
			return d
		}
	}
	return nil
}

// AttachmentIn returns the attachment id in a slot, nil if it is empty.
func (r Request) AttachmentIn(s Slot) *int64 {
	if d := r.Current(s); d != nil {
		return &d.AttachmentID
	}
	return nil
}

// Shipment holds the shipping details of a request; a member sets them.
type Shipment struct {
	Carrier    string
	Tracking   string
	Conditions string
	SentAt     *time.Time
}

// Issue is a problem with a transfer that one side reported.
type Issue struct {
	ID        int64
	RequestID int64
	Text      string
	OpenedBy  uuid.UUID
	OpenedAt  time.Time
	ClosedAt  *time.Time
}

// RequestNew is the body of POST /material-requests/.
type RequestNew struct {
	Material  Opt[Ref]    `json:"material" alias:"material_id"`
	SignedMTA Null[Ref]   `json:"requester_signed_mta_attachment"`
	IRB       Null[Ref]   `json:"irb_attachment"`
	Abstract  Opt[string] `json:"requester_abstract"`
	Address   Null[Ref]   `json:"address"`
	Payment   Opt[string] `json:"payment_method"`
	Notes     Opt[string] `json:"payment_method_notes"`
	Quantity  Opt[string] `json:"quantity"`
	Note      Opt[string] `json:"note"`
}

// Create validates the body; the caller looks up what it refers to.
func (n RequestNew) Create(by Actor) (Request, error) {
	var f FieldErrors
	f.must("material", n.Material.Set, "is required: the id of the material")
	r := Request{MaterialID: int64(n.Material.Value), Requester: by.ID, Status: Open, Active: true}
	f.long("requester_abstract", n.Abstract, &r.Abstract)
	f.payment(n.Payment, &r.Payment)
	f.long("payment_method_notes", n.Notes, &r.PaymentNotes)
	f.line("quantity", n.Quantity, lineLength, &r.Quantity)
	f.long("note", n.Note, &r.Note)
	return r, f.Err()
}

// Validate implements Body.
func (n RequestNew) Validate(bool) FieldErrors {
	_, err := n.Create(Actor{})
	return fieldsOf(err)
}

// RequestPatch is the body of PUT and PATCH /material-requests/:id. Sending the value that a field already has is no
// change, so that anyone who can read a request can send back what a GET returned.
type RequestPatch struct {
	Status      Opt[Status]  `json:"status"`
	SignedMTA   Null[Ref]    `json:"requester_signed_mta_attachment"`
	IRB         Null[Ref]    `json:"irb_attachment"`
	ExecutedMTA Null[Ref]    `json:"executed_mta_attachment"`
	Active      Opt[bool]    `json:"is_active"`
	AssignedTo  Opt[UserRef] `json:"assigned_to"`
	Abstract    Opt[string]  `json:"requester_abstract"`
	Address     Null[Ref]    `json:"address"`
	Payment     Opt[string]  `json:"payment_method"`
	Notes       Opt[string]  `json:"payment_method_notes"`
	Rejection   Opt[string]  `json:"rejection_reason"`
	Override    Opt[string]  `json:"override_reason"`
	Reason      Opt[string]  `json:"reason"` // why a request goes back to OPEN
}

// Validate implements Body as for an admin, who may set every field of an open request.
func (p RequestPatch) Validate(bool) FieldErrors {
	_, _, err := Request{Status: Open, Active: true}.Apply(Roles{Admin: true}, uuid.Nil, p, nil, Terms{}, time.Time{})
	return fieldsOf(err)
}

// Document returns the change that p makes in a slot.
func (p RequestPatch) Document(s Slot) Null[Ref] {
	switch s {
	case SignedMTA:
		return p.SignedMTA
	case IRB:
		return p.IRB
	default:
		return p.ExecutedMTA
	}
}

// The ways to pay for a shipment (contract.md section 4, "Shipping requirements").
var paymentMethods = []string{"", ByCourierAccount, ByReimbursement, ByOtherMeans}

func (f *FieldErrors) payment(o Opt[string], dst *string) {
	f.rule("payment_method", Rule{Words: paymentMethods, Name: "PaymentMethod"})
	if !o.Set {
		return
	}
	if !slices.Contains(paymentMethods, o.Value) {
		f.Add("payment_method", "must be SHIPPING_CODE, REIMBURSEMENT or OTHER")
		return
	}
	*dst = o.Value
}

// ShipmentPatch is the body of PUT and PATCH /material-requests/:id/shipment.
type ShipmentPatch struct {
	Carrier    Opt[string]   `json:"carrier"`
	Tracking   Opt[string]   `json:"tracking"`
	Conditions Opt[string]   `json:"conditions"`
	SentAt     Null[Instant] `json:"sent_at"`
}

// Patch returns the patch that makes every shipment equal to s.
func (s Shipment) Patch() ShipmentPatch {
	p := ShipmentPatch{Carrier: Some(s.Carrier), Tracking: Some(s.Tracking), Conditions: Some(s.Conditions),
		SentAt: Cleared[Instant]()}
	if s.SentAt != nil {
		p.SentAt = NullOf(Instant(*s.SentAt))
	}
	return p
}

// Patch applies p to s.
func (p ShipmentPatch) Patch(s Shipment) (Shipment, error) {
	var f FieldErrors
	f.line("carrier", p.Carrier, lineLength, &s.Carrier)
	f.line("tracking", p.Tracking, lineLength, &s.Tracking)
	f.long("conditions", p.Conditions, &s.Conditions)
	if p.SentAt.Set {
		s.SentAt = (*time.Time)(p.SentAt.Value)
	}
	return s, f.Err()
}

// Validate implements Body.
func (p ShipmentPatch) Validate(bool) FieldErrors {
	_, err := p.Patch(Shipment{})
	return fieldsOf(err)
}

// TextBody is a body with one text: a message, an issue, a reason.
type TextBody struct {
	Text Opt[string] `json:"text" alias:"body"`
}

// Check returns the tidy text, which may not be empty.
func (w TextBody) Check() (string, error) {
	var f FieldErrors
	s := ""
	f.long("text", w.Text, &s)
	f.need("text", s)
	return s, f.Err()
}

// Validate implements Body.
func (w TextBody) Validate(bool) FieldErrors {
	_, err := w.Check()
	return fieldsOf(err)
}

// ReasonBody is the body for returning a document.
type ReasonBody struct {
	Reason Opt[string] `json:"reason" alias:"text"`
}

// Check returns the tidy reason, which may not be empty.
func (r ReasonBody) Check() (string, error) {
	var f FieldErrors
	s := ""
	f.long("reason", r.Reason, &s)
	f.needed("reason")
	f.must("reason", s != "", "is required: say what needs to be corrected")
	return s, f.Err()
}

// Validate implements Body.
func (r ReasonBody) Validate(bool) FieldErrors {
	_, err := r.Check()
	return fieldsOf(err)
}

// Valid reports whether s is one of the three slots.
func (s Slot) Valid() bool { return slices.Contains(Slots, s) }
