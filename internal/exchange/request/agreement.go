package request

import (
	"time"

	"aliquot/internal/exchange/document"

	"github.com/google/uuid"
)

// TakesAgreement reports whether an agreement can be made for the request: it is under way, needs an executed MTA or
// was not shipped yet, and has none that was not returned.
func (r Request) TakesAgreement(t Terms) bool {
	d := r.Current(document.ExecutedMTA)
	return r.Active && (t.MTA || !r.wasSent()) && (d == nil || d.State == document.Returned)
}

// LeavesLetter reports whether r, which was before, needs no open letter any more: it was closed, or got an executed
// agreement.
func (r Request) LeavesLetter(before Request) bool {
	d, old := r.Current(document.ExecutedMTA), before.Current(document.ExecutedMTA)
	return before.Active && !r.Active || d != nil && (old == nil || d.AttachmentID != old.AttachmentID)
}

// ExecuteAgreement adds an executed agreement to the request, by its number and its sealed PDF: in the places of the
// executed MTA and, if one is owed, of the one that the requester signs, since their signature is in it. by signed
// last, uuid.Nil without an account; who made the letter is who added the document.
func (r Request) ExecuteAgreement(by, madeBy uuid.UUID, number string, attachment int64, t Terms,
	now time.Time) (Request, []Event, error) {
	return r.act(Roles{}, by, t, now, func(c *change) error {
		slots := []document.Slot{document.ExecutedMTA}
		if signed := c.Current(document.SignedMTA); t.MTA && (signed == nil || signed.State == document.Returned) {
			slots = append(slots, document.SignedMTA)
		}
		for _, slot := range slots {
			if old := c.Current(slot); old != nil {
				old.State = document.Superseded
			}
			c.Documents = append(c.Documents, document.Document{RequestID: c.ID, Slot: slot, AttachmentID: attachment,
				State: document.Accepted, AddedBy: madeBy, AddedAt: now, ReviewedAt: &c.now})
		}
		c.addEvent(AgreementExecuted, EventDetail{Slot: document.ExecutedMTA, Attachment: attachment, Text: number})
		return nil
	})
}
