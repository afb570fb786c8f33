package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// changesOf are bodies that change a field each; rapid strings them together.
func (s *scene) changesOf() (material, organization []obj) {
	first, second := s.newAttachment().id(), s.newAttachment().id()
	other := s.owner.want(201, "POST", "/organizations",
		obj{"owner": s.owner.ID, "members": []any{s.member.ID}, "name": "Other"}).id()
	people := []any{s.owner.ID, s.member.ID, s.assignee.ID, s.former.ID}
	return []obj{
			{"title": "a <b> & c"}, {"title": "HeLa"}, {"url": "https://example.org/a?b=1&c=2"}, {"url": ""},
			{"pubmed_id": "13052828"},
			{"needs_mta": true}, {"needs_mta": false}, {"needs_irb": false}, {"needs_abstract": true},
			{"citation": nil}, {"citation": ""},
			{"organisms": nil}, {"organisms": []string{}}, {"organisms": []string{"Mus musculus", "Homo sapiens"}},
			{"embargo_date": "2031-01-02"},
			{"embargo_date": nil}, {"mta_attachment_id": first}, {"mta_attachment_id": second},
			{"mta_attachment_id": nil},
			{"contact_user_id": s.owner.ID}, {"contact_user_id": s.member.ID}, {"is_archived": true},
			{"is_archived": false},
			{"shipping_requirements_id": nil}, {"shipping_requirements_id": s.shipping},
			// A lab's document that no material shows any more is not another lab's to show: it stays behind, as the
			// requirements do.
			{"organization_id": other, "shipping_requirements_id": nil, "mta_attachment_id": nil},
			{"organization_id": s.id},
			obj{}.meta(obj{"rrid": "CVCL_0320", "own <key>": []any{1, 2.50, nil}}), obj{}.meta(obj{}),
		}, []obj{
			{"name": "A & <B>"}, {"name": "C"}, {"description": "long <b> &\u2028"}, {"description": ""}, {"decide_days": 3},
			{"ship_days": 365}, {"countersign_days": 1},
			{"owner": s.member.ID}, {"owner": s.owner.ID}, {"members": people}, {"members": people[:2]},
			{"members": people[2:]}, {"members": []any{}},
		}
}

// TestVersions_PutBackRestoreTheObject is contract.md section 3: a change is taken back by
// a PUT of an old version's state. In an open installation that holds for who is in a lab too.
func TestVersions_PutBackRestoreTheObject(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessOpen)
		admin := s.people["admin"]
		forMaterial, forOrganization := s.changesOf()
		rapid.Check(t, func(r *rapid.T) {
			path, bodies := fmt.Sprintf("/materials/%d", s.newMaterial()), forMaterial
			if rapid.Bool().Draw(r, "an organization") {
				path = fmt.Sprintf("/organizations/%d",
					s.owner.want(201, "POST", "/organizations",
						obj{"owner": s.owner.ID, "members": []any{s.member.ID}}).id())
				bodies = forOrganization
			}
			shown := []map[string]any{admin.want(200, "GET", path, nil).Body} // after each change, as GET has it
			for _, body := range rapid.SliceOfN(rapid.SampledFrom(bodies), 1, 6).Draw(r, "changes") {
				a := admin.call("PATCH", path, body)
				if a.Status == 400 && (body["shipping_requirements_id"] != nil || body["organization_id"] != nil ||
					body["mta_attachment_id"] != nil) {
					continue // shipping requirements, or an MTA, of another organization
				}
				if a.Status != 200 {
					r.Fatalf("%v: %d %s", body, a.Status, a.Raw)
				}
				if !cmp.Equal(facts(a.Body), facts(shown[len(shown)-1])) {
					shown = append(shown, a.Body)
				}
			}
			list := admin.want(200, "GET", path+"/history", nil).List
			if len(list) != len(shown) {
				r.Fatalf("%d versions, want %d", len(list), len(shown))
			}
			for i, want := range slices.Backward(shown) {
				v := list[len(shown)-1-i].(map[string]any)
				state := v["state"].(map[string]any)
				if diff := cmp.Diff(want, state); diff != "" || v["version"] != float64(i+1) {
					r.Fatalf("version %v is not what GET showed (-GET +state): %s", v["version"], diff)
				}
				if i > 0 {
					mustTell(r, shown[i-1], want, v["changes"].([]any))
				}
				put := admin.want(200, "PUT", path, state)
				if diff := cmp.Diff(facts(want), facts(admin.want(200, "GET", path, nil).Body)); diff != "" ||
					put.id() == 0 {
					r.Fatalf("version %d put back (-was +is): %s", i+1, diff)
				}
			}
		})
	})
}

// facts is an object without the time of its last change.
func facts(o map[string]any) map[string]any {
	o = maps.Clone(o)
	delete(o, "updated_at")
	return o
}

// mustTell fails unless changes are the differences of two states.
func mustTell(r *rapid.T, before, after map[string]any, changes []any) {
	told := map[string]any{}
	for _, c := range changes {
		c := c.(map[string]any)
		told[c["field"].(string)] = []any{c["old"], c["new"]}
	}
	want := map[string]any{}
	for field, value := range facts(after) {
		if !cmp.Equal(value, before[field]) {
			want[field] = []any{before[field], value}
		}
	}
	if diff := cmp.Diff(want, told); diff != "" {
		r.Fatalf("changes (-want +got): %s", diff)
	}
}

func TestHistory_NamesWhoChangedWhat(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessOpen)
		path := fmt.Sprintf("/materials/%d", s.material)
		s.anonymous().want(200, "PATCH", path, obj{"title": "Vandals were here", "needs_irb": false})
		s.anonymous().want(200, "PATCH", path, obj{"title": "Vandals were here"})
		// no change of the material
		s.assignee.want(200, "PATCH", fmt.Sprintf("/users/%s", s.assignee.ID), obj{"first_name": "Renamed"})
		s.people["admin"].want(204, "DELETE", fmt.Sprintf("/materials/%d", s.newMaterial()), nil)
		s.member.want(200, "PATCH", path, obj{"citation": "Fogh 1975"})
		a := s.member.want(200, "GET", path+"/history?limit=2", nil)
		if len(a.List) != 2 || a.Header.Get("X-Total-Count") != "3" || a.Header.Get("Link") == "" {
			t.Fatalf("%s %v", a.Raw, a.Header)
		}
		member := a.List[0].(map[string]any)
		nobody := a.List[1].(map[string]any)
		if member["actor"].(map[string]any)["id"] != s.member.ID.String() || nobody["actor"] != nil ||
			nobody["action"] != "material.update" {
			t.Errorf("%s", a.Raw)
		}
		for version, want := range map[string]string{
			"citation": fmt.Sprint(member["changes"]), "title needs_irb": fmt.Sprint(nobody["changes"]),
		} {
			told := map[string]string{"citation": "[map[field:citation new:Fogh 1975 old:<nil>]]",
				"title needs_irb": "[map[field:title new:Vandals were here old:HT-29] map[field:needs_irb new:false " +
					"old:true]]"}
			if want != told[version] {
				t.Errorf("%s: %s", version, want)
			}
		}
		if raw, err := json.Marshal(a.List); err != nil || a.Header.Get("Content-Type") != "application/json" ||
			len(raw) == 0 {
			t.Error(err)
		}
		archived := s.people["admin"].want(200, "GET", "/audit-events?as_admin=true&action=material.archive", nil)
		if len(archived.List) != 1 || archived.List[0].(map[string]any)["as_admin"] != true {
			t.Errorf("an admin's change is one audit event: %s", archived.Raw)
		}
	})
}

func TestPut_ArchivingNeedsItsOwnRight(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessOpen)
		path := fmt.Sprintf("/materials/%d", s.newMaterial())
		s.anonymous().refused(401, "NOT_AUTHENTICATED", "PATCH", path, obj{"is_archived": true})
		s.people["stranger"].refused(403, "FORBIDDEN", "PATCH", path, obj{"is_archived": true})
		s.member.want(200, "PATCH", path, obj{"is_archived": true})
		s.anonymous().refused(401, "NOT_AUTHENTICATED", "PATCH", path, obj{"is_archived": false})
		s.anonymous().want(200, "PATCH", path, obj{"is_archived": true}) // as it is
		s.member.want(200, "PATCH", path, obj{"is_archived": false})
		s.member.refused(409, "CONFLICT", "PATCH", fmt.Sprintf("/materials/%d", s.material), obj{"is_archived": true})
	})
}

func TestAudit_Filters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		admin := s.people["admin"]
		object := fmt.Sprintf("material %d", s.material)
		admin.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.material), obj{"title": "A"})
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.material), obj{"title": "B"})
		for query, want := range map[string]int{
			"object=" + fmt.Sprintf("material%%20%d", s.material):                    3,
			"object=" + fmt.Sprintf("material+%d&as_admin=true", s.material):         1,
			"object=" + fmt.Sprintf("material+%d&actor=%s", s.material, s.member.ID): 2,
			"action=material.update&as_admin=false":                                  1,
			fmt.Sprintf("actor=%s&action=material.update", admin.ID):                 1,
			"action=nothing": 0,
			"action=audit.read&as_admin=true&limit=1":                                   1, // reading is noted too
			fmt.Sprintf("action=organization.create&actor=%s", s.people["stranger"].ID): 1, // the personal one
		} {
			a := admin.want(200, "GET", "/audit-events/?"+query, nil)
			if len(a.List) != want {
				t.Errorf("%s: %d, want %d: %s", query, len(a.List), want, a.Raw)
			}
		}
		admin.refused(400, "INVALID_INPUT", "GET", "/audit-events?actor=me", nil)
		operator := admin.want(200, "GET", "/audit-events?action=user.update", nil).List[0].(map[string]any)
		if operator["actor"] != nil || operator["as_admin"] != true || operator["version"] != nil {
			t.Errorf("the operator's act: %v", operator)
		}
		update := admin.want(200, "GET", fmt.Sprintf("/audit-events?object=material+%d", s.material),
			nil).List[0].(map[string]any)
		if update["object"] != object || update["version"] != 3.0 {
			t.Errorf("%v", update)
		}
	})
}
