package party_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
)

const day = exchange.Date("2026-06-15")

// user returns the id of a user with a number.
func user(n int) uuid.UUID { return uuid.UUID{15: byte(n)} }

var one, two = user(1), user(2)

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

func TestLevel_HasAnOrder(t *testing.T) {
	t.Parallel()
	for i, l := range party.Levels() {
		for k, least := range party.Levels() {
			if got := party.Level(l).Reaches(party.Level(least)); got != (i >= k) {
				t.Errorf("%s where %s is asked: %t", l, least, got)
			}
		}
	}
	for _, wrong := range []party.Level{"", "TELEPATHY"} {
		if wrong.Reaches(party.Uploaded) || party.Qualified.Reaches(wrong) {
			t.Errorf("the level %q is compared", wrong)
		}
	}
}

// body makes a body of JSON values by field.
func body[T party.Described[T]](t *testing.T, values map[string]string) party.Patch[T] {
	t.Helper()
	fields := map[string]any{}
	for name, value := range values {
		fields[name] = json.RawMessage(value)
	}
	p, err := party.PatchOf[T](fields)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// faulty lists the fields that a body is refused for.
func faulty[T party.Described[T]](t *testing.T, old T, values map[string]string) []string {
	t.Helper()
	_, err := body[T](t, values).Patch(old)
	return slices.Sorted(maps.Keys(exchange.FieldsOf(err)))
}

func TestPatch_NamesEachWrongField(t *testing.T) {
	t.Parallel()
	institution, authority := party.NewInstitution(one), party.Authority{Position: 1, LargestBSL: 1}
	for name, c := range map[string]struct{ got, want []string }{
		"a good institution": {faulty(t, institution, map[string]string{"legal_name": `"Aarlund University"`,
			"country": `"Denmark"`, "kind": `"NONPROFIT"`, "kind_evidence": `"Charter of 1928"`,
			"kind_since": `"2026-01-02"`, "mail_domains": `["Aarlund.example"]`, "mailbox": `"tto@aarlund.example"`}), nil},
		"a bad one": {faulty(t, institution, map[string]string{"ror": `"https://ror.org/1"`, "country": `"Atlantis"`,
			"kind": `"CHARITY"`, "mail_domains": `["@Aarlund"]`, "least_level": `"TELEPATHY"`, "recheck_days": "0",
			"mailbox": `"office"`}),
			[]string{"country", "kind", "least_level", "legal_name", "mail_domains", "mailbox", "recheck_days", "ror"}},
		"a kind without evidence": {faulty(t, institution, map[string]string{"legal_name": `"A"`, "country": `"DK"`,
			"kind": `"NONPROFIT"`}), []string{"kind_evidence", "kind_since"}},
		"an authority of nobody": {faulty(t, authority, map[string]string{"direction": `"BOTH"`,
			"from": `"2026-01-01"`}), []string{"mail", "name"}},
		"of an unknown category, backwards": {faulty(t, authority, map[string]string{"name": `"Ada"`,
			"mail": `"ada@example.edu"`, "direction": `"BOTH"`, "from": `"2026-01-01"`, "until": `"2026-01-01"`,
			"categories": `["plasmid", "TEAPOT"]`, "families": `["a b"]`}), []string{"categories", "families", "until"}},
		"a stand-in without end": {faulty(t, party.StandIn{}, map[string]string{"person": `"` + one.String() + `"`}),
			[]string{"authority", "from", "until"}},
		"a bilateral one alone": {faulty(t, party.Master{Standing: party.Bilateral}, map[string]string{
			"family": `"BILATERAL"`, "signed_on": `"2026-01-01"`}), []string{"counterparty"}},
		"one with itself": {faulty(t, party.Master{Institution: 7}, map[string]string{"family": `"BILATERAL"`,
			"standing": `"BILATERAL"`, "counterparty": "7", "signed_on": `"2026-01-01"`}), []string{"counterparty"}},
		"all with one": {faulty(t, party.Master{Standing: party.Signed}, map[string]string{"family": `"UBMTA"`,
			"counterparty": "7", "signed_on": `"2026-01-01"`}), []string{"counterparty"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, not %v", name, c.got, c.want)
		}
	}
}

func TestPatch_KeepsWhatItDoesNotNameAndClearsWithNull(t *testing.T) {
	t.Parallel()
	old := party.Master{Family: "UBMTA", Standing: party.Signed, SignedOn: "1995-06-01", WithdrawnOn: "2020-01-01",
		Signer: "Ada"}
	got, err := body[party.Master](t, map[string]string{"withdrawn_on": "null", "version": `"1995"`}).Patch(old)
	if err != nil || got.WithdrawnOn != "" || got.SignedOn != old.SignedOn || got.Signer != "Ada" ||
		got.Version != "1995" {
		t.Errorf("%+v, %v", got, err)
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
			Confirmed:    true,
		},
		{Organization: 1, Institution: 20, Period: party.Period{From: "2026-06-15"}, Confirmed: true},
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
		{Person: one, Institution: 10, Source: party.Self},
		{Person: two, Institution: 10, Source: party.Self},
		{Person: two, Institution: 10, Source: party.Officer, Period: party.Period{From: "2026-01-01"}},
	}
	for person, want := range map[uuid.UUID][2]bool{one: {true, false}, two: {true, true}, user(3): {false, false}} {
		affiliated, confirmed := party.Affiliated(rows, person, 10, day)
		if got := [2]bool{affiliated, confirmed}; got != want {
			t.Errorf("person %s: %v, not %v", person, got, want)
		}
	}
}

func TestMasterInForce_IsAFunctionOfTheDayAndTheCounterparty(t *testing.T) {
	t.Parallel()
	rows := []party.Master{
		{Institution: 1, Family: "UBMTA", Standing: party.Signed, SignedOn: "1995-06-01", WithdrawnOn: "2026-06-15"},
		{Institution: 2, Family: "UBMTA", Standing: party.Signed, SignedOn: "2026-06-15"},
		{Institution: 2, Family: "BILATERAL", Standing: party.Bilateral, Counterparty: new(int64(3)), SignedOn: "2020-01-01"},
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
	yearly, today := party.Institution{RecheckDays: 365}, time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	for checked, want := range map[exchange.Date]bool{"": true, "2025-06-14": true, "2025-06-15": false} {
		if yearly.NeedsCheck(party.Master{CheckedOn: checked}, today) != want {
			t.Errorf("one checked on %q needs a check: %t", checked, !want)
		}
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
			{ID: 1, Position: 1, Holder: party.Person{User: user(7)}, Direction: party.Provide, Families: []string{"UBMTA"},
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
				Holder:     party.Person{User: user(8)},
				Direction:  party.Both,
				LargestBSL: 4,
				Human:      true,
				Supersedes: new(int64(2)),
				Period:     party.Period{From: "2026-06-15", Until: "2027-01-01"},
			},
			{ID: 4, Position: 2, Holder: party.Person{User: user(9)}, Direction: party.Both, LargestBSL: 4},
		},
		StandIns: []party.StandIn{
			{
				Authority: 1,
				Person:    party.Person{User: user(11)},
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
	director, successor := party.Person{User: user(7)}, party.Person{User: user(8)}
	old, deputy := party.Person{Mail: "old@example.edu"}, party.Person{User: user(11)}
	for name, c := range map[string]struct {
		person party.Person
		act    party.Act
		day    exchange.Date
		want   party.Refusal
	}{
		"the director":                   {director, good, day, ""},
		"a stranger":                     {party.Person{User: user(99)}, good, day, party.NoAuthority},
		"nobody":                         {party.Person{}, good, day, party.NoAuthority},
		"before the first day":           {director, good, "2025-12-31", party.NotYet},
		"after the last day":             {successor, good, "2027-01-01", party.Ended},
		"the day before being replaced":  {old, good, "2026-06-14", ""},
		"from the day of being replaced": {old, good, day, party.Superseded},
		"a position that ended":          {party.Person{User: user(9)}, good, day, party.PositionEnded},
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
		if got == "" && c.person == deputy && (signer.For == nil || signer.For.User != user(7)) {
			t.Errorf("%s: the record does not name whom they represent: %+v", name, signer)
		}
	}
}

func TestRegister_ListsExactlyThoseWhoPassTheCheck(t *testing.T) {
	t.Parallel()
	people := []party.Person{{User: user(7)}, {User: user(8)}, {User: user(9)}, {User: user(11)}, {Mail: "old@example.edu"}, {User: user(99)}}
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

func TestRegister_HeldAreTheAuthoritiesOfToday(t *testing.T) {
	t.Parallel()
	for who, want := range map[uuid.UUID]int{user(7): 1, user(8): 1, user(9): 0, user(11): 0, uuid.Nil: 0} {
		if got := register().Held(who, day); len(got) != want {
			t.Errorf("%s holds %v, not %d", who, got, want)
		}
	}
	if got := register().Held(user(8), "2026-06-14"); len(got) != 0 {
		t.Errorf("before its first day it is held: %v", got)
	}
}

// TestAuthority_GrantsNothingThatItDoesNotCover holds the rule that officers change authorities within their own.
func TestAuthority_GrantsNothingThatItDoesNotCover(t *testing.T) {
	t.Parallel()
	draw := func(t *rapid.T, id int64) party.Authority {
		return party.Authority{ID: id, Position: 1, Holder: party.Person{User: user(int(id))},
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
