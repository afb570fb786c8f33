package party_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
)

const day = exchange.Date("2026-06-15")

func TestPeriod_EndsBeforeItsLastDate(t *testing.T) {
	t.Parallel()
	for p, want := range map[party.Period]bool{
		{}:                    true,
		{From: day}:           true,
		{From: "2026-06-16"}:  false,
		{Until: day}:          false,
		{Until: "2026-06-16"}: true,
		{From: "2026-06-01", Until: "2026-07-01"}: true,
	} {
		if p.Holds(day) != want {
			t.Errorf("%+v holds on %s: %t", p, day, !want)
		}
	}
}

func TestLevel_HasANameAndAnOrder(t *testing.T) {
	t.Parallel()
	for l := party.Uploaded; l <= party.Qualified; l++ {
		if back, ok := party.ParseLevel(l.String()); !ok || back != l {
			t.Errorf("%d is %q, which is %d", l, l, back)
		}
	}
	if _, ok := party.ParseLevel("TELEPATHY"); ok || party.Level(0).String() != "" || party.Level(9).String() != "" {
		t.Error("a level that does not exist has a name")
	}
}

func TestInstitution_CheckNamesEachWrongField(t *testing.T) {
	t.Parallel()
	good := party.Institution{LegalName: "Aarlund University", Country: "DK", Kind: party.Nonprofit,
		KindEvidence: "Charter of 1928", KindSince: "2026-01-02", MailDomains: []string{"aarlund.example"}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	bad := party.Institution{
		ROR:         "https://ror.org/1",
		Country:     "Atlantis",
		Kind:        "CHARITY",
		MailDomains: []string{"@Aarlund"},
	}
	faults := exchange.FieldsOf(bad.Check())
	for _, field := range []string{"legal_name", "ror", "country", "kind", "mail_domains"} {
		if _, ok := faults[field]; !ok {
			t.Errorf("%s is not named in %v", field, faults)
		}
	}
	if _, blamed := faults["kind_evidence"]; blamed {
		t.Errorf("a kind that does not exist asks for evidence: %v", faults)
	}
	good.KindEvidence = ""
	if _, ok := exchange.FieldsOf(good.Check())["kind_evidence"]; !ok {
		t.Error("a kind without evidence is accepted")
	}
}

func TestInstitution_UnconfirmedOrWithdrawnNeverExecutes(t *testing.T) {
	t.Parallel()
	for i, want := range map[*party.Institution]bool{
		{}:                                false,
		{Confirmed: true}:                 true,
		{Confirmed: true, Withdrawn: day}: false,
		{Confirmed: true, Withdrawn: "2026-06-16"}: true,
	} {
		if i.MayExecute(day) != want {
			t.Errorf("%+v may execute: %t", i, !want)
		}
	}
}

func TestInstitutionOf_IsThatOfTheDay(t *testing.T) {
	t.Parallel()
	labs := []party.Lab{
		{
			Organization: 1,
			Institution:  10,
			Period:       party.Period{From: "2020-01-01", Until: "2026-06-15"},
			ConfirmedBy:  5,
		},
		{Organization: 1, Institution: 20, Period: party.Period{From: "2026-06-15"}, ConfirmedBy: 5},
		{Organization: 1, Institution: 30, Period: party.Period{From: "2026-06-15"}},
	}
	for d, want := range map[exchange.Date]int64{"2019-12-31": 0, "2026-06-14": 10, day: 20} {
		if got := party.InstitutionOf(labs, 1, d); got != want {
			t.Errorf("on %s the lab is of %d, not %d", d, got, want)
		}
	}
}

func TestAffiliated_ByOneselfIsNotConfirmed(t *testing.T) {
	t.Parallel()
	rows := []party.Affiliation{
		{Person: 1, Institution: 10, Source: party.Self},
		{Person: 2, Institution: 10, Source: party.Self},
		{Person: 2, Institution: 10, Source: party.Officer, Period: party.Period{From: "2026-01-01"}},
	}
	for person, want := range map[int64][2]bool{1: {true, false}, 2: {true, true}, 3: {false, false}} {
		affiliated, confirmed := party.Affiliated(rows, person, 10, day)
		if got := [2]bool{affiliated, confirmed}; got != want {
			t.Errorf("person %d: %v, not %v", person, got, want)
		}
	}
}

func TestMasterInForce_IsAFunctionOfTheDayAndTheCounterparty(t *testing.T) {
	t.Parallel()
	rows := []party.Master{
		{Institution: 1, Family: "UBMTA", Standing: party.Signed, SignedOn: "1995-06-01", WithdrawnOn: "2026-06-15"},
		{Institution: 2, Family: "UBMTA", Standing: party.Signed, SignedOn: "2026-06-15"},
		{Institution: 2, Family: "BILATERAL", Standing: party.Bilateral, Counterparty: 3, SignedOn: "2020-01-01"},
	}
	for _, c := range []struct {
		family     string
		one, other int64
		day        exchange.Date
		want       bool
	}{
		{"UBMTA", 1, 2, "1995-05-31", false}, {"UBMTA", 1, 2, "2026-06-14", true}, {"UBMTA", 1, 2, day, false},
		{"UBMTA", 2, 1, "2026-06-14", false}, {"UBMTA", 2, 1, day, true},
		{"BILATERAL", 2, 3, day, true}, {"BILATERAL", 3, 2, day, true}, {"BILATERAL", 2, 1, day, false},
	} {
		if _, got := party.MasterInForce(rows, c.family, c.one, c.other, c.day); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
	if !(party.Master{CheckedOn: "2025-01-01"}).NeedsCheck("2026-01-01") {
		t.Error("an old entry needs no check")
	}
}

// register has one director, who may sign all but human material beyond level 2, and a stand-in for a week.
func register() party.Register {
	return party.Register{
		Positions: []party.Position{
			{ID: 1, Title: "Director"},
			{ID: 2, Title: "Closed office", Period: party.Period{Until: "2026-01-01"}},
		},
		Authorities: []party.Authority{
			{ID: 1, Position: 1, Holder: party.Person{User: 7}, Direction: party.Provide, Families: []string{"UBMTA"},
				Categories: []string{"PLASMID"}, LargestBSL: 2, Period: party.Period{From: "2026-01-01"}},
			{
				ID:         2,
				Position:   1,
				Holder:     party.Person{Name: "A. Old", Mail: "old@example.edu"},
				Direction:  party.Both,
				LargestBSL: 4,
			},
			{
				ID:         3,
				Position:   1,
				Holder:     party.Person{User: 8},
				Direction:  party.Both,
				LargestBSL: 4,
				Human:      true,
				Supersedes: 2,
				Period:     party.Period{From: "2026-06-15", Until: "2027-01-01"},
			},
			{ID: 4, Position: 2, Holder: party.Person{User: 9}, Direction: party.Both, LargestBSL: 4},
		},
		StandIns: []party.StandIn{
			{
				Authority: 1,
				Person:    party.Person{User: 11},
				Period:    party.Period{From: "2026-06-10", Until: "2026-06-17"},
			},
		},
	}
}

func TestRegister_RefusesWithTheReasonClosestToARight(t *testing.T) {
	t.Parallel()
	good := party.Act{Direction: party.Provide, Family: "UBMTA", Category: "PLASMID", BSL: 1}
	with := func(change func(*party.Act)) party.Act {
		act := good
		change(&act)
		return act
	}
	director, successor := party.Person{User: 7}, party.Person{User: 8}
	old, deputy := party.Person{Mail: "old@example.edu"}, party.Person{User: 11}
	for name, c := range map[string]struct {
		person party.Person
		act    party.Act
		day    exchange.Date
		want   party.Refusal
	}{
		"the director":                   {director, good, day, ""},
		"a stranger":                     {party.Person{User: 99}, good, day, party.NoAuthority},
		"nobody":                         {party.Person{}, good, day, party.NoAuthority},
		"before the first day":           {director, good, "2025-12-31", party.NotYet},
		"after the last day":             {successor, good, "2027-01-01", party.Ended},
		"the day before being replaced":  {old, good, "2026-06-14", ""},
		"from the day of being replaced": {old, good, day, party.Superseded},
		"a position that ended":          {party.Person{User: 9}, good, day, party.PositionEnded},
		"the other direction":            {director, with(func(a *party.Act) { a.Direction = party.Receive }), day, party.WrongDirection},
		"another instrument":             {director, with(func(a *party.Act) { a.Family = "OPEN_MTA" }), day, party.InstrumentOutside},
		"another category":               {director, with(func(a *party.Act) { a.Category = "PDX" }), day, party.CategoryOutside},
		"human material":                 {director, with(func(a *party.Act) { a.Human = true }), day, party.HumanOutside},
		"a higher level of biosafety":    {director, with(func(a *party.Act) { a.BSL = 3 }), day, party.BSLOutside},
		"a stand-in":                     {deputy, good, day, ""},
		"a stand-in who lapsed":          {deputy, good, "2026-06-17", party.StandInLapsed},
		"a stand-in beyond the scope":    {deputy, with(func(a *party.Act) { a.BSL = 3 }), day, party.BSLOutside},
	} {
		signer, got := register().Check(c.person, c.act, c.day)
		if got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
		if got == "" && c.person == deputy && (signer.For == nil || signer.For.User != 7) {
			t.Errorf("%s: the record does not name whom they represent: %+v", name, signer)
		}
	}
}

func TestRegister_ListsExactlyThoseWhoPassTheCheck(t *testing.T) {
	t.Parallel()
	people := []party.Person{{User: 7}, {User: 8}, {User: 9}, {User: 11}, {Mail: "old@example.edu"}, {User: 99}}
	rapid.Check(t, func(t *rapid.T) {
		act := party.Act{
			Direction: rapid.SampledFrom([]party.Direction{party.Provide, party.Receive}).Draw(t, "direction"),
			Family:    rapid.SampledFrom([]string{"UBMTA", "OPEN_MTA"}).Draw(t, "family"),
			Category:  rapid.SampledFrom([]string{"PLASMID", "PDX"}).Draw(t, "category"),
			Human:     rapid.Bool().Draw(t, "human"),
			BSL:       rapid.IntRange(0, 4).Draw(t, "bsl"),
		}
		d := exchange.Date(fmt.Sprintf("202%d-%02d-%02d", rapid.IntRange(5, 7).Draw(t, "year"),
			rapid.IntRange(1, 12).Draw(t, "month"), rapid.IntRange(1, 28).Draw(t, "day")))
		r := register()
		listed := r.MaySign(act, d)
		passed := 0
		for _, p := range people {
			if _, refusal := r.Check(p, act, d); refusal == "" {
				passed++
			}
		}
		if len(listed) != passed {
			t.Fatalf("%d are listed, %d pass", len(listed), passed)
		}
	})
}

// TestAuthority_GrantsNothingThatItDoesNotCover holds the rule that officers change authorities within their own.
func TestAuthority_GrantsNothingThatItDoesNotCover(t *testing.T) {
	t.Parallel()
	draw := func(t *rapid.T, id int64) party.Authority {
		return party.Authority{ID: id, Position: 1, Holder: party.Person{User: id},
			Direction: rapid.SampledFrom([]party.Direction{party.Provide, party.Receive, party.Both}).
				Draw(t, "direction"),
			Families:   rapid.SampledFrom([][]string{nil, {"A"}, {"A", "B"}}).Draw(t, "families"),
			Categories: rapid.SampledFrom([][]string{nil, {"A"}, {"B"}}).Draw(t, "categories"),
			Human:      rapid.Bool().Draw(t, "human"), LargestBSL: rapid.IntRange(1, 4).Draw(t, "bsl"),
			Period: party.Period{
				From:  "2026-01-01",
				Until: rapid.SampledFrom([]exchange.Date{"", "2026-07-01", "2027-01-01"}).Draw(t, "until"),
			}}
	}
	rapid.Check(t, func(t *rapid.T) {
		own, other := draw(t, 1), draw(t, 2)
		if !own.MayGrant(other) {
			return
		}
		r := party.Register{Positions: []party.Position{{ID: 1}}, Authorities: []party.Authority{own, other}}
		act := party.Act{Direction: rapid.SampledFrom([]party.Direction{party.Provide, party.Receive}).Draw(t, "act"),
			Family:   rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "family"),
			Category: rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "category"),
			Human:    rapid.Bool().Draw(t, "human"), BSL: rapid.IntRange(0, 4).Draw(t, "bsl")}
		d := rapid.SampledFrom([]exchange.Date{"2025-01-01", "2026-06-30", "2026-07-01", "2027-06-01"}).Draw(t, "day")
		_, ownRefusal := r.Check(own.Holder, act, d)
		if _, refusal := r.Check(other.Holder, act, d); refusal == "" && ownRefusal != "" {
			t.Fatalf("%+v grants %+v, which covers %+v on %s", own, other, act, d)
		}
	})
}
