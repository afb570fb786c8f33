package playbook

import (
	"fmt"
	"slices"
	"strings"

	"aliquot/internal/agreement/term"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
)

// Patch is the body of PUT and PATCH of the playbook of an institution.
type Patch struct {
	Provide exchange.Opt[[]Preference] `json:"provide"`
	Accept  exchange.Opt[[]string]     `json:"accept"`
	Clauses exchange.Opt[[]Clause]     `json:"clauses"`
}

// How many preferences a playbook has at most, and how many items each of its lists.
const (
	MaxPreferences = 50
	maxItems       = 100
)

// Patch applies p to a playbook. Whether families and institutions exist is checked later.
func (p Patch) Patch(o Playbook) (Playbook, error) {
	var f exchange.FieldErrors
	f.Rule("provide", exchange.Rule{Max: MaxPreferences})
	f.Rule("accept", exchange.Rule{Max: maxItems, Each: &exchange.Rule{Max: exchange.LineLength}})
	f.Rule("clauses", exchange.Rule{Max: len(term.All())})
	if p.Provide.Set {
		o.Provide = preferences(&f, p.Provide.Value)
	}
	if p.Accept.Set {
		o.Accept = items(&f, "accept", "", p.Accept.Value)
	}
	if p.Clauses.Set {
		o.Clauses = clauses(&f, p.Clauses.Value)
	}
	return o, f.Err()
}

// Validate implements exchange.Body.
func (p Patch) Validate(bool) exchange.FieldErrors {
	_, err := p.Patch(Playbook{})
	return exchange.FieldsOf(err)
}

// Number is how errors name an item of a list, by its index.
func Number(index int) string { return fmt.Sprintf("number %d: ", index+1) }

func preferences(f *exchange.FieldErrors, said []Preference) []Preference {
	const name = "provide"
	if len(said) > MaxPreferences {
		f.Add(name, "must be at most %d; there are %d", MaxPreferences, len(said))
		return nil
	}
	list := make([]Preference, len(said))
	for i, s := range said {
		at := Number(i)
		list[i] = Preference{items(f, name, at, s.Categories), items(f, name, at, s.Counterparties),
			items(f, name, at, s.Families)}
		for _, code := range list[i].Categories {
			if !slices.Contains(category.Codes(), code) {
				f.Add(name, "%sthere is no category %q; the categories are %s", at, code,
					strings.Join(category.Codes(), ", "))
			}
		}
		if len(s.Families) == 0 {
			f.Add(name, "%sneeds at least one family of instruments, such as UBMTA_LETTER", at)
		}
	}
	return list
}

// items returns the items of a list, each once.
func items[T comparable](f *exchange.FieldErrors, name, at string, said []T) []T {
	if len(said) > maxItems {
		f.Add(name, "%smust have at most %d; there are %d", at, maxItems, len(said))
		return nil
	}
	list := []T{}
	for _, one := range said {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

func clauses(f *exchange.FieldErrors, said []Clause) []Clause {
	const name = "clauses"
	if len(said) > len(term.All()) {
		f.Add(name, "must be at most %d: one for each term", len(term.All()))
		return nil
	}
	list := []Clause{}
	for i, c := range said {
		at := Number(i)
		switch {
		case !term.Known(string(c.Term)):
			f.Add(name, "%sthere is no term %q; the terms are %s", at, c.Term, term.List())
		case slices.ContainsFunc(list, func(other Clause) bool { return other.Term == c.Term }):
			f.Add(name, "%sthe term %s is there twice; leave one out", at, c.Term)
		}
		if !slices.Contains(Positions, c.Provide) || !slices.Contains(Positions, c.Receive) {
			f.Add(name, "%sprovide and receive must each be one of %s", at,
				strings.Join(exchange.Strings(Positions), ", "))
		}
		var wrong exchange.FieldErrors
		note := ""
		wrong.Line(name, exchange.Some(c.Note), exchange.LineLength, &note)
		for _, text := range wrong[name] {
			f.Add(name, "%snote %s", at, text)
		}
		c.Note = note
		list = append(list, c)
	}
	return list
}
