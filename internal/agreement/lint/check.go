package lint

import (
	"time"

	"aliquot/internal/exchange/document"
)

// PaperState is how far the check of a paper is.
type PaperState string

// The states of the check of a paper.
const (
	Waiting    PaperState = "WAITING"    // to be checked
	Checked    PaperState = "CHECKED"    // with what was found
	Unreadable PaperState = "UNREADABLE" // because of the file; the problem says how to correct that
	NoReader   PaperState = "NO_READER"  // because of the server, where papers cannot be read
)

// PaperStates are all of them.
var PaperStates = []PaperState{Waiting, Checked, Unreadable, NoReader}

// PaperCheck is what was found in a paper that is the document of a request in a slot.
type PaperCheck struct {
	Request    int64
	Slot       document.Slot
	Attachment int64
	State      PaperState
	Problem    string // why it could not be read, and how to correct that; empty otherwise
	Findings   []Finding
	CheckedAt  *time.Time
}
