// Package document holds the rules of attachments and of the documents of a request.
package document

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// MTA is one version of a blank agreement.
type MTA struct{ Attachment, Version int64 }

// Slot is the place of a document in a request.
type Slot string

// The three documents of a request, by the specification's field names without "_attachment".
const (
	SignedMTA   Slot = "requester_signed_mta"
	IRB         Slot = "irb"
	ExecutedMTA Slot = "executed_mta"
)

// Slots lists all slots in the order in which they are filled.
var Slots = []Slot{SignedMTA, IRB, ExecutedMTA}

// Review is the state of a document version.
type Review string

// The states of a document version. One that was not reviewed counts as delivered.
const (
	Delivered  Review = "delivered"
	Accepted   Review = "accepted"
	Returned   Review = "returned"   // it is owed again
	Superseded Review = "superseded" // replaced by a newer version, or withdrawn
)

// Document is one version of a document of a request; old versions are kept.
type Document struct {
	ID           int64
	RequestID    int64
	Slot         Slot
	AttachmentID int64
	State        Review
	Reason       string // why it was returned
	AddedBy      uuid.UUID
	AddedAt      time.Time
	ReviewedAt   *time.Time
}

// DownloadPath returns the path of its content.
func (m MTA) DownloadPath() string {
	return fmt.Sprintf("/v1/attachments/%d/versions/%d", m.Attachment, m.Version)
}

// Valid reports whether s is one of the three slots.
func (s Slot) Valid() bool { return slices.Contains(Slots, s) }
