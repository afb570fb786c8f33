package api_test

import (
	"fmt"
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestGrant_ListsItsMaterialsAndTheirOrganizations(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		made := s.member.want(200, "POST", "/grants/",
			obj{"title": " Colon ", "funder_id": "R01", "user": s.owner.ID, "materials": []any{s.material}})
		path := fmt.Sprintf("/grants/%d", made.id())
		if made.Header.Get("Location") != "/v1"+path || made.at("title") != "Colon" ||
			made.at("user.id") != s.member.ID.String() ||
			fmt.Sprint(made.Body["organizations"], made.Body["materials"]) != "[] []" {
			t.Errorf("a new grant: %s", made.Raw)
		}
		own := s.member.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "A", "organization_id": s.member.Lab}).id()
		for i, id := range []any{s.material, fmt.Sprint(own), obj{"id": own}, own} {
			a := s.member.want([]int{201, 201, 200, 200}[i], "POST", path+"/materials", obj{"material_id": id})
			if fmt.Sprint(a.Body["grants"]) != fmt.Sprintf("[%d]", made.id()) {
				t.Errorf("the material that was named: %s", a.Raw)
			}
		}
		g := s.member.want(200, "GET", path, nil)
		materials, labs := g.Body["materials"].([]any), g.Body["organizations"].([]any)
		if got := idsOf(materials); !slices.Equal(got, []int64{own, s.material}) {
			t.Errorf("materials: %v", got)
		}
		if got := idsOf(labs); !slices.Equal(got, []int64{s.member.Lab, s.id}) ||
			labs[1].(map[string]any)["owner"] != s.owner.ID.String() {
			t.Errorf("organizations: %v", labs)
		}
		if got := materials[1].(map[string]any)["contact_user"]; got != s.assignee.ID.String() {
			t.Errorf("contact_user: %v", got)
		}
		if got := idsOf(s.member.want(200, "GET", path+"/materials", nil).List); !slices.Equal(got,
			[]int64{own, s.material}) {
			t.Errorf("its list of materials: %v", got)
		}
		if got := s.owner.want(200, "GET", "/grants", nil).List; len(got) != 0 {
			t.Errorf("another's list: %v", got)
		}

		// Who leaves the lab may not name its materials any more, and may take them out.
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"members": []any{s.assignee.ID}})
		s.member.refused(403, "FORBIDDEN", "POST", path+"/materials", obj{"material_id": s.material})
		s.member.want(204, "DELETE", fmt.Sprintf("%s/materials/%d", path, s.material), nil)
		s.member.refused(404, "NOT_FOUND", "DELETE", fmt.Sprintf("%s/materials/%d", path, s.material), nil)
		if got := idsOf(s.member.want(200, "GET", path, nil).Body["organizations"].([]any)); !slices.Equal(got,
			[]int64{s.member.Lab}) {
			t.Errorf("organizations: %v", got)
		}
		var told []string
		for _, v := range s.owner.want(200, "GET", fmt.Sprintf("/materials/%d/history", s.material), nil).List {
			told = append(told, fmt.Sprintf("%v %v", v.(map[string]any)["action"], v.(map[string]any)["changes"]))
		}
		if want := []string{
			fmt.Sprintf("grant.update [map[field:grants new:[] old:[%d]]]", made.id()),
			fmt.Sprintf("material.fund [map[field:grants new:[%d] old:[]]]", made.id()),
			"material.create []",
		}; !slices.Equal(told, want) {
			t.Errorf("history of the material: %q", told)
		}
	})
}

func TestGrant_NamesWhatItLacks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/grants/%d", s.newGrant())
		s.unchanged("a refused grant", func() {
			for _, test := range []struct {
				method, path string
				body         obj
				fields       []string
			}{
				{"POST", "/grants", obj{}, []string{"title", "funder_id"}},
				{"POST", "/grants", obj{"title": "A", "funder_id": " "}, []string{"funder_id"}},
				{"PATCH", path, obj{"title": "", "funder_id": "a\nb"}, []string{"title", "funder_id"}},
				{"POST", path + "/materials", obj{}, []string{"material_id"}},
				{"POST", path + "/materials", obj{"material_id": "x"}, []string{"material_id"}},
				{"POST", path + "/materials", obj{"material_id": 9999}, []string{"material_id"}},
			} {
				a := s.member.refused(400, "INVALID_INPUT", test.method, test.path, test.body)
				if fields := a.Body["fields"].(map[string]any); len(fields) != len(test.fields) ||
					fields[test.fields[0]] == nil {
					t.Errorf("%s %s %v: %s", test.method, test.path, test.body, a.Raw)
				}
			}
			s.member.refused(404, "NOT_FOUND", "GET", "/grants/9999", nil)
			s.member.refused(404, "NOT_FOUND", "GET", "/grants/9999/materials", nil)
			s.member.refused(404, "NOT_FOUND", "DELETE", path+"/materials/9999", nil)
		})
	})
}

func idsOf(list []any) []int64 {
	ids := make([]int64, len(list))
	for i, item := range list {
		ids[i] = int64(item.(map[string]any)["id"].(float64))
	}
	return ids
}
