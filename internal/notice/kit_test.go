package notice_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"
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
var everything = exchange.Terms{MTA: true, IRB: true, Abstract: true, Address: true, Payment: true}

// at is the request of these tests at a status, with the requester's abstract and nothing else.
func at(s exchange.Status) exchange.RequestDetail {
	return exchange.RequestDetail{
		Request: exchange.Request{
			ID: 31, MaterialID: 8, Requester: josiah, AssignedTo: grace, Status: s, Active: s.Active(),
			Quantity: "2 vials", Note: "The passage number matters little.",
			Abstract:     "We map receptors on living cells.\n\nHeLa is our control.",
			WaitingSince: start, CreatedAt: start.AddDate(0, 0, -2), UpdatedAt: start,
		},
		Material: "HeLa", Organization: 5, Terms: everything, Targets: exchange.DefaultTargets,
	}
}

// given is the request of these tests at a status, with everything that it needs.
func given(s exchange.Status) exchange.RequestDetail {
	r := at(s)
	r.Address, r.Payment = &exchange.Address{ID: 4, Name: "Dr. Carberry"}, "SHIPPING_CODE"
	for i, slot := range exchange.Slots {
		r.Documents = append(r.Documents,
			exchange.Document{ID: int64(i + 1), RequestID: 31, Slot: slot, AttachmentID: int64(101 + i),
				State: exchange.Delivered})
	}
	return r
}

// returned is r after its lab returned the requester's signed MTA.
func returned(r exchange.RequestDetail) exchange.RequestDetail {
	r.Documents[0].State, r.Documents[0].Reason = exchange.Returned,
		"Page 4 has no signature of your institution.\nEverything else is fine."
	return r
}

// with is r after a change.
func with(r exchange.RequestDetail, change func(r *exchange.RequestDetail)) exchange.RequestDetail {
	change(&r)
	return r
}

// scene is an event, and the request behind it.
type scene struct {
	name    string
	detail  exchange.Detail
	request exchange.RequestDetail
}

// sent is how the parcel of these tests travels.
var sent = &exchange.Shipment{Carrier: "DHL", Tracking: "JD014600003", Conditions: "On dry ice.\nDo not leave outside."}

// scenes are what can happen: every kind of event in every form that has its own words.
var scenes = map[exchange.EventKind][]scene{
	exchange.RequestMade: {
		{"with everything the material asks for at first", exchange.Detail{}, at(exchange.Open)},
		{"without the abstract", exchange.Detail{},
			with(at(exchange.Open), func(r *exchange.RequestDetail) { r.Abstract, r.Note, r.Quantity = "", "", "" })},
	},
	exchange.StatusChanged: {
		{"approved", exchange.Detail{From: exchange.Open, To: exchange.Approved}, at(exchange.Approved)},
		{"approved without an abstract", exchange.Detail{From: exchange.Open, To: exchange.Approved},
			with(given(exchange.Approved), func(r *exchange.RequestDetail) { r.Abstract = "" })},
		{"returned for correction",
			exchange.Detail{From: exchange.Approved, To: exchange.Open,
				Reason: "The abstract names another cell line."},
			with(at(exchange.Open), func(r *exchange.RequestDetail) { r.Correction = "The abstract names another cell line." })},
		{"opened again", exchange.Detail{From: exchange.Rejected, To: exchange.Open}, at(exchange.Open)},
		{"in fulfillment", exchange.Detail{From: exchange.Approved, To: exchange.InFulfillment},
			given(exchange.InFulfillment)},
		{"in fulfillment, something missing",
			exchange.Detail{From: exchange.Approved, To: exchange.InFulfillment,
				Override: "The IRB of both sides is the same.",
				Missing:  []exchange.Need{exchange.NeedIRB, exchange.NeedAddress}},
			with(at(exchange.InFulfillment),
				func(r *exchange.RequestDetail) { r.Override = "The IRB of both sides is the same." })},
		{"put back by a problem",
			exchange.Detail{From: exchange.Fulfilled, To: exchange.InFulfillment, Reason: "The vials arrived thawed."},
			with(given(exchange.InFulfillment), func(r *exchange.RequestDetail) { r.OpenIssues = 1 })},
		{"sent", exchange.Detail{From: exchange.InFulfillment, To: exchange.Fulfilled},
			with(given(exchange.Fulfilled), func(r *exchange.RequestDetail) { r.Shipment = sent })},
		{"sent again", exchange.Detail{From: exchange.InFulfillment, To: exchange.Fulfilled, Issue: 3},
			given(exchange.Fulfilled)},
		{"received", exchange.Detail{From: exchange.Fulfilled, To: exchange.Verified}, given(exchange.Verified)},
		{"declined", exchange.Detail{From: exchange.Open, To: exchange.Rejected,
			Reason: "We have no vials left before June."}, at(exchange.Rejected)},
		{"cancelled", exchange.Detail{From: exchange.Open, To: exchange.Cancelled}, at(exchange.Cancelled)},
		{"invalid", exchange.Detail{From: exchange.Open, To: exchange.Invalid}, at(exchange.Invalid)},
	},
	exchange.Assigned: {
		{"to the assignee", exchange.Detail{AssignedTo: &grace}, at(exchange.Open)},
		{"and meanwhile to someone else", exchange.Detail{AssignedTo: &grace},
			with(at(exchange.Open), func(r *exchange.RequestDetail) { r.AssignedTo = ruth })},
	},
	exchange.DocumentAdded:     ofDocuments(exchange.Detail{Attachment: 101}, given(exchange.Approved)),
	exchange.DocumentWithdrawn: ofDocuments(exchange.Detail{Supersedes: 101}, at(exchange.Approved)),
	exchange.DocumentAccepted:  ofDocuments(exchange.Detail{Attachment: 101}, given(exchange.Approved)),
	exchange.DocumentReturned: append(
		ofDocuments(exchange.Detail{Attachment: 101, Reason: "Page 4 has no signature of your " +
			"institution.\nEverything else is fine."}, returned(given(exchange.Approved))),
		scene{"irb, while another is returned", exchange.Detail{Slot: exchange.IRB, Reason: "This one expired."},
			with(returned(given(exchange.Approved)), func(r *exchange.RequestDetail) {
				r.Documents[1].State, r.Documents[1].Reason = exchange.Returned, "This one expired."
			})}),
	exchange.AbstractChanged: {{"", exchange.Detail{Fields: []string{"requester_abstract"}}, at(exchange.Open)}},
	exchange.AddressChanged: {{"", exchange.Detail{},
		with(at(exchange.Approved), func(r *exchange.RequestDetail) { r.Address = &exchange.Address{ID: 4} })}},
	exchange.PaymentChanged: {{"", exchange.Detail{Fields: []string{"payment_method"}},
		with(at(exchange.Approved), func(r *exchange.RequestDetail) { r.Payment = "OTHER" })}},
	exchange.DetailsChanged: {{"", exchange.Detail{Fields: []string{"rejection_reason"}},
		with(at(exchange.Rejected),
			func(r *exchange.RequestDetail) { r.Rejection = "We have no vials left before July." })}},
	exchange.Messaged: {
		{"", exchange.Detail{Text: "Our IRB meets on 10 March.\n\nI expect the letter the same week: " +
			"https://irb.example.org/2026"}, at(exchange.Approved)},
		{"on a closed request", exchange.Detail{Text: "Thank you!"}, given(exchange.Verified)},
	},
	exchange.IssueOpened: {{"", exchange.Detail{Text: "The vials arrived thawed."},
		with(given(exchange.InFulfillment), func(r *exchange.RequestDetail) { r.OpenIssues = 1 })}},
	exchange.IssueClosed: {{"", exchange.Detail{Issue: 3, Text: "The vials arrived thawed."},
		given(exchange.Fulfilled)}},
	exchange.ShipmentChanged: {
		{"", exchange.Detail{Text: "DHL JD014600003"},
			with(given(exchange.InFulfillment), func(r *exchange.RequestDetail) { r.Shipment = sent })},
		{"to nothing", exchange.Detail{},
			with(given(exchange.InFulfillment), func(r *exchange.RequestDetail) { r.Shipment = &exchange.Shipment{} })},
	},
	exchange.Closed: {{"", exchange.Detail{},
		with(given(exchange.Fulfilled), func(r *exchange.RequestDetail) { r.Active = false })}},
	exchange.Reopened: {{"", exchange.Detail{}, given(exchange.Fulfilled)}},
	exchange.Reminded: {
		{"requester", turned(exchange.RequesterSide, "requester_signed_mta", "irb", "address", "payment"),
			at(exchange.Approved)},
		{"requester, of a correction", turned(exchange.RequesterSide, "requester_signed_mta"),
			returned(given(exchange.Approved))},
		{"requester, of the receipt", turned(exchange.RequesterSide, "receipt"), given(exchange.Fulfilled)},
		{"lab, of the decision", turned(exchange.LabSide, "decision"), at(exchange.Open)},
		{"lab, of its signature", turned(exchange.LabSide, "executed_mta"),
			with(given(exchange.Approved), func(r *exchange.RequestDetail) { r.Documents = r.Documents[:2] })},
	},
	exchange.Escalated: {
		{"the decision", turned(exchange.LabSide, "decision"), at(exchange.Open)},
		{"the shipment, which is the owner's own to send", turned(exchange.LabSide, "shipment"),
			with(given(exchange.Approved), func(r *exchange.RequestDetail) { r.AssignedTo = rosalyn })},
	},
	exchange.Snoozed: {
		{"by the lab", exchange.Detail{Party: exchange.LabSide, Until: new(exchange.Instant(start.AddDate(0, 0, 20))),
			Reason: "Our freezer is being repaired."}, at(exchange.Open)},
		{"by the requester", exchange.Detail{Party: exchange.RequesterSide,
			Until: new(exchange.Instant(start.AddDate(0, 0, 20)))}, at(exchange.Approved)},
	},
	exchange.Unsnoozed: {{"by the lab", exchange.Detail{Party: exchange.LabSide}, at(exchange.Open)}},
	exchange.Deleted: {{"", exchange.Detail{},
		with(at(exchange.Open), func(r *exchange.RequestDetail) { r.Active = false })}},
}

// turned is the detail of what tells of a turn of some days.
func turned(side exchange.Side, what ...string) exchange.Detail {
	return exchange.Detail{Party: side, What: what, Since: new(exchange.Instant(start)), Days: 7}
}

// ofDocuments are the scenes of a kind of event that there is for each document.
func ofDocuments(d exchange.Detail, r exchange.RequestDetail) []scene {
	var list []scene
	for _, s := range exchange.Slots {
		d.Slot = s
		list = append(list, scene{string(s), d, r})
	}
	return list
}

// readers are who is in each group, and as whom they read.
var readers = map[exchange.Group][]struct {
	as string
	id uuid.UUID
}{
	exchange.ToRequester: {{"requester", josiah}},
	exchange.ToAssignee:  {{"assignee", grace}},
	exchange.ToMembers:   {{"member", ruth}, {"assignee", grace}, {"owner", rosalyn}},
	exchange.ToOwner:     {{"owner", rosalyn}},
}

// told is one event to one reader.
type told struct {
	name  string // scene, and as whom they read
	event notice.Event
}

// tellings are all of a kind of event: each scene, to everyone who hears of it when it is the act of
// someone who is on neither side, or of Aliquot.
func tellings(t *testing.T, kind exchange.EventKind) []told {
	t.Helper()
	if len(scenes[kind]) == 0 {
		t.Fatalf("no scene for %s", kind)
	}
	var list []told
	for _, s := range scenes[kind] {
		e := exchange.Event{ID: 9, RequestID: 31, Seq: 4, Kind: kind, At: start.Add(7 * 24 * time.Hour),
			Detail: s.detail}
		actor := "Ada Mora"
		if s.detail.Days > 0 {
			actor = ""
		}
		for _, audience := range exchange.Audiences(e, exchange.Roles{Admin: true}) {
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
