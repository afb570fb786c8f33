package seed

import (
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// journey is a request that is taken through its life cycle, action by action, by the rules of exchange.
type journey struct {
	topic
	store.LoadedRequest
	address person.Address
	paper   [3]int64  // attachments: the requester's, then the lab's
	by      uuid.UUID // of the lab, who acts
	now     time.Time
	err     error // the first one
}

// The roles of people.
var (
	asker  = request.Roles{Requester: true}
	member = request.Roles{Member: true}
)

// request generates a request with its events.
func (m *maker) request(number int) (store.LoadedRequest, error) {
	m.ways.of(aRequest, number)
	x := m.offered(number)
	organization := int(x.OrganizationID) - 1
	requester := m.ways.IntN(m.labs * seats)
	if requester/seats == organization { // a lab asks nothing of itself
		requester = (requester + seats) % (m.labs * seats)
	}
	j := &journey{address: m.address(requester),
		paper: [3]int64{signedMTA(requester), irb(requester), int64(organization*papers + executedMTA)},
		by:    x.ContactID, now: at(number, m.Requests)}
	j.topic = topic{dice: m.ways, number: number, organism: m.ways.any("organisms"), fixed: map[string]string{}}
	asks := shipping(organization)
	j.Detail = request.Detail{Material: x.Title, Organization: x.OrganizationID,
		Targets: lab.DefaultTargets,
		Terms: request.Terms{MTA: x.NeedsMTA, IRB: x.NeedsIRB, Abstract: x.NeedsAbstract,
			Address: x.ShippingID != nil && asks.NeedsAddress, Payment: x.ShippingID != nil && asks.NeedsPayment},
		Request: request.Request{ID: int64(number + 1), MaterialID: x.ID, Requester: personID(requester),
			AssignedTo: x.ContactID, Status: request.Open,
			Active: true, Quantity: one(m.ways, "1 vial", "2 vials", "1 aliquot", "10 µg", "3 animals", "50 µL"),
			CreatedAt: j.now, UpdatedAt: j.now}}
	j.ask()
	j.travel()
	return j.LoadedRequest, j.err
}

// offered draws a material that exists at the time of a request; the oldest are requested most.
func (m *maker) offered(request int) material.Material {
	there := max(1, int(float64(m.Materials)*float64(request)/float64(m.Requests+1)))
	first := m.ways.zipf(there)
	for i := range there {
		if x := m.material((first + i) % there); !x.Archived && x.EmbargoDate == nil {
			return x
		}
	}
	return m.material(first)
}

// ask submits the request.
func (j *journey) ask() {
	if j.Terms.Abstract && j.of100(95) || j.of100(10) {
		j.Abstract = j.say(one(j.dice, abstracts...))
	}
	if j.of100(50) {
		j.Note = j.say(one(j.dice, messages[:4]...))
	}
	if j.Terms.Address || j.of100(30) {
		j.Address = &j.address
	}
	if j.Terms.Payment && j.of100(80) {
		j.Payment = one(j.dice, "SHIPPING_CODE", "REIMBURSEMENT")
	}
	if j.Terms.MTA && j.of100(60) {
		j.Documents = append(j.Documents,
			document.Document{Slot: document.SignedMTA, AttachmentID: j.paper[0], State: document.Delivered,
				AddedBy: j.Requester, AddedAt: j.now})
	}
	j.keep(j.Begin(j.Terms, j.now),
		[]request.Event{{RequestID: j.ID, Kind: request.Made, Actor: j.Requester, At: j.now,
			Detail: request.EventDetail{AssignedTo: new(j.AssignedTo)}}}, nil)
}

// travel takes the request on for as long as there is time, most to the end.
func (j *journey) travel() {
	for _, act := range []func(){j.talk, j.decide, j.provide, j.countersign, j.talk, j.start, j.send, j.arrive,
		j.complain, j.confirm} {
		j.now = j.now.Add(time.Duration(1+j.IntN(200)) * time.Hour).Add(time.Duration(j.IntN(3600)) * time.Second)
		if j.err != nil || !j.Active || j.now.After(end) || j.of100(5) {
			return
		}
		act()
	}
}

func (j *journey) talk() {
	if !j.of100(40) {
		return
	}
	roles, by := asker, j.Requester
	if j.of100(50) {
		roles, by = member, j.by
	}
	j.keep(j.Message(roles, by, j.say(one(j.dice, messages...)), j.Terms, j.now))
}

// decide accepts or declines; a request without what it needs from the start is declined.
func (j *journey) decide() {
	switch n := j.IntN(100); {
	case j.Terms.Abstract && j.Abstract == "" || n < 8:
		j.apply(member, request.Patch{Status: exchange.Some(request.Rejected),
			Rejection: exchange.Some(one(j.dice, "We have no more of it.",
				"Please ask the repository, which has it too.",
				"Our agreement with the donor does not allow this use."))})
	case n < 11:
		j.apply(member, request.Patch{Status: exchange.Some(request.Invalid)})
	case n < 17:
		j.apply(asker, request.Patch{Status: exchange.Some(request.Cancelled)})
	default:
		j.apply(member, request.Patch{Status: exchange.Some(request.Approved)})
	}
}

// provide supplies everything that the requester owes.
func (j *journey) provide() {
	var p request.Patch
	if j.Terms.MTA && j.Current(document.SignedMTA) == nil {
		p.SignedMTA = exchange.NullOf(exchange.Ref(j.paper[0]))
	}
	if j.Terms.IRB {
		p.IRB = exchange.NullOf(exchange.Ref(j.paper[1]))
	}
	if j.Terms.Payment && j.Payment == "" {
		p.Payment = exchange.Some("OTHER")
	}
	j.apply(asker, p)
}

func (j *journey) countersign() {
	if j.Terms.MTA {
		j.apply(member, request.Patch{ExecutedMTA: exchange.NullOf(exchange.Ref(j.paper[2]))})
	}
}

func (j *journey) start() {
	j.apply(member, request.Patch{Status: exchange.Some(request.InFulfillment)})
}

func (j *journey) send() {
	j.keep(j.Ship(member, j.by,
		request.ShipmentPatch{Carrier: exchange.Some(one(j.dice, "FedEx", "DHL", "World Courier", "UPS")),
			Tracking:   exchange.Some(code(j.number, 10)),
			Conditions: exchange.Some(one(j.dice, "dry ice", "ambient", "cold packs")),
			SentAt:     exchange.NullOf(exchange.Instant(j.now))}, j.Terms, j.now))
}

func (j *journey) arrive() {
	j.apply(member, request.Patch{Status: exchange.Some(request.Fulfilled)})
}

// complain opens an issue, which is mostly closed again.
func (j *journey) complain() {
	if !j.of100(3) {
		return
	}
	issue := request.Issue{ID: j.ID, RequestID: j.ID, Text: one(j.dice, problems...), OpenedBy: j.Requester,
		OpenedAt: j.now}
	j.keep(j.OpenIssue(asker, j.Requester, issue.Text, j.Terms, j.now))
	if later := j.now.Add(72 * time.Hour); later.Before(end) && j.of100(80) {
		j.now = later
		j.keep(j.CloseIssue(asker, j.Requester, issue, j.Terms, j.now))
		issue.ClosedAt = &later
	}
	j.Issues = append(j.Issues, issue)
}

func (j *journey) confirm() {
	if j.Status == request.Fulfilled {
		j.apply(asker, request.Patch{Status: exchange.Some(request.Verified)})
	}
}

func (j *journey) apply(roles request.Roles, p request.Patch) {
	by := j.Requester
	if roles.Member {
		by = j.by
	}
	j.keep(j.Apply(roles, by, p, nil, j.Terms, j.now))
}

// keep adds the result of an action: its events, and the turn that began.
func (j *journey) keep(after request.Request, events []request.Event, err error) {
	if err != nil {
		j.err = err
		return
	}
	before := j.Clock.Turn
	j.Request = after
	for _, e := range events {
		if e, err = e.Seal(j.Head.Seq, j.Head.Hash); err != nil {
			j.err = err
			return
		}
		j.Head = request.Head{Seq: e.Seq, Hash: e.Hash}
		j.Events = append(j.Events, e)
	}
	if j.Clock.Turn != before {
		j.Turns = append(j.Turns, j.PresentTurn(j.Terms))
	}
}
