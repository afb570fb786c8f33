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

// TestInquiry_IsAnsweredOnceAndLeadsToARequest: both sides read question and answer, and the request names it.
func TestInquiry_IsAnsweredOnceAndLeadsToARequest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		me, id := s.requester(), s.newMaterial()
		asked := me.want(201, "POST", fmt.Sprintf("/materials/%d/inquiries/", id), obj{"text": " Which passage? "})
		s.member.told("inquiry_made")
		path := fmt.Sprintf("/inquiries/%d", asked.id())
		if asked.at("question") != "Which passage?" || asked.at("answer") != nil || asked.at("request") != nil {
			t.Errorf("an inquiry: %s", asked.Raw)
		}
		me.refused(409, "CONFLICT", "POST", fmt.Sprintf("/materials/%d/inquiries", id), obj{"text": "And which lot?"})
		list := fmt.Sprintf("/organizations/%d/inquiries?answered=", s.id)
		if n := len(s.member.want(200, "GET", list+"false", nil).List); n != 1 {
			t.Errorf("the lab has %d inquiries to answer", n)
		}
		s.member.want(200, "POST", path+"/answer", obj{"text": "Passage 12."})
		s.member.want(200, "POST", path+"/answer", obj{"text": "Passage 12."})
		s.owner.refused(409, "CONFLICT", "POST", path+"/answer", obj{"text": "Passage 14."})
		me.told("inquiry_answered")
		got := me.want(200, "GET", path, nil)
		if got.at("answer") != "Passage 12." || got.at("answered_by") != s.member.ID.String() {
			t.Errorf("an answer: %s", got.Raw)
		}
		if n := len(s.member.want(200, "GET", list+"false", nil).List); n != 0 {
			t.Errorf("the lab still has %d inquiries to answer", n)
		}
		if n := len(me.want(200, "GET", fmt.Sprintf("/users/%s/inquiries?answered=true", me.ID), nil).List); n != 1 {
			t.Errorf("the requester has %d answered inquiries", n)
		}
		me.refused(400, "INVALID_INPUT", "POST", "/material-requests",
			obj{"material": s.newMaterial(), "inquiry": asked.id()})
		s.people["stranger"].refused(400, "INVALID_INPUT", "POST", "/material-requests",
			obj{"material": id, "inquiry": asked.id()})
		q := me.want(201, "POST", "/material-requests", obj{"material": id, "inquiry": asked.id()})
		if got := s.member.want(200, "GET", path, nil); got.at("request") != float64(q.id()) {
			t.Errorf("the inquiry names request %v, not %d", got.at("request"), q.id())
		}
		me.refused(400, "INVALID_INPUT", "POST", "/material-requests", obj{"material": id, "inquiry": asked.id()})
	})
}

// TestInquiry_IsRefused where the person, the material or the number of questions does not allow it; nothing changes.
func TestInquiry_IsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		ask := func(id int64) string { return fmt.Sprintf("/materials/%d/inquiries", id) }
		text := obj{"text": "Which passage?"}
		archived, embargoed := s.newMaterial(), s.newMaterial()
		s.member.want(204, "DELETE", fmt.Sprintf("/materials/%d", archived), nil)
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", embargoed), obj{"embargo_date": "2999-01-01"})
		before := s.rows()
		s.requester().refused(409, "MATERIAL_ARCHIVED", "POST", ask(archived), text)
		s.requester().refused(409, "MATERIAL_EMBARGOED", "POST", ask(embargoed), text)
		s.requester().refused(404, "NOT_FOUND", "POST", ask(999999), text)
		s.requester().refused(400, "INVALID_INPUT", "POST", ask(s.material), obj{"text": " "})
		s.member.refused(409, "CONFLICT", "POST", ask(s.material), text)
		s.anonymous().refused(401, "NOT_AUTHENTICATED", "POST", ask(s.material), text)
		if diff := grew(before, s.rows()); strings.Contains(diff, "inquiries") || strings.Contains(diff, "news") {
			t.Errorf("refused inquiries left %s", diff)
		}
		var first int64
		for range 20 {
			id := s.requester().want(201, "POST", ask(s.newMaterial()), text).id()
			if first == 0 {
				first = id
			}
		}
		s.requester().refused(429, "RATE_LIMITED", "POST", ask(s.newMaterial()), text)
		s.past("inquiries", first, 25*time.Hour, "created_at")
		s.requester().want(201, "POST", ask(s.newMaterial()), text)
	})
}

// TestInquiry_FollowsItsMaterial to another lab, whose members then answer it.
func TestInquiry_FollowsItsMaterial(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		id := s.newMaterial()
		path := fmt.Sprintf("/inquiries/%d", s.requester().want(201, "POST", fmt.Sprintf("/materials/%d/inquiries", id),
			obj{"text": "Which passage?"}).id())
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", id),
			obj{"organization_id": s.member.Lab, "contact_user_id": s.member.ID})
		s.owner.refused(403, "FORBIDDEN", "GET", path, nil)
		s.member.want(200, "POST", path+"/answer", obj{"text": "Passage 12."})
	})
}
