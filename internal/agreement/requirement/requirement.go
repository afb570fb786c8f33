package requirement

import (
	_ "embed" // the rules
	"encoding/json"
	"slices"
	"strings"

	"aliquot/internal/agreement/table"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/datause"
)

//go:embed rules.json
var rulesFile []byte

// kind is what every requirement or question of a sort has in common.
type kind struct {
	OwedBy   string `json:"owed_by"`
	Permit   bool   `json:"permit"`   // fulfilled by a permit
	Blocks   bool   `json:"blocks"`   // nothing fulfils it
	Question string `json:"question"` // to the lab; it is no requirement
}

type ruleFile struct {
	Columns []table.Column  `json:"columns"`
	Kinds   map[string]kind `json:"kinds"`
	Rules   []table.Rule    `json:"rules"`
}

var file, rules = mustLoad(rulesFile)

// mustLoad panics if the file of the program is broken, which a test of this package would show.
func mustLoad(b []byte) (ruleFile, *table.Table) {
	var f ruleFile
	if err := json.Unmarshal(b, &f); err != nil {
		panic(err)
	}
	t, err := table.New(f.Columns, f.Rules)
	if err != nil {
		panic(err)
	}
	return f, t
}

// Flags are the three of the specification: the lab asks for something, whatever the facts are.
type Flags struct{ MTA, IRB, Abstract bool }

// Requirement is one thing that a transfer needs.
type Requirement struct {
	Kind     string
	OwedBy   string // LAB, REQUESTER, BOTH, or NOBODY for what blocks
	Rule     string
	Why      string
	Citation string
	Blocks   bool
	Permit   *Permit // the valid one that fulfils it
	Met      bool    // nothing has to be done for it; Why says why
	Limits   []Limit // the terms of data use that leave it owed
	Expired  bool    // a permit fulfilled it once and is owed again
}

// State is how far a requirement is fulfilled.
type State string

// The states of requirements. Nothing fulfils one that is barred.
const (
	Done   State = "DONE"
	Owing  State = "OWED"
	Barred State = "BLOCKED"
)

// States are all of them.
var States = []State{Done, Owing, Barred}

// Question is a fact that the lab must state.
type Question struct {
	Fact string
	Text string
	Rule string
	Why  string
}

// Transfer is what the rules look at.
type Transfer struct {
	Facts    Facts
	Flags    Flags
	Material int64
	Category string
	From     string // a country, ISO 3166-1
	To       Destination
	// Institutions; 0: none is known.
	Provider, Recipient int64
	Purpose             Purpose
	Permits             []Permit // that are used for it
	Lists               []Destinations
}

// Owed returns what the transfer needs on the day and what the lab must answer first. It is the one function that says
// so; unknown facts only ever add questions.
func Owed(t Transfer, day exchange.Date) ([]Requirement, []Question) {
	fired, err := rules.Match(point(t)...)
	if err != nil {
		panic(err) // a fact with a value that no rule knows, which a test of this package would show
	}
	var owed []Requirement
	var questions []Question
	for _, r := range fired {
		k := file.Kinds[r.Then]
		if k.Question != "" {
			questions = append(questions, Question{Fact: r.Then, Text: k.Question, Rule: r.ID, Why: r.Why})
			continue
		}
		one := Requirement{
			Kind:     r.Then,
			OwedBy:   k.OwedBy,
			Rule:     r.ID,
			Why:      r.Why,
			Citation: r.Citation,
			Blocks:   k.Blocks,
		}
		for _, p := range t.Permits {
			if !k.Permit || p.Regime != r.Then || p.Outside(t) != "" {
				continue
			}
			if p.Valid(day) {
				one.Permit = &p
			}
			one.Expired = one.Expired || p.Expired(day)
		}
		if one.Kind == "DATA_USE" && one.Permit == nil {
			one.matchUse(t, day)
		}
		one.Expired = one.Expired && one.Permit == nil && !one.Met
		owed = append(owed, one)
	}
	for _, reason := range Blocked(t.Lists, t.To, day) {
		owed = append(owed, Requirement{Kind: "DESTINATION", OwedBy: "NOBODY", Rule: "LIST", Why: reason, Blocks: true})
	}
	return owed, questions
}

// matchUse decides by the purpose of the transfer whether its terms of data use leave something to do.
func (r *Requirement) matchUse(t Transfer, day exchange.Date) {
	approved := slices.ContainsFunc(t.Permits, func(p Permit) bool {
		return p.Regime == "IRB" && p.Valid(day) && p.Outside(t) == ""
	})
	if approved {
		t.Purpose.Ethics = Yes
	}
	var allowed Answer
	switch allowed, r.Limits = Match(t.Facts.Uses, t.Purpose, day); allowed {
	case Yes:
		r.Met, r.Why = true, "The terms of data use allow this use: "+labelsOf(t.Facts.Uses)+"."
	case No:
		var forbidding []datause.Term
		for _, l := range r.Limits {
			if l.Allowed == No {
				forbidding = append(forbidding, l.Term)
			}
		}
		r.Why = "The terms of data use do not allow this use: " + labelsOf(forbidding) + "."
	}
}

func labelsOf(uses []datause.Term) string {
	var labels []string
	for _, u := range uses {
		labels = append(labels, u.Label())
	}
	return strings.Join(labels, "; ")
}

// nagoyaInForce is the day on which the Nagoya Protocol entered into force.
const nagoyaInForce = exchange.Date("2014-10-12")

// point returns the values of the columns of rules.json, in their order.
func point(t Transfer) []string {
	f := t.Facts
	nagoya := "NONE"
	switch {
	case f.Human == HumanAnonymised || f.Human == HumanIdentifiable || f.PlantTreaty == Yes || f.BSL == NoBSL:
		// outside of the protocol
	case f.Origin == "" || f.Accessed == "":
		nagoya = "UNKNOWN"
	case f.Accessed >= nagoyaInForce && f.Origin != t.To.Country:
		nagoya = "ACCESSED"
	}
	border := "SAME"
	switch {
	case t.From == "" || t.To.Country == "":
		border = "UNKNOWN"
	case t.From != t.To.Country:
		border = "CROSSED"
	}
	uses := "NONE"
	if len(f.Uses) > 0 {
		uses = "SOME"
	}
	return []string{string(f.Human), string(f.ConsentAllows), string(f.LiveAnimal), string(f.GeneticallyChanged),
		string(f.BSL), string(f.SelectAgent), nagoya, string(f.ExportControlled), border, uses,
		string(answer(t.Flags.MTA)), string(answer(t.Flags.IRB)), string(answer(t.Flags.Abstract))}
}
