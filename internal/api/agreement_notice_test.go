package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/exchange/notify"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// steps takes three letters of one request each: one is signed and thereby executed, one declined, one withdrawn.
func (s *scene) steps() (paths []string) {
	s.t.Helper()
	for range 3 {
		paths = append(paths, s.newLetter("/send"))
	}
	s.requester().want(201, "POST", paths[0]+"/signatures", s.signature(paths[0], "RECIPIENT_SCIENTIST"))
	s.owner.want(200, "POST", paths[1]+"/decline", obj{"reason": "The quantity is wrong."})
	s.owner.want(200, "POST", paths[2]+"/withdraw", obj{"reason": "It is not needed."})
	return paths
}

func TestWebhook_GetsEachStepOfAnAgreement(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, r, _ := hooked(t, db)
		some := newReceiver(t)
		s.hook(some, []string{"agreement.executed"})
		paths := s.steps()
		s.idle()
		document, err := contract()
		if err != nil {
			t.Fatal(err)
		}
		got := map[notify.EventType][]map[string]any{}
		for _, m := range r.messages() {
			if !strings.HasPrefix(string(m.message.Type), "agreement.") {
				continue
			}
			got[m.message.Type] = append(got[m.message.Type], m.message.Data)
			var whole any
			if err := json.Unmarshal([]byte(m.body), &whole); err != nil {
				t.Fatal(err)
			}
			if err := document.Components.Schemas["AgreementMessage"].Value.VisitJSON(whole); err != nil {
				t.Errorf("the document says otherwise: %v: %s", err, m.body)
			}
			if strings.Contains(m.body, "@") {
				t.Errorf("there is an address in %s", m.body)
			}
		}
		for kind, want := range map[notify.EventType]int{"agreement.sent": 3, "agreement.signed": 1,
			"agreement.executed": 1, "agreement.declined": 1, "agreement.withdrawn": 1} {
			if len(got[kind]) != want {
				t.Errorf("%s came %d times, not %d", kind, len(got[kind]), want)
			}
		}
		if list := some.messages(); len(list) != 1 || list[0].message.Type != "agreement.executed" {
			t.Errorf("who wants executed ones alone got %v", list)
		}
		executed := answer{Body: got["agreement.executed"][0]}
		for path, want := range map[string]any{"agreement.state": "EXECUTED",
			"agreement.number": strings.Replace(paths[0], "/agreements/", "A-", 1),
			"event.role":       "RECIPIENT_SCIENTIST", "event.actor.id": s.requester().ID.String(), "event.external": "",
			"organization": s.id} {
			if fmt.Sprint(executed.at(path)) != fmt.Sprint(want) {
				t.Errorf("%s is %v, want %v", path, executed.at(path), want)
			}
		}
		reason := answer{Body: got["agreement.declined"][0]}.at("event.reason")
		if reason != "The quantity is wrong." {
			t.Errorf("it was declined because: %v", reason)
		}
	})
}

// TestNotifications_OfAgreementsGoToWhoSignsAndWhoTakesPart, and not to who did it.
func TestNotifications_OfAgreementsGoToWhoSignsAndWhoTakesPart(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, "members")
		path := s.sendLetter(s.newPlasmid())
		about := func(p *testPerson) (kinds []string) {
			t.Helper()
			id := strings.TrimPrefix(path, "/agreements/")
			feed := fmt.Sprintf("/users/%s/notifications?agreement=%s", p.ID, id)
			for _, n := range p.want(200, "GET", feed, nil).List {
				kinds = append([]string{n.(obj2)["kind"].(string)}, kinds...)
			}
			return kinds
		}
		check := func(step string, want map[*testPerson]string) {
			t.Helper()
			for p, kinds := range want {
				if got := strings.ReplaceAll(strings.Join(about(p), " "), "agreement_", ""); got != kinds {
					t.Errorf("%s: %s is notified of %q, want %q", step, p.name, got, kinds)
				}
			}
		}
		check("sent", map[*testPerson]string{s.requester(): "", s.owner: "sent", s.official: "sent",
			s.people["stranger"]: ""})
		s.official.want(201, "POST", path+"/signatures", s.signature(path, "RECIPIENT_OFFICIAL"))
		check("signed", map[*testPerson]string{s.requester(): "signed", s.owner: "sent", s.official: "sent"})
		s.owner.want(200, "POST", path+"/decline", obj{"reason": "Another lab does it."})
		check("declined", map[*testPerson]string{s.requester(): "signed declined", s.owner: "sent",
			s.official: "sent declined"})
		feed := s.official.want(200, "GET", fmt.Sprintf("/users/%s/notifications", s.official.ID), nil)
		if !strings.Contains(string(feed.Raw), " declined to sign the agreement A-") {
			t.Errorf("the official reads %s", feed.Raw)
		}
	})
}
