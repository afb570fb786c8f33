// Package playbook has what institutions prefer, accept and do not accept in agreements, and where the playbooks of two
// of them conflict.
package playbook

import (
	"slices"
	"time"

	"aliquot/internal/agreement/term"
)

// Playbook is what an institution prefers in agreements. The zero value prefers nothing and accepts everything.
type Playbook struct {
	Provide   []Preference // as provider
	Accept    []string     // families of instruments that it accepts as recipient, best first; empty: any
	Clauses   []Clause     // at most one for each term
	ChangedAt *time.Time   // nil: nobody has written one
}

// Preference is what an institution prefers as provider: the first one that fits is used. An empty list of categories
// or counterparties fits everything.
type Preference struct {
	Categories     []string `json:"categories"`     // of materials
	Counterparties []int64  `json:"counterparties"` // institutions that receive
	Families       []string `json:"families"`       // of instruments, best first
}

// Fits reports whether the preference is about a transfer.
func (p Preference) Fits(category string, recipient int64) bool {
	return (len(p.Categories) == 0 || slices.Contains(p.Categories, category)) &&
		(len(p.Counterparties) == 0 || slices.Contains(p.Counterparties, recipient))
}

// Position is what an institution thinks of a term in an agreement.
type Position string

// The positions. A term without a position is accepted.
const (
	Required    Position = "REQUIRED"     // an agreement must have it
	Accepted    Position = "ACCEPTED"     // it may
	Ask         Position = "ASK"          // people decide each time
	NotAccepted Position = "NOT_ACCEPTED" // it must not
)

// Positions are all of them.
var Positions = []Position{Required, Accepted, Ask, NotAccepted}

// Clause is the position of an institution on a term, on each side of an agreement.
type Clause struct {
	Term    term.Term `json:"term"`
	Provide Position  `json:"provide"` // as provider
	Receive Position  `json:"receive"` // as recipient
	Note    string    `json:"note"`    // for its own officers
}

// On returns the position on a term.
func (p Playbook) On(t term.Term) Clause {
	if i := slices.IndexFunc(p.Clauses, func(c Clause) bool { return c.Term == t }); i >= 0 {
		return p.Clauses[i]
	}
	return Clause{Term: t, Provide: Accepted, Receive: Accepted}
}

// Accepts reports whether the institution accepts a family of instruments as recipient.
func (p Playbook) Accepts(family string) bool {
	return len(p.Accept) == 0 || slices.Contains(p.Accept, family)
}
