package api_test

import (
	"fmt"
	"testing"
	"time"

	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// newDataset requests a dataset of the lab, of which every fact is stated.
func (s *scene) newDataset() int64 {
	s.t.Helper()
	material := s.member.want(201, "POST", "/materials", obj{"category": "DATASET", "title": "Reads",
		"organization_id": s.id, "needs_mta": true}).id()
	s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d/transfer-facts", material), obj{"human_derived": "NO",
		"export_class": "NO", "encumbrances": []obj{}, "proprietary": "NO"})
	return s.requester().want(201, "POST", "/material-requests", obj{"material": material, "quantity": "1 copy"}).id()
}

// owing returns the path of an executed agreement by which the data are destroyed at the end.
func (s *scene) owing() string {
	s.t.Helper()
	if s.owed == "" {
		s.owed = s.executed(s.newDataset())
	}
	return s.owed
}

// duty adds a duty to an agreement, so that each call finds one that is owed, and returns its path.
func (s *scene) duty(path string) string {
	s.t.Helper()
	s.execute(`INSERT INTO agreement_duties (agreement, term, due_on, reminded, state, text, created_at, updated_at)
		SELECT agreement, term, due_on, 0, 'OWED', '', created_at, updated_at FROM agreement_duties
		WHERE id = (SELECT MIN(id) FROM agreement_duties)`)
	list := s.member.want(200, "GET", path+"/duties", nil).of("duties").([]any)
	return fmt.Sprintf("%s/duties/%v", path, list[len(list)-1].(obj2)["id"])
}

// TestDuties_FollowFromTheTermsAndCloseTheAgreement: the side that provides sets the day and waives, either side adds
// evidence; the agreement is closed once nothing is owed and its request is fulfilled.
func TestDuties_FollowFromTheTermsAndCloseTheAgreement(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		request := s.newDataset()
		path := s.executed(request)
		state := func() (owed obj2, closed any) {
			got := s.requester().want(200, "GET", path+"/duties", nil)
			return got.of("duties").([]any)[0].(obj2), got.of("closed_at")
		}
		owed, closed := state()
		if owed["term"] != "DESTROY" || owed["state"] != "OWED" || owed["due_on"] != nil || closed != nil {
			t.Fatalf("after the execution: %v, closed at %v", owed, closed)
		}
		one := fmt.Sprintf("%s/duties/%v", path, owed["id"])
		s.unchanged("what is not theirs", func() {
			s.requester().refused(403, "FORBIDDEN", "PATCH", one, obj{"due_on": "2027-01-01"})
			s.requester().refused(403, "FORBIDDEN", "POST", one+"/waive", obj{"reason": "No."})
			s.official.refused(403, "FORBIDDEN", "POST", one+"/waive", obj{"reason": "No."})
			s.people["stranger"].refused(404, "NOT_FOUND", "POST", one+"/evidence", obj{"text": "Done."})
			s.member.refused(400, "INVALID_INPUT", "PATCH", one, obj{"due_on": "soon"})
			s.member.refused(400, "INVALID_INPUT", "POST", one+"/waive", obj{"reason": " "})
			s.requester().refused(400, "INVALID_INPUT", "POST", one+"/evidence", obj{"text": ""})
			s.member.refused(404, "NOT_FOUND", "PATCH", path+"/duties/99999", obj{"due_on": "2027-01-01"})
		})
		s.member.want(200, "PATCH", one, obj{"due_on": exchange.DayOf(time.Now().AddDate(0, 0, 5))})
		reminded := func(when string, requester, owner int) {
			t.Helper()
			s.run(letters.Remind)
			for p, want := range map[*testPerson]int{s.requester(): requester, s.owner: owner} {
				n := 0
				for _, one := range p.want(200, "GET", fmt.Sprintf("/users/%s/notifications", p.ID), nil).List {
					if one.(obj2)["kind"] == "duty_due" {
						n++
					}
				}
				if n != want {
					t.Errorf("%s: %s has %d reminders, want %d", when, p.name, n, want)
				}
			}
		}
		reminded("five days before", 1, 0)
		reminded("again on that day", 1, 0)
		s.member.want(200, "PATCH", one, obj{"due_on": "2026-01-01"})
		reminded("overdue", 2, 1)
		s.requester().want(200, "POST", one+"/evidence", obj{"text": "Deleted on 1 March."})
		s.member.refused(409, "CONFLICT", "POST", one+"/waive", obj{"reason": "Late."})
		if owed, closed := state(); owed["state"] != "DONE" || owed["text"] != "Deleted on 1 March." || closed != nil {
			t.Errorf("after the evidence: %v, closed at %v", owed, closed)
		}
		s.fulfil(request)
		reminded("once all is settled", 2, 1)
		if _, closed := state(); closed == nil ||
			s.member.want(200, "GET", path, nil).of("closed_at") != closed {
			t.Error("it is not closed once nothing is owed")
		}
		s.recordHolds()
	})
}

// TestLetter_AnEndThatBothAgreedOnIsTheDayOfTheDuty: the form on data has a field for the day on which the use ends.
func TestLetter_AnEndThatBothAgreedOnIsTheDayOfTheDuty(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		today := exchange.DayOf(time.Now())
		end := exchange.DayOf(time.Now().AddDate(1, 0, 0))
		drafted := s.requester().want(201, "POST", "/agreements",
			obj{"requests": []int64{s.newDataset()}, "recipient": s.recipient()})
		path := fmt.Sprintf("/agreements/%d", drafted.id())
		if got := drafted.of("fields").(obj2)["ends_on"]; got != "the purpose is fulfilled" {
			t.Errorf("without a day, the use ends when %v", got)
		}
		s.unchanged("no day after today", func() {
			for _, day := range []any{"soon", "2027-02-30", today, "1800-01-01"} {
				a := s.requester().refused(400, "INVALID_INPUT", "POST", path+"/versions",
					obj{"version": 1, "fields": obj{"ends_on": day}})
				if a.Body["fields"].(map[string]any)["fields"] == nil {
					t.Errorf("%v: the fault is of %v", day, a.Body["fields"])
				}
			}
		})
		changed := s.requester().want(200, "POST", path+"/versions", obj{"version": 1, "fields": obj{"ends_on": end}})
		if got := changed.of("fields").(obj2)["ends_on"]; got != string(end) {
			t.Errorf("the use ends on %v, not %s", got, end)
		}
		s.requester().want(200, "POST", path+"/send", nil)
		s.signAll(path)
		duties := s.requester().want(200, "GET", path+"/duties", nil).of("duties").([]any)
		if due := duties[0].(obj2)["due_on"]; len(duties) != 1 || due != string(end) {
			t.Errorf("of %d duties, the first is due on %v, not %s", len(duties), due, end)
		}
	})
}
