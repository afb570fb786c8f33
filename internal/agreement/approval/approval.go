// Package approval has standing approvals: what an officer signs in advance, for one direction, within limits, for at
// most a year. A letter that approvals of both sides cover needs no official's signature of its own.
package approval

import (
	"slices"
	"strings"
	"time"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Approval is one version of a standing approval. Unlike those of an authority, its lists of families and categories
// allow nothing when they are empty.
type Approval struct {
	ID             int64
	Institution    int64
	Version        int             // counts the changes before the signature, from 1
	Direction      party.Direction // Provide or Receive
	Families       []string        // of instruments
	Categories     []string        // of materials
	LargestBSL     int
	Human          requirement.Human // NotHuman, or HumanAnonymised, which includes it
	Members        []string          // ids of the users for whom it holds; empty: everybody at the institution
	Counterparties []int64           // institutions; empty: all that have the instrument's master agreement in force
	party.Period                     // with a last day
	Officer        uuid.UUID         // who signed it; before, who changed it last
	SignedOn       exchange.Date     // empty: not signed yet
	Level          party.Level       // how it was signed
	Identified     string            // who the provider of identities says the officer is, when they signed
	Texts          []string          // SHA-256 of the texts that its families had when it was signed
	Evidence       string            // that a passkey signed it, as JSON; empty: it was signed otherwise
	WithdrawnOn    exchange.Date     // the first day on which it no longer holds
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// New returns an approval of an institution without limits, which somebody has yet to describe.
func New(institution int64, by uuid.UUID) Approval {
	return Approval{Institution: institution, Version: 1, Officer: by, LargestBSL: 1, Human: requirement.NotHuman,
		Counterparties: []int64{}, Texts: []string{}}
}

// Signature is how an approval was signed.
type Signature struct {
	Officer    uuid.UUID
	Identified string
	Level      party.Level
	On         exchange.Date
	Texts      []string
	Evidence   string
}

// Sign returns the approval with a signature on one of its versions, which must be the one that it has.
func (a Approval) Sign(version int64, s Signature) (Approval, error) {
	switch {
	case a.SignedOn != "":
		return a, exchange.Errorf(exchange.Conflict, "It was signed on %s.", a.SignedOn)
	case a.WithdrawnOn != "":
		return a, exchange.Errorf(exchange.Conflict, "It was withdrawn. Make another one.")
	case s.On >= a.Until:
		return a, exchange.Errorf(exchange.Conflict, "It ended on %s. Change its days first.", a.Until)
	case version != int64(a.Version):
		return a, exchange.Errorf(exchange.StaleVersion, "It has version %d by now; read it again.", a.Version)
	}
	a.Officer, a.Identified, a.Level, a.SignedOn, a.Texts = s.Officer, s.Identified, s.Level, s.On, s.Texts
	a.Evidence = s.Evidence
	return a, nil
}

// Authority returns the authority that somebody needs to sign the approval.
func (a Approval) Authority() party.Authority {
	return party.Authority{Institution: a.Institution, Direction: a.Direction, Families: a.Families,
		Categories: a.Categories, Human: a.Human != requirement.NotHuman, LargestBSL: a.LargestBSL, Period: a.Period}
}

// Transfer is what a letter would move, on one side of it.
type Transfer struct {
	Family       string // of the instrument
	Text         string // SHA-256 of its text
	Master       bool   // the instrument is under a master agreement, or between those who signed one
	MasterHolds  bool   // both have it in force on the day
	Category     string
	BSL          requirement.BSL
	Human        requirement.Human
	Member       string // id of the user who asks, or who gives
	Counterparty int64
}

// Reason is why an approval does not cover a transfer.
type Reason string

// The reasons. Of those about the officer, the refusal of the register says more.
const (
	NotSigned           Reason = "NOT_SIGNED"
	NotYet              Reason = "NOT_YET"
	Lapsed              Reason = "LAPSED"
	Withdrawn           Reason = "WITHDRAWN"
	OfficerMayNot       Reason = "OFFICER_MAY_NOT"
	InstrumentOutside   Reason = "INSTRUMENT_OUTSIDE"
	TextChanged         Reason = "TEXT_CHANGED"
	CategoryOutside     Reason = "CATEGORY_OUTSIDE"
	BSLOutside          Reason = "BSL_OUTSIDE"
	HumanOutside        Reason = "HUMAN_OUTSIDE"
	MemberOutside       Reason = "MEMBER_OUTSIDE"
	CounterpartyOutside Reason = "COUNTERPARTY_OUTSIDE"
	MasterNotInForce    Reason = "MASTER_NOT_IN_FORCE"
)

var texts = map[Reason]string{
	NotSigned:           "The standing approval is not signed.",
	NotYet:              "The standing approval does not hold yet.",
	Lapsed:              "The standing approval has ended.",
	Withdrawn:           "The standing approval was withdrawn.",
	OfficerMayNot:       "The officer who signed the standing approval has no authority to sign this today.",
	InstrumentOutside:   "The standing approval does not cover this kind of agreement.",
	TextChanged:         "The text of the agreement is newer than the standing approval.",
	CategoryOutside:     "The standing approval does not cover materials of this category.",
	BSLOutside:          "The biosafety level is unknown, or higher than the standing approval covers.",
	HumanOutside:        "The material is of human origin, or of unknown origin, and outside of the standing approval.",
	MemberOutside:       "The standing approval is for other people.",
	CounterpartyOutside: "The standing approval is not for agreements with this institution.",
	MasterNotInForce:    "The master agreement is not in force between both institutions today.",
}

// Text returns the reason as a sentence.
func (r Reason) Text() string { return texts[r] }

// WhyNot returns why the approval does not cover the transfer on the day; none: it covers it. What nobody knows of a
// material counts as what is outside: then people decide. The officer must still be allowed to sign the transfer.
func (a Approval) WhyNot(t Transfer, register party.Register, day exchange.Date) (why []Reason) {
	not := func(wrong bool, r Reason) {
		if wrong {
			why = append(why, r)
		}
	}
	not(a.SignedOn == "" || day < a.SignedOn, NotSigned)
	not(day < a.From, NotYet)
	not(a.Until == "" || day >= a.Until, Lapsed)
	not(a.WithdrawnOn != "" && day >= a.WithdrawnOn, Withdrawn)
	human := t.Human != requirement.NotHuman
	_, refusal := register.Check(party.Person{User: a.Officer}, party.Act{Direction: a.Direction, Family: t.Family,
		Category: t.Category, Human: human, BSL: t.BSL.Number()}, day)
	not(refusal != "", OfficerMayNot)
	known := slices.Contains(a.Families, t.Family)
	not(!known, InstrumentOutside)
	not(known && a.SignedOn != "" && !slices.Contains(a.Texts, t.Text), TextChanged)
	not(!slices.Contains(a.Categories, t.Category), CategoryOutside)
	not(t.BSL == requirement.BSLUnknown || t.BSL.Number() > a.LargestBSL, BSLOutside)
	not(human && (a.Human != requirement.HumanAnonymised || t.Human != requirement.HumanAnonymised), HumanOutside)
	not(len(a.Members) > 0 && !slices.Contains(a.Members, t.Member), MemberOutside)
	not(t.Master && !t.MasterHolds, MasterNotInForce)
	if len(a.Counterparties) == 0 {
		not(!t.Master, CounterpartyOutside)
	} else {
		not(!slices.Contains(a.Counterparties, t.Counterparty), CounterpartyOutside)
	}
	return why
}

// Covering returns the first approval that covers every one of the transfers, or false with why the closest one does
// not: a letter is signed by one approval or by people.
func Covering(approvals []Approval, transfers []Transfer, register party.Register,
	day exchange.Date) (Approval, []Reason, bool) {
	var closest []Reason
	for i, a := range approvals {
		var why []Reason
		for _, t := range transfers {
			why = append(why, a.WhyNot(t, register, day)...)
		}
		slices.SortFunc(why, func(one, other Reason) int { return strings.Compare(string(one), string(other)) })
		why = slices.Compact(why)
		if len(why) == 0 && len(transfers) > 0 {
			return a, nil, true
		}
		if i == 0 || len(why) < len(closest) {
			closest = why
		}
	}
	return Approval{}, closest, false
}
