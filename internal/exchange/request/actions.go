package request

import (
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"

	"github.com/google/uuid"
)

// act runs a single change that is not a patch, such as a message or a review.
func (r Request) act(roles Roles, by uuid.UUID, t Terms, now time.Time, do func(c *change) error) (Request, []Event,
	error) {
	c := change{Request: r, roles: roles, by: by, terms: t, now: now}
	c.Documents = append([]document.Document(nil), r.Documents...)
	if err := do(&c); err != nil {
		return r, nil, err
	}
	c.settle(r)
	return c.Request, c.events, nil
}

// Message adds a message; a message of the requester also answers a correction. Messages can be written in a closed
// request too.
func (r Request) Message(roles Roles, by uuid.UUID, text string, t Terms, now time.Time) (Request, []Event, error) {
	return r.act(roles, by, t, now, func(c *change) error {
		c.answered()
		c.addEvent(Messaged, EventDetail{Text: text})
		return nil
	})
}

// Question adds a message of the lab that the requester has to answer before the lab decides: it is their turn until
// they provide something or write. Only the lab can ask, and only while the request is OPEN.
func (r Request) Question(roles Roles, by uuid.UUID, text string, t Terms, now time.Time) (Request, []Event, error) {
	return r.act(roles, by, t, now, func(c *change) error {
		if err := c.may("question", c.roles.lab()); err != nil {
			return err
		}
		if c.Status != Open {
			return exchange.Errorf(exchange.Conflict, "The lab has decided on this request, so nothing waits for an "+
				"answer; send it as a message.")
		}
		c.Correction = text
		c.addEvent(Messaged, EventDetail{Text: text})
		return nil
	})
}

// ReviewDocument accepts or returns the current version in a slot. A member reviews the requester's documents, the
// requester those that the lab executed. A returned document is owed again.
func (r Request) ReviewDocument(roles Roles, by uuid.UUID, s document.Slot, accept bool, reason string, t Terms,
	now time.Time) (Request, []Event, error) {
	return r.act(roles, by, t, now, func(c *change) error {
		right := c.roles.lab()
		if s == document.ExecutedMTA {
			right = c.roles.asRequester()
		}
		if !right {
			return exchange.Errorf(exchange.Forbidden, "You may not review the %s of this request.", slotName(s))
		}
		if err := c.may("the "+slotName(s), true); err != nil {
			return err
		}
		d := c.Current(s)
		if d == nil {
			return exchange.Errorf(exchange.Conflict, "There is no %s to review.", slotName(s))
		}
		state, kind := document.Returned, DocumentReturned
		if accept {
			state, kind, reason = document.Accepted, DocumentAccepted, ""
		} else if reason == "" {
			return exchange.FieldErrors{"reason": {"is required: say what needs to be corrected"}}.Err()
		}
		if d.State == state && d.Reason == reason {
			return nil
		}
		d.State, d.Reason, d.ReviewedAt = state, reason, &c.now
		c.addEvent(kind, EventDetail{Slot: s, Attachment: d.AttachmentID, Reason: reason})
		return nil
	})
}

// ReturnInfected returns a document in which a virus was found. Aliquot itself does, and the document is owed again.
// What was reviewed or replaced before, or is part of a closed request, stays as it is.
func (r Request) ReturnInfected(attachment int64, found string, t Terms, now time.Time) (Request, []Event, error) {
	return r.act(Roles{}, uuid.Nil, t, now, func(c *change) error {
		for i := range c.Documents {
			d := &c.Documents[i]
			if !c.Active || d.AttachmentID != attachment || d.State != document.Delivered {
				continue
			}
			d.State, d.ReviewedAt = document.Returned, &c.now
			d.Reason = "A virus was found in it (" + found + "). Upload a clean version."
			c.addEvent(DocumentReturned, EventDetail{Slot: d.Slot, Attachment: attachment, Reason: d.Reason})
		}
		return nil
	})
}

// OpenIssue reports a problem with what was sent. While an issue is open, a FULFILLED request is IN_FULFILLMENT again.
func (r Request) OpenIssue(roles Roles, by uuid.UUID, text string, t Terms, now time.Time) (Request, []Event, error) {
	return r.act(roles, by, t, now, func(c *change) error {
		if err := c.may("issues", c.roles.lab() || c.roles.asRequester()); err != nil {
			return err
		}
		if !c.wasSent() {
			return exchange.Errorf(exchange.Conflict, "Nothing has been shipped yet, so there is no transfer to "+
				"report a problem with. "+
				"Write a message instead.")
		}
		c.OpenIssues++
		c.addEvent(IssueOpened, EventDetail{Text: text})
		if c.Status == Fulfilled {
			c.Status, c.PutBack = InFulfillment, true
			c.addEvent(StatusChanged, EventDetail{From: Fulfilled, To: InFulfillment, Reason: text})
		}
		return nil
	})
}

// wasSent reports whether a parcel is or was on its way: the request is or was FULFILLED, or it has a shipment.
func (r Request) wasSent() bool {
	return r.Status == Fulfilled || r.PutBack || r.Shipment != nil || r.Clock.Stages[Fulfilled] > 0
}

// CloseIssue closes an issue. When the last one is closed, a request that was FULFILLED before is FULFILLED again.
func (r Request) CloseIssue(roles Roles, by uuid.UUID, issue Issue, t Terms, now time.Time) (Request, []Event, error) {
	return r.ResolveIssue(roles, by, issue, "", t, now)
}

// ResolveIssue is CloseIssue with an answer to the one who opened the issue.
func (r Request) ResolveIssue(roles Roles, by uuid.UUID, issue Issue, answer string, t Terms,
	now time.Time) (Request, []Event, error) {
	return r.act(roles, by, t, now, func(c *change) error {
		if err := c.may("issues", c.roles.lab() || issue.OpenedBy == by); err != nil {
			return err
		}
		c.OpenIssues--
		c.addEvent(IssueClosed, EventDetail{Issue: issue.ID, Text: issue.Text, Reason: answer})
		if c.PutBack && c.OpenIssues == 0 {
			c.Status, c.PutBack = Fulfilled, false
			c.addEvent(StatusChanged, EventDetail{From: InFulfillment, To: Fulfilled, Issue: issue.ID})
		}
		return nil
	})
}

// Ship sets the shipping details of the request.
func (r Request) Ship(roles Roles, by uuid.UUID, p ShipmentPatch, t Terms, now time.Time) (Request, []Event, error) {
	return r.act(roles, by, t, now, func(c *change) error {
		var old Shipment
		if c.Shipment != nil {
			old = *c.Shipment
		}
		s, err := p.Patch(old)
		if err != nil || same(s, old) {
			return err
		}
		if err := c.may("shipment", c.roles.lab()); err != nil {
			return err
		}
		c.Shipment = &s
		c.addEvent(ShipmentChanged, EventDetail{Text: strings.TrimSpace(s.Carrier + " " + s.Tracking)})
		return nil
	})
}

// Delete hides a request from everyone; its events are kept.
func (r Request) Delete(roles Roles, by uuid.UUID, t Terms, now time.Time) (Request, []Event, error) {
	return r.act(roles, by, t, now, func(c *change) error {
		c.Active = false
		c.addEvent(Deleted, EventDetail{})
		return nil
	})
}

func same(a, b Shipment) bool {
	at, bt := a.SentAt, b.SentAt
	a.SentAt, b.SentAt = nil, nil
	return a == b && (at == nil) == (bt == nil) && (at == nil || at.Equal(*bt))
}

func slotName(s document.Slot) string {
	return map[document.Slot]string{document.SignedMTA: "signed MTA", document.IRB: "IRB approval",
		document.ExecutedMTA: "executed MTA"}[s]
}

func join(needs []Need) string {
	list := make([]string, len(needs))
	for i, n := range needs {
		list[i] = strings.ReplaceAll(string(n), "_", " ")
	}
	return strings.Join(list, ", ")
}
