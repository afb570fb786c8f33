package request

import (
	"slices"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/person"

	"github.com/google/uuid"
)

// Status is the status of a request.
type Status string

// The statuses of contract.md section 6.
const (
	Open          Status = "OPEN"
	Approved      Status = "APPROVED"
	InFulfillment Status = "IN_FULFILLMENT"
	Fulfilled     Status = "FULFILLED"
	Verified      Status = "VERIFIED_FULFILLED"
	Rejected      Status = "REJECTED"
	Cancelled     Status = "CANCELLED"
	Invalid       Status = "INVALID"
)

// Statuses lists all of them, in the order of a successful request, the ends last.
var Statuses = []Status{Open, Approved, InFulfillment, Fulfilled, Verified, Rejected, Cancelled, Invalid}

// Active reports whether a request with that status is still under way.
func (s Status) Active() bool { return slices.Index(Statuses, s) < slices.Index(Statuses, Verified) }

// Roles are the roles that an actor has in one request; one person may have several.
type Roles struct{ Requester, Member, Admin bool }

// RolesOf returns the roles that follow from the relations to a request.
func RolesOf(r exchange.Relation) Roles {
	return Roles{Requester: r&exchange.RequesterOf != 0, Member: r&exchange.MemberOf != 0,
		Admin: r&exchange.AdminOf != 0}
}

// lab reports whether the roles have the rights of a member.
func (r Roles) lab() bool { return r.Member || r.Admin }

// asRequester reports whether the roles have the rights of the requester.
func (r Roles) asRequester() bool { return r.Requester || r.Admin }

// transition is one row of the life cycle.
type transition struct {
	from []Status
	to   []Status
}

// The life cycle of a request: every transition that a requester or a member may make (contract.md section 6). An admin
// may make any. guard checks transitions to IN_FULFILLMENT and FULFILLED.
var (
	requesterMoves = []transition{
		{[]Status{Open, Approved, InFulfillment}, []Status{Cancelled}},
		{[]Status{Approved}, []Status{InFulfillment}},
		{[]Status{Fulfilled}, []Status{Verified}},
	}
	memberMoves = []transition{
		{[]Status{Open}, []Status{Approved, InFulfillment, Fulfilled, Rejected, Invalid}},
		{[]Status{Approved}, []Status{Open, InFulfillment, Fulfilled, Rejected, Invalid}},
		{[]Status{InFulfillment}, []Status{Approved, Fulfilled, Rejected, Invalid}},
		{[]Status{Fulfilled}, []Status{InFulfillment}},
		{[]Status{Rejected, Invalid}, []Status{Open}},
	}
)

// AllowedStatuses returns the statuses that the roles may set on a request with status from, regardless of what is
// still missing, in the order of Statuses.
func AllowedStatuses(roles Roles, from Status) []Status {
	to := []Status{}
	for _, s := range Statuses {
		if s != from && (roles.Admin ||
			roles.Requester && reaches(requesterMoves, from, s) ||
			roles.Member && reaches(memberMoves, from, s)) {
			to = append(to, s)
		}
	}
	return to
}

func reaches(moves []transition, from, to Status) bool {
	return slices.ContainsFunc(moves, func(m transition) bool {
		return slices.Contains(m.from, from) && slices.Contains(m.to, to)
	})
}

// own reports whether the roles may ever set the status to.
func own(roles Roles, to Status) bool {
	return slices.ContainsFunc(Statuses, func(from Status) bool {
		return slices.Contains(AllowedStatuses(roles, from), to)
	})
}

// Apply applies p to r as an actor with the given roles and returns the events. It checks every right to a field, every
// transition and every guard of contract.md section 6. address is the address that p.Address refers to. Without a
// change there is no event.
func (r Request) Apply(roles Roles, by uuid.UUID, p Patch, address *person.Address, t Terms, now time.Time) (Request,
	[]Event, error) {
	c := change{Request: r, roles: roles, by: by, terms: t, now: now}
	c.Documents = slices.Clone(r.Documents)
	if err := c.apply(p, address); err != nil {
		return r, nil, err
	}
	c.settle(r)
	return c.Request, c.events, nil
}

// change is one action on a request while it is being applied.
type change struct {
	Request
	roles  Roles
	by     uuid.UUID
	terms  Terms
	now    time.Time
	events []Event
}

func (c *change) apply(p Patch, address *person.Address) error {
	var f exchange.FieldErrors
	if p.Status.Set && !slices.Contains(Statuses, p.Status.Value) {
		f.Add("status", "must be one of %v", Statuses)
	}
	abstract, payment, notes, rejection, override, reason := c.Abstract, c.Payment, c.PaymentNotes, c.Rejection,
		c.Override, ""
	f.Long("requester_abstract", p.Abstract, &abstract)
	setPayment(&f, p.Payment, &payment)
	f.Long("payment_method_notes", p.Notes, &notes)
	f.Long("rejection_reason", p.Rejection, &rejection)
	f.Long("override_reason", p.Override, &override)
	f.Long("reason", p.Reason, &reason)
	if err := f.Err(); err != nil {
		return err
	}
	if reason == "" && rejection != c.Rejection {
		reason = rejection
	}
	if override != c.Override && !c.roles.lab() {
		return c.may("override_reason", false)
	}
	before := c.Request
	steps := []error{
		c.text("requester_abstract", AbstractChanged, &c.Abstract, abstract, c.roles.asRequester()),
		c.text("payment_method", PaymentChanged, &c.Payment, payment, c.roles.asRequester()),
		c.text("payment_method_notes", PaymentChanged, &c.PaymentNotes, notes, c.roles.asRequester()),
		c.address(p, address),
		c.document(document.SignedMTA, p, c.roles.asRequester() || c.roles.lab()),
		c.document(document.IRB, p, c.roles.asRequester() || c.roles.lab()),
		c.document(document.ExecutedMTA, p, c.roles.lab()),
		c.assign(p.AssignedTo),
		c.move(p.Status.Or(c.Status), reason, override),
		c.active(p.Active, before.Active),
		c.reject(rejection, before.Status),
	}
	for _, err := range steps {
		if err != nil {
			return err
		}
	}
	if override != c.Override && len(c.events) == 0 {
		return exchange.FieldErrors{"override_reason": {"goes with a status of IN_FULFILLMENT or FULFILLED while " +
			"something is " +
			"missing"}}.Err()
	}
	return nil
}

// may returns nil if a field may change: the actor has the right to it, and the request is active.
func (c *change) may(field string, right bool) error {
	if !right {
		return exchange.Errorf(exchange.FieldForbidden, "You may not change %s of this request.", field).With("field",
			field)
	}
	if !c.Active {
		return exchange.Errorf(exchange.RequestClosed, "This request is closed (%s), so %s can no longer be changed.",
			c.Status, field)
	}
	return nil
}

func (c *change) text(field string, kind EventKind, dst *string, value string, right bool) error {
	if value == *dst {
		return nil
	}
	if err := c.may(field, right); err != nil {
		return err
	}
	if kind == AbstractChanged && c.Status != Open && !c.roles.Admin {
		return exchange.Errorf(exchange.FieldForbidden, "The research abstract can only be changed while the request "+
			"is OPEN.").
			With("field",
				field)
	}
	*dst = value
	c.answered()
	if n := len(c.events); n > 0 && c.events[n-1].Kind == kind { // one event for fields set together
		c.events[n-1].Detail.Fields = append(c.events[n-1].Detail.Fields, field)
		return nil
	}
	c.addEvent(kind, EventDetail{Fields: []string{field}})
	return nil
}

func (c *change) address(p Patch, address *person.Address) error {
	if !p.Address.Set || p.Address.Value == nil && c.Address == nil ||
		p.Address.Value != nil && c.Address != nil && int64(*p.Address.Value) == c.Address.ID {
		return nil
	}
	if err := c.may("address", c.roles.asRequester()); err != nil {
		return err
	}
	c.Address = address
	c.answered()
	c.addEvent(AddressChanged, EventDetail{})
	return nil
}

func (c *change) document(s document.Slot, p Patch, right bool) error {
	ref := p.Document(s)
	old := c.Current(s)
	switch {
	case !ref.Set, ref.Value == nil && old == nil,
		ref.Value != nil && old != nil && int64(*ref.Value) == old.AttachmentID:
		return nil
	}
	if err := c.may(string(s)+"_attachment", right); err != nil {
		return err
	}
	detail := EventDetail{Slot: s}
	if old != nil {
		old.State = document.Superseded
		detail.Supersedes = old.AttachmentID
	}
	kind := DocumentWithdrawn
	if ref.Value != nil {
		kind, detail.Attachment = DocumentAdded, int64(*ref.Value)
		c.Documents = append(c.Documents, document.Document{
			RequestID: c.ID, Slot: s, AttachmentID: detail.Attachment, State: document.Delivered, AddedBy: c.by,
			AddedAt: c.now,
		})
	}
	if s != document.ExecutedMTA {
		c.answered()
	}
	c.addEvent(kind, detail)
	return nil
}

func (c *change) assign(to exchange.Opt[exchange.UserRef]) error {
	id := uuid.UUID(to.Value)
	if !to.Set || id == c.AssignedTo {
		return nil
	}
	if err := c.may("assigned_to", c.roles.lab()); err != nil {
		return err
	}
	c.AssignedTo = id
	c.addEvent(Assigned, EventDetail{AssignedTo: &id})
	return nil
}

// move changes the status of the request.
func (c *change) move(to Status, reason, override string) error {
	if to == c.Status {
		return nil
	}
	if !own(c.roles, to) {
		return exchange.Errorf(exchange.FieldForbidden, "Your role in this request does not let you set the status %s.",
			to).With("field", "status")
	}
	if !c.Active && c.Status.Active() && !c.roles.lab() {
		return exchange.Errorf(exchange.RequestClosed, "The lab closed this request; ask them to reopen it.")
	}
	if allowed := AllowedStatuses(c.roles, c.Status); !slices.Contains(allowed, to) {
		return exchange.Errorf(exchange.InvalidTransition, "A request cannot change from %s to %s this way.", c.Status,
			to).
			With("status", c.Status).With("allowed", allowed)
	}
	detail := EventDetail{From: c.Status, To: to, Reason: reason}
	if to == InFulfillment || to == Fulfilled {
		if to == Fulfilled && c.OpenIssues > 0 {
			return exchange.Errorf(exchange.Conflict, "An issue is open; close it and the request is fulfilled again.")
		}
		if err := c.guard(&detail, override); err != nil {
			return err
		}
	} else {
		c.Override = ""
	}
	c.Correction = ""
	if c.Status == Approved && to == Open {
		c.Correction = reason
		if reason == "" {
			c.Correction = "The lab returned this request for correction."
		}
	}
	c.Status, c.Active, c.PutBack = to, to.Active(), false
	c.addEvent(StatusChanged, detail)
	return nil
}

// guard prevents a request from being fulfilled while something is missing. A member may continue with a reason, which
// is recorded and holds until the request goes back.
func (c *change) guard(detail *EventDetail, override string) error {
	missing := Missing(Requirements(c.terms, c.Request))
	if len(missing) == 0 || c.roles.lab() && c.Override != "" && override == c.Override {
		return nil
	}
	if !c.roles.lab() || override == "" {
		e := exchange.Errorf(exchange.MissingRequirements, "Still missing: %s.", join(missing)).With("missing", missing)
		if c.roles.lab() {
			e.Message += " To continue without it, send override_reason."
		}
		return e
	}
	c.Override, detail.Override, detail.Missing = override, override, missing
	return nil
}

// active closes or reopens a request by is_active. Sending the value of before is no change, so that a PUT of all
// fields with another status does not undo the transition.
func (c *change) active(o exchange.Opt[bool], before bool) error {
	if !o.Set || o.Value == before || o.Value == c.Active {
		return nil
	}
	if !c.roles.lab() {
		return exchange.Errorf(exchange.FieldForbidden,
			"Only the lab may close or reopen a request with is_active.").With("field",
			"is_active")
	}
	if o.Value && !c.Status.Active() {
		return c.move(Open, "", "")
	}
	c.Active = o.Value
	if o.Value {
		c.addEvent(Reopened, EventDetail{})
	} else {
		c.addEvent(Closed, EventDetail{})
	}
	return nil
}

// reject stores why a request was declined; the reason is removed when the request is reopened.
func (c *change) reject(reason string, from Status) error {
	if c.Status == Open && from != Open {
		reason = ""
	}
	if reason == c.Rejection {
		return nil
	}
	if !c.roles.lab() {
		return c.may("rejection_reason", false)
	}
	c.Rejection = reason
	if !slices.ContainsFunc(c.events, func(e Event) bool { return e.Kind == StatusChanged }) {
		c.addEvent(DetailsChanged, EventDetail{Fields: []string{"rejection_reason"}})
	}
	return nil
}

// answered ends a correction once the requester provided something.
func (c *change) answered() {
	if c.roles.Requester {
		c.Correction = ""
	}
}

func (c *change) addEvent(kind EventKind, d EventDetail) {
	c.events = append(c.events, Event{RequestID: c.ID, Kind: kind, Actor: c.by, At: c.now, Detail: d})
}

// settle sets what follows from a change: when it happened, and since when the current turn runs.
func (c *change) settle(before Request) {
	if len(c.events) == 0 {
		return
	}
	c.UpdatedAt = c.now
	c.Request, _ = c.turned(before.PresentTurn(c.terms), c.terms, c.now)
}
