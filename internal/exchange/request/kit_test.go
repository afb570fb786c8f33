package request_test

import (
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// part is a role in a request, with the person who has it.
type part struct {
	name  string
	by    uuid.UUID
	roles request.Roles
}

var (
	asRequester = part{"requester", exchangetest.RequesterID, request.Roles{Requester: true}}
	asMember    = part{"member", exchangetest.MemberID, request.Roles{Member: true}}
	asAdmin     = part{"admin", exchangetest.AdminID, request.Roles{Admin: true}}
	asBoth      = part{"requester+member", exchangetest.RequesterID, request.Roles{Requester: true, Member: true}}
	asStranger  = part{"stranger", exchangetest.StrangerID, request.Roles{}}

	parts = []part{asRequester, asMember, asAdmin, asBoth, asStranger}
)

// lab reports whether the part has the rights of a member.
func (p part) lab() bool { return p.roles.Member || p.roles.Admin }

// everything is what the strictest material requires.
var everything = request.Terms{MTA: true, IRB: true, Abstract: true, Address: true, Payment: true}

// fresh returns a new request without any of its requirements.
func fresh() request.Request {
	return request.Request{
		ID: 31, MaterialID: 8, Requester: exchangetest.RequesterID, AssignedTo: exchangetest.MemberID,
		Status: request.Open, Active: true,
		WaitingSince: exchangetest.Start, CreatedAt: exchangetest.Start, UpdatedAt: exchangetest.Start,
		Clock: request.Clock{Turn: 1, Since: exchangetest.Start},
	}
}

// given returns a request that meets all requirements, at a status.
func given(s request.Status) request.Request {
	r := fresh()
	r.Status, r.Active = s, s.Active()
	r.Abstract, r.Address, r.Payment = "To map receptors.", address(4), "SHIPPING_CODE"
	r.Documents = []document.Document{
		documentIn(document.SignedMTA, 101, document.Delivered),
		documentIn(document.IRB, 102, document.Delivered),
		documentIn(document.ExecutedMTA, 103, document.Delivered),
	}
	return r
}

func at(s request.Status) request.Request {
	r := fresh()
	r.Status, r.Active = s, s.Active()
	return r
}

func documentIn(s document.Slot, attachment int64, state document.Review) document.Document {
	d := document.Document{ID: attachment - 100, RequestID: 31, Slot: s, AttachmentID: attachment, State: state,
		AddedBy: exchangetest.RequesterID, AddedAt: exchangetest.Start}
	if state == document.Returned {
		d.Reason = "page 2 is not signed"
	}
	return d
}

func address(id int64) *person.Address {
	return &person.Address{ID: id, UserID: exchangetest.RequesterID, Name: "Dr. Mora", Line1: "Ringweg 4",
		Locality: "Utrecht",
		Country:  "NL"}
}

// apply applies a patch to r an hour after its last change.
func apply(r request.Request, who part, p request.Patch, t request.Terms) (request.Request, []request.Event, error) {
	var a *person.Address
	if p.Address.Value != nil {
		a = address(int64(*p.Address.Value))
	}
	return r.Apply(who.roles, who.by, p, a, t, exchangetest.Later)
}

// to returns a patch that only sets a status.
func to(s request.Status) request.Patch {
	return request.Patch{Status: exchange.Some(s)}
}

// whole returns a PUT of everything that a GET of r shows.
func whole(r request.Request) request.Patch {
	ref := func(id *int64) exchange.Null[exchange.Ref] {
		return exchange.Null[exchange.Ref]{Set: true, Value: (*exchange.Ref)(id)}
	}
	p := request.Patch{
		Status: exchange.Some(r.Status), Active: exchange.Some(r.Active),
		AssignedTo: exchange.Some(exchange.UserRef(r.AssignedTo)),
		SignedMTA:  ref(r.AttachmentIn(document.SignedMTA)), IRB: ref(r.AttachmentIn(document.IRB)),
		ExecutedMTA: ref(r.AttachmentIn(document.ExecutedMTA)),
		Abstract:    exchange.Some(r.Abstract), Payment: exchange.Some(r.Payment), Notes: exchange.Some(r.PaymentNotes),
		Rejection: exchange.Some(r.Rejection), Override: exchange.Some(r.Override), Address: ref(nil),
	}
	if r.Address != nil {
		p.Address = ref(&r.Address.ID)
	}
	return p
}

// copied returns a deep copy of r, to check whether an action changes its argument.
func copied(r request.Request) request.Request {
	r.Documents = slices.Clone(r.Documents)
	if r.Address != nil {
		r.Address = new(*r.Address)
	}
	if r.Shipment != nil {
		r.Shipment = new(*r.Shipment)
	}
	return r
}

// kinds returns the kinds of events, in order.
func kinds(events []request.Event) []request.EventKind {
	list := []request.EventKind{}
	for _, e := range events {
		list = append(list, e.Kind)
	}
	return list
}

// wantKinds checks that an action succeeded and which events it caused.
func wantKinds(t *testing.T, events []request.Event, err error, want ...request.EventKind) {
	t.Helper()
	if err != nil {
		t.Fatalf("got error %v, want events %v", err, want)
	}
	if got := kinds(events); !slices.Equal(got, want) {
		t.Fatalf("got events %v, want %v", got, want)
	}
}
