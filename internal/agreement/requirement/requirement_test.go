package requirement

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aliquot/internal/agreement/table"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/datause"
)

const day = exchange.Date("2026-06-15")

func kinds(owed []Requirement) (list []string) {
	for _, r := range owed {
		list = append(list, r.Kind)
	}
	return list
}

func facts(questions []Question) (list []string) {
	for _, q := range questions {
		list = append(list, q.Fact)
	}
	return list
}

// settled are facts that leave nothing to ask or to fulfil.
func settled() Facts {
	return Facts{
		Human:              NotHuman,
		ConsentAllows:      Yes,
		LiveAnimal:         No,
		GeneticallyChanged: No,
		BSL:                BSL1,
		SelectAgent:        No,
		PlantTreaty:        No,
		Origin:             "DE",
		Accessed:           "2010-01-01",
		ExportControlled:   No,
	}
}

func TestRules_EachKindIsUsedAndKnownAndNoRuleIsDead(t *testing.T) {
	t.Parallel()
	used := rules.Results()
	for name := range file.Kinds {
		if !slices.Contains(used, name) {
			t.Errorf("no rule results in %s", name)
		}
	}
	for _, name := range used {
		if _, known := file.Kinds[name]; !known {
			t.Errorf("%s is not among the kinds", name)
		}
	}
	for _, name := range used { // the rules of a kind never apply twice to a case
		var same []table.Rule
		for _, r := range rules.Rules() {
			if r.Then == name {
				same = append(same, r)
			}
		}
		one, err := table.New(file.Columns, same)
		if err != nil {
			t.Fatal(err)
		}
		if report := one.Check(); len(report.Overlaps) > 0 || len(report.Dead) > 0 {
			t.Errorf("%s: %v overlap, %v are dead", name, report.Overlaps, report.Dead)
		}
	}
}

func TestOwed_TheFlagsOfTheSpecificationKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	for flags, want := range map[Flags][]string{
		{}:                 nil,
		{MTA: true}:        {"MTA"},
		{IRB: true}:        {"IRB"},
		{Abstract: true}:   {"ABSTRACT"},
		{true, true, true}: {"MTA", "ABSTRACT", "IRB"},
	} {
		owed, questions := Owed(Transfer{Facts: settled(), Flags: flags, From: "DE", To: Destination{Country: "DE"}}, day)
		if !slices.Equal(kinds(owed), want) || len(questions) > 0 {
			t.Errorf("%+v: owed %v, asked %v", flags, kinds(owed), facts(questions))
		}
	}
}

func TestOwed_HumanPlasmaWithoutAnyFlagAsksAboutConsentAndIRB(t *testing.T) {
	t.Parallel()
	plasma := FromCategory("OTHER", map[string]json.RawMessage{"organism_ids": json.RawMessage(`["NCBITaxon:9606"]`)})
	owed, questions := Owed(Transfer{Facts: plasma, From: "DE", To: Destination{Country: "DE"}}, day)
	for _, fact := range []string{"human_derived", "consent_allows", "irb_needed"} {
		if !slices.Contains(facts(questions), fact) {
			t.Errorf("nobody asks about %s", fact)
		}
	}
	if slices.Contains(kinds(owed), "IRB") {
		t.Error("the requester owes an approval before the lab was asked")
	}
}

func TestOwed_DependsOnTheFacts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change   func(*Transfer)
		owed     []string
		question []string
	}{
		"identifiable donor":     {func(t *Transfer) { t.Facts.Human = HumanIdentifiable }, []string{"IRB"}, nil},
		"anonymous donor":        {func(t *Transfer) { t.Facts.Human = HumanAnonymised }, nil, nil},
		"consent forbids":        {func(t *Transfer) { t.Facts.Human, t.Facts.ConsentAllows = HumanAnonymised, No }, []string{"CONSENT_FORBIDS"}, nil},
		"live animals":           {func(t *Transfer) { t.Facts.LiveAnimal = Yes }, []string{"IACUC"}, nil},
		"live animals abroad":    {func(t *Transfer) { t.Facts.LiveAnimal, t.To.Country = Yes, "FR" }, []string{"IACUC", "IMPORT_PERMIT"}, nil},
		"genetically modified":   {func(t *Transfer) { t.Facts.GeneticallyChanged = Yes }, []string{"IBC"}, nil},
		"level 3":                {func(t *Transfer) { t.Facts.BSL = BSL3 }, []string{"IBC", "HAZARDOUS_SHIPMENT"}, nil},
		"level 3 and modified":   {func(t *Transfer) { t.Facts.BSL, t.Facts.GeneticallyChanged = BSL3, Yes }, []string{"IBC", "HAZARDOUS_SHIPMENT"}, nil},
		"unknown level":          {func(t *Transfer) { t.Facts.BSL = BSLUnknown }, nil, []string{"bsl"}},
		"select agent":           {func(t *Transfer) { t.Facts.SelectAgent = Yes }, []string{"SELECT_AGENT"}, nil},
		"accessed under Nagoya":  {func(t *Transfer) { t.Facts.Origin, t.Facts.Accessed = "BR", "2020-01-01" }, []string{"IRCC"}, nil},
		"of unknown origin":      {func(t *Transfer) { t.Facts.Origin = "" }, nil, []string{"origin"}},
		"under the plant treaty": {func(t *Transfer) { t.Facts.Origin, t.Facts.PlantTreaty = "", Yes }, nil, nil},
		"controlled, at home":    {func(t *Transfer) { t.Facts.ExportControlled = Yes }, nil, nil},
		"controlled, abroad":     {func(t *Transfer) { t.Facts.ExportControlled, t.To.Country = Yes, "FR" }, []string{"EXPORT_LICENCE"}, nil},
		"unknown export, abroad": {func(t *Transfer) { t.Facts.ExportControlled, t.To.Country = Unknown, "FR" }, nil, []string{"export_class"}},
		"terms of use":           {func(t *Transfer) { t.Facts.Uses = []datause.Term{{ID: "DUO:0000042"}} }, []string{"DATA_USE"}, nil},
		"a destination on a list": {func(t *Transfer) {
			t.To.Country, t.Lists = "KP", []Destinations{{Name: "UN", Published: "2026-01-01", Countries: []string{"KP"}}}
		}, []string{"DESTINATION"}, nil},
	} {
		transfer := Transfer{Facts: settled(), From: "DE", To: Destination{Country: "DE"}}
		c.change(&transfer)
		owed, questions := Owed(transfer, day)
		if !slices.Equal(kinds(owed), c.owed) || !slices.Equal(facts(questions), c.question) {
			t.Errorf("%s: owed %v, asked %v; not %v, %v", name, kinds(owed), facts(questions), c.owed, c.question)
		}
	}
}

func TestOwed_AnExpiredPermitIsOwedAgain(t *testing.T) {
	t.Parallel()
	transfer := Transfer{Facts: settled(), Flags: Flags{IRB: true}, From: "DE", To: Destination{Country: "DE"},
		Permits: []Permit{{Regime: "IRB", Number: "2025-17", From: "2025-01-01", Until: day}}}
	for d, want := range map[exchange.Date][2]bool{
		"2024-12-31": {false, false}, "2026-06-14": {true, false}, day: {false, true}} {
		owed, _ := Owed(transfer, d)
		if got := [2]bool{owed[0].Permit != nil, owed[0].Expired}; got != want {
			t.Errorf("on %s: fulfilled and expired are %v, not %v", d, got, want)
		}
	}
	transfer.Permits = append(transfer.Permits, Permit{Regime: "IRB", Number: "2026-3", From: day})
	if owed, _ := Owed(transfer, day); owed[0].Permit == nil || owed[0].Permit.Number != "2026-3" || owed[0].Expired {
		t.Errorf("a new permit does not fulfil it: %+v", owed[0])
	}
}

func TestPermit_EndsSoonOnceItsFirstReminderIsDue(t *testing.T) {
	t.Parallel()
	p := Permit{Number: "2026-3", From: "2026-01-01", Until: "2026-06-15"}
	for d, want := range map[exchange.Date]bool{"2025-12-31": false, "2026-04-15": false, "2026-04-16": true,
		"2026-06-14": true, "2026-06-15": false} {
		if p.EndsSoon(d) != want {
			t.Errorf("on %s: ends soon is %v", d, !want)
		}
	}
	if p.Until = ""; p.EndsSoon(day) {
		t.Error("one without end ends soon")
	}
}

func TestPermit_CoversWhatItsLimitsAllow(t *testing.T) {
	t.Parallel()
	all, pdx := Permit{}, Permit{Categories: []string{"PDX"}}
	two := Permit{Categories: []string{"PDX", "OTHER"}}
	one := Permit{Categories: []string{"PDX"}, Materials: []int64{1}}
	for name, c := range map[string]struct {
		p, other Permit
		want     bool
	}{"all of all": {all, all, true}, "all of some": {all, one, true}, "some of all": {pdx, all, false},
		"more": {two, pdx, true}, "less": {pdx, two, false}, "another limit too": {pdx, one, true},
		"without another limit": {one, pdx, false}} {
		if c.p.Covers(c.other) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
}

func TestOwed_FactsThatBecomeUnknownNeverRemoveAQuestion(t *testing.T) {
	t.Parallel()
	answers := []Answer{Unknown, Yes, No}
	rapid.Check(t, func(t *rapid.T) {
		f := Facts{
			Human: rapid.SampledFrom([]Human{HumanUnknown, NotHuman, HumanAnonymised, HumanIdentifiable}).
				Draw(t, "human"),
			ConsentAllows: rapid.SampledFrom(answers).
				Draw(t, "consent"),
			LiveAnimal:         rapid.SampledFrom(answers).Draw(t, "animal"),
			GeneticallyChanged: rapid.SampledFrom(answers).Draw(t, "modified"),
			BSL:                rapid.SampledFrom([]BSL{BSLUnknown, NoBSL, BSL1, BSL2, BSL3, BSL4}).Draw(t, "bsl"),
			SelectAgent: rapid.SampledFrom(answers).
				Draw(t, "select"),
			ExportControlled: rapid.SampledFrom(answers).Draw(t, "export")}
		transfer := Transfer{Facts: f, From: "DE", To: Destination{Country: rapid.SampledFrom([]string{"", "DE", "FR"}).Draw(t, "to")}}
		_, before := Owed(transfer, day)
		switch rapid.IntRange(0, 4).Draw(t, "which") {
		case 0:
			transfer.Facts.Human, transfer.Facts.ConsentAllows = HumanUnknown, Unknown
		case 1:
			transfer.Facts.LiveAnimal = Unknown
		case 2:
			transfer.Facts.GeneticallyChanged = Unknown
		case 3:
			transfer.Facts.SelectAgent = Unknown
		case 4:
			transfer.Facts.ExportControlled = Unknown
		}
		_, after := Owed(transfer, day)
		for _, fact := range facts(before) {
			if !slices.Contains(facts(after), fact) {
				t.Fatalf("the question about %s disappears", fact)
			}
		}
	})
}

func TestFacts_FollowFromTheCategoryAndShowFromWhere(t *testing.T) {
	t.Parallel()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	mouse := FromCategory("MODEL_ORGANISM", map[string]json.RawMessage{"organism_ids": raw(`["NCBITaxon:10090"]`),
		"is_genetically_modified": raw("true"), "biosafety_level": raw(`"BSL-1"`), "shipping_form": raw(`"live"`)})
	if mouse.Human != NotHuman || mouse.LiveAnimal != Yes || mouse.GeneticallyChanged != Yes || mouse.BSL != BSL1 ||
		mouse.Sources["bsl"] != "biosafety_level" || mouse.Sources["human_derived"] != "organism_ids" {
		t.Errorf("a mouse: %+v", mouse)
	}
	for _, code := range []string{"CELL_LINE", "OTHER", "PDX", "NO_SUCH"} {
		if f := FromCategory(code, nil); f.Human != HumanUnknown || f.ConsentAllows != Unknown || f.BSL != BSLUnknown {
			t.Errorf("%s without metadata: %+v", code, f)
		}
	}
	if f := FromCategory("PDX", map[string]json.RawMessage{"organism_ids": raw(`["NCBITaxon:10090"]`)}); f.Human != HumanUnknown {
		t.Errorf("a patient's tumour in a mouse is %q", f.Human)
	}
	data := FromCategory(
		"DATASET",
		map[string]json.RawMessage{"consent_restrictions": raw(`"DUO:0000007 (MONDO:0005148); DUO:0000021"`)},
	)
	if !slices.Equal(data.Uses, []datause.Term{{ID: "DUO:0000007", About: "MONDO:0005148"}, {ID: "DUO:0000021"}}) || data.BSL != NoBSL {
		t.Errorf("data: %+v", data)
	}
	stated := FromCategory("OTHER", nil).With(Facts{Human: HumanIdentifiable, Encumbrances: []Encumbrance{{Holder: "X"}}})
	if stated.Human != HumanIdentifiable || stated.ConsentAllows != Unknown || stated.Encumbered != Yes ||
		stated.Sources["human_derived"] != Lab {
		t.Errorf("what the lab stated does not count: %+v", stated)
	}
}

func TestRules_KnowEveryValueOfTheFacts(t *testing.T) {
	t.Parallel()
	for i := range FactFields {
		d := &FactFields[i]
		for _, value := range append([]string{""}, d.Values...) {
			if value == Nothing {
				continue
			}
			var f Facts
			*textAt(d, &f) = value
			if _, err := rules.Match(point(Transfer{Facts: f})...); err != nil {
				t.Errorf("%s %q: %v", d.Name, value, err)
			}
		}
	}
}

func TestBeyond_RefusesWhatContradictsTheCategory(t *testing.T) {
	t.Parallel()
	species := func(taxon string) Facts {
		return FromCategory("OTHER", map[string]json.RawMessage{"organism_ids": json.RawMessage(`["` + taxon + `"]`)})
	}
	for name, c := range map[string]struct {
		follows, stated Facts
		field           string // that is wrong; "": none
	}{
		"a person’s, of unknown donor":    {species(humanTaxon), Facts{Human: HumanAnonymised, ConsentAllows: Yes}, ""},
		"a person’s, said not to be":      {species(humanTaxon), Facts{Human: NotHuman}, "human_derived"},
		"a patient’s, said not to be":     {FromCategory("PDX", nil), Facts{Human: NotHuman}, "human_derived"},
		"a mouse’s, said to be a donor’s": {species("NCBITaxon:10090"), Facts{Human: HumanIdentifiable}, "human_derived"},
		"a mouse’s, without its consent":  {species("NCBITaxon:10090"), Facts{ConsentAllows: No}, "consent_allows"},
		"nobody’s, without consent":       {Facts{}, Facts{Human: NotHuman, ConsentAllows: No}, "consent_allows"},
		"data at a biosafety level":       {FromCategory("DATASET", nil), Facts{BSL: BSL2}, "bsl"},
	} {
		_, err := c.follows.Beyond(c.stated)
		if faults := exchange.FieldsOf(err); len(faults) > 1 || (c.field == "") != (err == nil) ||
			c.field != "" && faults[c.field] == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	follows := species("NCBITaxon:10090")
	if rest, err := follows.Beyond(follows.With(Facts{SelectAgent: No})); err != nil || rest.Human != HumanUnknown ||
		rest.SelectAgent != No {
		t.Errorf("of what is known, the lab stated %+v, %v", rest, err)
	}
}

func TestWith_IsUnknownWhereTheCategorySaysSomethingElseSince(t *testing.T) {
	t.Parallel()
	modified := FromCategory("OTHER", map[string]json.RawMessage{"is_genetically_modified": json.RawMessage("true")})
	if f := modified.With(Facts{GeneticallyChanged: No}); f.GeneticallyChanged != Unknown ||
		f.Sources["genetically_modified"] != "" {
		t.Errorf("the material is modified: %+v", f)
	}
	person := FromCategory("OTHER", map[string]json.RawMessage{"organism_ids": json.RawMessage(`["NCBITaxon:9606"]`)})
	if f := person.With(Facts{Human: NotHuman}); f.Human != HumanUnknown || f.ConsentAllows != Unknown {
		t.Errorf("the material is a person’s: %+v", f)
	}
	if f := (Facts{}).With(Facts{Human: NotHuman}); f.ConsentAllows != Yes {
		t.Errorf("whose consent is missing? %+v", f)
	}
}

func TestBlocked_UsesTheEditionOfTheDay(t *testing.T) {
	t.Parallel()
	lists := []Destinations{
		{Name: "A", Published: "2025-01-01", Countries: []string{"KP"}},
		{Name: "A", Published: day},
	}
	for d, want := range map[exchange.Date]int{"2024-12-31": 0, "2026-06-14": 1, day: 0} {
		if got := Blocked(lists, Destination{Country: "KP"}, d); len(got) != want {
			t.Errorf("on %s: %v", d, got)
		}
	}
}

func TestReadDestinations_NamesLineAndColumnOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	const head = "list,published,source,country,party\n"
	lists, err := ReadDestinations(strings.NewReader(head + "Embargo,2026-01-31,Gazette 7,North Korea,\n" +
		"Embargo,2026-01-31,Gazette 7,,\"Acme, Ltd.\"\nOther,2025-01-01,,CU,\n"))
	if err != nil || len(lists) != 2 || lists[0].Source != "Gazette 7" {
		t.Fatalf("%v, %v", lists, err)
	}
	to := Destination{Country: "KP", Parties: []string{"ACME, Ltd.", "", "Institute"}}
	want := []string{`ACME, Ltd. is on the list "Embargo" of 2026-01-31`, `KP is on the list "Embargo" of 2026-01-31`}
	if got := Blocked(lists, to, day); !slices.Equal(got, want) {
		t.Errorf("blocked because %q", got)
	}
	for text, want := range map[string]string{"": "line 1", "country\n": "line 1", head: "line 2",
		head + "A,2026-01-31,,DE,\n,2026-01-31,,DE,\n": "line 3: list",
		head + "A,soon,,DE,\n":                         "line 2: published",
		head + "A,2026-01-31,,Atlantis,\n":             "line 2: country",
		head + "A,2026-01-31,,,\n":                     "line 2: country",
		head + "A,2026-01-31,,DE,Acme\n":               "line 2: country",
		head + "A,2026-01-31,,DE\n":                    "line 2",
		head + "A,2026-01-31,,\"DE,\n":                 "line 2",
	} {
		if _, err := ReadDestinations(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
