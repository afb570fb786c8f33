package playbook_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"aliquot/internal/agreement/playbook"
	"aliquot/internal/agreement/term"
	"aliquot/internal/exchange"
)

func position(t term.Term, provide, receive playbook.Position) playbook.Playbook {
	return playbook.Playbook{Clauses: []playbook.Clause{{Term: t, Provide: provide, Receive: receive}}}
}

func TestIntersect_ReturnsOnlyRealConflicts(t *testing.T) {
	t.Parallel()
	const a, n, r, ask = playbook.Accepted, playbook.NotAccepted, playbook.Required, playbook.Ask
	terms := []string{string(term.NonCommercial)}
	for name, c := range map[string]struct {
		provider, recipient playbook.Playbook
		want                string
	}{
		"no playbooks":                      {playbook.Playbook{}, playbook.Playbook{}, "[]"},
		"the recipient does not accept it":  {playbook.Playbook{}, position(term.NonCommercial, a, n), "[{NON_COMMERCIAL false NOT_ACCEPTED}]"},
		"it does not as provider":           {playbook.Playbook{}, position(term.NonCommercial, n, a), "[]"},
		"the provider requires what is in":  {position(term.NonCommercial, r, a), playbook.Playbook{}, "[]"},
		"the provider requires another one": {position(term.Report, r, a), playbook.Playbook{}, "[{REPORT true REQUIRED}]"},
		"not accepted, and not in":          {playbook.Playbook{}, position(term.Report, a, n), "[]"},
		"people decide":                     {position(term.NonCommercial, ask, a), playbook.Playbook{}, "[{NON_COMMERCIAL true ASK}]"},
		"one requires, one does not accept": {position(term.NonCommercial, r, a), position(term.NonCommercial, a, n),
			"[{NON_COMMERCIAL false NOT_ACCEPTED}]"},
		"the form": {playbook.Playbook{}, playbook.Playbook{Accept: []string{"UBMTA_LETTER"}}, "[{ false NOT_ACCEPTED}]"},
	} {
		if got := fmt.Sprint(playbook.Intersect(c.provider, c.recipient, "SIMPLE_LETTER", terms)); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

func draw(t *rapid.T) playbook.Playbook {
	var b playbook.Playbook
	for _, one := range term.All() {
		b.Clauses = append(b.Clauses, playbook.Clause{Term: one,
			Provide: rapid.SampledFrom(playbook.Positions).Draw(t, "provide"),
			Receive: rapid.SampledFrom(playbook.Positions).Draw(t, "receive")})
	}
	return b
}

// TestIntersect_NamesEachPositionOnceWithWhatHelps: a conflict is a position of its side, and no other position is one.
func TestIntersect_NamesEachPositionOnceWithWhatHelps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		provider, recipient := draw(t), draw(t)
		terms := rapid.SliceOfDistinct(rapid.SampledFrom(exchange.Strings(term.All())),
			func(s string) string { return s }).Draw(t, "terms")
		list := playbook.Intersect(provider, recipient, "NONE", terms)
		for _, one := range term.All() {
			for _, provides := range []bool{true, false} {
				position := recipient.On(one).Receive
				if provides {
					position = provider.On(one).Provide
				}
				has := slices.Contains(terms, string(one))
				want := has && position != playbook.Required && position != playbook.Accepted ||
					!has && position == playbook.Required
				conflict := playbook.Conflict{Term: one, Provider: provides, Position: position}
				if slices.Contains(list, conflict) != want {
					t.Fatalf("%v with the terms %v: %v", conflict, terms, list)
				}
				if conflict.Text("X") == "" || conflict.Mend("X") == "" {
					t.Fatalf("%v says nothing", conflict)
				}
			}
		}
	})
}

func TestPatch_LeavesOutWhatIsThereTwice(t *testing.T) {
	t.Parallel()
	p := playbook.Patch{Accept: exchange.Some([]string{"A", "B", "A"})}
	got, err := p.Patch(playbook.Playbook{Clauses: []playbook.Clause{{Term: term.Report}}})
	if err != nil || !slices.Equal(got.Accept, []string{"A", "B"}) || len(got.Clauses) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
