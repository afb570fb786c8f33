package notice_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/notice"

	"github.com/google/uuid"
)

// The people of these tests.
var (
	josiah  = uuid.MustParse("01890000-0000-7000-8000-000000000001") // the requester
	grace   = uuid.MustParse("01890000-0000-7000-8000-000000000002") // the assignee
	rosalyn = uuid.MustParse("01890000-0000-7000-8000-000000000003") // the owner of the lab
	ruth    = uuid.MustParse("01890000-0000-7000-8000-000000000004") // another member
)

var (
	start  = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	berlin = mustLoad("Europe/Berlin")
)

func mustLoad(name string) *time.Location {
	l, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return l
}

func writer(t *testing.T) *notice.Writer {
	t.Helper()
	w, err := notice.New("https://aliquot.example.org/")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// everything is what the strictest material asks for.
var everything = request.Terms{MTA: true, IRB: true, Abstract: true, Address: true, Payment: true}

// at is the request of these tests at a status, with the requester's abstract and nothing else.
func at(s request.Status) request.Detail {
	return request.Detail{
		Request: request.Request{
			ID: 31, MaterialID: 8, Requester: josiah, AssignedTo: grace, Status: s, Active: s.Active(),
			Quantity: "2 vials", Note: "The passage number matters little.",
			Abstract:     "We map receptors on living cells.\n\nHeLa is our control.",
			WaitingSince: start, CreatedAt: start.AddDate(0, 0, -2), UpdatedAt: start,
		},
		Material: "HeLa", Organization: 5, Terms: everything, Targets: lab.DefaultTargets,
	}
}

// given is the request of these tests at a status, with everything that it needs.
func given(s request.Status) request.Detail {
	r := at(s)
	r.Address, r.Payment = &person.Address{ID: 4, Name: "Dr. Carberry"}, "SHIPPING_CODE"
	for i, slot := range document.Slots {
		r.Documents = append(r.Documents,
			document.Document{ID: int64(i + 1), RequestID: 31, Slot: slot, AttachmentID: int64(101 + i),
				State: document.Delivered})
	}
	return r
}

// returned is r after its lab returned the requester's signed MTA.
func returned(r request.Detail) request.Detail {
	r.Documents[0].State, r.Documents[0].Reason = document.Returned,
		"Page 4 has no signature of your institution.\nEverything else is fine."
	return r
}

// with is r after a change.
func with(r request.Detail, change func(r *request.Detail)) request.Detail {
	change(&r)
	return r
}

// scene is an event, and the request behind it.
type scene struct {
	name    string
	detail  request.EventDetail
	request request.Detail
}

// sent is how the parcel of these tests travels.
var sent = &request.Shipment{Carrier: "DHL", Tracking: "JD014600003", Conditions: "On dry ice.\nDo not leave outside."}

// scenes are what can happen: every kind of event in every form that has its own words.
var scenes = map[request.EventKind][]scene{
	request.Made: {
		{"with everything the material asks for at first", request.EventDetail{}, at(request.Open)},
		{"without the abstract", request.EventDetail{},
			with(at(request.Open), func(r *request.Detail) { r.Abstract, r.Note, r.Quantity = "", "", "" })},
	},
	request.StatusChanged: {
		{"approved", request.EventDetail{From: request.Open, To: request.Approved}, at(request.Approved)},
		{"approved without an abstract", request.EventDetail{From: request.Open, To: request.Approved},
			with(given(request.Approved), func(r *request.Detail) { r.Abstract = "" })},
		{"returned for correction",
			request.EventDetail{From: request.Approved, To: request.Open,
				Reason: "The abstract names another cell line."},
			with(at(request.Open), func(r *request.Detail) { r.Correction = "The abstract names another cell line." })},
		{"opened again", request.EventDetail{From: request.Rejected, To: request.Open}, at(request.Open)},
		{"in fulfillment", request.EventDetail{From: request.Approved, To: request.InFulfillment},
			given(request.InFulfillment)},
		{"in fulfillment, something missing",
			request.EventDetail{From: request.Approved, To: request.InFulfillment,
				Override: "The IRB of both sides is the same.",
				Missing:  []request.Need{request.NeedIRB, request.NeedAddress}},
			with(at(request.InFulfillment),
				func(r *request.Detail) { r.Override = "The IRB of both sides is the same." })},
		{"put back by a problem",
			request.EventDetail{From: request.Fulfilled, To: request.InFulfillment,
				Reason: "The vials arrived thawed."},
			with(given(request.InFulfillment), func(r *request.Detail) { r.OpenIssues = 1 })},
		{"sent", request.EventDetail{From: request.InFulfillment, To: request.Fulfilled},
			with(given(request.Fulfilled), func(r *request.Detail) { r.Shipment = sent })},
		{"sent again", request.EventDetail{From: request.InFulfillment, To: request.Fulfilled, Issue: 3},
			given(request.Fulfilled)},
		{"received", request.EventDetail{From: request.Fulfilled, To: request.Verified}, given(request.Verified)},
		{"declined", request.EventDetail{From: request.Open, To: request.Rejected,
			Reason: "We have no vials left before June."}, at(request.Rejected)},
		{"cancelled", request.EventDetail{From: request.Open, To: request.Cancelled}, at(request.Cancelled)},
		{"invalid", request.EventDetail{From: request.Open, To: request.Invalid}, at(request.Invalid)},
	},
	request.Assigned: {
		{"to the assignee", request.EventDetail{AssignedTo: &grace}, at(request.Open)},
		{"and meanwhile to someone else", request.EventDetail{AssignedTo: &grace},
			with(at(request.Open), func(r *request.Detail) { r.AssignedTo = ruth })},
	},
	request.DocumentAdded:     ofDocuments(request.EventDetail{Attachment: 101}, given(request.Approved)),
	request.DocumentWithdrawn: ofDocuments(request.EventDetail{Supersedes: 101}, at(request.Approved)),
	request.DocumentAccepted:  ofDocuments(request.EventDetail{Attachment: 101}, given(request.Approved)),
	request.DocumentReturned: append(
		ofDocuments(request.EventDetail{Attachment: 101, Reason: "Page 4 has no signature of your " +
			"institution.\nEverything else is fine."}, returned(given(request.Approved))),
		scene{"irb, while another is returned", request.EventDetail{Slot: document.IRB, Reason: "This one expired."},
			with(returned(given(request.Approved)), func(r *request.Detail) {
				r.Documents[1].State, r.Documents[1].Reason = document.Returned, "This one expired."
			})}),
	request.AbstractChanged: {{"", request.EventDetail{Fields: []string{"requester_abstract"}}, at(request.Open)}},
	request.AddressChanged: {{"", request.EventDetail{},
		with(at(request.Approved), func(r *request.Detail) { r.Address = &person.Address{ID: 4} })}},
	request.PaymentChanged: {{"", request.EventDetail{Fields: []string{"payment_method"}},
		with(at(request.Approved), func(r *request.Detail) { r.Payment = "OTHER" })}},
	request.DetailsChanged: {{"", request.EventDetail{Fields: []string{"rejection_reason"}},
		with(at(request.Rejected),
			func(r *request.Detail) { r.Rejection = "We have no vials left before July." })}},
	request.Messaged: {
		{"", request.EventDetail{Text: "Our IRB meets on 10 March.\n\nI expect the letter the same week: " +
			"https://irb.example.org/2026"}, at(request.Approved)},
		{"on a closed request", request.EventDetail{Text: "Thank you!"}, given(request.Verified)},
	},
	request.IssueOpened: {{"", request.EventDetail{Text: "The vials arrived thawed."},
		with(given(request.InFulfillment), func(r *request.Detail) { r.OpenIssues = 1 })}},
	request.IssueClosed: {{"", request.EventDetail{Issue: 3, Text: "The vials arrived thawed."},
		given(request.Fulfilled)}},
	request.ShipmentChanged: {
		{"", request.EventDetail{Text: "DHL JD014600003"},
			with(given(request.InFulfillment), func(r *request.Detail) { r.Shipment = sent })},
		{"to nothing", request.EventDetail{},
			with(given(request.InFulfillment), func(r *request.Detail) { r.Shipment = &request.Shipment{} })},
	},
	request.Closed: {{"", request.EventDetail{},
		with(given(request.Fulfilled), func(r *request.Detail) { r.Active = false })}},
	request.Reopened: {{"", request.EventDetail{}, given(request.Fulfilled)}},
	request.Reminded: {
		{"requester", turned(request.RequesterSide, "requester_signed_mta", "irb", "address", "payment"),
			at(request.Approved)},
		{"requester, of a correction", turned(request.RequesterSide, "requester_signed_mta"),
			returned(given(request.Approved))},
		{"requester, of the receipt", turned(request.RequesterSide, "receipt"), given(request.Fulfilled)},
		{"lab, of the decision", turned(request.LabSide, "decision"), at(request.Open)},
		{"lab, of its signature", turned(request.LabSide, "executed_mta"),
			with(given(request.Approved), func(r *request.Detail) { r.Documents = r.Documents[:2] })},
	},
	request.Escalated: {
		{"the decision", turned(request.LabSide, "decision"), at(request.Open)},
		{"the shipment, which is the owner's own to send", turned(request.LabSide, "shipment"),
			with(given(request.Approved), func(r *request.Detail) { r.AssignedTo = rosalyn })},
	},
	request.Snoozed: {
		{"by the lab", request.EventDetail{Party: request.LabSide,
			Until:  new(exchange.Instant(start.AddDate(0, 0, 20))),
			Reason: "Our freezer is being repaired."}, at(request.Open)},
		{"by the requester", request.EventDetail{Party: request.RequesterSide,
			Until: new(exchange.Instant(start.AddDate(0, 0, 20)))}, at(request.Approved)},
	},
	request.AgreementExecuted: {{"", request.EventDetail{Slot: document.ExecutedMTA, Attachment: 9, Text: "A-17"},
		at(request.Approved)}},
	request.Unsnoozed: {{"by the lab", request.EventDetail{Party: request.LabSide}, at(request.Open)}},
	request.Deleted: {{"", request.EventDetail{},
		with(at(request.Open), func(r *request.Detail) { r.Active = false })}},
}

// turned is the detail of an event about a turn of some days.
func turned(side request.Side, what ...string) request.EventDetail {
	return request.EventDetail{Party: side, What: what, Since: new(exchange.Instant(start)), Days: 7}
}

// ofDocuments are the scenes of a kind of event that there is for each document.
func ofDocuments(d request.EventDetail, r request.Detail) []scene {
	var list []scene
	for _, s := range document.Slots {
		d.Slot = s
		list = append(list, scene{string(s), d, r})
	}
	return list
}

// readers are who is in each group, and as whom they read.
var readers = map[notify.Group][]struct {
	as string
	id uuid.UUID
}{
	notify.ToRequester: {{"requester", josiah}},
	notify.ToAssignee:  {{"assignee", grace}},
	notify.ToMembers:   {{"member", ruth}, {"assignee", grace}, {"owner", rosalyn}},
	notify.ToOwner:     {{"owner", rosalyn}},
}

// told is one event to one reader.
type told struct {
	name  string // scene, and as whom they read
	event notice.Event
}

// tellings are all of a kind of event: each scene, to everyone who is notified of it when it is the act of
// someone who is on neither side, or of Aliquot.
func tellings(t *testing.T, kind request.EventKind) []told {
	t.Helper()
	if len(scenes[kind]) == 0 {
		t.Fatalf("no scene for %s", kind)
	}
	var list []told
	for _, s := range scenes[kind] {
		e := request.Event{ID: 9, RequestID: 31, Seq: 4, Kind: kind, At: start.Add(7 * 24 * time.Hour),
			Detail: s.detail}
		actor := "Ada Mora"
		if s.detail.Days > 0 {
			actor = ""
		}
		for _, audience := range notify.Audiences(e, request.Roles{Admin: true}) {
			group, ok := readers[audience.To]
			if !ok {
				t.Fatalf("%s: nobody is in the group %s", kind, audience.To)
			}
			for _, reader := range group {
				list = append(list, told{s.name + " · " + reader.as + " · " + string(audience.Category), notice.Event{
					Event: e, Category: audience.Category, Actor: actor, Request: s.request,
					Organization: "Receptor Lab",
					Requester:    "Josiah Carberry", Reader: reader.id, Owner: rosalyn, Location: berlin,
					Unsubscribe: "https://aliquot.example.org/unsubscribe/k3y",
				}})
			}
		}
	}
	return list
}
