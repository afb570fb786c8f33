package requirement

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/datause"
)

// TestMatch_DecidesByTermValueAndDay: each case names the answer, and what is asked if that is unknown.
func TestMatch_DecidesByTermValueAndDay(t *testing.T) {
	t.Parallel()
	const mondo = "DUO:0000007 (MONDO:0005148)"
	for name, c := range map[string]struct {
		uses string
		p    Purpose
		want Answer
		asks string
	}{
		"no terms":                       {"", Purpose{}, Yes, ""},
		"no restriction, care":           {"DUO:0000004", Purpose{Clinical: Yes, Commercial: Yes}, Yes, ""},
		"general research":               {"DUO:0000042", Purpose{}, Yes, ""},
		"general research, care":         {"DUO:0000042", Purpose{Clinical: Yes}, Unknown, "clinical_too"},
		"research and care, care":        {"DUO:0000042; DUO:0000043", Purpose{Clinical: Yes}, Yes, ""},
		"research and care, no care":     {"DUO:0000042; DUO:0000043", Purpose{Clinical: No}, Yes, ""},
		"research and care, unknown":     {"DUO:0000042; DUO:0000043", Purpose{}, Yes, ""},
		"care alone, no care":            {"DUO:0000043", Purpose{Clinical: No}, No, ""},
		"care alone, unknown":            {"DUO:0000043", Purpose{}, Unknown, "clinical"},
		"biomedical":                     {"DUO:0000006", Purpose{Biomedical: Yes, Ancestry: No}, Yes, ""},
		"biomedical, of origins":         {"DUO:0000006", Purpose{Biomedical: Yes, Ancestry: Yes}, No, ""},
		"biomedical, origins unknown":    {"DUO:0000006", Purpose{Biomedical: Yes}, Unknown, "ancestry"},
		"not biomedical":                 {"DUO:0000006", Purpose{Biomedical: No}, No, ""},
		"nothing said of biomedical":     {"DUO:0000006", Purpose{}, Unknown, "biomedical ancestry"},
		"the disease":                    {mondo, Purpose{Diseases: []string{"mondo:0005148"}}, Yes, ""},
		"another, perhaps a kind of it":  {mondo, Purpose{Diseases: []string{"MONDO:0005015"}}, Unknown, "diseases"},
		"no disease named":               {mondo, Purpose{}, Unknown, "diseases"},
		"no disease research":            {mondo, Purpose{Biomedical: No}, No, ""},
		"a disease without its value":    {"DUO:0000007", Purpose{Diseases: []string{"MONDO:0005148"}}, Unknown, "value"},
		"origins only":                   {"DUO:0000011", Purpose{Ancestry: Yes}, Yes, ""},
		"origins only, something else":   {"DUO:0000011", Purpose{Ancestry: No}, No, ""},
		"methods prohibited":             {"DUO:0000015", Purpose{Methods: No}, Yes, ""},
		"methods prohibited, methods":    {"DUO:0000015", Purpose{Methods: Yes}, No, ""},
		"methods prohibited, unknown":    {"DUO:0000015", Purpose{}, Unknown, "methods"},
		"genetic only":                   {"DUO:0000016", Purpose{Genetic: Yes}, Yes, ""},
		"genetic only, something else":   {"DUO:0000016", Purpose{Genetic: No}, No, ""},
		"not for profit":                 {"DUO:0000018", Purpose{Nonprofit: Yes, Commercial: No}, Yes, ""},
		"not for profit, commercial":     {"DUO:0000018", Purpose{Nonprofit: Yes, Commercial: Yes}, No, ""},
		"not for profit, a company":      {"DUO:0000018", Purpose{Nonprofit: No}, No, ""},
		"not for profit, kind unknown":   {"DUO:0000018", Purpose{Commercial: No}, Unknown, "institution"},
		"not for profit, unknown":        {"DUO:0000018", Purpose{}, Unknown, "institution commercial"},
		"published afterwards":           {"DUO:0000019; DUO:0000024; DUO:0000029", Purpose{}, Yes, ""},
		"approved":                       {"DUO:0000021", Purpose{Ethics: Yes}, Yes, ""},
		"no approval known":              {"DUO:0000021", Purpose{}, Unknown, "approval"},
		"the country":                    {"DUO:0000022 (DE)", Purpose{Country: "DE"}, Yes, ""},
		"the country by its name":        {"DUO:0000022 (Germany)", Purpose{Country: "DE"}, Yes, ""},
		"another country":                {"DUO:0000022 (DE)", Purpose{Country: "FR"}, No, ""},
		"a union of states":              {"DUO:0000022 (European Union)", Purpose{Country: "FR"}, Unknown, "country"},
		"no country known":               {"DUO:0000022 (DE)", Purpose{}, Unknown, "country"},
		"before the limit":               {"DUO:0000025 (2026-06-16)", Purpose{}, Yes, ""},
		"on the day of the limit":        {"DUO:0000025 (2026-06-15)", Purpose{}, No, ""},
		"a limit that is no day":         {"DUO:0000025 (twelve months)", Purpose{}, Unknown, "value"},
		"ancestry prohibited":            {"DUO:0000044", Purpose{Ancestry: Yes}, No, ""},
		"ancestry prohibited, not of it": {"DUO:0000044", Purpose{Ancestry: No}, Yes, ""},
		"a company, non-profit only":     {"DUO:0000045", Purpose{Nonprofit: No}, No, ""},
		"kind unknown, non-profit only":  {"DUO:0000045", Purpose{}, Unknown, "institution"},
		"non-commercial, unknown":        {"DUO:0000046", Purpose{}, Unknown, "commercial"},
		"a term for people to decide":    {"DUO:0000027", Purpose{}, Unknown, "committee"},
		"an unknown term":                {"DUO:9999999", Purpose{}, Unknown, "committee"},
		"no stands above unknown":        {"DUO:0000027; DUO:0000046", Purpose{Commercial: Yes}, No, "committee"},
		"no stands before unknown also":  {"DUO:0000046; DUO:0000027", Purpose{Commercial: Yes}, No, "committee"},
	} {
		uses, _ := datause.Parse(c.uses)
		got, limits := Match(uses, c.p, day)
		var asks []string
		for _, l := range limits {
			if asks = append(asks, l.Asks...); slices.Contains(l.Questions(), "") || l.Allowed == Yes ||
				(l.Allowed == No) == (len(l.Asks) > 0) {
				t.Errorf("%s: %+v, %q", name, l, l.Questions())
			}
		}
		if got != c.want || (got == Yes) != (len(limits) == 0) || strings.Join(asks, " ") != c.asks {
			t.Errorf("%s: %q, asks %q, not %q, %q", name, got, asks, c.want, c.asks)
		}
	}
	if _, err := datause.Parse("DUO:0000007"); err == nil {
		t.Error("a disease without its value is accepted")
	}
}

// TestMatch_NeverAllowsOrForbidsMoreWithoutAnAnswer: what becomes unknown makes no difference, or the answer unknown.
func TestMatch_NeverAllowsOrForbidsMoreWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	ids := slices.Sorted(maps.Keys(asksOf))
	rapid.Check(t, func(t *rapid.T) {
		var uses []datause.Term
		for _, id := range rapid.SliceOfN(rapid.SampledFrom(append(ids, permissions...)), 1, 4).Draw(t, "terms") {
			u := datause.Term{ID: id}
			if datause.NeedsValue(id) {
				u.About = map[string]string{"DUO:0000022": "DE", "DUO:0000025": "2026-07-01"}[id]
			}
			uses = append(uses, u)
		}
		draw := func(name string) Answer { return rapid.SampledFrom([]Answer{Unknown, Yes, No}).Draw(t, name) }
		p := Purpose{Biomedical: draw("biomedical"), Methods: draw("methods"), Ancestry: draw("ancestry"),
			Genetic: draw("genetic"), Commercial: draw("commercial"), Nonprofit: draw("nonprofit"), Ethics: Unknown,
			Country: rapid.SampledFrom([]string{"", "DE", "FR"}).Draw(t, "country")}
		before, _ := Match(uses, p, day)
		less := p
		for _, a := range []*Answer{&less.Biomedical, &less.Methods, &less.Ancestry, &less.Genetic, &less.Commercial,
			&less.Nonprofit} {
			if rapid.Bool().Draw(t, "forgotten") {
				*a = Unknown
			}
		}
		if after, _ := Match(uses, less, day); after != before && after != Unknown {
			t.Fatalf("%v: %q of %+v becomes %q of %+v", uses, before, p, after, less)
		}
	})
}

func TestOwed_DataUseIsMetWhereTheTermsAllowThePurpose(t *testing.T) {
	t.Parallel()
	irb := Permit{Regime: "IRB", Number: "2026-3", From: "2026-01-01", Until: "2026-07-01"}
	granted := Permit{Regime: "DATA_USE", Number: "DAC-7", From: "2026-01-01"}
	for name, c := range map[string]struct {
		uses    string
		p       Purpose
		permits []Permit
		on      exchange.Date
		met     bool
		why     string
		limits  int
	}{
		"allowed":              {"DUO:0000042", Purpose{}, nil, day, true, "allow this use: general research use", 0},
		"forbidden":            {"DUO:0000046", Purpose{Commercial: Yes}, nil, day, false, "do not allow this use: non-commercial", 1},
		"unknown":              {"DUO:0000046", Purpose{}, nil, day, false, "limited by terms", 1},
		"approved":             {"DUO:0000042; DUO:0000021", Purpose{}, []Permit{irb}, day, true, "allow this use", 0},
		"the approval expired": {"DUO:0000021", Purpose{}, []Permit{irb}, "2026-07-01", false, "limited by terms", 1},
		"granted all the same": {"DUO:0000046", Purpose{Commercial: Yes}, []Permit{granted}, day, false, "limited by terms", 0},
	} {
		transfer := Transfer{Facts: settled(), From: "DE", To: Destination{Country: "DE"}, Purpose: c.p, Permits: c.permits}
		transfer.Facts.Uses, _ = datause.Parse(c.uses)
		owed, _ := Owed(transfer, c.on)
		if len(owed) != 1 || owed[0].Met != c.met || !strings.Contains(owed[0].Why, c.why) ||
			len(owed[0].Limits) != c.limits {
			t.Errorf("%s: %+v", name, owed)
		}
	}
}
