package exchange_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestANewOrganizationNeedsOwnerAndMembers(t *testing.T) {
	t.Parallel()
	_, _, err := body[exchange.OrganizationPatch](t, `{}`).Create(uuid.Nil)
	wantFaults(t, err, "owner", "members")
	o, members, err := body[exchange.OrganizationPatch](t, `{"owner": "`+ownerID.String()+
		`", "members": []}`).Create(uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the organization", o,
		exchange.Organization{Owner: ownerID, Targets: exchange.Targets{Decide: 7, Countersign: 14, Ship: 14}})
	same(t, "its members", members, []uuid.UUID{ownerID})
}

func TestEveryWrongFieldOfAnOrganizationIsNamedInOneAnswer(t *testing.T) {
	t.Parallel()
	p := body[exchange.OrganizationPatch](t,
		`{"name": "a\nb", "description": "\u0000", "decide_days": 0, "countersign_days": 366, "ship_days": -1}`)
	_, _, err := p.Create(uuid.Nil)
	wantFaults(t, err, "owner", "members", "name", "description", "decide_days", "countersign_days", "ship_days")
	_, _, err = p.Patch(exchange.Organization{Name: "Mora lab"}, nil)
	wantFaults(t, err, "name", "description", "decide_days", "countersign_days", "ship_days")
}

func TestTheNameOfAnOrganizationCannotBeEmptied(t *testing.T) {
	t.Parallel()
	old := exchange.Organization{Name: "Mora lab", Owner: ownerID}
	_, _, err := body[exchange.OrganizationPatch](t, `{"name": " "}`).Patch(old, nil)
	wantFaults(t, err, "name")
	if o, _, err := body[exchange.OrganizationPatch](t, `{"id": 9}`).Patch(old, nil); err != nil ||
		!reflect.DeepEqual(o, old) {
		t.Errorf("left out: got %+v, %v, want %+v", o, err, old)
	}
}

func TestTargetsAreOneDayToOneYear(t *testing.T) {
	t.Parallel()
	o, _, err := body[exchange.OrganizationPatch](t,
		`{"decide_days": 1, "ship_days": 365}`).Patch(exchange.Organization{Targets: exchange.DefaultTargets}, nil)
	if want := (exchange.Targets{Decide: 1, Countersign: 14, Ship: 365}); err != nil || o.Targets != want {
		t.Errorf("got %+v, %v, want %+v", o.Targets, err, want)
	}
}

func TestAListOfMembersHasALimit(t *testing.T) {
	t.Parallel()
	p := exchange.OrganizationPatch{Members: exchange.Some(make([]exchange.UserRef, 10_001))}
	_, _, err := p.Patch(exchange.Organization{Name: "Mora lab", Owner: ownerID}, nil)
	wantFaults(t, err, "members")
}

// The owner is always a member, nobody is a member twice, and the lists passed in are not changed: the caller compares
// them with the new one to see who left.
func TestTheOwnerIsAlwaysAMember(t *testing.T) {
	t.Parallel()
	people := []uuid.UUID{requesterID, memberID, ownerID, adminID, strangerID}
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(rapid.SampledFrom(people), 0, 6).Draw(t, "present members")
		present := append(make([]uuid.UUID, 0, len(drawn)+rapid.IntRange(0, 3).Draw(t, "room")), drawn...)
		p := exchange.OrganizationPatch{}
		want, owner := slices.Clone(present), rapid.SampledFrom(people).Draw(t, "owner")
		if rapid.Bool().Draw(t, "members sent") {
			want = rapid.SliceOfN(rapid.SampledFrom(people), 0, 6).Draw(t, "members")
			p.Members.Set = true
			for _, id := range want {
				p.Members.Value = append(p.Members.Value, exchange.UserRef(id))
			}
		}
		o := exchange.Organization{Name: "Mora lab", Owner: owner}
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

func TestAUserIsCalledByNameElseByUsername(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]exchange.User{
		"Ada Mora": {FirstName: "Ada", LastName: "Mora", Username: "0000-0002-1825-0097"},
		"Mora":     {LastName: "Mora", Username: "x"},
		"x":        {Username: "x"},
	} {
		if got := u.Name(); got != want {
			t.Errorf("%+v: got %q, want %q", u, got, want)
		}
	}
}

func TestAUserMayChangeNameAndEmail(t *testing.T) {
	t.Parallel()
	old := exchange.User{ID: ownerID, Username: "x", FirstName: "Ada", LastName: "Mora",
		Email: "not checked when it came", RegistryID: "0000-0002-1825-0097"}
	u, err := body[exchange.UserPatch](t,
		`{"username": "y", "registry_id": "z", "email": "not checked when it came"}`).Patch(old)
	if err != nil || u != old {
		t.Errorf("got %+v, %v, want %+v", u, err, old)
	}
	u, err = body[exchange.UserPatch](t,
		`{"first_name": "", "last_name": " Moré ", "email": " ada@example.org "}`).Patch(old)
	if err != nil || u.FirstName != "" || u.LastName != "Moré" || u.Email != "ada@example.org" {
		t.Errorf("got %+v, %v", u, err)
	}
	if u, err = body[exchange.UserPatch](t, `{"email": ""}`).Patch(old); err != nil || u.Email != "" {
		t.Errorf("got e-mail %q, %v, want none", u.Email, err)
	}
}

func TestEveryWrongFieldOfAUserIsNamedInOneAnswer(t *testing.T) {
	t.Parallel()
	for _, email := range []string{"ada", "ada@", "Ada <ada@example.org>", "ada@example.org, eve@example.org",
		"a b@example.org"} {
		_, err := body[exchange.UserPatch](t, `{"first_name": "a\nb", "last_name": "`+strings.Repeat("x", 256)+
			`", "email": "`+email+`"}`).Patch(exchange.User{})
		wantFaults(t, err, "first_name", "last_name", "email")
	}
}
