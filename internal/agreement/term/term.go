// Package term has the terms of agreements as codes, and what they mean for passing a material on.
package term

import (
	"fmt"
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// Term is what an agreement obliges its recipient to.
type Term string

// The terms.
const (
	Attribution        Term = "ATTRIBUTION"
	NoRedistribution   Term = "NO_REDISTRIBUTION"
	NonCommercial      Term = "NON_COMMERCIAL"
	NoReidentification Term = "NO_REIDENTIFICATION"
	Destroy            Term = "DESTROY" // or return, at the end
	Report             Term = "REPORT"
	NotifyPublication  Term = "NOTIFY_PUBLICATION"
	AskFirst           Term = "ASK_BEFORE_REDISTRIBUTION"
	SameTerms          Term = "SAME_TERMS" // those who get it later agree to the same
)

var all = []Term{Attribution, NoRedistribution, NonCommercial, NoReidentification, Destroy, Report, NotifyPublication,
	AskFirst, SameTerms}

// List returns the codes of all terms, for people.
func List() string { return strings.Join(exchange.Strings(all), ", ") }

// Known reports whether the code is a term.
func Known(code string) bool { return slices.Contains(all, Term(code)) }

// Relation is how a material came from the one before it.
type Relation string

// The relations, as the UBMTA has them. A modification contains or uses the material, and belongs to whoever made it.
const (
	Original             Relation = "ORIGINAL"
	Progeny              Relation = "PROGENY"
	UnmodifiedDerivative Relation = "UNMODIFIED_DERIVATIVE"
	Modification         Relation = "MODIFICATION"
	Substance            Relation = "SUBSTANCE" // made by use of the material, without containing it
)

// Link is a step in the lineage of a material: how it came from what was received, from whom, and under which terms.
type Link struct {
	Material  int64
	From      int64 // the material that it came from; 0: none
	Relation  Relation
	Provider  int64 // institution that it was received from; 0: it was not received
	Agreement string
	Terms     []Term
	Until     exchange.Date // the first day on which the terms no longer bind; empty: without end
}

// Recipient is to whom a material would go.
type Recipient struct {
	Institution int64
	Nonprofit   bool
	Commercial  bool // purpose
}

// Verdict is yes, no, or ask the provider named in the reasons.
type Verdict string

// The verdicts.
const (
	Yes Verdict = "YES"
	No  Verdict = "NO"
	Ask Verdict = "ASK"
)

// Reason is a link of the lineage, and the term that counts there.
type Reason struct {
	Material  int64
	Agreement string
	Term      Term
	Verdict   Verdict
	Why       string
}

// MayShare returns whether the material may go to the recipient on the day, with the links that decide. Every link back
// to the origin counts; a substance that does not contain what it was made with ends the chain. A lineage that refers
// to a material without a link, or to itself, is for people: Ask.
func MayShare(lineage []Link, material int64, to Recipient, day exchange.Date) (Verdict, []Reason) {
	verdict, reasons := Yes, []Reason(nil)
	seen, modified := map[int64]bool{}, false
	for material != 0 {
		i := slices.IndexFunc(lineage, func(l Link) bool { return l.Material == material })
		if i < 0 || seen[material] {
			why := "Nothing is known of where this material came from."
			if seen[material] {
				why = "The lineage refers to itself."
			}
			reasons = append(reasons, Reason{Material: material, Verdict: Ask, Why: why})
			verdict = strictest(verdict, Ask)
			break
		}
		seen[material] = true
		link := lineage[i]
		modified = modified || link.Relation == Modification
		for _, r := range link.judge(to, modified, day) {
			reasons, verdict = append(reasons, r), strictest(verdict, r.Verdict)
		}
		if link.Relation == Substance {
			break
		}
		material = link.From
	}
	return verdict, reasons
}

func strictest(a, b Verdict) Verdict {
	order := []Verdict{Yes, Ask, No}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// judge returns what the terms of the link have against the recipient; modified reports whether what would be passed on
// is a modification of what the link is about. Giving a material back is always allowed.
func (l Link) judge(to Recipient, modified bool, day exchange.Date) (reasons []Reason) {
	if l.Provider == 0 || l.Provider == to.Institution || l.Until != "" && day >= l.Until {
		return nil
	}
	against := func(t Term, v Verdict, why string) {
		reasons = append(reasons, Reason{l.Material, l.Agreement, t, v, why})
	}
	for _, t := range l.Terms {
		switch t {
		case NoRedistribution:
			if modified {
				against(t, Ask, "A modification contains the material, so its provider must be protected or asked.")
			} else {
				against(t, No, "It may not be passed on.")
			}
		case AskFirst:
			against(t, Ask, "The provider is asked before it is passed on.")
		case NonCommercial:
			if to.Commercial || !to.Nonprofit {
				against(t, No, "It is for non-commercial use only.")
			}
		case SameTerms:
			against(t, Yes, fmt.Sprintf("The recipient agrees to the terms of %s.", l.Agreement))
		}
	}
	return reasons
}
