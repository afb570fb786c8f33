package api_test

import (
	"fmt"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestInvitation_MakesAMemberOnlyWhenAccepted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		guest, lab := s.requester(), fmt.Sprintf("/organizations/%d", s.id)
		first := s.owner.want(201, "POST", lab+"/invitations/", obj{"registry_id": "id-requester"})
		if first.at("status") != "PENDING" || first.at("name") != "Epithelial Biology" || first.at("email") != nil {
			t.Errorf("an invitation: %s", first.Raw)
		}
		s.unchanged("the same invitation again", func() {
			if again := s.owner.want(200, "POST", lab+"/invitations",
				obj{"registry_id": "id-requester"}); again.id() != first.id() {
				t.Errorf("asked again: %s", again.Raw)
			}
		})
		accept := fmt.Sprintf("%s/%d/accept", s.user("/invitations"), first.id())
		list := guest.want(200, "GET", s.user(""), nil).Body["invitations"].([]any)
		if len(list) != 1 || idsOf(list)[0] != first.id() || s.isMember(guest) {
			t.Errorf("before accepting: %v", list)
		}
		s.unchanged("another's invitation", func() {
			s.people["stranger"].refused(404, "NOT_FOUND", "POST",
				fmt.Sprintf("/users/%s/invitations/%d/accept", s.people["stranger"].ID, first.id()), nil)
		})
		guest.want(200, "POST", accept, nil)
		s.unchanged("accepting again", func() {
			if a := guest.want(200, "POST", accept, nil); a.at("status") != "ACCEPTED" {
				t.Errorf("accepted: %s", a.Raw)
			}
		})
		guest.refused(409, "CONFLICT", "POST", fmt.Sprintf("%s/%d/decline", s.user("/invitations"), first.id()), nil)
		s.owner.refused(404, "NOT_FOUND", "DELETE", fmt.Sprintf("%s/invitations/%d", lab, first.id()), nil)
		s.owner.refused(409, "CONFLICT", "POST", lab+"/invitations", obj{"registry_id": "id-requester"})
		if list := guest.want(200, "GET", s.user(""), nil).Body["invitations"].([]any); len(list) != 0 ||
			!s.isMember(guest) {
			t.Errorf("after accepting: %v", list)
		}
	})
}

func TestInvitation_ExpiredCannotBeAccepted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		guest, lab := s.requester(), fmt.Sprintf("/organizations/%d", s.id)
		accept := func(id int64) string { return fmt.Sprintf("%s/%d/accept", s.user("/invitations"), id) }
		declined := s.newInvitation("id-requester")
		guest.want(200, "POST", fmt.Sprintf("%s/%d/decline", s.user("/invitations"), declined), nil)
		guest.refused(409, "CONFLICT", "POST", accept(declined), nil)
		expired := s.newInvitation("id-requester") // asked again
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE invitations SET expires_at = $1 WHERE id = $2",
			db.Read().Now.Add(-time.Second), expired); err != nil {
			t.Fatal(err)
		}
		guest.refused(409, "CONFLICT", "POST", accept(expired), nil)
		if list := s.owner.want(200, "GET", lab+"/invitations", nil).List; len(list) != 0 {
			t.Errorf("what is over is listed: %v", list)
		}
		withdrawn := s.newInvitation("id-requester")
		s.owner.want(204, "DELETE", fmt.Sprintf("%s/invitations/%d", lab, withdrawn), nil)
		guest.refused(404, "NOT_FOUND", "POST", accept(withdrawn), nil)
		if s.isMember(guest) {
			t.Error("a member without accepting")
		}
	})
}

// TestInvitation_NeedsAVerifiedAddress: anybody may write any address into their record.
func TestInvitation_NeedsAVerifiedAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		lab := fmt.Sprintf("/organizations/%d/invitations", s.id)
		id := s.owner.want(201, "POST", lab, obj{"email": "Ada@Example.org"}).id()
		s.requester().want(200, "PATCH", s.user(""), obj{"email": "ada@example.org"})
		accept := fmt.Sprintf("%s/%d/accept", s.user("/invitations"), id)
		s.requester().refused(404, "NOT_FOUND", "POST", accept, nil)
		if list := s.requester().want(200, "GET", s.user(""), nil).Body["invitations"].([]any); len(list) != 0 {
			t.Errorf("invitations: %v", list)
		}
		if _, err := s.app.Accounts.SignIn(t.Context(), identity.Person{RegistryID: "id-requester", Email: "ada@example.ORG"},
			person.Registration{}); err != nil {
			t.Fatal(err)
		}
		if list := s.requester().want(200, "GET", s.user(""), nil).Body["invitations"].([]any); len(list) != 1 {
			t.Errorf("invitations once the address is verified: %v", list)
		}
		s.requester().want(200, "POST", accept, nil)
		s.owner.refused(409, "CONFLICT", "POST", lab, obj{"email": "ada@example.org"})
		for _, body := range []obj{{}, {"email": "x"}, {"email": "a@b.c", "registry_id": "y"}, {"registry_id": " "},
			{"registry_id": "two words"}, {"registry_id": "https://orcid.org/0000-0002-1825-0098"}} {
			s.owner.refused(400, "INVALID_INPUT", "POST", lab, body)
		}
	})
}

func (s *scene) isMember(p *testPerson) bool {
	s.t.Helper()
	is, err := s.db.Read().Organizations.IsMember(s.t.Context(), s.id, p.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return is
}
