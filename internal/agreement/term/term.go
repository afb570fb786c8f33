// Package term has the terms of agreements as codes, and what they mean for passing a material on.
package term

import (
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

// All returns the terms, in their order.
func All() []Term { return slices.Clone(all) }

// Words returns the term for people, as "no redistribution".
func (t Term) Words() string { return strings.ToLower(strings.ReplaceAll(string(t), "_", " ")) }

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
