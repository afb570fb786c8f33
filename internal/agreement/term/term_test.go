package term_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"aliquot/internal/agreement/term"
)

func TestMayShare_FollowsTheLineage(t *testing.T) {
	t.Parallel()
	university, company := term.Recipient{
		Institution: 8,
		Nonprofit:   true,
	}, term.Recipient{
		Institution: 9,
		Commercial:  true,
	}
	received := func(r term.Relation, terms ...term.Term) []term.Link {
		return []term.Link{{Material: 2, From: 1, Relation: r}, {Material: 1, Relation: term.Original, Provider: 5,
			Agreement: "A-1", Terms: terms}}
	}
	for name, c := range map[string]struct {
		lineage []term.Link
		to      term.Recipient
		want    term.Verdict
	}{
		"one's own":                    {[]term.Link{{Material: 2, Relation: term.Original}}, company, term.Yes},
		"nothing known":                {nil, university, term.Ask},
		"an origin that is not known":  {[]term.Link{{Material: 2, From: 1, Relation: term.Progeny}}, university, term.Ask},
		"progeny, no redistribution":   {received(term.Progeny, term.NoRedistribution), university, term.No},
		"back to the provider":         {received(term.Progeny, term.NoRedistribution), term.Recipient{Institution: 5}, term.Yes},
		"a substance":                  {received(term.Substance, term.NoRedistribution), university, term.Yes},
		"asked first":                  {received(term.Progeny, term.AskFirst), university, term.Ask},
		"the same terms":               {received(term.Progeny, term.SameTerms), university, term.Yes},
		"not commercial, a university": {received(term.Progeny, term.NonCommercial), university, term.Yes},
		"not commercial, a company":    {received(term.Progeny, term.NonCommercial), company, term.No},
		"no stands above ask":          {received(term.Progeny, term.NonCommercial, term.AskFirst), company, term.No},
		"attribution alone":            {received(term.Progeny, term.Attribution), company, term.Yes},
		"a lineage that refers to itself": {[]term.Link{{Material: 2, From: 3, Relation: term.Progeny},
			{Material: 3, From: 2, Relation: term.Progeny}}, university, term.Ask},
		"a modification of what may not be passed on": {received(term.Modification, term.NoRedistribution), university, term.Ask},
		"a modification one received": {[]term.Link{{Material: 2, Relation: term.Modification, Provider: 5,
			Terms: []term.Term{term.NoRedistribution}}}, university, term.Ask},
	} {
		got, reasons := term.MayShare(c.lineage, 2, c.to)
		if got != c.want || got != term.Yes && len(reasons) == 0 {
			t.Errorf("%s: %s because of %+v, not %s", name, got, reasons, c.want)
		}
	}
}

func TestMayShare_FollowsEveryBranch(t *testing.T) {
	t.Parallel()
	lineage := []term.Link{
		{Material: 4, From: 2, Relation: term.Modification}, {Material: 4, From: 3, Relation: term.Progeny},
		{Material: 2, From: 1, Relation: term.Original, Provider: 5, Agreement: "A-1",
			Terms: []term.Term{term.NonCommercial}},
		{Material: 3, From: 1, Relation: term.Original, Provider: 6, Agreement: "A-2",
			Terms: []term.Term{term.NoRedistribution}},
		{Material: 1, Relation: term.Original},
	}
	for _, c := range []struct {
		to   term.Recipient
		want term.Verdict
	}{
		{term.Recipient{Institution: 8, Nonprofit: true}, term.No},
		{term.Recipient{Institution: 6, Nonprofit: true}, term.Yes},
		{term.Recipient{Institution: 6, UnknownKind: true}, term.Ask},
		{term.Recipient{Institution: 6}, term.No},
	} {
		if got, reasons := term.MayShare(lineage, 4, c.to); got != c.want {
			t.Errorf("to %+v: %s because of %+v, not %s", c.to, got, reasons, c.want)
		}
	}
	lineage[3].Paper = true
	if got, _ := term.MayShare(lineage, 4, term.Recipient{Institution: 8, Nonprofit: true}); got != term.Ask {
		t.Errorf("on paper: %s, not %s", got, term.Ask)
	}
}

func TestMayShare_MoreTermsNeverAllowMore(t *testing.T) {
	t.Parallel()
	order := []term.Verdict{term.Yes, term.Ask, term.No}
	terms := rapid.SliceOf(
		rapid.SampledFrom([]term.Term{term.Attribution, term.NoRedistribution, term.NonCommercial, term.AskFirst,
			term.SameTerms}),
	)
	rapid.Check(t, func(t *rapid.T) {
		var lineage []term.Link
		for n := range rapid.IntRange(1, 6).Draw(t, "links") {
			lineage = append(lineage, term.Link{Material: int64(n + 1), From: rapid.Int64Range(0, 6).Draw(t, "from"),
				Relation: rapid.SampledFrom([]term.Relation{term.Progeny, term.Modification, term.Substance}).
					Draw(t, "relation"),
				Provider: rapid.Int64Range(0, 2).Draw(t, "provider"), Terms: terms.Draw(t, "terms")})
		}
		to := term.Recipient{Institution: 2, Nonprofit: rapid.Bool().Draw(t, "nonprofit")}
		before, _ := term.MayShare(lineage, 1, to)
		n := rapid.IntRange(0, len(lineage)-1).Draw(t, "which")
		lineage[n].Terms = append(slices.Clone(lineage[n].Terms), terms.Draw(t, "more")...)
		after, _ := term.MayShare(lineage, 1, to)
		if slices.Index(order, after) < slices.Index(order, before) {
			t.Fatalf("%s becomes %s", before, after)
		}
	})
}
