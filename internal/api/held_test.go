package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// invites is the address of the invitations of the lab.
func (s *scene) invites(rest string) string {
	return fmt.Sprintf("/organizations/%d/invitations%s", s.id, rest)
}

func (s *scene) invite(body obj) int64 {
	s.t.Helper()
	return s.owner.want(201, "POST", s.invites(""), body).id()
}

func TestInvitation_AsOwnerReplacesTheOwner(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		lab := fmt.Sprintf("/organizations/%d", s.id)
		s.owner.refused(409, "CONFLICT", "POST", s.invites(""), obj{"registry_id": "id-member"}) // is one already
		id := s.invite(obj{"registry_id": "id-member", "role": "OWNER"})
		rival := s.invite(obj{"email": "rival@example.org", "role": "OWNER"})
		// as another than they are asked as
		s.owner.refused(409, "CONFLICT", "POST", s.invites(""), obj{"email": "rival@example.org"})
		s.member.told("invited")
		if a := s.member.want(200, "POST", fmt.Sprintf("/users/%s/invitations/%d/accept", s.member.ID, id),
			nil); a.at("role") != "OWNER" {
			t.Errorf("accepted: %s", a.Raw)
		}
		if a := s.anonymous().want(200, "GET", lab, nil); a.at("owner.id") != s.member.ID.String() ||
			!s.isMember(s.owner) {
			t.Errorf("the lab: %s", a.Raw)
		}
		s.owner.told("invitation_accepted")
		s.owner.refused(403, "FORBIDDEN", "POST", s.invites(""), obj{"registry_id": "x"})
		if got := idsOf(s.member.want(200, "GET", s.invites("?status=WITHDRAWN&role=OWNER"),
			nil).List); !slices.Equal(got, []int64{rival}) {
			t.Errorf("withdrawn: %v, want what asked for another owner", got)
		}
		versions := s.member.want(200, "GET", lab+"/history?limit=1", nil).List
		if v := versions[0].(map[string]any); v["action"] != "invitation.answer" {
			t.Errorf("the last version: %v", v)
		}
		// Another owner by an admin's PATCH ends them too.
		again := s.member.want(201, "POST", s.invites(""), obj{"email": "rival2@example.org", "role": "OWNER"}).id()
		s.people["admin"].want(200, "PATCH", lab, obj{"owner": s.owner.ID})
		s.people["stranger"].refused(400, "INVALID_INPUT", "POST", "/invitations/accept", obj{"token": s.token(again)})
	})
}

func TestInvitation_ExpiresWhenItsOwnerSays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		now := time.Now().UTC()
		at := func(d time.Duration) string { return now.Add(d).Format(exchange.TimeLayout) }
		s.unchanged("wrong ends", func() {
			for _, end := range []string{at(-time.Minute), at(91 * 24 * time.Hour), "1970-01-01T00:00:00Z",
				"9999-12-31T23:59:59Z"} {
				a := s.owner.refused(400, "INVALID_INPUT", "POST", s.invites(""), obj{"email": "x", "expires_at": end})
				if fields := a.Body["fields"].(map[string]any); len(fields) != 2 || fields["expires_at"] == nil {
					t.Errorf("%s: %s", end, a.Raw)
				}
			}
		})
		end := at(89 * 24 * time.Hour)
		a := s.owner.want(201, "POST", s.invites(""), obj{"registry_id": "id-requester", "expires_at": end})
		if a.at("expires_at") != end {
			t.Errorf("expires_at %v, want %s", a.at("expires_at"), end)
		}
	})
}

func TestInvitation_SentAgainExpiresLater(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		guest := s.requester()
		id := s.newInvitation("id-requester")
		resend := s.invites(fmt.Sprintf("/%d/resend", id))
		s.unchanged("at once", func() {
			a := s.owner.refused(429, "RATE_LIMITED", "POST", resend, nil)
			if seconds, _ := a.Body["retry_after"].(float64); seconds < 590 || seconds > 600 ||
				a.Header.Get("Retry-After") != fmt.Sprint(seconds) {
				t.Errorf("%s", a.Raw)
			}
		})
		s.past("invitations", id, 31*24*time.Hour, "sent_at", "created_at", "expires_at")
		for status, want := range map[string]int{"": 0, "?status=PENDING": 0, "?status=EXPIRED": 1,
			"?status=EXPIRED&role=OWNER": 0} {
			if list := s.owner.want(200, "GET", s.invites(status), nil).List; len(list) != want || want == 1 &&
				list[0].(map[string]any)["status"] != "EXPIRED" {
				t.Errorf("%s: %v, want %d", status, list, want)
			}
		}
		token := s.token(id)
		if a := s.anonymous().want(200, "GET", "/invitations?token="+token, nil); a.at("status") != "EXPIRED" {
			t.Errorf("%s", a.Raw)
		}
		guest.refused(409, "CONFLICT", "POST", "/invitations/accept", obj{"token": token})
		a := s.owner.want(200, "POST", resend, nil)
		end, err := time.Parse(exchange.TimeLayout, a.at("expires_at").(string))
		if left := time.Until(end); err != nil || a.at("status") != "PENDING" || left < 29*24*time.Hour ||
			left > 30*24*time.Hour {
			t.Errorf("sent again: %s", a.Raw)
		}
		guest.told("invited", "invited")
		guest.want(200, "POST", "/invitations/accept", obj{"token": token}) // the first mail opens it too
		s.owner.refused(409, "CONFLICT", "POST", resend, nil)
		s.owner.refused(404, "NOT_FOUND", "POST",
			fmt.Sprintf("/organizations/%d/invitations/%d/resend", s.owner.Lab, id), nil)
	})
}

func TestInvitation_OneAddressIsNotMailedRepeatedly(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		id := s.invite(obj{"email": "ada@example.org"})
		s.owner.want(204, "DELETE", s.invites(fmt.Sprint("/", id)), nil)
		s.owner.refused(429, "RATE_LIMITED", "POST", s.invites(""), obj{"email": "Ada@example.org"})
		s.past("invitations", id, time.Hour, "sent_at")
		s.invite(obj{"email": "ada@example.org"})
		for i := range lab.MaxInvited - 2 {
			s.invite(obj{"registry_id": fmt.Sprint("id-", i)})
		}
		s.unchanged("one too many",
			func() { s.owner.refused(429, "RATE_LIMITED", "POST", s.invites(""), obj{"registry_id": "id-more"}) })
	})
}

func TestInvitation_TokenOfItsMailOpensNothingElse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		guest, other := s.requester(), s.people["stranger"]
		id := s.invite(obj{"email": "ada@example.org"})
		token := s.token(id)
		a := s.anonymous().want(200, "GET", "/invitations?token="+url.QueryEscape(token), nil)
		if a.at("name") != "Epithelial Biology" || a.at("inviter") != "owner Test" || a.at("role") != "MEMBER" ||
			a.at("status") != "PENDING" {
			t.Errorf("held: %s", a.Raw)
		}
		wrong := []string{"x", token + "A", token[1:], s.token(s.newInvitation("id-guest"))[:20],
			strings.Repeat("x", 999)}
		s.unchanged("wrong tokens", func() {
			for _, token := range wrong {
				s.anonymous().refused(404, "NOT_FOUND", "GET", "/invitations?token="+token, nil)
				guest.refused(400, "INVALID_INPUT", "POST", "/invitations/accept", obj{"token": token})
				guest.refused(400, "INVALID_INPUT", "POST", "/invitations/decline", obj{"token": token})
			}
			s.anonymous().refused(400, "INVALID_INPUT", "GET", "/invitations", nil)
			s.anonymous().refused(400, "INVALID_INPUT", "GET", "/invitations?token=", nil)
			guest.refused(400, "INVALID_INPUT", "POST", "/invitations/accept", obj{})
			s.anonymous().refused(401, "NOT_AUTHENTICATED", "POST", "/invitations/accept", obj{"token": token})
		})
		guest.want(200, "POST", "/invitations/accept", obj{"token": token})
		s.unchanged("again", func() {
			guest.want(200, "POST", "/invitations/accept", obj{"token": token})
			guest.refused(409, "CONFLICT", "POST", "/invitations/decline", obj{"token": token})
			other.refused(409, "CONFLICT", "POST", "/invitations/accept", obj{"token": token})
		})
		if !s.isMember(guest) || s.isMember(other) {
			t.Error("who accepted is the member")
		}
		s.owner.told("invitation_accepted")
		named := s.token(s.newInvitation("id-named"))
		s.unchanged("the invitation of another", func() {
			other.refused(403, "FORBIDDEN", "POST", "/invitations/accept", obj{"token": named})
		})
		declined := s.token(s.invite(obj{"email": "bob@example.org"}))
		other.want(200, "POST", "/invitations/decline", obj{"token": declined})
		s.owner.told("invitation_declined", "invitation_accepted")
		gone := s.invite(obj{"email": "eve@example.org"})
		token = s.token(gone)
		s.owner.want(204, "DELETE", s.invites(fmt.Sprint("/", gone)), nil)
		s.anonymous().refused(404, "NOT_FOUND", "GET", "/invitations?token="+token, nil)
		other.refused(400, "INVALID_INPUT", "POST", "/invitations/accept", obj{"token": token})
		if s.isMember(other) {
			t.Error("a member by an invitation that was declined or withdrawn")
		}
	})
}

// TestInvitation_IsAcceptedWithTheFirstOrALaterSignIn or the sign-in fails and does nothing.
func TestInvitation_IsAcceptedWithTheFirstOrALaterSignIn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		members := func() int {
			return len(s.anonymous().want(200, "GET", fmt.Sprintf("/organizations/%d/members", s.id), nil).List)
		}
		sign := func(path string, n int, token string) answer {
			return s.anonymous().call("POST", path,
				obj{"code": demo(t).code(t, n), "origin_url": origin, "invitation": token})
		}
		invite := func(n int) string { return s.token(s.invite(obj{"email": fmt.Sprintf("ada%d@example.org", n)})) }
		before := members()
		first := invite(1)
		if a := sign("/users", 1, first); a.Status != 201 || members() != before+1 {
			t.Errorf("registered with an invitation: %d %s", a.Status, a.Raw)
		}
		if a := sign("/login", 1, first); a.Status != 200 { // the link once more
			t.Errorf("again: %d %s", a.Status, a.Raw)
		}
		if a := sign("/login", 2, invite(2)); a.Status != 200 || members() != before+2 {
			t.Errorf("a first login with an invitation: %d %s", a.Status, a.Raw)
		}
		if a := sign("/users", 4, s.token(s.newInvitation(orcid(4)))); a.Status != 201 || members() != before+3 {
			t.Errorf("an invitation by registry id: %d %s", a.Status, a.Raw)
		}
		expired := s.invite(obj{"email": "late@example.org"})
		s.past("invitations", expired, 31*24*time.Hour, "sent_at", "expires_at")
		for name, token := range map[string]string{"expired": s.token(expired),
			"another's": s.token(s.newInvitation("id-other")), "taken": first, "wrong": "x", "empty": ""} {
			s.unchanged(name, func() {
				a := sign("/users", 3, token)
				if fields, _ := a.Body["fields"].(map[string]any); a.Status != 400 || len(fields) != 1 ||
					fields["invitation"] == nil {
					t.Errorf("%s: %d %s", name, a.Status, a.Raw)
				}
			})
		}
		code := demo(t).code(t, 3) // is not used up by an invitation that cannot be accepted
		body := obj{"code": code, "origin_url": origin, "invitation": s.token(expired)}
		s.anonymous().refused(400, "INVALID_INPUT", "POST", "/users", body)
		s.anonymous().want(201, "POST", "/users", obj{"code": code, "origin_url": origin})
	})
}

func TestInvitation_DoesNotOpenAClosedRegistration(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		token := s.held()
		closed := loginWorld(t, db, func(c *app.Config) { c.Registration = []string{"closed"} })
		s.unchanged("a sign-in", func() {
			closed.anonymous().refused(403, "REGISTRATION_CLOSED", "POST", "/login",
				obj{"code": demo(t).code(t, 9), "origin_url": origin, "invitation": token})
		})
	})
}

// TestInvitation_AcceptedAndWithdrawnAtOnceIsOneOfThem, whoever comes first; and accepting ten times is one.
func TestInvitation_AcceptedAndWithdrawnAtOnceIsOneOfThem(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for round := range 5 {
			guest := s.person(fmt.Sprint("racer", round))
			id := s.newInvitation("id-" + guest.name)
			accept := fmt.Sprintf("/users/%s/invitations/%d/accept", guest.ID, id)
			withdraw := s.invites(fmt.Sprint("/", id))
			taken, withdrawn := 0, 0
			for i, a := range atOnce(func(i int) answer {
				if i%2 == round%2 {
					return guest.call("POST", accept, nil)
				}
				return s.owner.call("DELETE", withdraw, nil)
			}) {
				switch {
				case a.Status == 200:
					taken++
				case a.Status == 204:
					withdrawn++
				case a.Status != 404:
					t.Errorf("call %d: %d %s", i, a.Status, a.Raw)
				}
			}
			if (taken == 5) == (withdrawn == 1) || taken+withdrawn != max(taken, withdrawn) ||
				s.isMember(guest) != (taken == 5) {
				t.Errorf("accepted %d times, withdrawn %d times, a member: %v", taken, withdrawn, s.isMember(guest))
			}
		}
	})
}

func TestInvitation_TwoOwnersAcceptingAtOnceMakeOneOwner(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		rivals := []*testPerson{s.people["stranger"], s.requester()}
		var paths []string
		for _, p := range rivals {
			paths = append(paths, fmt.Sprintf("/users/%s/invitations/%d/accept", p.ID,
				s.invite(obj{"registry_id": "id-" + p.name, "role": "OWNER"})))
		}
		answers := atOnce(func(i int) answer { return rivals[i%2].call("POST", paths[i%2], nil) })
		winners := map[int]bool{}
		for i, a := range answers {
			switch a.Status {
			case 200:
				winners[i%2] = true
			case 404: // withdrawn, as there is another owner
			default:
				t.Errorf("%d %s", a.Status, a.Raw)
			}
		}
		owner := s.anonymous().want(200, "GET", fmt.Sprintf("/organizations/%d", s.id), nil).at("owner.id")
		if len(winners) != 1 || winners[0] != (owner == rivals[0].ID.String()) || s.isMember(rivals[0]) != winners[0] ||
			s.isMember(rivals[1]) != winners[1] {
			t.Errorf("winners %v, owner %v", winners, owner)
		}
	})
}
