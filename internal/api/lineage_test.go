package api_test

import (
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// cameFrom is a statement about where a material came from, as a body has it.
func cameFrom(relation string, material, request any) obj {
	return obj{"relation": relation, "material": material, "request": request}
}

// executed has a letter for requests of the requester signed by everybody, and returns its path.
func (s *scene) executed(requests ...int64) string {
	s.t.Helper()
	path := s.sendLetter(requests...)
	s.signAll(path)
	return path
}

// signAll has everybody sign a letter that was sent.
func (s *scene) signAll(path string) {
	s.t.Helper()
	for _, signed := range []struct {
		by   *testPerson
		role string
	}{{s.requester(), "RECIPIENT_SCIENTIST"}, {s.official, "RECIPIENT_OFFICIAL"}, {s.owner, "PROVIDER_SCIENTIST"},
		{s.owner, "PROVIDER_OFFICIAL"}} {
		signed.by.want(201, "POST", path+"/signatures", s.signature(path, signed.role))
	}
}

// fulfil has the lab fulfil a request.
func (s *scene) fulfil(request int64) {
	s.t.Helper()
	s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", request),
		obj{"status": "FULFILLED", "override_reason": "sent"})
}

// TestMayShare_FollowsTheAgreementsOfWhatALabReceived back to the origin, and names them to those alone who may read
// them.
func TestMayShare_FollowsTheAgreementsOfWhatALabReceived(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		request, provider := s.newPlasmid(), s.institution().id
		letter := s.executed(request)
		s.fulfil(request)
		lab := s.requester().want(201, "POST", "/organizations", obj{"name": "Receiving lab", "members": []string{}}).id()
		listed := func(title string) string {
			return fmt.Sprintf("/materials/%d", s.requester().want(201, "POST", "/materials",
				obj{"category": "PLASMID", "title": title, "organization_id": lab}).id())
		}
		other := s.people["admin"].want(201, "POST", "/institutions", obj{"legal_name": "Third University",
			"country": "FR", "confirmed": true, "kind": "NONPROFIT", "kind_evidence": "statute",
			"kind_since": "1990-01-01"}).id()
		share := func(p *testPerson, material string, to int64) answer {
			t.Helper()
			return p.want(200, "GET", fmt.Sprintf("%s/may-share?to=%d", material, to), nil)
		}
		verdict := func(material string, to int64, want string) answer {
			t.Helper()
			got := share(s.requester(), material, to)
			if got.of("verdict") != want {
				t.Errorf("%s to %d: %s, want %s", material, to, got.Raw, want)
			}
			return got
		}
		received := listed("pUC19, from the university")
		verdict(received, other, "ASK") // nobody stated where it came from
		stated := s.requester().want(200, "PATCH", received+"/lineage",
			obj{"origins": []obj{cameFrom("ORIGINAL", nil, request)}})
		s.unchanged("what GET answered", func() {
			s.requester().want(200, "PUT", received+"/lineage", stated.Body)
		})
		ours := stated.of("origins").([]any)[0].(obj2)["material"].(float64)
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%v/lineage", ours), obj{"origins": []obj{}})

		no := verdict(received, other, "NO")
		if reason := no.of("reasons").([]any)[0].(obj2); fmt.Sprintf("/agreements/%v", reason["agreement"]) != letter ||
			reason["provider"] != float64(provider) || reason["term"] != "NO_REDISTRIBUTION" {
			t.Errorf("the reason: %v", reason)
		}
		hidden := share(s.people["stranger"], received, other)
		if reason := hidden.of("reasons").([]any)[0].(obj2); hidden.of("verdict") != "NO" ||
			reason["agreement"] != nil || reason["provider"] != nil || reason["holder"] != "" {
			t.Errorf("a stranger reads %v", reason)
		}
		verdict(received, provider, "YES")

		made := func(relation, want string) {
			t.Helper()
			derived := listed(relation)
			var from int64
			if _, err := fmt.Sscanf(received, "/materials/%d", &from); err != nil {
				t.Fatal(err)
			}
			s.requester().want(200, "PATCH", derived+"/lineage",
				obj{"origins": []obj{cameFrom(relation, from, nil)}})
			verdict(derived, other, want)
		}
		made("PROGENY", "NO")
		made("MODIFICATION", "ASK")
		made("SUBSTANCE", "YES")

		s.requester().want(200, "PATCH", received+"/lineage", obj{"origins": nil})
		verdict(received, other, "ASK")
		s.requester().want(200, "PATCH", received+"/transfer-facts", obj{"encumbrances": []obj{{"holder": "Company X",
			"terms": []string{"NON_COMMERCIAL"}, "document": "MTA 7"}}})
		if got := verdict(received, other, "YES"); got.of("reasons").([]any)[0].(obj2)["holder"] != "Company X (MTA 7)" {
			t.Errorf("rights that the lab stated: %s", got.Raw)
		}
		if got := s.requester().want(200, "GET", fmt.Sprintf("%s/may-share?to=%d&purpose=COMMERCIAL", received, other),
			nil); got.of("verdict") != "NO" {
			t.Errorf("for commercial use: %s", got.Raw)
		}
		s.recordHolds()
	})
}

// TestLineage_IsStatedByTheLabOfWhatItReceived and sees, and not of anything else.
func TestLineage_IsStatedByTheLabOfWhatItReceived(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		mine := s.newMaterial()
		path := fmt.Sprintf("/materials/%d/lineage", mine)
		embargoed := s.foreignMaterial()
		s.people["admin"].want(200, "PATCH", fmt.Sprintf("/materials/%d", embargoed), obj{"embargo_date": "2999-01-01"})
		request := s.newPlasmid()
		for name, said := range map[string]obj{
			"no relation":           cameFrom("COUSIN", s.material, nil),
			"from nothing":          cameFrom("PROGENY", nil, nil),
			"from itself":           cameFrom("PROGENY", mine, nil),
			"a material not there":  cameFrom("PROGENY", 99999, nil),
			"a hidden material":     cameFrom("PROGENY", embargoed, nil),
			"a request of others":   cameFrom("ORIGINAL", nil, request),
			"a request not there":   cameFrom("ORIGINAL", nil, 99999),
			"another lab's request": cameFrom("ORIGINAL", nil, s.newRequest()),
		} {
			s.unchanged(name, func() {
				got := s.member.refused(400, "INVALID_INPUT", "PATCH", path, obj{"origins": []obj{said}})
				if faults := got.faultsOf(); len(faults) != 1 || faults[0] != "origins" {
					t.Errorf("%s: %s", name, got.Raw)
				}
			})
		}
		s.member.refused(400, "INVALID_INPUT", "GET", fmt.Sprintf("/materials/%d/may-share", mine), nil)
		s.member.refused(400, "INVALID_INPUT", "GET", fmt.Sprintf("/materials/%d/may-share?to=99999", mine), nil)
		s.member.refused(400, "INVALID_INPUT", "GET",
			fmt.Sprintf("/materials/%d/may-share?to=%d&purpose=FUN", mine, s.institution().id), nil)
		s.member.refused(404, "NOT_FOUND", "GET",
			fmt.Sprintf("/materials/%d/may-share?to=%d", embargoed, s.institution().id), nil)
	})
}
