package exchange_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// The people of these tests.
var (
	requesterID = uuid.MustParse("01890000-0000-7000-8000-000000000001")
	memberID    = uuid.MustParse("01890000-0000-7000-8000-000000000002")
	ownerID     = uuid.MustParse("01890000-0000-7000-8000-000000000003")
	adminID     = uuid.MustParse("01890000-0000-7000-8000-000000000004")
	strangerID  = uuid.MustParse("01890000-0000-7000-8000-000000000005")
)

// part is a role in a request, with the person who has it.
type part struct {
	name  string
	by    uuid.UUID
	roles exchange.Roles
}

var (
	asRequester = part{"requester", requesterID, exchange.Roles{Requester: true}}
	asMember    = part{"member", memberID, exchange.Roles{Member: true}}
	asAdmin     = part{"admin", adminID, exchange.Roles{Admin: true}}
	asBoth      = part{"requester+member", requesterID, exchange.Roles{Requester: true, Member: true}}
	asStranger  = part{"stranger", strangerID, exchange.Roles{}}

	parts = []part{asRequester, asMember, asAdmin, asBoth, asStranger}
)

// lab reports whether the part has the rights of a member.
func (p part) lab() bool { return p.roles.Member || p.roles.Admin }

var (
	start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	later = start.Add(26 * time.Hour)
)

// everything is what the strictest material requires.
var everything = exchange.Terms{MTA: true, IRB: true, Abstract: true, Address: true, Payment: true}

// fresh returns a new request without any of its requirements.
func fresh() exchange.Request {
	return exchange.Request{
		ID: 31, MaterialID: 8, Requester: requesterID, AssignedTo: memberID, Status: exchange.Open, Active: true,
		WaitingSince: start, CreatedAt: start, UpdatedAt: start, Clock: exchange.Clock{Turn: 1, Since: start},
	}
}

// given returns a request that meets all requirements, at a status.
func given(s exchange.Status) exchange.Request {
	r := fresh()
	r.Status, r.Active = s, s.Active()
	r.Abstract, r.Address, r.Payment = "To map receptors.", address(4), "SHIPPING_CODE"
	r.Documents = []exchange.Document{
		document(exchange.SignedMTA, 101, exchange.Delivered),
		document(exchange.IRB, 102, exchange.Delivered),
		document(exchange.ExecutedMTA, 103, exchange.Delivered),
	}
	return r
}

func at(s exchange.Status) exchange.Request {
	r := fresh()
	r.Status, r.Active = s, s.Active()
	return r
}

func document(s exchange.Slot, attachment int64, state exchange.Review) exchange.Document {
	d := exchange.Document{ID: attachment - 100, RequestID: 31, Slot: s, AttachmentID: attachment, State: state,
		AddedBy: requesterID, AddedAt: start}
	if state == exchange.Returned {
		d.Reason = "page 2 is not signed"
	}
	return d
}

func address(id int64) *exchange.Address {
	return &exchange.Address{ID: id, UserID: requesterID, Name: "Dr. Mora", Line1: "Ringweg 4", Locality: "Utrecht",
		Country: "NL"}
}

// apply applies a patch to r an hour after its last change.
func apply(r exchange.Request, who part, p exchange.RequestPatch, t exchange.Terms) (exchange.Request, []exchange.Event,
	error) {
	var a *exchange.Address
	if p.Address.Value != nil {
		a = address(int64(*p.Address.Value))
	}
	return r.Apply(who.roles, who.by, p, a, t, later)
}

// to returns a patch that only sets a status.
func to(s exchange.Status) exchange.RequestPatch {
	return exchange.RequestPatch{Status: exchange.Some(s)}
}

// whole returns a PUT of everything that a GET of r shows.
func whole(r exchange.Request) exchange.RequestPatch {
	ref := func(id *int64) exchange.Null[exchange.Ref] {
		return exchange.Null[exchange.Ref]{Set: true, Value: (*exchange.Ref)(id)}
	}
	p := exchange.RequestPatch{
		Status: exchange.Some(r.Status), Active: exchange.Some(r.Active),
		AssignedTo: exchange.Some(exchange.UserRef(r.AssignedTo)),
		SignedMTA:  ref(r.AttachmentIn(exchange.SignedMTA)), IRB: ref(r.AttachmentIn(exchange.IRB)),
		ExecutedMTA: ref(r.AttachmentIn(exchange.ExecutedMTA)),
		Abstract:    exchange.Some(r.Abstract), Payment: exchange.Some(r.Payment), Notes: exchange.Some(r.PaymentNotes),
		Rejection: exchange.Some(r.Rejection), Override: exchange.Some(r.Override), Address: ref(nil),
	}
	if r.Address != nil {
		p.Address = ref(&r.Address.ID)
	}
	return p
}

// copied returns a deep copy of r, to check whether an action changes its argument.
func copied(r exchange.Request) exchange.Request {
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
func kinds(events []exchange.Event) []exchange.EventKind {
	list := []exchange.EventKind{}
	for _, e := range events {
		list = append(list, e.Kind)
	}
	return list
}

// wantKinds checks that an action succeeded and which events it caused.
func wantKinds(t *testing.T, events []exchange.Event, err error, want ...exchange.EventKind) {
	t.Helper()
	if err != nil {
		t.Fatalf("got error %v, want events %v", err, want)
	}
	if got := kinds(events); !slices.Equal(got, want) {
		t.Fatalf("got events %v, want %v", got, want)
	}
}

// wantCode checks how an action was refused; field is the field it is about, "" for none.
func wantCode(t *testing.T, err error, want exchange.Code, field string) {
	t.Helper()
	if err == nil || exchange.CodeOf(err) != want {
		t.Errorf("got %v, want %s", err, want)
		return
	}
	if field == "" {
		return
	}
	if want == exchange.InvalidInput {
		wantFaults(t, err, field)
	} else if got := details(err)["field"]; got != field {
		t.Errorf("got a refusal of field %v, want %q (%v)", got, field, err)
	}
}

func details(err error) map[string]any {
	if e, ok := err.(*exchange.Error); ok { //nolint:errorlint // the rules return it unwrapped
		return e.Details
	}
	return nil
}

// wantFaults checks exactly which fields an error names.
func wantFaults(t *testing.T, err error, want ...string) {
	t.Helper()
	got := []string{}
	for name := range faults(err) {
		got = append(got, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if exchange.CodeOf(err) != exchange.InvalidInput || !slices.Equal(got, want) {
		t.Errorf("got %v, which names %v, want %v", err, got, want)
	}
}

func faults(err error) map[string][]string {
	if e, ok := err.(*exchange.Error); ok { //nolint:errorlint // the rules return it unwrapped
		return e.Fields
	}
	return nil
}

// body reads a JSON body into a patch.
func body[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("body %s: %v", text, err)
	}
	return v
}

// same checks that two values are exactly equal.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// rows reads a table in the contract's form: one row per line, cells between bars.
func rows(table string) [][]string {
	var list [][]string
	for line := range strings.Lines(strings.TrimSpace(table)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		list = append(list, cells)
	}
	return list
}
