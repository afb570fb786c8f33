package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestMovedMaterial_LabThatHadIt holds that the lab reads its history up to the move and takes the material back within
// 30 days, where access is open, whatever the other lab did to it.
func TestMovedMaterial_LabThatHadIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessOpen)
		stranger, other := s.people["stranger"], s.people["requester"]
		id := s.newMaterial()
		path := fmt.Sprintf("/materials/%d", id)
		s.member.want(200, "PATCH", path, obj{"title": "B"})
		stranger.want(200, "PATCH", path, obj{"organization_id": stranger.Lab, "title": "Mine"})
		stranger.want(200, "PATCH", path, obj{"embargo_date": "2999-12-31"})
		for _, name := range []string{"member", "owner"} {
			s.people[name].refused(404, "NOT_FOUND", "GET", path, nil)
			a := s.people[name].want(200, "GET", path+"/history", nil)
			if len(a.List) != 2 || a.List[0].(map[string]any)["changes"] == nil ||
				strings.Contains(string(a.Raw), "Mine") {
				t.Errorf("%s reads %s", name, a.Raw)
			}
		}
		other.refused(404, "NOT_FOUND", "GET", path+"/history", nil)
		s.people["anonymous"].refused(401, "NOT_AUTHENTICATED", "GET", path+"/history", nil)
		back := obj{"organization_id": s.id}
		other.refused(404, "NOT_FOUND", "PATCH", path, back)
		s.member.refused(404, "NOT_FOUND", "PATCH", path, obj{"title": "C"})
		if a := s.member.want(200, "PATCH", path, back); a.Body["organization"] != float64(s.id) {
			t.Errorf("taken back: %s", a.Raw)
		}
		s.member.want(200, "PATCH", path, obj{"embargo_date": nil})
		stranger.want(200, "PATCH", path, obj{"organization_id": stranger.Lab, "embargo_date": "2999-12-31"})
		s.past("material_moves", 2, 31*24*time.Hour, "moved_at") // id 1 is the first, 2 taking it back, 3 this one
		s.past("material_moves", 3, 31*24*time.Hour, "moved_at")
		s.member.refused(404, "NOT_FOUND", "PATCH", path, back)
		s.member.want(200, "GET", path+"/history", nil)
	})
}
