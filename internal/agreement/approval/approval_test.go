package approval_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
)

const member = "018f0a53-0000-7000-8000-000000000001"

const day = exchange.Date("2026-06-15")

var (
	officer = party.Person{User: uuid.MustParse("018f0a53-0000-7000-8000-000000000002")}
)

func register() party.Register {
	return party.Register{Positions: []party.Position{{ID: 1, Title: "Director"}},
		Authorities: []party.Authority{{ID: 5, Position: 1, Holder: officer, Direction: party.Provide, Human: true, LargestBSL: 2,
			Period: party.Period{From: "2026-01-01", Until: "2027-01-01"}}}}
}

func good() (approval.Approval, approval.Transfer) {
	return approval.Approval{ID: 1, Version: 1, Institution: 1, Direction: party.Provide, Officer: officer.User, SignedOn: "2026-01-02",
			Texts:    []string{"abc"},
			Families: []string{"UBMTA_LETTER"}, Categories: []string{"PLASMID"}, LargestBSL: 1, Human: requirement.HumanAnonymised,
			Members: []string{member}, Counterparties: []int64{2}, Period: party.Period{From: "2026-01-02", Until: "2026-12-31"}},
		approval.Transfer{Family: "UBMTA_LETTER", Text: "abc", Master: true, MasterHolds: true, Category: "PLASMID", BSL: requirement.BSL1,
			Human: requirement.NotHuman, Member: member, Counterparty: 2}
}

func TestWhyNot_NamesEachLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*approval.Approval, *approval.Transfer, *party.Register)
		want   []approval.Reason
	}{
		"covered": {func(*approval.Approval, *approval.Transfer, *party.Register) {}, nil},
		"anonymous donors": {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) {
			x.Human = requirement.HumanAnonymised
		}, nil},
		"any member": {func(a *approval.Approval, x *approval.Transfer, _ *party.Register) {
			a.Members, x.Member = nil, ""
		}, nil},
		"all with the master": {func(a *approval.Approval, x *approval.Transfer, _ *party.Register) {
			a.Counterparties, x.Counterparty = nil, 7
		}, nil},
		"not signed":         {func(a *approval.Approval, _ *approval.Transfer, _ *party.Register) { a.SignedOn = "" }, []approval.Reason{approval.NotSigned}},
		"not yet":            {func(a *approval.Approval, _ *approval.Transfer, _ *party.Register) { a.From = "2026-06-16" }, []approval.Reason{approval.NotYet}},
		"lapsed":             {func(a *approval.Approval, _ *approval.Transfer, _ *party.Register) { a.Until = day }, []approval.Reason{approval.Lapsed}},
		"withdrawn":          {func(a *approval.Approval, _ *approval.Transfer, _ *party.Register) { a.WithdrawnOn = day }, []approval.Reason{approval.Withdrawn}},
		"the officer left":   {func(_ *approval.Approval, _ *approval.Transfer, r *party.Register) { r.Authorities[0].Until = day }, []approval.Reason{approval.OfficerMayNot}},
		"another direction":  {func(a *approval.Approval, _ *approval.Transfer, _ *party.Register) { a.Direction = party.Receive }, []approval.Reason{approval.OfficerMayNot}},
		"another instrument": {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) { x.Family = "OPEN_MTA" }, []approval.Reason{approval.InstrumentOutside}},
		"another text":       {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) { x.Text = "abd" }, []approval.Reason{approval.TextChanged}},
		"another category":   {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) { x.Category = "PDX" }, []approval.Reason{approval.CategoryOutside}},
		"level 2":            {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) { x.BSL = requirement.BSL2 }, []approval.Reason{approval.BSLOutside}},
		"level unknown": {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) { x.BSL = requirement.BSLUnknown },
			[]approval.Reason{approval.OfficerMayNot, approval.BSLOutside}},
		"identifiable donors": {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) {
			x.Human = requirement.HumanIdentifiable
		}, []approval.Reason{approval.HumanOutside}},
		"donors unknown": {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) {
			x.Human = requirement.HumanUnknown
		}, []approval.Reason{approval.HumanOutside}},
		"another member":      {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) { x.Member = "" }, []approval.Reason{approval.MemberOutside}},
		"another institution": {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) { x.Counterparty = 3 }, []approval.Reason{approval.CounterpartyOutside}},
		"master withdrawn":    {func(_ *approval.Approval, x *approval.Transfer, _ *party.Register) { x.MasterHolds = false }, []approval.Reason{approval.MasterNotInForce}},
		"no master, and none named": {func(a *approval.Approval, x *approval.Transfer, _ *party.Register) {
			a.Counterparties, x.Master = nil, false
		},
			[]approval.Reason{approval.CounterpartyOutside}},
	} {
		a, x := good()
		r := register()
		c.change(&a, &x, &r)
		if got := a.WhyNot(x, r, day); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

func faultsOf(a approval.Approval) exchange.FieldErrors {
	var f exchange.FieldErrors
	a.Faults(&f)
	return f
}

func TestFaults_NameWhatIsWrong(t *testing.T) {
	t.Parallel()
	a, _ := good()
	a.Until = "2027-01-03"
	if f := faultsOf(a); len(f) > 0 {
		t.Errorf("a year: %v", f)
	}
	for _, until := range []exchange.Date{"", "2026-01-02", "2027-01-04", "soon"} {
		a.Until = until
		if len(faultsOf(a)["until"]) == 0 {
			t.Errorf("until %q is accepted", until)
		}
	}
	a.Categories, a.Counterparties = []string{"DRAGON"}, []int64{a.Institution}
	if f := faultsOf(a); len(f["categories"]) != 1 || len(f["counterparties"]) != 1 {
		t.Errorf("found %v", f)
	}
	if f := faultsOf(approval.New(1, officer.User)); len(f) != 5 {
		t.Errorf("found %v", f)
	}
}

func TestSign_IsOnTheVersionThatSomebodySaw(t *testing.T) {
	t.Parallel()
	a, _ := good()
	a.SignedOn, a.Version = "", 3
	by := approval.Signature{Officer: officer.User, Level: party.SignedIn, On: day, Texts: []string{"abc"}}
	if signed, err := a.Sign(3, by); err != nil || signed.SignedOn != day || signed.Version != 3 {
		t.Errorf("%+v, %v", signed, err)
	}
	for name, change := range map[string]func(*approval.Approval){
		"a newer version": func(a *approval.Approval) { a.Version = 4 },
		"signed":          func(a *approval.Approval) { a.SignedOn = day },
		"withdrawn":       func(a *approval.Approval) { a.WithdrawnOn = day },
		"over":            func(a *approval.Approval) { a.Until = day },
	} {
		other := a
		change(&other)
		if _, err := other.Sign(3, by); err == nil {
			t.Errorf("%s: signed", name)
		}
	}
}

func TestCovering_NeedsOneApprovalForEveryTransferOfALetter(t *testing.T) {
	t.Parallel()
	a, x := good()
	wider := a
	wider.ID, wider.Categories = 2, []string{"PLASMID", "CELL_LINE"}
	other := x
	other.Category = "CELL_LINE"
	if got, why, ok := approval.Covering([]approval.Approval{a, wider}, []approval.Transfer{x, other}, register(), day); !ok || got.ID != 2 {
		t.Errorf("approval %d, %v", got.ID, why)
	}
	_, why, ok := approval.Covering([]approval.Approval{{}, a}, []approval.Transfer{x, other}, register(), day)
	if ok || !slices.Equal(why, []approval.Reason{approval.CategoryOutside}) {
		t.Errorf("covered: %t, %v", ok, why)
	}
	for _, transfers := range [][]approval.Transfer{nil, {x}} {
		if _, _, ok := approval.Covering(nil, transfers, register(), day); ok {
			t.Error("covered without an approval")
		}
	}
	if _, _, ok := approval.Covering([]approval.Approval{a}, nil, register(), day); ok {
		t.Error("a letter without a transfer is covered")
	}
}

// TestWhyNot_NeverCoversWhatTheOfficerMayNotSign compares approvals with the register.
func TestWhyNot_NeverCoversWhatTheOfficerMayNotSign(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, x := good()
		r := register()
		days := []exchange.Date{"2025-12-31", "2026-01-02", day, "2026-12-30", "2027-01-01"}
		d := rapid.SampledFrom(days).Draw(t, "day")
		a.Direction = rapid.SampledFrom([]party.Direction{party.Provide, party.Receive}).Draw(t, "direction")
		a.LargestBSL = rapid.IntRange(0, 4).Draw(t, "approved")
		a.Until = rapid.SampledFrom(days).Draw(t, "until")
		own := &r.Authorities[0]
		own.LargestBSL, own.Human = rapid.IntRange(0, 4).Draw(t, "own"), rapid.Bool().Draw(t, "human")
		own.Until = rapid.SampledFrom(days).Draw(t, "own until")
		x.BSL = rapid.SampledFrom([]requirement.BSL{"", "NONE", "1", "2", "3", "4"}).Draw(t, "bsl")
		x.Human = rapid.SampledFrom([]requirement.Human{"", "NO", "ANONYMISED", "IDENTIFIABLE"}).Draw(t, "of")
		if len(a.WhyNot(x, r, d)) > 0 {
			return
		}
		_, refusal := r.Check(officer, party.Act{Direction: a.Direction, Family: x.Family, Category: x.Category,
			Human: x.Human != requirement.NotHuman, BSL: x.BSL.Number()}, d)
		if refusal != "" || x.Human == "" || x.Human == requirement.HumanIdentifiable || x.BSL == "" || d >= a.Until {
			t.Fatalf("%+v covers %+v on %s: %s", a, x, d, refusal)
		}
	})
}
