package api_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// bigLab is a lab of ten members in addition to its owner, with a material that asks for nothing.
func bigLab(w *world) (owner *testPerson, members []*testPerson, material int64) {
	w.t.Helper()
	owner = w.person("owner")
	for i := range 10 {
		members = append(members, w.person(fmt.Sprint("member", i)))
	}
	id := owner.want(201, "POST", "/organizations", obj{"owner": owner.ID, "members": []any{}}).id()
	w.join(id, members...)
	return owner, members, owner.want(201, "POST", "/materials",
		obj{"category": "OTHER", "title": "A", "organization_id": id}).id()
}

// heard counts a person's notifications of status changes of a request.
func (p *testPerson) heard(request int64) int {
	p.w.t.Helper()
	n := 0
	for _, one := range p.want(200, "GET", fmt.Sprintf("/users/%s/notifications?limit=200", p.ID), nil).List {
		if m := one.(map[string]any); m["request"] == float64(request) && m["kind"] == "status_changed" {
			n++
		}
	}
	return n
}

func (w *world) verified() {
	w.t.Helper()
	if report, err := w.app.Evidence.Verify(w.t.Context(), evidence.Verification{Files: true}); err != nil || len(report.Faults) > 0 {
		w.t.Errorf("verify: %v, %v", report.Faults, err)
	}
}

func TestRequest_SameDecisionTenTimesAtOnceIsOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		owner, members, material := bigLab(w)
		requester := w.person("requester")
		for range 3 {
			id := requester.want(201, "POST", "/material-requests", obj{"material": material}).id()
			path := fmt.Sprintf("/material-requests/%d", id)
			before := w.rows()
			for _, a := range atOnce(func(i int) answer {
				return members[i].call("PATCH", path,
					obj{"status": "APPROVED"})
			}) {
				if a.Status != 200 || a.Body["status"] != "APPROVED" {
					t.Errorf("%d %s", a.Status, a.Raw)
				}
			}
			// Nine colleagues, the owner and the requester; not who decided.
			if diff := grew(before, w.rows()); diff != "request_turns+1 request_events+1 notifications+11 jobs+1" {
				t.Errorf("ten times the same decision made %s", diff)
			}
			silent := 0
			for _, p := range append([]*testPerson{owner, requester}, members...) {
				switch p.heard(id) {
				case 0:
					silent++
				case 1:
				default:
					t.Errorf("%s heard %d times", p.name, p.heard(id))
				}
			}
			if silent != 1 || requester.heard(id) != 1 {
				t.Errorf("%d people were not notified", silent)
			}
		}
		w.verified()
	})
}

func TestRequest_DifferentDecisionsAtOnceAreSerialized(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		_, members, material := bigLab(w)
		requester := w.person("requester")
		to := []string{"APPROVED", "REJECTED", "INVALID", "IN_FULFILLMENT", "FULFILLED", "OPEN", "CANCELLED",
			"APPROVED", "REJECTED", "FULFILLED"}
		for range 3 {
			id := requester.want(201, "POST", "/material-requests", obj{"material": material}).id()
			path := fmt.Sprintf("/material-requests/%d", id)
			for i, a := range atOnce(func(i int) answer {
				if to[i] == "CANCELLED" {
					return requester.call("PATCH", path, obj{"status": to[i]})
				}
				return members[i].call("PATCH", path, obj{"status": to[i]})
			}) {
				if a.Status == 200 && a.Body["status"] != to[i] || a.Status != 200 && a.Status != 409 {
					t.Errorf("%s: %d %s", to[i], a.Status, a.Raw)
				}
				if a.Status == 409 && (a.Body["error_code"] != "INVALID_TRANSITION" || a.Body["status"] == nil ||
					a.Body["allowed"] == nil) {
					t.Errorf("%s: %s", to[i], a.Raw)
				}
			}
			// The events tell one path from OPEN to where the request stands.
			at := "OPEN"
			events := requester.want(200, "GET", path+"/events", nil).List
			slices.Reverse(events)
			for _, one := range events {
				if e := one.(map[string]any); e["kind"] == "status_changed" {
					detail := e["detail"].(map[string]any)
					if detail["from"] != at || detail["from"] == detail["to"] {
						t.Errorf("an event from %v to %v where the request was %s", detail["from"], detail["to"], at)
					}
					at = detail["to"].(string)
				}
			}
			if now := requester.want(200, "GET", path, nil).Body["status"]; now != at || len(events) < 2 {
				t.Errorf("the events end at %s, the request at %v", at, now)
			}
		}
		w.verified()
	})
}

// TestRequest_FieldRightsOfEachRole is the list of field rights of contract.md section 6. Every field is
// sent alone to a fresh request: + it changes, F FIELD_FORBIDDEN, - it is not of this body.
func TestRequest_FieldRightsOfEachRole(t *testing.T) {
	t.Parallel()
	want := map[string][2]byte{ // requester, member
		"irb_attachment": {'+', '+'}, "requester_signed_mta_attachment": {'+', '+'},
		"executed_mta_attachment": {'F', '+'},
		"requester_abstract":      {'+', 'F'}, "address": {'+', 'F'}, "payment_method": {'+', 'F'},
		"payment_method_notes": {'+', 'F'},
		"is_active":            {'F', '+'}, "assigned_to": {'F', '+'}, "rejection_reason": {'F', '+'},
		"override_reason": {'F', '-'},
		"status":          {'F', '+'}, "quantity": {'-', '-'}, "note": {'-', '-'}, "material": {'-', '-'},
		"requester": {'-', '-'},
	}
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for field, signs := range want {
			for i, role := range []string{"requester", "member"} {
				p := s.people[role]
				id := s.newRequest()
				path := fmt.Sprintf("/material-requests/%d", id)
				value := map[string]any{
					"irb_attachment":                  p.upload("a.pdf", pdf, nil).id(),
					"requester_signed_mta_attachment": p.upload("a.pdf", pdf, nil).id(),
					"executed_mta_attachment":         p.upload("a.pdf", pdf, nil).id(), "address": s.newAddress(),
					"payment_method": "OTHER",
					"is_active":      false, "assigned_to": s.owner.ID, "status": "APPROVED",
					"material":  s.newMaterial(),
					"requester": s.owner.ID,
				}[field]
				if value == nil {
					value = "because"
				}
				before := p.want(200, "GET", path, nil)
				a := p.call("PATCH", path, obj{field: value})
				got := byte('?')
				switch {
				case a.Status == 200 && string(a.Raw) == string(before.Raw), field == "override_reason" &&
					a.Status == 400:
					got = '-'
				case a.Status == 200:
					got = '+'
				case a.Status == 403 && a.Body["error_code"] == "FIELD_FORBIDDEN" && a.Body["field"] == field:
					got = 'F'
				}
				if got != signs[i] {
					t.Errorf("%s by %s: %c, want %c: %d %s", field, role, got, signs[i], a.Status, a.Raw)
				}
				// Whoever may not set it changes nothing with it.
				if after := p.want(200, "GET", path, nil); got != '+' && string(after.Raw) != string(before.Raw) {
					t.Errorf("%s by %s was refused and changed the request", field, role)
				}
			}
		}
	})
}

// TestQuestion_WaitsOnTheRequester until they answer; only the lab asks, and only before it has decided.
func TestQuestion_WaitsOnTheRequester(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		owner, _, material := bigLab(w)
		requester := w.person("requester")
		path := fmt.Sprintf("/material-requests/%d",
			requester.want(201, "POST", "/material-requests", obj{"material": material}).id())
		ask := obj{"text": "Which passage?", "question": true}
		requester.refused(403, "FIELD_FORBIDDEN", "POST", path+"/messages", ask)
		owner.refused(400, "INVALID_INPUT", "POST", path+"/messages", obj{"question": true})
		owner.want(201, "POST", path+"/messages", ask)
		a := requester.want(200, "GET", path, nil)
		if a.at("waiting_on.party") != "requester" || a.Body["correction"] != "Which passage?" ||
			a.Body["status"] != "OPEN" {
			t.Errorf("after the question: %s", a.Raw)
		}
		requester.want(201, "POST", path+"/messages", obj{"text": "Any."})
		if a := owner.want(200, "GET", path, nil); a.at("waiting_on.party") != "lab" || a.Body["correction"] != "" {
			t.Errorf("after the answer: %s", a.Raw)
		}
		owner.want(200, "PATCH", path, obj{"status": "APPROVED"})
		owner.refused(409, "CONFLICT", "POST", path+"/messages", ask)
		w.verified()
	})
}

func TestRequest_MemberContinuesWithARecordedReason(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		a := s.member.refused(409, "MISSING_REQUIREMENTS", "PATCH", s.req(""), obj{"status": "IN_FULFILLMENT"})
		if fmt.Sprint(a.Body["missing"]) != "[abstract irb address payment]" {
			t.Errorf("missing: %v", a.Body["missing"])
		}
		s.unchanged("an override by the requester", func() {
			s.requester().refused(403, "FIELD_FORBIDDEN", "PATCH", s.req(""), obj{"override_reason": "please"})
		})
		a = s.member.want(200, "PATCH", s.req(""),
			obj{"status": "IN_FULFILLMENT", "override_reason": "handed over at the bench"})
		if a.Body["override_reason"] != "handed over at the bench" || a.at("waiting_on.party") != "lab" {
			t.Errorf("%s", a.Raw)
		}
		event := s.member.want(200, "GET", s.req("/events?limit=1"), nil).List[0].(map[string]any)
		detail := event["detail"].(map[string]any)
		if detail["override_reason"] != "handed over at the bench" ||
			fmt.Sprint(detail["missing"]) != "[abstract irb address payment]" {
			t.Errorf("the event tells %v", detail)
		}
		s.verified()
	})
}

func TestRequest_AssigneesAreMembersAndAddressesTheRequesters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		foreign := s.people["stranger"].want(200, "POST", fmt.Sprintf("/users/%s/addresses", s.people["stranger"].ID),
			address("x")).id()
		s.unchanged("wrong references", func() {
			for _, to := range []any{s.former.ID, s.people["stranger"].ID, s.requester().ID,
				"018f0000-0000-7000-8000-000000000000"} {
				if a := s.member.refused(400, "INVALID_INPUT", "PATCH", s.req(""),
					obj{"assigned_to": to}); a.at("fields.assigned_to") == nil {
					t.Errorf("%s", a.Raw)
				}
			}
			for _, address := range []int64{foreign, 999} {
				if a := s.requester().refused(400, "INVALID_INPUT", "PATCH", s.req(""),
					obj{"address": address}); a.at("fields.address") == nil {
					t.Errorf("%s", a.Raw)
				}
				s.requester().refused(400, "INVALID_INPUT", "POST", "/material-requests",
					obj{"material": s.material, "address": address})
			}
		})
		// The request keeps the address as it was when sent.
		home := s.newAddress()
		s.requester().want(200, "PATCH", s.req(""), obj{"address": home})
		s.requester().want(200, "PATCH", fmt.Sprintf("%s/%d", s.user("/addresses"), home), obj{"name": "moved"})
		s.requester().want(204, "DELETE", fmt.Sprintf("%s/%d", s.user("/addresses"), home), nil)
		if a := s.member.want(200, "GET", s.req(""), nil); a.at("address.name") != "home" ||
			a.at("address.user") != s.requester().ID.String() {
			t.Errorf("%s", a.Raw)
		}
	})
}

// TestAdmin_UseOfTheRoleIsAudited: each use is an audit event; what an admin may do as anyone is not.
func TestAdmin_UseOfTheRoleIsAudited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		admin := s.people["admin"]
		path := fmt.Sprintf("/material-requests/%d", s.request)
		attachment := s.newAttachment()
		before := s.rows()
		admin.want(200, "GET", path, nil)
		admin.want(200, "PATCH", path, obj{"status": "VERIFIED_FULFILLED", "override_reason": "settled by mail"})
		admin.want(200, "GET", path+"/events", nil)
		admin.want(204, "DELETE", path, nil)
		admin.want(200, "GET", s.user("/addresses"), nil)
		admin.want(200, "GET", fmt.Sprintf("/attachments/%d", attachment.id()), nil)
		admin.want(200, "GET", attachment.Body["download_url"].(string), nil)
		for object, want := range map[string][]string{
			fmt.Sprintf("request %d", s.request): {"admin:admin request.read",
				"admin:admin request.update", "admin:admin request.read", "admin:admin request.delete"},
			fmt.Sprintf("addresses of %s", s.requester().ID): {"admin:admin address.read"},
			fmt.Sprintf("attachment %d", attachment.id()): {"owner attachment.create",
				"admin:admin attachment.read", "admin:admin attachment.content"},
			fmt.Sprintf("material %d", s.material):               {"member material.create"},
			fmt.Sprintf("notifications of %s", s.requester().ID): {},
		} {
			if got := s.audits(object); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", object, got, want)
			}
		}
		noted := s.rows()
		if got := noted["audit_events"] - before["audit_events"]; got != 7 {
			t.Errorf("%d audit events for 7 acts", got)
		}
		admin.want(200, "GET", fmt.Sprintf("/materials/%d", s.material), nil)
		admin.want(200, "GET", fmt.Sprintf("/users/%s", admin.ID), nil)
		admin.want(201, "POST", "/material-requests", obj{"material": s.material})
		if after := s.rows(); after["audit_events"] != noted["audit_events"] {
			t.Error("what anyone may do was noted as an admin's power")
		}
		s.verified()
	})
}

func TestMember_LeavingPassesRequestsAndMaterialsToTheOwner(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		closed := s.newRequest()
		s.assignee.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", closed), obj{"status": "REJECTED"})
		if mine := s.assignee.want(200, "GET", fmt.Sprintf("/users/%s", s.assignee.ID),
			nil).Body["assignments"].([]any); len(mine) != 2 {
			t.Fatalf("%d assignments", len(mine))
		}
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"members": []any{s.member.ID}})
		if a := s.member.want(200, "GET", s.req(""), nil); a.Body["assigned_to"] != s.owner.ID.String() {
			t.Errorf("%s", a.Raw)
		}
		contact := s.member.want(200, "GET", fmt.Sprintf("/materials/%d", s.material), nil).Body["contact_user"]
		if contact.(map[string]any)["id"] != s.owner.ID.String() {
			t.Errorf("the contact of the listing is %v", contact)
		}
		changed := s.owner.want(200, "GET", fmt.Sprintf("/materials/%d/history?limit=1", s.material), nil)
		if !strings.Contains(string(changed.Raw), s.owner.ID.String()) {
			t.Errorf("the history has %s", changed.Raw)
		}
		event := s.member.want(200, "GET", s.req("/events?limit=1"), nil).List[0].(map[string]any)
		if event["kind"] != "assigned" || event["actor"] != s.owner.ID.String() {
			t.Errorf("%v", event)
		}
		// Who left sees nothing of the lab's requests any more, closed ones neither.
		s.assignee.refused(403, "FORBIDDEN", "GET", s.req(""), nil)
		s.assignee.refused(403, "FORBIDDEN", "GET", fmt.Sprintf("/material-requests/%d", closed), nil)
		if a := s.assignee.want(200, "GET", fmt.Sprintf("/users/%s", s.assignee.ID),
			nil); len(a.Body["assignments"].([]any)) != 0 {
			t.Errorf("who left still has assignments: %s", a.Raw)
		}
		if list := s.assignee.want(200, "GET", "/material-requests", nil).List; len(list) != 0 {
			t.Errorf("who left still lists %d requests", len(list))
		}
		// A new request of the material whose contact left goes to the owner too.
		if a := s.requester().want(201, "POST", "/material-requests",
			obj{"material": s.material}); a.Body["assigned_to"] != s.owner.ID.String() {
			t.Errorf("%s", a.Raw)
		}
		s.verified()
	})
}

// Parties and admins see a request in the list, whatever filter is set; nobody else does.
func TestRequests_AreListedOnlyToPartiesAndAdmins(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		second := s.newRequest()
		s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", second),
			obj{"status": "REJECTED", "assigned_to": s.member.ID})
		want := map[string]map[string]int{
			"": {"stranger": 0, "former": 0, "requester": 2, "member": 2,
				"owner": 2, "assignee": 2, "admin": 2},
			"?status=REJECTED":                                 {"requester": 1, "member": 1, "stranger": 0},
			"?is_active=true":                                  {"requester": 1, "member": 1, "stranger": 0},
			fmt.Sprintf("?material=%d", s.material):            {"member": 2, "stranger": 0},
			"?material=99":                                     {"member": 0, "admin": 0},
			fmt.Sprintf("?requester=%s", s.requester().ID):     {"member": 2, "admin": 2, "stranger": 0},
			fmt.Sprintf("?assigned_to=%s", s.member.ID):        {"member": 1, "requester": 1, "stranger": 0},
			fmt.Sprintf("?assigned_to=%s&limit=1", s.owner.ID): {"member": 0},
			"?limit=1": {"member": 1, "requester": 1},
		}
		for query, roles := range want {
			for _, role := range slices.Sorted(maps.Keys(roles)) {
				a := s.people[role].want(200, "GET", "/material-requests"+query, nil)
				if len(a.List) != roles[role] {
					t.Errorf("%s lists %d requests with %q, want %d", role, len(a.List), query, roles[role])
				}
			}
		}
	})
}

func TestMaterial_WithAnOpenRequestCannotMove(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		request := s.newRequest()
		path := fmt.Sprintf("/materials/%d", s.material)
		move := obj{"organization_id": s.owner.Lab, "shipping_requirements_id": nil}
		s.owner.refused(409, "CONFLICT", "PATCH", path, move)
		for {
			list := s.member.want(200, "GET", "/material-requests/?is_active=true", nil).List
			if len(list) == 0 {
				break
			}
			id, _ := list[0].(map[string]any)["id"].(float64)
			s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%.0f", id), obj{"is_active": false})
		}
		s.owner.want(200, "PATCH", path, move)
		s.member.refused(403, "FORBIDDEN", "GET", fmt.Sprintf("/material-requests/%d", request), nil)
	})
}

func TestRequest_ReopenedIsAssignedToAMember(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/material-requests/%d", s.newRequest())
		if a := s.member.want(200, "PATCH", path,
			obj{"status": "REJECTED"}); a.Body["assigned_to"] != s.assignee.ID.String() {
			t.Fatalf("assigned to %v", a.Body["assigned_to"])
		}
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"members": []any{s.member.ID}})
		a := s.member.want(200, "PATCH", path, obj{"status": "OPEN"})
		if a.Body["status"] != "OPEN" || a.Body["assigned_to"] != s.owner.ID.String() {
			t.Errorf("status %v, assigned to %v; want the owner %s", a.Body["status"], a.Body["assigned_to"],
				s.owner.ID)
		}
	})
}

func TestAdmin_AsAPartyIsAuditedOnlyForWhatPartiesMayNotDo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		admin := s.people["admin"]
		path := fmt.Sprintf("/material-requests/%d",
			admin.want(201, "POST", "/material-requests/", obj{"material": s.material}).id())
		noted := func() (n int) {
			t.Helper()
			err := s.sql.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM audit_events WHERE as_admin AND action = "+
				"'request.update'").Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := noted()
		admin.want(200, "PATCH", path, obj{"requester_abstract": "As any requester."})
		if n := noted() - before; n != 0 {
			t.Errorf("what a requester may is noted %d times", n)
		}
		admin.want(200, "PATCH", path, obj{"status": "APPROVED"})
		if n := noted() - before; n != 1 {
			t.Errorf("what only the lab may is noted %d times, want 1", n)
		}
	})
}
