package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestOrganization_ListsHoldOnlyItsOwn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/organizations/%d", s.id)
		grant, hidden := s.newGrant(), s.newMaterial()
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", hidden), obj{"embargo_date": "2999-01-01"})
		s.requester().want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "A", "organization_id": s.requester().Lab})
		s.member.want(200, "POST", "/grants", obj{"title": "Of no lab", "funder_id": "R02"})

		page := s.anonymous().want(200, "GET", path+"/members/?limit=2", nil)
		next, _, _ := strings.Cut(strings.TrimPrefix(page.Header.Get("Link"), "<"), ">")
		more := s.anonymous().want(200, "GET", next, nil)
		ids := []string{}
		for _, m := range append(page.List, more.List...) {
			ids = append(ids, m.(map[string]any)["id"].(string))
		}
		want := []string{s.owner.ID.String(), s.member.ID.String(), s.assignee.ID.String()}
		slices.Sort(want)
		slices.Sort(ids)
		if !slices.Equal(ids, want) || page.Header.Get("X-Total-Count") != "3" || more.Header.Get("Link") != "" {
			t.Errorf("members: %v of %v", ids, page.Header)
		}
		for _, test := range []struct {
			by   *testPerson
			part string
			want []int64
		}{
			{s.member, "/materials", []int64{hidden, s.material}},
			{s.requester(), "/materials", []int64{s.material}},
			{s.owner, "/grants", []int64{grant}},
		} {
			if got := idsOf(test.by.want(200, "GET", path+test.part, nil).List); !slices.Equal(got, test.want) {
				t.Errorf("%s for %s: %v, want %v", test.part, test.by.name, got, test.want)
			}
		}
		for _, part := range []string{"members", "materials", "grants"} {
			s.member.refused(404, "NOT_FOUND", "GET", "/organizations/9999/"+part, nil)
		}
	})
}

func TestOrganization_SignsAheadByItsOwnerAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/organizations/%d", s.id)
		until := obj{"signs_ahead_until": time.Now().AddDate(0, 6, 0).Format(time.DateOnly)}
		for _, p := range []*testPerson{s.member, s.admin()} {
			p.want(403, "PATCH", path, until)
		}
		s.owner.want(400, "PATCH", path, obj{"signs_ahead_until": time.Now().AddDate(2, 0, 0).Format(time.DateOnly)})
		if got := s.owner.want(200, "PATCH", path, until); got.Body["signs_ahead_until"] != until["signs_ahead_until"] {
			t.Errorf("%v", got.Body)
		}
		s.owner.want(200, "PATCH", path, obj{"description": "Mice"})
		if got := s.owner.want(200, "PATCH", path, obj{"signs_ahead_until": nil}); got.Body["signs_ahead_until"] != nil {
			t.Errorf("taken back: %v", got.Body)
		}
	})
}
