package lab_test

import (
	"reflect"
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/lab"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestOrganization_NeedsOwnerAndMembers(t *testing.T) {
	t.Parallel()
	_, _, err := exchangetest.Body[lab.OrganizationPatch](t, `{}`).Create(uuid.Nil)
	exchangetest.WantFieldErrors(t, err, "owner", "members")
	o, members, err := exchangetest.Body[lab.OrganizationPatch](t, `{"owner": "`+exchangetest.OwnerID.String()+
		`", "members": []}`).Create(uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "the organization", o,
		lab.Organization{Owner: exchangetest.OwnerID, Targets: lab.Targets{Decide: 7, Countersign: 14, Ship: 14}})
	exchangetest.Same(t, "its members", members, []uuid.UUID{exchangetest.OwnerID})
}

func TestOrganization_NamesEveryWrongField(t *testing.T) {
	t.Parallel()
	p := exchangetest.Body[lab.OrganizationPatch](t,
		`{"name": "a\nb", "description": "\u0000", "decide_days": 0, "countersign_days": 366, "ship_days": -1}`)
	_, _, err := p.Create(uuid.Nil)
	exchangetest.WantFieldErrors(t, err, "owner", "members", "name", "description", "decide_days", "countersign_days",
		"ship_days")
	_, _, err = p.Patch(lab.Organization{Name: "Mora lab"}, nil)
	exchangetest.WantFieldErrors(t, err, "name", "description", "decide_days", "countersign_days", "ship_days")
}

func TestOrganization_NameCannotBeEmptied(t *testing.T) {
	t.Parallel()
	old := lab.Organization{Name: "Mora lab", Owner: exchangetest.OwnerID}
	_, _, err := exchangetest.Body[lab.OrganizationPatch](t, `{"name": " "}`).Patch(old, nil)
	exchangetest.WantFieldErrors(t, err, "name")
	if o, _, err := exchangetest.Body[lab.OrganizationPatch](t, `{"id": 9}`).Patch(old, nil); err != nil ||
		!reflect.DeepEqual(o, old) {
		t.Errorf("left out: got %+v, %v, want %+v", o, err, old)
	}
}

func TestTargets_AreOneDayToOneYear(t *testing.T) {
	t.Parallel()
	o, _, err := exchangetest.Body[lab.OrganizationPatch](t,
		`{"decide_days": 1, "ship_days": 365}`).Patch(lab.Organization{Targets: lab.DefaultTargets}, nil)
	if want := (lab.Targets{Decide: 1, Countersign: 14, Ship: 365}); err != nil || o.Targets != want {
		t.Errorf("got %+v, %v, want %+v", o.Targets, err, want)
	}
}

func TestOrganization_MemberListHasALimit(t *testing.T) {
	t.Parallel()
	p := lab.OrganizationPatch{Members: exchange.Some(make([]exchange.UserRef, 10_001))}
	_, _, err := p.Patch(lab.Organization{Name: "Mora lab", Owner: exchangetest.OwnerID}, nil)
	exchangetest.WantFieldErrors(t, err, "members")
}

// The owner is always a member, nobody is a member twice, and the lists passed in are not changed: the caller compares
// them with the new one to see who left.
func TestOrganization_OwnerIsAlwaysAMember(t *testing.T) {
	t.Parallel()
	people := []uuid.UUID{exchangetest.RequesterID, exchangetest.MemberID, exchangetest.OwnerID, exchangetest.AdminID,
		exchangetest.StrangerID}
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(rapid.SampledFrom(people), 0, 6).Draw(t, "present members")
		present := append(make([]uuid.UUID, 0, len(drawn)+rapid.IntRange(0, 3).Draw(t, "room")), drawn...)
		p := lab.OrganizationPatch{}
		want, owner := slices.Clone(present), rapid.SampledFrom(people).Draw(t, "owner")
		if rapid.Bool().Draw(t, "members sent") {
			want = rapid.SliceOfN(rapid.SampledFrom(people), 0, 6).Draw(t, "members")
			p.Members.Set = true
			for _, id := range want {
				p.Members.Value = append(p.Members.Value, exchange.UserRef(id))
			}
		}
		o := lab.Organization{Name: "Mora lab", Owner: owner}
		if rapid.Bool().Draw(t, "owner sent") {
			owner = rapid.SampledFrom(people).Draw(t, "new owner")
			p.Owner = exchange.Some(exchange.UserRef(owner))
		}
		o, got, err := p.Patch(o, present)
		if err != nil || o.Owner != owner || !slices.Contains(got, owner) {
			t.Fatalf("got owner %s, members %v, %v, want the owner %s among them", o.Owner, got, err, owner)
		}
		for _, id := range people {
			n := 0
			for _, m := range got {
				if m == id {
					n++
				}
			}
			if n > 1 || (n == 1) != (id == owner || slices.Contains(want, id)) {
				t.Fatalf("got %s %d times among %v, want %v and the owner", id, n, got, want)
			}
		}
		if diff := cmp.Diff(drawn, present); diff != "" {
			t.Fatalf("the present members were changed in place (-before +after):\n%s", diff)
		}
	})
}
