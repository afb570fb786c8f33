package api_test

import (
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestObject_IsJSONForAnyAcceptHeaderAndLinksItsPage(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for path, page := range map[string]string{
			fmt.Sprintf("/materials/%d", s.material):         fmt.Sprintf("/catalog/%d", s.material),
			fmt.Sprintf("/organizations/%d", s.id):           fmt.Sprintf("/labs/%d", s.id),
			fmt.Sprintf("/material-requests/%d", s.request):  fmt.Sprintf("/requests/%d", s.request),
			"/users/" + s.member.ID.String() + "/addresses":  "",
			fmt.Sprintf("/organizations/%d/members", s.id):   "",
			fmt.Sprintf("/materials/%d/history", s.material): "",
		} {
			want := ""
			if page != "" {
				want = "<" + publicURL + page + `>; rel="alternate"; type="text/html"`
			}
			for _, accept := range []string{"", "*/*", "application/json", "text/html,application/xhtml+xml",
				"image/png"} {
				for _, base := range []string{"", "/v1"} {
					a := s.member.callWith(map[string]string{"Accept": accept}, "GET", base+path, nil)
					if a.Status != 200 || a.Header.Get("Content-Type") != "application/json" ||
						a.Header.Get("Link") != want {
						t.Errorf("%s as %q: %d %s, Link %q, want %q", base+path, accept, a.Status,
							a.Header.Get("Content-Type"), a.Header.Get("Link"), want)
					}
				}
			}
		}
		s.people["anonymous"].refused(404, "NOT_FOUND", "GET", "/materials/999999", nil)
		if a := s.people["anonymous"].call("GET", "/materials/999999", nil); a.Header.Get("Link") != "" {
			t.Errorf("nothing has the page %s", a.Header.Get("Link"))
		}
	})
}

func TestSequenceMap_ShowsItsMaterial(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		mapped := s.newMaterial()
		material := s.member.want(200, "GET", fmt.Sprintf("/materials/%d", mapped), nil).Body
		made := s.member.upload("map.gb", pdf, obj{"sequence_map_for": mapped})
		path := fmt.Sprintf("/attachments/%d", made.id())
		got := s.member.want(200, "GET", path, nil)
		for what, shown := range map[string]any{
			"POST": made.Body["sequence_map_for"], "GET": got.Body["sequence_map_for"],
			"the list": s.people["admin"].want(200, "GET", fmt.Sprintf("/attachments?sequence_map_for=%d", mapped),
				nil).List[0].(obj2)["sequence_map_for"],
		} {
			if encode(shown) != encode(material) {
				t.Errorf("%s shows %v, want %v", what, shown, material)
			}
		}
		tag := map[string]string{"If-Match": got.Header.Get("ETag")}
		if a := s.member.callWith(tag, "PUT", path, got.Body); a.Status != 200 ||
			encode(a.Body["sequence_map_for"]) != encode(material) {
			t.Errorf("sent back: %d %s", a.Status, a.Raw)
		}
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", mapped), obj{"title": "Another title"})
		if a := s.member.callWith(tag, "PATCH", path, obj{"description": "late"}); a.Status != 412 {
			t.Errorf("with the tag of before: %d", a.Status)
		}
		for _, form := range []any{mapped, obj{"id": mapped}} {
			s.member.want(200, "PATCH", path, obj{"sequence_map_for": nil})
			if a := s.member.want(200, "PATCH", path,
				obj{"sequence_map_for": form}); valueOf(a.Body["sequence_map_for"]) != fmt.Sprint(mapped) {
				t.Errorf("as %v: %s", form, a.Raw)
			}
		}
	})
}

func TestSavedSearch_HoldsOnlyFiltersThatSearchAccepts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	p := w.person("ada")
	path := fmt.Sprintf("/users/%s/saved-searches", p.ID)
	for facet, value := range map[string]string{"needs_mta": "maybe", "category": "STONE", "organization": "mine",
		"colour": "red"} {
		a := p.refused(400, "INVALID_INPUT", "POST", path,
			obj{"search": "hela", "filters": obj{facet: []string{value}}})
		if a.at("fields.filters") == nil {
			t.Errorf("%s=%s: %s", facet, value, a.Raw)
		}
		p.refused(400, "INVALID_INPUT", "GET", "/search/materials?"+facet+"="+value, nil)
	}
	p.want(201, "POST", path,
		obj{"filters": obj{"needs_mta": []string{"true"}, "category": []string{"PDX"}, "organization": []string{"7"}}})
}
