// Package request holds the rules of requests: their life cycle, what each side owes, and what happened.
package request

import (
	"slices"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"

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
	Documents    []document.Document
	Address      *person.Address // as it was when the request was sent
	Payment      string          // payment_method
	PaymentNotes string
	Rejection    string // rejection_reason
	Override     string // override_reason: why a member continued with something missing
	Correction   string // why the request was returned, or what the lab asked; "" once the requester answered
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
	MTA          *document.MTA // the one that the material showed when the request was made; nil: none
	Group        int64         // of the requests that were sent in the same step; 0: it was sent alone
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Detail is a request with what its rules need of the material and the lab.
type Detail struct {
	Request
	Material     string // its title
	Organization int64  // the one that owns the material
	Letter       int64  // the agreement that it is in; 0: none
	Terms        Terms
	Targets      lab.Targets
	Head         Head // the last event of its chain
}

// WithoutAddress returns q for use in messages, which must not contain the address.
func (q Detail) WithoutAddress() Detail {
	if q.Address != nil {
		q.Address = &person.Address{}
	}
	return q
}

// Current returns the current version in a slot, nil if there is none.
func (r Request) Current(s document.Slot) *document.Document {
	for i := range r.Documents {
		if d := &r.Documents[i]; d.Slot == s && d.State != document.Superseded {
			return d
		}
	}
	return nil
}

// AttachmentIn returns the attachment id in a slot, nil if it is empty.
func (r Request) AttachmentIn(s document.Slot) *int64 {
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

// Resolution is what the person who closes an issue did about it.
type Resolution struct {
	Answer   string         // for the other side; "": none
	Shipment *ShipmentPatch // of what was sent again; nil leaves the shipping details unchanged
}

// Submission is what a requester submits with a request, or once for all requests of a group.
type Submission struct {
	SignedMTA exchange.Null[exchange.Ref] `json:"requester_signed_mta_attachment"`
	IRB       exchange.Null[exchange.Ref] `json:"irb_attachment"`
	Abstract  exchange.Opt[string]        `json:"requester_abstract"`
	Address   exchange.Null[exchange.Ref] `json:"address"`
	Payment   exchange.Opt[string]        `json:"payment_method"`
	Notes     exchange.Opt[string]        `json:"payment_method_notes"`
	Note      exchange.Opt[string]        `json:"note"`
	// whether the requester signs the agreement for it at once
	SignAgreement exchange.Opt[bool] `json:"sign_agreement"`
}

// New is the body of POST /material-requests/.
type New struct {
	Material exchange.Opt[exchange.Ref] `json:"material" alias:"material_id"`
	Submission
	Quantity exchange.Opt[string]        `json:"quantity"`
	Inquiry  exchange.Null[exchange.Ref] `json:"inquiry"` // that led to it
}

// Create validates the body; the caller looks up what it refers to.
func (n New) Create(by exchange.Actor) (Request, error) {
	var f exchange.FieldErrors
	f.Must("material", n.Material.Set, "is required: the id of the material")
	r := Request{MaterialID: int64(n.Material.Value), Requester: by.ID, Status: Open, Active: true}
	f.Long("requester_abstract", n.Abstract, &r.Abstract)
	setPayment(&f, n.Payment, &r.Payment)
	f.Long("payment_method_notes", n.Notes, &r.PaymentNotes)
	f.Line("quantity", n.Quantity, exchange.LineLength, &r.Quantity)
	f.Long("note", n.Note, &r.Note)
	return r, f.Err()
}

// Validate implements Body.
func (n New) Validate(bool) exchange.FieldErrors {
	_, err := n.Create(exchange.Actor{})
	return exchange.FieldsOf(err)
}

// Patch is the body of PUT and PATCH /material-requests/:id. Sending the value that a field already has is no
// change, so that anyone who can read a request can send back what a GET returned.
type Patch struct {
	Status      exchange.Opt[Status]           `json:"status"`
	SignedMTA   exchange.Null[exchange.Ref]    `json:"requester_signed_mta_attachment"`
	IRB         exchange.Null[exchange.Ref]    `json:"irb_attachment"`
	ExecutedMTA exchange.Null[exchange.Ref]    `json:"executed_mta_attachment"`
	Active      exchange.Opt[bool]             `json:"is_active"`
	AssignedTo  exchange.Opt[exchange.UserRef] `json:"assigned_to"`
	Abstract    exchange.Opt[string]           `json:"requester_abstract"`
	Address     exchange.Null[exchange.Ref]    `json:"address"`
	Payment     exchange.Opt[string]           `json:"payment_method"`
	Notes       exchange.Opt[string]           `json:"payment_method_notes"`
	Rejection   exchange.Opt[string]           `json:"rejection_reason"`
	Override    exchange.Opt[string]           `json:"override_reason"`
	Reason      exchange.Opt[string]           `json:"reason"` // why a request goes back to OPEN
}

// Validate implements Body as for an admin, who may set every field of an open request.
func (p Patch) Validate(bool) exchange.FieldErrors {
	_, _, err := Request{Status: Open, Active: true}.Apply(Roles{Admin: true}, uuid.Nil, p, nil, Terms{}, time.Time{})
	return exchange.FieldsOf(err)
}

// Document returns the change that p makes in a slot.
func (p Patch) Document(s document.Slot) exchange.Null[exchange.Ref] {
	switch s {
	case document.SignedMTA:
		return p.SignedMTA
	case document.IRB:
		return p.IRB
	default:
		return p.ExecutedMTA
	}
}

// The ways to pay for a shipment (contract.md section 4, "Shipping requirements").
var paymentMethods = []string{"", lab.ByCourierAccount, lab.ByReimbursement, lab.ByOtherMeans}

func setPayment(f *exchange.FieldErrors, o exchange.Opt[string], dst *string) {
	f.Rule("payment_method", exchange.Rule{Words: paymentMethods, Name: "PaymentMethod"})
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
	Carrier    exchange.Opt[string]            `json:"carrier"`
	Tracking   exchange.Opt[string]            `json:"tracking"`
	Conditions exchange.Opt[string]            `json:"conditions"`
	SentAt     exchange.Null[exchange.Instant] `json:"sent_at"`
}

// Patch returns the patch that makes every shipment equal to s.
func (s Shipment) Patch() ShipmentPatch {
	p := ShipmentPatch{Carrier: exchange.Some(s.Carrier), Tracking: exchange.Some(s.Tracking),
		Conditions: exchange.Some(s.Conditions),
		SentAt:     exchange.Cleared[exchange.Instant]()}
	if s.SentAt != nil {
		p.SentAt = exchange.NullOf(exchange.Instant(*s.SentAt))
	}
	return p
}

// Patch applies p to s.
func (p ShipmentPatch) Patch(s Shipment) (Shipment, error) {
	var f exchange.FieldErrors
	f.Line("carrier", p.Carrier, exchange.LineLength, &s.Carrier)
	f.Line("tracking", p.Tracking, exchange.LineLength, &s.Tracking)
	f.Long("conditions", p.Conditions, &s.Conditions)
	if p.SentAt.Set {
		s.SentAt = (*time.Time)(p.SentAt.Value)
	}
	return s, f.Err()
}

// Validate implements Body.
func (p ShipmentPatch) Validate(bool) exchange.FieldErrors {
	_, err := p.Patch(Shipment{})
	return exchange.FieldsOf(err)
}

// TextBody is a body with one text: a message, an issue, a reason.
type TextBody struct {
	Text exchange.Opt[string] `json:"text" alias:"body"`
}

// Check returns the tidy text, which may not be empty.
func (w TextBody) Check() (string, error) {
	var f exchange.FieldErrors
	s := ""
	f.Long("text", w.Text, &s)
	f.Need("text", s)
	return s, f.Err()
}

// Validate implements Body.
func (w TextBody) Validate(bool) exchange.FieldErrors {
	_, err := w.Check()
	return exchange.FieldsOf(err)
}

// MessageBody is the body of POST /material-requests/:id/messages.
type MessageBody struct {
	Text     exchange.Opt[string] `json:"text" alias:"body"`
	Question exchange.Opt[bool]   `json:"question"` // the lab decides after the requester has answered it
}

// Validate implements Body.
func (b MessageBody) Validate(create bool) exchange.FieldErrors {
	return TextBody{b.Text}.Validate(create)
}

// ReasonBody is the body for returning a document.
type ReasonBody struct {
	Reason exchange.Opt[string] `json:"reason" alias:"text"`
}

// Check returns the tidy reason, which may not be empty.
func (r ReasonBody) Check() (string, error) {
	var f exchange.FieldErrors
	s := ""
	f.Long("reason", r.Reason, &s)
	f.Needed("reason")
	f.Must("reason", s != "", "is required: say what needs to be corrected")
	return s, f.Err()
}

// Validate implements Body.
func (r ReasonBody) Validate(bool) exchange.FieldErrors {
	_, err := r.Check()
	return exchange.FieldsOf(err)
}

// RelationsOf returns the relations of a to a request; organization is the owner of the requested material.
func (r Request) RelationsOf(a exchange.Actor, organization int64) exchange.Relation {
	rel := a.ToOrganization(organization) &^ exchange.OwnerOf
	if a.Is(r.Requester) {
		rel |= exchange.RequesterOf
	}
	return rel
}
