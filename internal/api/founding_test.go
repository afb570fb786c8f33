package api_test

import (
	"fmt"
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/uuid"
)

// crew are the ids of the members of an organization, and of its owner.
func (s *scene) crew(id int64) (owner string, members []string) {
	s.t.Helper()
	o := s.people["admin"].want(200, "GET", fmt.Sprintf("/organizations/%d", id), nil)
	for _, m := range o.Body["members"].([]any) {
		members = append(members, m.(map[string]any)["id"].(string))
	}
	slices.Sort(members)
	return o.Body["owner"].(map[string]any)["id"].(string), members
}

// asks fails unless an answer has one pending invitation for each of some people, in a role, and returns their ids.
func (s *scene) asks(a answer, role string, people ...*testPerson) (ids []int64) {
	s.t.Helper()
	list, _ := a.Body["invitations"].([]any)
	var want, got []string
	for _, p := range people {
		want = append(want, "id-"+p.name+" "+role+" PENDING")
	}
	for _, i := range list {
		i := i.(map[string]any)
		got = append(got, fmt.Sprint(i["registry_id"], " ", i["role"], " ", i["status"]))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		s.t.Errorf("invitations %v, want %v", got, want)
	}
	return idsOf(list)
}

func (s *scene) consists(when string, organization int64, owner *testPerson, members ...*testPerson) {
	s.t.Helper()
	want := []string{}
	for _, m := range members {
		want = append(want, m.ID.String())
	}
	slices.Sort(want)
	if o, got := s.crew(organization); o != owner.ID.String() || !slices.Equal(got, want) {
		s.t.Errorf("%s: owner %s, members %v, want %s, %v", when, o, got, owner.ID, want)
	}
}

func TestCreateOrganization_OthersAreMembersOnlyOnceTheyAccept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		founder, victim, admin := s.people["stranger"], s.requester(), s.people["admin"]
		s.unchanged("a lab of another owner", func() {
			a := founder.refused(403, "FIELD_FORBIDDEN", "POST", "/organizations",
				obj{"owner": victim.ID, "members": []any{founder.ID}})
			if a.Body["field"] != "owner" {
				t.Errorf("the field is %v", a.Body["field"])
			}
		})
		made := founder.want(201, "POST", "/organizations",
			obj{"name": "Sample Cell Bank", "members": []any{victim.ID, founder.ID, s.member.ID}})
		invitations := s.asks(made, "MEMBER", victim, s.member)
		s.consists("founded", made.id(), founder, founder)
		if len(victim.news()) != 1 {
			t.Errorf("who is invited is told %v", victim.news())
		}
		path := fmt.Sprintf("/organizations/%d", made.id())
		again := founder.want(200, "PATCH", path, obj{"members": []any{victim.ID}})
		if got := s.asks(again, "MEMBER", victim); !slices.Contains(invitations, got[0]) || len(victim.news()) != 1 {
			t.Errorf("named once more: invitation %v, told %v", got, victim.news())
		}
		victim.want(200, "POST",
			fmt.Sprintf("/users/%s/invitations/%d/accept", victim.ID, s.asks(again, "MEMBER", victim)[0]), nil)
		s.consists("accepted", made.id(), founder, founder, victim)

		named := admin.want(201, "POST", "/organizations",
			obj{"name": "For another", "owner": victim.ID, "members": []any{founder.ID, admin.ID}})
		s.asks(named, "MEMBER", founder)
		s.consists("founded by an admin", named.id(), victim, victim, admin)
		if got := s.audits(fmt.Sprintf("organization %d", named.id())); !slices.Contains(got,
			"admin:admin organization.create") {
			t.Errorf("the audit has %v", got)
		}
	})
}

func TestSetMembers_RemovesAtOnceAndInvitesTheOthers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		stranger, path := s.people["stranger"], fmt.Sprintf("/organizations/%d", s.id)
		before := s.owner.want(200, "GET", path, nil).Body
		for _, by := range []*testPerson{s.owner, s.people["admin"]} {
			s.asks(by.want(200, "PATCH", path, obj{"members": []any{s.member.ID, stranger.ID}}), "MEMBER", stranger)
			s.consists("one out, one invited", s.id, s.owner, s.owner, s.member)
			stranger.refused(403, "FORBIDDEN", "GET", path+"/grants", nil)
			s.assignee.refused(403, "FORBIDDEN", "GET", path+"/grants", nil)
			// An old state that is put back adds nobody either.
			s.asks(by.want(200, "PUT", path, before), "MEMBER", s.assignee)
			s.consists("an old state put back", s.id, s.owner, s.owner, s.member)
			s.join(s.id, s.assignee)
		}
		old := s.owner.want(200, "GET", path+"/history", nil).List
		s.owner.want(200, "PATCH", path, obj{"members": []any{}})
		s.owner.want(200, "PUT", path, old[len(old)-1].(map[string]any)["state"].(map[string]any))
		s.consists("a version put back", s.id, s.owner, s.owner)

		guest := s.people["admin"]
		s.asks(guest.want(200, "PATCH", path, obj{"members": []any{guest.ID, s.owner.ID}}), "MEMBER")
		s.consists("an admin who joins themselves", s.id, s.owner, s.owner, guest)
	})
}

func TestCreateOrganization_AnotherOwnerMustAccept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/organizations/%d", s.id)
		for _, next := range []*testPerson{s.member, s.people["stranger"]} {
			a := s.owner.want(200, "PATCH", path, obj{"owner": next.ID})
			id := s.asks(a, "OWNER", next)[0]
			s.consists("named as owner", s.id, s.owner, s.owner, s.member, s.assignee)
			if next == s.member {
				s.owner.want(204, "DELETE", fmt.Sprintf("%s/invitations/%d", path, id), nil)
				continue
			}
			s.asks(s.owner.want(200, "PATCH", path,
				obj{"owner": next.ID, "members": []any{s.member.ID, s.assignee.ID, next.ID}}), "OWNER", next)
			next.want(200, "POST", fmt.Sprintf("/users/%s/invitations/%d/accept", next.ID, id), nil)
			s.consists("accepted", s.id, next, next, s.owner, s.member, s.assignee)
		}
		s.owner.refused(403, "FORBIDDEN", "PATCH", path, obj{"owner": s.owner.ID})
		s.asks(s.people["admin"].want(200, "PATCH", path, obj{"owner": s.member.ID}), "MEMBER") // its owner may be gone
		s.consists("an admin gives it to a member", s.id, s.member, s.people["stranger"], s.owner, s.member, s.assignee)
	})
}

// TestCreateOrganization_InvitesWithinTheLimitsOfInvitations: it goes the way of invitations, with their limits.
func TestCreateOrganization_InvitesWithinTheLimitsOfInvitations(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		founder := s.people["stranger"]
		var many []any
		for i := range lab.MaxInvited {
			many = append(many, s.person(fmt.Sprint("crowd", i)).ID)
		}
		s.unchanged("more than can be invited at once", func() {
			a := founder.refused(400, "INVALID_INPUT", "POST", "/organizations",
				obj{"members": append(slices.Clone(many), s.member.ID)})
			if a.Body["fields"].(map[string]any)["members"] == nil {
				t.Errorf("the fault is of %v", a.Body["fields"])
			}
			founder.refused(400, "INVALID_INPUT", "POST", "/organizations", obj{"members": []any{uuid.New()}})
		})
		founder.want(201, "POST", "/organizations", obj{"members": many[1:]})
		last := founder.want(201, "POST", "/organizations", obj{"members": many[:1]}).id()
		s.unchanged("one more that day", func() {
			founder.refused(429, "RATE_LIMITED", "POST", "/organizations", obj{"members": many[:1]})
			founder.refused(429, "RATE_LIMITED", "PATCH", fmt.Sprintf("/organizations/%d", last),
				obj{"members": many[:2]})
		})
	})
}
