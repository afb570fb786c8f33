package api_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// joins is the address of the join requests of the lab.
func (s *scene) joins(rest string) string {
	return fmt.Sprintf("/organizations/%d/join-requests%s", s.id, rest)
}

// news are the kinds of news that a person received, the newest first.
func (p *testPerson) news() (kinds []string) {
	p.w.t.Helper()
	for _, n := range p.want(200, "GET", fmt.Sprintf("/users/%s/notifications?limit=200", p.ID), nil).List {
		if n := n.(map[string]any); n["category"] == "membership" || n["category"] == "inquiry" {
			kinds = append(kinds, n["kind"].(string))
		}
	}
	return kinds
}

func (p *testPerson) told(kinds ...string) {
	p.w.t.Helper()
	if got := p.news(); !slices.Equal(got, kinds) {
		p.w.t.Errorf("%s was told %v, want %v", p.name, got, kinds)
	}
}

func TestJoinRequest_MakesAMemberOnceTheOwnerAccepts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		guest := s.people["stranger"]
		asked := guest.want(201, "POST", s.joins("/"), obj{"note": "I start in May"})
		if asked.at("status") != "PENDING" || asked.at("note") != "I start in May" ||
			asked.at("user.id") != guest.ID.String() || asked.at("name") != "Epithelial Biology" {
			t.Errorf("a join request: %s", asked.Raw)
		}
		s.unchanged("asking again", func() {
			if again := guest.want(200, "POST", s.joins(""), obj{"note": "Hello?"}); again.id() != asked.id() {
				t.Errorf("asked again: %s", again.Raw)
			}
		})
		s.owner.told("join_asked")
		n := s.owner.want(200, "GET", fmt.Sprintf("/users/%s/notifications?limit=1", s.owner.ID),
			nil).List[0].(map[string]any)
		if n["text"] != "stranger Test asked to join Epithelial Biology." || n["request"] != nil ||
			n["material"] != nil || n["event"] != nil || n["invitation"] != nil ||
			n["organization"] != float64(s.id) || n["join_request"] != float64(asked.id()) ||
			n["actor"].(map[string]any)["id"] != guest.ID.String() {
			t.Errorf("told %v", n)
		}
		accept := s.joins(fmt.Sprintf("/%d/accept", asked.id()))
		versions := len(s.owner.want(200, "GET", fmt.Sprintf("/organizations/%d/history", s.id), nil).List)
		s.owner.want(200, "POST", accept, nil)
		s.unchanged("accepting again", func() {
			if a := s.owner.want(200, "POST", accept, nil); a.at("status") != "ACCEPTED" || a.at("answered_at") == nil {
				t.Errorf("accepted: %s", a.Raw)
			}
		})
		if !s.isMember(guest) ||
			len(s.owner.want(200, "GET", fmt.Sprintf("/organizations/%d/history", s.id), nil).List) != versions+1 {
			t.Error("no member, or no version of the lab")
		}
		guest.told("join_accepted")
		guest.refused(409, "CONFLICT", "POST", s.joins(""), nil)
		s.owner.refused(409, "CONFLICT", "POST", s.joins(fmt.Sprintf("/%d/decline", asked.id())), nil)
		guest.refused(409, "CONFLICT", "DELETE", s.joins(fmt.Sprint("/", asked.id())), nil)
	})
}

func TestJoinRequest_CanBeMadeAgainADayLater(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		guest := s.people["stranger"]
		first := guest.want(201, "POST", s.joins(""), nil).id()
		declined := s.owner.want(200, "POST", s.joins(fmt.Sprintf("/%d/decline", first)),
			obj{"reason": "No bench is free"})
		if declined.at("status") != "DECLINED" || declined.at("reason") != "No bench is free" || s.isMember(guest) {
			t.Errorf("declined: %s", declined.Raw)
		}
		guest.told("join_declined")
		s.unchanged("asking again at once", func() {
			a := guest.refused(429, "RATE_LIMITED", "POST", s.joins(""), nil)
			if seconds, _ := a.Body["retry_after"].(float64); seconds < 86_000 || seconds > 86_400 ||
				a.Header.Get("Retry-After") != fmt.Sprint(seconds) {
				t.Errorf("Retry-After %q: %s", a.Header.Get("Retry-After"), a.Raw)
			}
		})
		s.past("join_requests", first, 25*time.Hour, "created_at")
		second := guest.want(201, "POST", s.joins(""), nil).id()
		for range 2 { // the same again is no change
			guest.want(204, "DELETE", s.joins(fmt.Sprint("/", second)), nil)
		}
		guest.refused(429, "RATE_LIMITED", "POST", s.joins(""), nil)
		s.owner.refused(409, "CONFLICT", "POST", s.joins(fmt.Sprintf("/%d/accept", second)), nil)
		s.owner.told("join_asked", "join_asked")
		guest.told("join_declined")
		mine := guest.want(200, "GET", fmt.Sprintf("/users/%s/join-requests", guest.ID), nil).List
		if got := idsOf(mine); !slices.Equal(got, []int64{second, first}) {
			t.Errorf("own join requests: %v", mine)
		}
		for status, want := range map[string][]int64{"WITHDRAWN": {second}, "DECLINED": {first}, "PENDING": {}} {
			if got := idsOf(s.owner.want(200, "GET", s.joins("?status="+status), nil).List); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", status, got, want)
			}
		}
		other := fmt.Sprintf("/organizations/%d/join-requests/%d", s.owner.Lab, first)
		s.owner.refused(404, "NOT_FOUND", "POST", other+"/accept", nil)
	})
}

func TestJoinRequest_OnePersonAsksAtMostTwentyLabs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		guest, first := s.people["stranger"], ""
		for i := range lab.MaxJoins {
			path := fmt.Sprintf("/organizations/%d/join-requests", s.person(fmt.Sprint("owner", i)).Lab)
			id := guest.want(201, "POST", path, nil).id()
			if first == "" {
				first = fmt.Sprint(path, "/", id)
			}
		}
		s.unchanged("one too many", func() { guest.refused(409, "CONFLICT", "POST", s.joins(""), nil) })
		guest.want(204, "DELETE", first, nil)
		guest.want(201, "POST", s.joins(""), nil)
	})
}

func TestJoinRequest_EndsWithTheInvitationOfTheSamePerson(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		stranger, guest, added := s.people["stranger"], s.requester(), s.person("added")
		join := func(p *testPerson) int64 { return p.want(201, "POST", s.joins(""), nil).id() }
		state := func(path string, id int64) string {
			for _, status := range []string{"PENDING", "ACCEPTED", "WITHDRAWN"} {
				if slices.Contains(idsOf(s.owner.want(200, "GET", path+"?status="+status, nil).List), id) {
					return status
				}
			}
			return ""
		}
		invitations := fmt.Sprintf("/organizations/%d/invitations", s.id)

		asked, invited := join(stranger), s.newInvitation("id-stranger")
		if s.isMember(stranger) {
			t.Error("an invitation takes in who asked")
		}
		s.owner.want(200, "POST", s.joins(fmt.Sprintf("/%d/accept", asked)), nil)
		if got := state(invitations, invited); got != "WITHDRAWN" {
			t.Errorf("the invitation is %s", got)
		}

		invited, asked = s.newInvitation("id-requester"), join(guest)
		guest.want(200, "POST", fmt.Sprintf("%s/%d/accept", s.user("/invitations"), invited), nil)
		if got := state(s.joins(""), asked); got != "ACCEPTED" {
			t.Errorf("the join request is %s", got)
		}

		asked = join(added)
		members := []any{added.ID}
		for _, m := range s.owner.want(200, "GET", fmt.Sprintf("/organizations/%d/members", s.id), nil).List {
			members = append(members, m.(map[string]any)["id"])
		}
		invited = idsOf(s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id),
			obj{"members": members}).Body["invitations"].([]any))[0]
		if s.isMember(added) {
			t.Error("somebody is a member whom the owner added")
		}
		added.want(200, "POST", fmt.Sprintf("/users/%s/invitations/%d/accept", added.ID, invited), nil)
		if i, j := state(invitations, invited), state(s.joins(""), asked); i != "ACCEPTED" || j != "ACCEPTED" {
			t.Errorf("of one whom the owner added: the invitation is %s, the join request %s", i, j)
		}
	})
}

// TestJoinRequest_OneOfTwoAnswersAtOnceHolds holds for the owner's own and for that of the person.
func TestJoinRequest_OneOfTwoAnswersAtOnceHolds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for round := range 3 {
			guest := s.person(fmt.Sprint("joiner", round))
			asked := guest.want(201, "POST", s.joins(""), nil).id()
			answers := atOnce(func(i int) answer {
				return s.owner.call("POST", s.joins(fmt.Sprintf("/%d/%s", asked, []string{"accept", "decline"}[i%2])),
					nil)
			})
			given := map[string]int{}
			for _, a := range answers {
				switch {
				case a.Status == 200:
					given[a.at("status").(string)]++
				case a.Status != 409 || a.Body["error_code"] != "CONFLICT":
					t.Errorf("%d %s", a.Status, a.Raw)
				}
			}
			if given["ACCEPTED"]+given["DECLINED"] != 5 || len(given) != 1 ||
				s.isMember(guest) != (given["ACCEPTED"] == 5) || len(guest.news()) != 1 {
				t.Errorf("answers %v, member %v, told %v", given, s.isMember(guest), guest.news())
			}
		}
	})
}

func TestJoinRequest_TenAtOnceAreOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		before := s.rows()
		for i, a := range atOnce(func(int) answer { return s.people["stranger"].call("POST", s.joins(""), nil) }) {
			if a.Status != 200 && a.Status != 201 {
				t.Errorf("call %d: %d %s", i, a.Status, a.Raw)
			}
		}
		if diff := grew(before, s.rows()); diff != "join_requests+1 news+1 notifications+1 audit_events+1 jobs+1" {
			t.Errorf("changed %s", diff)
		}
	})
}
