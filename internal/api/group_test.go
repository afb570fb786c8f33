package api_test

import (
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestGroup_IsMadeWholeOrNotAtAll: every material that cannot be requested is named, and none is requested then,
// unless the requester leaves it out.
func TestGroup_IsMadeWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		good, archived, embargoed := s.newMaterial(), s.newMaterial(), s.newMaterial()
		s.member.want(204, "DELETE", fmt.Sprintf("/materials/%d", archived), nil)
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", embargoed), obj{"embargo_date": "2999-01-01"})
		asked := []int64{good, archived, embargoed, s.material} // the last one has an open request
		before := len(s.requester().want(200, "GET", "/material-requests", nil).List)
		a := s.requester().refused(400, "INVALID_INPUT", "POST", "/request-groups", obj{"materials": asked})
		texts := fmt.Sprint(a.at("fields"))
		for _, want := range []string{"[1] A: This material is archived", "under embargo until 2999-01-01",
			"You already have an open request for it"} {
			if !strings.Contains(texts, want) {
				t.Errorf("the answer does not say %q: %s", want, texts)
			}
		}
		if strings.Contains(texts, "[2] A") { // its title is hidden
			t.Errorf("the answer names a hidden material: %s", texts)
		}
		s.requester().refused(400, "INVALID_INPUT", "POST", "/request-groups",
			obj{"materials": []int64{good, s.foreignMaterial()}})
		s.requester().refused(400, "INVALID_INPUT", "POST", "/request-groups", obj{"materials": []int64{good, 999999}})
		s.requester().refused(400, "INVALID_INPUT", "POST", "/request-groups",
			obj{"materials": []int64{good}, "address": 999999})
		s.member.refused(400, "INVALID_INPUT", "POST", "/request-groups", obj{"materials": []int64{good}})
		if n := len(s.requester().want(200, "GET", "/material-requests", nil).List); n != before {
			t.Fatalf("refused groups made %d requests", n-before)
		}
		made := s.requester().want(201, "POST", "/request-groups", obj{"materials": asked, "skip_unavailable": true})
		if n := len(made.Body["requests"].([]any)); n != 1 {
			t.Errorf("the group has %d requests", n)
		}
		if n := len(made.Body["skipped"].([]any)); n != 3 {
			t.Errorf("%d materials were left out: %s", n, made.Raw)
		}
		if !strings.HasSuffix(made.Header.Get("Location"), fmt.Sprintf("/request-groups/%d", made.id())) {
			t.Errorf("Location is %q", made.Header.Get("Location"))
		}
	})
}

// TestGroup_IsOneConversation: a message on one of its requests is stored once and appears on all of them.
func TestGroup_IsOneConversation(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		group := s.newGroup()
		list := s.requester().want(200, "GET", fmt.Sprintf("/material-requests?group=%d", group.id()), nil).List
		if len(list) != 2 {
			t.Fatalf("the filter finds %d requests", len(list))
		}
		var ids []int64
		for _, q := range group.Body["requests"].([]any) {
			q := q.(map[string]any)
			if int64(q["group"].(float64)) != group.id() {
				t.Errorf("a request has the group %v", q["group"])
			}
			ids = append(ids, int64(q["id"].(float64)))
		}
		s.requester().want(201, "POST", fmt.Sprintf("/material-requests/%d/messages", ids[1]), obj{"text": "Both?"})
		s.member.want(201, "POST", fmt.Sprintf("/material-requests/%d/messages", ids[0]), obj{"text": "Yes."})
		for _, id := range ids {
			for _, who := range []*testPerson{s.requester(), s.member} {
				said := who.want(200, "GET", fmt.Sprintf("/material-requests/%d/messages", id), nil)
				if len(said.List) != 2 || !strings.Contains(string(said.Raw), fmt.Sprintf(`"request":%d`, ids[1])) {
					t.Errorf("request %d has the messages %s", id, said.Raw)
				}
			}
			events := s.member.want(200, "GET", fmt.Sprintf("/material-requests/%d/events", id), nil)
			if len(events.List) != 2 { // what is chained: it was made, and its own message
				t.Errorf("request %d has the events %s", id, events.Raw)
			}
		}
		report, err := s.app.Evidence.Verify(t.Context(), evidence.Verification{Files: true})
		if err != nil || len(report.Faults) > 0 {
			t.Errorf("the record is not whole: %+v, %v", report, err)
		}
	})
}

// TestGroup_IsAcceptedInOneStep, and the answer states for each request what was done and why not.
func TestGroup_IsAcceptedInOneStep(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		group := s.newGroup()
		first := group.Body["requests"].([]any)[0].(map[string]any)
		moved := fmt.Sprintf("/material-requests/%v", first["id"])
		s.member.want(200, "PATCH", moved, obj{"status": "IN_FULFILLMENT"})
		done := s.member.want(200, "POST", fmt.Sprintf("/request-groups/%d/accept", group.id()), nil).
			Body["requests"].([]any)
		one, two := done[0].(map[string]any), done[1].(map[string]any)
		if one["accepted"] != false || one["error_code"] != "INVALID_TRANSITION" || one["status"] != "IN_FULFILLMENT" {
			t.Errorf("the one under way: %v", one)
		}
		if two["accepted"] != true || two["status"] != "APPROVED" || two["error"] != nil {
			t.Errorf("the open one: %v", two)
		}
		if now := s.member.want(200, "GET", moved, nil); now.at("status") != "IN_FULFILLMENT" {
			t.Errorf("accepting the group put a request back to %v", now.at("status"))
		}
		s.requester().refused(403, "FORBIDDEN", "POST", fmt.Sprintf("/request-groups/%d/accept", s.newGroup().id()),
			nil)
	})
}

// TestGroup_SentAgainWithItsKeyIsOne.
func TestGroup_SentAgainWithItsKeyIsOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		key := map[string]string{"Idempotency-Key": "basket-1"}
		body := obj{"materials": []int64{s.newMaterial(), s.newMaterial()}}
		one := s.requester().callWith(key, "POST", "/request-groups", body)
		two := s.requester().callWith(key, "POST", "/request-groups", body)
		if one.Status != 201 || two.Status != 201 || one.id() != two.id() {
			t.Errorf("sent twice: %d %s, %d %s", one.Status, one.Raw, two.Status, two.Raw)
		}
	})
}

// TestGroup_SendsItsWebhookOneMessageForEachRequest, with the group.
func TestGroup_SendsItsWebhookOneMessageForEachRequest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		in := newReceiver(t)
		made := s.owner.want(201, "POST", fmt.Sprintf("/organizations/%d/webhooks", s.id), obj{"url": in.url})
		in.secret(made.Body["secret"].(string))
		group := s.newGroup()
		defer s.work(s.app, job.Config{Slots: 4})()
		named := fmt.Sprintf(`"group":%d`, group.id())
		jobtest.Poll(t, "two messages that name the group", func() bool {
			n := 0
			for _, m := range in.messages() {
				if strings.Contains(m.body, `"request.made"`) && strings.Contains(m.body, named) {
					n++
				}
			}
			return n == 2
		})
	})
}
