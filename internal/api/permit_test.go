package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app/requirements"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// owedOf reads what a request needs, by its kind.
func owedOf(p *testPerson, request int64) map[string]obj {
	all := map[string]obj{}
	for _, item := range p.want(200, "GET", fmt.Sprintf("/material-requests/%d/requirements", request),
		nil).Body["requirements"].([]any) {
		one := item.(map[string]any)
		all[one["kind"].(string)] = one
	}
	return all
}

// needsIRB makes a request of the requester for a material whose lab asks for an IRB approval.
func (s *scene) needsIRB() int64 {
	s.t.Helper()
	m := s.member.want(201, "POST", "/materials", obj{"category": "PLASMID", "title": "pUC19", "organization_id": s.id,
		"needs_irb": true, "additional_metadata": obj{}}).id()
	return s.requester().want(201, "POST", "/material-requests", obj{"material_id": m}).id()
}

// TestPermit_FulfilsARequirementWhileItIsValidAndCoversTheRequest, and says when it expired.
func TestPermit_FulfilsARequirementWhileItIsValidAndCoversTheRequest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		request := s.needsIRB()
		uses := fmt.Sprintf("/material-requests/%d/permits", request)
		permit := s.newPermit(s.requester(), obj{"categories": []string{"PLASMID"}})
		if irb := owedOf(s.requester(), request)["IRB"]; irb["state"] != "OWED" || irb["permit"] != nil {
			t.Errorf("a permit that nobody chose for the request: %v", irb)
		}
		s.requester().want(201, "POST", uses, obj{"permit": permit})
		s.requester().want(200, "POST", uses, obj{"permit": permit})
		if irb := owedOf(s.member, request)["IRB"]; irb["state"] != "DONE" || irb["permit"] != float64(permit) ||
			irb["expired"] != false {
			t.Errorf("a valid one: %v", irb)
		}
		if got := s.member.want(200, "GET", fmt.Sprintf("/permits?request=%d", request), nil); len(got.List) != 1 {
			t.Errorf("the lab sees of the request %s", got.Raw)
		}
		path := fmt.Sprintf("/permits/%d", permit)
		s.requester().want(200, "PATCH", path, obj{"categories": []string{"CELL_LINE"}})
		if irb := owedOf(s.member, request)["IRB"]; irb["state"] != "OWED" {
			t.Errorf("limited to another category since: %v", irb)
		}
		today := time.Now().UTC().Format(time.DateOnly)
		s.requester().want(200, "PATCH", path, obj{"categories": []string{}, "until": today})
		if irb := owedOf(s.member, request)["IRB"]; irb["state"] != "OWED" || irb["expired"] != true ||
			irb["permit"] != nil {
			t.Errorf("expired today: %v", irb)
		}
		s.requester().want(200, "PATCH", path, obj{"until": nil})
		if irb := owedOf(s.member, request)["IRB"]; irb["state"] != "DONE" {
			t.Errorf("extended: %v", irb)
		}
		s.requester().want(204, "DELETE", fmt.Sprintf("%s/%d", uses, permit), nil)
		if irb := owedOf(s.member, request)["IRB"]; irb["state"] != "OWED" {
			t.Errorf("released: %v", irb)
		}
		s.requester().refused(404, "NOT_FOUND", "DELETE", fmt.Sprintf("%s/%d", uses, permit), nil)
	})
}

// TestPermit_IsRefusedWhereItIsOutsideOrSomebodyElses, and nothing changes.
func TestPermit_IsRefusedWhereItIsOutsideOrSomebodyElses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		request := s.needsIRB()
		uses := fmt.Sprintf("/material-requests/%d/permits", request)
		for name, own := range map[string]obj{"categories": {"categories": []string{"PDX"}},
			"materials":    {"materials": []int64{s.material}},
			"institutions": {"institutions": []int64{s.institution().id + 0}, "number": "elsewhere"},
			"valid":        {"until": "2021-01-01"}} {
			if name == "institutions" { // the provider is of it; make another
				own["institutions"] = []int64{s.people["admin"].want(201, "POST", "/institutions",
					obj{"legal_name": "Elsewhere", "country": "FR"}).id()}
			}
			permit := s.newPermit(s.requester(), own)
			s.unchanged(name, func() {
				if a := s.requester().refused(400, "INVALID_INPUT", "POST", uses, obj{"permit": permit}); !strings.Contains(
					string(a.Raw), name) {
					t.Errorf("%s: %s", name, a.Raw)
				}
			})
		}
		labs := s.newPermit(s.member, obj{"organization": s.id})
		s.unchanged("the lab's", func() {
			s.requester().refused(400, "INVALID_INPUT", "POST", uses, obj{"permit": labs})
			s.requester().refused(404, "NOT_FOUND", "GET", fmt.Sprintf("/permits/%d", labs), nil)
			s.requester().refused(404, "NOT_FOUND", "PATCH", fmt.Sprintf("/permits/%d", labs), obj{})
		})
		for field, value := range map[string]any{"regime": "DRIVING", "number": "", "authority": "", "country": "Atlantis",
			"until": "2019-01-01", "categories": []string{"ROCKS"}, "materials": []int64{99999}, "institutions": []int64{99999},
			"document": 99999, "organization": 99999, "institution": 99999} {
			s.unchanged(field, func() {
				got := s.requester().refused(400, "INVALID_INPUT", "POST", "/permits", s.permit(obj{field: value}))
				if faults := got.faultsOf(); len(faults) != 1 || faults[0] != field {
					t.Errorf("%s: %s", field, got.Raw)
				}
			})
		}
	})
}

// TestPermit_OfAnInstitutionIsUsedByItsPeople and kept by its officers.
func TestPermit_OfAnInstitutionIsUsedByItsPeople(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		o := s.institution()
		permit := s.newPermit(s.owner, obj{"institution": o.id})
		path := fmt.Sprintf("/permits/%d", permit)
		s.requester().refused(404, "NOT_FOUND", "GET", path, nil) // nobody confirmed that they are there
		s.owner.want(200, "PATCH", fmt.Sprintf("%s/affiliations/%d", o.path, o.affiliation), obj{"confirmed": true})
		s.requester().want(200, "GET", path, nil)
		s.requester().refused(404, "NOT_FOUND", "PATCH", path, obj{"number": "mine"})
		if list := s.requester().want(200, "GET", "/permits", nil).List; len(list) != 1 {
			t.Errorf("the requester sees %v", list)
		}
		s.requester().want(201, "POST", fmt.Sprintf("/material-requests/%d/permits", s.needsIRB()), obj{"permit": permit})
		s.people["stranger"].refused(404, "NOT_FOUND", "GET", path, nil)
	})
}

// TestPermit_ItsDocumentIsReadByBothSidesOfTheRequestsThatUseIt, and stays while it is one.
func TestPermit_ItsDocumentIsReadByBothSidesOfTheRequestsThatUseIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		request := s.needsIRB()
		document := s.requester().upload("irb.pdf", pdf, obj{}).id()
		permit := s.newPermit(s.requester(), obj{"document": document})
		path := fmt.Sprintf("/attachments/%d", document)
		s.member.refused(403, "FORBIDDEN", "GET", path, nil)
		s.requester().want(201, "POST", fmt.Sprintf("/material-requests/%d/permits", request), obj{"permit": permit})
		s.member.want(200, "GET", path, nil)
		s.people["stranger"].refused(403, "FORBIDDEN", "GET", path, nil)
		s.requester().refused(409, "ATTACHMENT_IN_USE", "DELETE", path, nil)
		s.people["stranger"].refused(400, "INVALID_INPUT", "POST", "/permits", s.permit(obj{"document": document}))
	})
}

// TestPermit_ItsDocumentIsReadByTheOfficersOfToday of the institution whose permit it is, by the same rule as the permit.
func TestPermit_ItsDocumentIsReadByTheOfficersOfToday(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		institution, admin, other := s.recipient(), s.people["admin"], s.people["stranger"]
		document := s.official.upload("irb.pdf", pdf, obj{}).id()
		permit := s.newPermit(s.official, obj{"document": document, "institution": institution})
		paths := []string{fmt.Sprintf("/permits/%d", permit), fmt.Sprintf("/attachments/%d", document)}
		register := fmt.Sprintf("/institutions/%d", institution)
		position := admin.want(201, "POST", register+"/positions", obj{"title": "Director", "from": "2020-01-01"}).id()
		authority := obj{"position": position, "holder": other.ID, "direction": "BOTH", "from": "2020-01-01"}
		held := admin.want(201, "POST", register+"/authorities", authority).id()
		for _, path := range paths {
			other.want(200, "GET", path, nil)
		}
		authority["holder"], authority["supersedes"] = s.official.ID, held
		admin.want(201, "POST", register+"/authorities", authority)
		other.refused(404, "NOT_FOUND", "GET", paths[0], nil)
		other.refused(403, "FORBIDDEN", "GET", paths[1], nil)
	})
}

// TestPermit_FulfilsEveryRequirementThatIsNoDocumentOrText: none of what facts lead to is owed for good.
func TestPermit_FulfilsEveryRequirementThatIsNoDocumentOrText(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		m := s.member.want(201, "POST", "/materials", obj{"category": "PLASMID", "title": "pUC19", "organization_id": s.id,
			"additional_metadata": obj{}}).id()
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d/transfer-facts", m), obj{"bsl": "3",
			"genetically_modified": "YES", "select_agent": "YES", "data_uses": []obj{{"id": "DUO:0000020"}}})
		request := s.requester().want(201, "POST", "/material-requests", obj{"material_id": m}).id()
		owed := owedOf(s.requester(), request)
		for _, kind := range []string{"DATA_USE", "HAZARDOUS_SHIPMENT", "IBC", "SELECT_AGENT"} {
			if owed[kind]["state"] != "OWED" {
				t.Errorf("%s: %v", kind, owed[kind])
			}
			by, of := s.requester(), obj{"regime": kind}
			if owed[kind]["owed_by"] == "LAB" {
				by, of["organization"] = s.member, s.id
			}
			by.want(201, "POST", fmt.Sprintf("/material-requests/%d/permits", request), obj{"permit": s.newPermit(by, of)})
		}
		for kind, one := range owedOf(s.member, request) {
			if one["state"] != "DONE" {
				t.Errorf("%s with a permit: %v", kind, one)
			}
		}
	})
}

// TestPermit_RemindsItsOfficersAndWhoChoseItBeforeItEnds, once each.
func TestPermit_RemindsItsOfficersAndWhoChoseItBeforeItEnds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		o := s.institution()
		until := exchange.DayOf(time.Now().AddDate(0, 0, 10))
		permit := s.newPermit(s.owner, obj{"institution": o.id, "until": until})
		s.owner.want(200, "PATCH", fmt.Sprintf("%s/affiliations/%d", o.path, o.affiliation), obj{"confirmed": true})
		s.requester().want(201, "POST", fmt.Sprintf("/material-requests/%d/permits", s.needsIRB()), obj{"permit": permit})
		s.run(requirements.Remind)
		s.run(requirements.Remind)
		for name, want := range map[string]int{"owner": 1, "requester": 1, "member": 0, "stranger": 0} {
			p := s.people[name]
			list := p.want(200, "GET", fmt.Sprintf("/users/%s/notifications?kind=permit_ending", p.ID), nil).List
			if len(list) != want {
				t.Fatalf("%s has %d reminders, want %d", name, len(list), want)
			}
			for _, one := range list {
				n := one.(obj2)
				if n["permit"] != float64(permit) || n["category"] != "agreement" ||
					!strings.Contains(n["text"].(string), string(until)) {
					t.Errorf("%s: %v", name, n)
				}
			}
		}
		s.recordHolds()
	})
}
