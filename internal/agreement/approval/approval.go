// Package approval has standing approvals: what an officer signs in advance, for one direction, within limits, for at
// most a year. A letter that approvals of both sides cover needs no official's signature of its own.
package approval

import (
	"slices"
	"strings"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Approval is one version of a standing approval. Unlike those of an authority, its lists of families and categories
// allow nothing when they are empty.
type Approval struct {
	ID             int64
	Version        int
	Institution    int64
	Direction      party.Direction // Provide or Receive
	Officer        party.Person    // who signed it
	SignedOn       exchange.Date   // empty: not signed yet
	WithdrawnOn    exchange.Date   // the first day on which it no longer holds
	Families       []string        // of instruments
	Categories     []string        // of materials
	LargestBSL     int
	Human          requirement.Human // NotHuman, or HumanAnonymised, which includes it
	Members        []uuid.UUID       // for whom; empty: everybody at the institution
	Counterparties []int64           // institutions; empty: all that have the instrument's master agreement in force
	party.Period                     // with a last day
}

// maxDays is how long an approval holds at most.
const maxDays = 366

// Check returns what is wrong with an approval, by field.
func (a Approval) Check() error {
	var faults exchange.FieldErrors
	if a.Direction != party.Provide && a.Direction != party.Receive {
		faults.Add("direction", "must be %s or %s", party.Provide, party.Receive)
	}
	if len(a.Families) == 0 {
		faults.Add("instruments", "must name at least one")
	}
	if len(a.Categories) == 0 {
		faults.Add("categories", "must name at least one")
	}
	if a.LargestBSL < 0 || a.LargestBSL > 4 {
		faults.Add("largest_bsl", "must be from 0 to 4")
	}
	if a.Human != requirement.NotHuman && a.Human != requirement.HumanAnonymised {
		faults.Add("human", "must be %s or %s: material of identifiable people is approved one by one",
			requirement.NotHuman, requirement.HumanAnonymised)
	}
	from, begins := a.From.Begin()
	until, ends := a.Until.Begin()
	switch {
	case !begins:
		faults.Add("from", "is required")
	case !ends || !until.After(from) || until.After(from.AddDate(0, 0, maxDays)):
		faults.Add("until", "must be after from, by at most a year")
	}
	return faults.Err()
}

// Transfer is what a letter would move, on one side of it.
type Transfer struct {
	Family       string // of the instrument
	Master       bool   // the instrument is under a master agreement, or between those who signed one
	MasterHolds  bool   // both have it in force on the day
	Category     string
	BSL          requirement.BSL
	Human        requirement.Human
	Member       uuid.UUID // who asks, or who gives
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
	CategoryOutside     Reason = "CATEGORY_OUTSIDE"
	BSLOutside          Reason = "BSL_OUTSIDE"
	HumanOutside        Reason = "HUMAN_OUTSIDE"
	MemberOutside       Reason = "MEMBER_OUTSIDE"
	CounterpartyOutside Reason = "COUNTERPARTY_OUTSIDE"
	MasterNotInForce    Reason = "MASTER_NOT_IN_FORCE"
)

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
	_, refusal := register.Check(a.Officer, party.Act{Direction: a.Direction, Family: t.Family, Category: t.Category,
		Human: human, BSL: t.BSL.Number()}, day)
	not(refusal != "", OfficerMayNot)
	not(!slices.Contains(a.Families, t.Family), InstrumentOutside)
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
