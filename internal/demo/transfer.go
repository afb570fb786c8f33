package demo

import (
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
)

// transfer is one request while people act on it.
type transfer struct {
	*filling
	ago      time.Duration // when the next step is taken
	id       int64
	letter   int64
	material string
	issue    int64 // the last
}

// ask submits a request some time ago, up to three hours earlier, so that not all are of the same minute.
func (f *filling) ask(ago time.Duration, by, material string, n request.New) *transfer {
	t := &transfer{filling: f, ago: ago + time.Duration(len(f.steps)*13%180)*minute, material: material}
	t.step("ask", func() error {
		n.Material = exchange.Some(f.materials[material])
		q, err := f.app.Requests.CreateRequest(f.ctx, f.actors[by], n)
		t.id = q.ID
		return err
	})
	return t
}

// after delays the steps that follow.
func (t *transfer) after(later time.Duration) *transfer {
	t.ago -= later
	return t
}

// parcel is a new request for something that is sent and paid for.
func (f *filling) parcel(by, quantity string) request.New {
	return request.New{
		Quantity: exchange.Some(quantity),
		Submission: request.Submission{
			Address: exchange.NullOf(f.addresses[by]),
			Payment: exchange.Some("SHIPPING_CODE"),
			Notes:   exchange.Some("Sample courier, account 0000000"),
		},
	}
}

func (t *transfer) step(what string, do func() error) {
	t.at(t.ago, what+" for "+t.material, do)
}

func (t *transfer) update(by string, p request.Patch) {
	t.step("update the request", func() error {
		_, err := t.app.Requests.UpdateRequest(t.ctx, t.actors[by], t.id, p, nil)
		return err
	})
}

func (t *transfer) move(by string, to request.Status) {
	t.update(by, request.Patch{Status: exchange.Some(to)})
}

func (t *transfer) give(by, to string) {
	t.update(by, request.Patch{AssignedTo: exchange.Some(exchange.UserRef(t.actors[to].ID))})
}

// submit puts an embedded file in a slot of the request.
func (t *transfer) submit(by string, slot document.Slot, file string) {
	t.step("hand in "+file, func() error {
		id, err := t.attach(by, file, document.AttachmentPatch{})
		if err != nil {
			return err
		}
		p := request.Patch{}
		switch slot {
		case document.SignedMTA:
			p.SignedMTA = exchange.NullOf(id)
		case document.IRB:
			p.IRB = exchange.NullOf(id)
		default:
			p.ExecutedMTA = exchange.NullOf(id)
		}
		_, err = t.app.Requests.UpdateRequest(t.ctx, t.actors[by], t.id, p, nil)
		return err
	})
}

func (t *transfer) accept(by string, slot document.Slot) {
	t.step("accept a document", func() error {
		_, err := t.app.Requests.ReviewDocument(t.ctx, t.actors[by], t.id, slot, true, "", nil)
		return err
	})
}

func (t *transfer) giveBack(by string, slot document.Slot, reason string) {
	t.step("return a document", func() error {
		_, err := t.app.Requests.ReviewDocument(t.ctx, t.actors[by], t.id, slot, false, reason, nil)
		return err
	})
}

func (t *transfer) write(by, text string) {
	t.step("write", func() error {
		_, err := t.app.Requests.SendMessage(t.ctx, t.actors[by], t.id, saying(text))
		return err
	})
}

func (t *transfer) complain(by, text string) {
	t.step("open an issue", func() error {
		i, err := t.app.Requests.OpenIssue(t.ctx, t.actors[by], t.id, saying(text))
		t.issue = i.ID
		return err
	})
}

func (t *transfer) solve(by string) {
	t.step("close an issue", func() error {
		_, err := t.app.Requests.CloseIssue(t.ctx, t.actors[by], t.id, t.issue, request.Resolution{})
		return err
	})
}

// agree completes the agreement: signed, accepted and countersigned within some days.
func (t *transfer) agree(by, countersigner string) {
	t.submit(by, document.SignedMTA, "signed-mta.pdf")
	t.after(20*hour).accept(countersigner, document.SignedMTA)
	t.after(30*hour).submit(countersigner, document.ExecutedMTA, "executed-mta.pdf")
}

// send packs the parcel, and sends it the next day.
func (t *transfer) send(by, tracking, conditions string) {
	t.move(by, request.InFulfillment)
	t.after(22*hour).step("ship", func() error {
		_, err := t.app.Requests.ShipRequest(t.ctx, t.actors[by], t.id, request.ShipmentPatch{
			Carrier: exchange.Some("Sample courier"), Tracking: exchange.Some(tracking),
			Conditions: exchange.Some(conditions),
			SentAt:     exchange.NullOf(exchange.Instant(t.now)),
		}, nil)
		return err
	})
	t.move(by, request.Fulfilled)
}

func saying(text string) request.TextBody { return request.TextBody{Text: exchange.Some(text)} }
