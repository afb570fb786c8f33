package api_test

import (
	"bytes"
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestGet_BodyCanBeSentBackWithoutEffect is contract.md section 1, "Unknown and read-only
// fields", for every resource and each role that may write it.
func TestGet_BodyCanBeSentBackWithoutEffect(t *testing.T) {
	t.Parallel()
	underBothSettings(t, func(t *testing.T, db *store.DB, setting exchange.Access) {
		s := newScene(t, db, setting)
		s.fill()
		for path, who := range s.writable() {
			if setting == exchange.AccessOpen &&
				(path == s.paths("material") || path == s.paths("organization")) {
				who = roles
			}
			for _, role := range who {
				s.sendBack(path, role)
			}
		}
	})
}

func (s *scene) paths(kind string) string {
	return map[string]string{"material": fmt.Sprintf("/materials/%d", s.material),
		"organization": fmt.Sprintf("/organizations/%d", s.id)}[kind]
}

// writable names everything that GET and PUT share an address for, and who may put it.
func (s *scene) writable() map[string][]string {
	s.t.Helper()
	members := []string{"member", "owner", "assignee", "admin"}
	parties := append([]string{"requester"}, members...)
	closed := s.newRequest()
	s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", closed),
		obj{"status": "REJECTED", "rejection_reason": "no stock"})
	sent := s.newRequest()
	s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", sent),
		obj{"status": "FULFILLED", "override_reason": "by hand"})
	returned := s.newRequest()
	for _, status := range []string{"APPROVED", "OPEN"} {
		s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", returned),
			obj{"status": status, "reason": "which strain?"})
	}
	shut := s.newRequest()
	s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", shut), obj{"is_active": false})
	imported := s.member.want(201, "POST", "/materials",
		obj{"category": "DATASET", "title": "<b>A & B</b>", "organization_id": s.id, "imported": true,
			"import_source": "GEO", "organisms": []string{}, "citation": ""}.meta(obj{"accession_code": "gse2122",
			"num_samples": 12, "x<y": "a & b", "other": []any{1.0, 2.50, nil, obj{"k": "\u2029"}}})).id()
	bare := s.requester().want(201, "POST", "/attachments", obj{"filename": "100% \"bare\".pdf"}).id()
	shared := s.linked("executed_mta_attachment").id()
	list := map[string][]string{
		s.user(""):               {"requester", "admin"},
		s.user("/mail-settings"): {"requester", "admin"},
		fmt.Sprintf("%s/%d", s.user("/addresses"), s.newAddress()):          {"requester", "admin"},
		fmt.Sprintf("/organizations/%d", s.id):                              {"owner", "admin"},
		fmt.Sprintf("/organization-user-settings/%d", s.settings(s.member)): {"member", "admin"},
		s.institution().path: {"owner", "admin"},
		s.newWebhook():       {"owner", "admin"},
		s.newSavedSearch():   {"requester", "admin"},
		fmt.Sprintf("/shipping-requirements/%d", s.shipping):   members,
		fmt.Sprintf("/materials/%d", s.material):               members,
		fmt.Sprintf("/materials/%d", imported):                 members,
		fmt.Sprintf("/grants/%d", s.newGrant()):                {"member", "admin"},
		fmt.Sprintf("/attachments/%d", bare):                   {"requester", "admin"},
		fmt.Sprintf("/attachments/%d", shared):                 {"member", "admin"}, // the requester reads it
		fmt.Sprintf("/attachments/%d", s.newAttachment().id()): members,
	}
	for _, id := range []int64{s.request, closed, sent, returned, shut} {
		list[fmt.Sprintf("/material-requests/%d", id)] = parties
	}
	return list
}

func (o obj) meta(m obj) obj {
	o["additional_metadata"] = m
	return o
}

// sendBack reads an object, puts it back to the letter and reads it again. The only rows that may
// come of it are notes that an admin used their power.
func (s *scene) sendBack(path, role string) {
	s.t.Helper()
	p := s.people[role]
	read := p.want(200, "GET", path, nil)
	for _, method := range []string{"PUT", "PATCH"} {
		before := s.rows()
		written := p.call(method, path, string(read.Raw))
		want := ""
		if role == "admin" && path != s.user("") {
			want = "audit_events+1"
		}
		if role == "admin" && path == s.user("") {
			want = "audit_events+2" // to change it, and to be shown the private part
		}
		if diff := grew(before, s.rows()); diff != want && !(role == "admin" && diff == "") {
			s.t.Errorf("%s %s by %s changed %s", method, path, role, diff)
		}
		again := p.want(200, "GET", path, nil)
		if written.Status != 200 || !bytes.Equal(written.Raw, read.Raw) || !bytes.Equal(again.Raw, read.Raw) {
			s.t.Errorf("%s %s by %s: %d\n read %s\n put  %s\n then %s", method, path, role, written.Status, read.Raw,
				written.Raw, again.Raw)
		}
	}
}

// TestReferences_AreAcceptedInEveryForm holds write names, read names and the forms of a reference.
func TestReferences_AreAcceptedInEveryForm(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		mta := s.newAttachment().id()
		other := s.owner.Lab
		path := fmt.Sprintf("/materials/%d", s.newMaterial())
		read := map[string]string{"contact_user_id": "contact_user", "mta_attachment_id": "mta_attachment",
			"organization_id": "organization", "shipping_requirements_id": "shipping_requirements"}
		values := map[string][2]any{ // from, to
			"contact_user_id": {s.assignee.ID.String(), s.owner.ID.String()}, "mta_attachment_id": {nil, mta},
			"shipping_requirements_id": {nil, s.shipping}, "organization_id": {s.id, other},
		}
		for write, pair := range values {
			for _, name := range []string{write, read[write]} {
				for _, form := range []any{pair[1], fmt.Sprint(pair[1]), obj{"id": pair[1]},
					obj{"id": fmt.Sprint(pair[1]), "name": "x"}} {
					reset := obj{write: pair[0]}
					if write == "organization_id" {
						reset["shipping_requirements_id"] = nil
						s.owner.want(200, "PATCH", path, obj{"shipping_requirements_id": nil})
					}
					s.owner.want(200, "PATCH", path, reset)
					a := s.owner.want(200, "PATCH", path, obj{name: form})
					got := a.Body[read[write]]
					if m, ok := got.(map[string]any); ok {
						got = m["id"]
					}
					if fmt.Sprint(got) != fmt.Sprint(pair[1]) {
						t.Errorf("%s: %v gave %v", name, form, got)
					}
				}
			}
			if write == "organization_id" {
				s.owner.want(200, "PATCH", path, obj{"organization_id": s.id})
			}
		}
		for _, name := range []string{"organism", "organisms"} {
			a := s.owner.want(200, "PATCH", path, obj{name: []string{"Mus musculus", name}})
			if fmt.Sprint(a.Body["organisms"]) != fmt.Sprint([]string{"Mus musculus", name}) {
				t.Errorf("%s gave %v", name, a.Body["organisms"])
			}
		}
		if a := s.owner.want(200, "PATCH", path,
			obj{"organization": other, "organization_id": s.id}); a.Body["organization"] != float64(s.id) {
			t.Errorf("of two names the written one counts; got %v", a.Body["organization"])
		}
		for _, wrong := range []any{0, -1, 1.5, "x", "", true, []any{1}, obj{}, obj{"id": nil}, obj{"id": obj{"id": 1}},
			1e30, "9223372036854775808"} {
			a := s.owner.refused(400, "INVALID_INPUT", "PATCH", path, obj{"mta_attachment_id": wrong})
			if a.at("fields.mta_attachment_id") == nil {
				t.Errorf("mta_attachment_id %v: %s", wrong, a.Raw)
			}
		}
	})
}

// TestNull_ClearsOnlyNullableFields goes through every field of every input.
func TestNull_ClearsOnlyNullableFields(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.fill()
		attachment := fmt.Sprintf("/attachments/%d", s.newAttachment().id())
		tests := []struct {
			by                 *testPerson
			path               string
			nullable, required []string
		}{
			{s.member, fmt.Sprintf("/materials/%d", s.material),
				[]string{"organisms", "publication_title", "pre_print_doi", "pre_print_title",
					"citation", "additional_info", "embargo_date", "mta_attachment_id", "shipping_requirements_id"},
				[]string{"category", "url", "pubmed_id", "additional_metadata", "title", "needs_mta", "needs_irb",
					"needs_abstract", "imported",
					"import_source", "contact_user_id", "organization_id"}},
			{s.member, fmt.Sprintf("/grants/%d", s.newGrant()), nil, []string{"title", "funder_id"}},
			{s.owner, attachment, []string{"owned_by_org", "sequence_map_for"}, []string{"filename", "description"}},
			{s.requester(), s.req(""),
				[]string{"requester_signed_mta_attachment", "irb_attachment", "executed_mta_attachment", "address"},
				[]string{"status", "is_active", "assigned_to", "requester_abstract", "payment_method",
					"payment_method_notes", "rejection_reason",
					"override_reason", "reason"}},
			{s.member, s.req("/shipment"), []string{"sent_at"}, []string{"carrier", "tracking", "conditions"}},
			{s.owner, fmt.Sprintf("/organizations/%d", s.id), []string{"signs_ahead_until"},
				[]string{"name", "description", "owner", "members", "decide_days", "countersign_days", "ship_days"}},
			{s.requester(), s.user(""), nil, []string{"first_name", "last_name", "email"}},
			{s.requester(), s.user("/mail-settings"), []string{"quiet_from"},
				[]string{"delivery", "time_zone", "digest_at", "digest_day", "muted"}},
			{s.requester(), fmt.Sprintf("%s/%d", s.user("/addresses"), s.newAddress()), nil,
				[]string{"name", "institution", "address_line_1",
					"address_line_2", "locality", "state", "country", "postal_code", "saved_for_reuse"}},
			{s.requester(), s.newSavedSearch(), nil, []string{"name", "search", "filters", "alerts"}},
			{s.owner, s.newWebhook(), []string{"events"}, []string{"url", "description", "enabled"}},
			{s.member, fmt.Sprintf("/shipping-requirements/%d", s.shipping), nil,
				[]string{"organization", "needs_shipping_address", "needs_payment",
					"accepts_shipping_code", "accepts_reimbursement", "accepts_other_payment_methods",
					"accepted_payment_details", "restrictions"}},
			{s.member, fmt.Sprintf("/organization-user-settings/%d", s.settings(s.member)), nil,
				[]string{"new_request_notif",
					"change_in_request_status_notif", "request_approval_determined_notif", "request_assigned_notif",
					"reminder_notif"}},
		}
		for _, test := range tests {
			all := obj{}
			for _, name := range test.required {
				all[name] = nil
			}
			a := test.by.refused(400, "INVALID_INPUT", "PATCH", test.path, all)
			for _, name := range test.required {
				if a.at("fields."+name) == nil {
					t.Errorf("%s: %s: null is not named as wrong", test.path, name)
				}
			}
			if named := a.Body["fields"].(map[string]any); len(named) != len(test.required) {
				t.Errorf("%s: %d fields named, want %d", test.path, len(named), len(test.required))
			}
			for _, name := range test.nullable {
				if name == "executed_mta_attachment" {
					s.member.want(200, "PATCH", test.path, obj{name: nil})
					continue // the lab's
				}
				a := test.by.want(200, "PATCH", test.path, obj{name: nil})
				shown := a.Body[map[string]string{"mta_attachment_id": "mta_attachment",
					"shipping_requirements_id": "shipping_requirements"}[name]]
				if shown == nil {
					shown = a.Body[name]
				}
				if shown != nil {
					t.Errorf("%s: %s is %v after null", test.path, name, shown)
				}
			}
		}
	})
}
