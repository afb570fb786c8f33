package api_test

import (
	"fmt"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// wait lets a turn have lasted so many days, and has it reminded of.
func (s *scene) wait(request int64, days int) (since time.Time) {
	s.t.Helper()
	since = time.Now().UTC().AddDate(0, 0, -days).Truncate(time.Second)
	if _, err := s.sql.ExecContext(s.t.Context(), "UPDATE material_requests SET waiting_since = $1 WHERE id = $2",
		since, request); err != nil {
		s.t.Fatal(err)
	}
	s.run(transfer.Remind)
	return since
}

func TestReminder_IsShownBeforeAndAfterItIsSent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		id := s.requester().want(201, "POST", "/material-requests", obj{"material": s.material}).id()
		path := fmt.Sprintf("/material-requests/%d", id)
		for _, step := range []struct{ waits, next int }{{6, 7}, {7, 14}, {30, 58}} {
			since := s.wait(id, step.waits)
			turn := s.member.want(200, "GET", path, nil).Body["waiting_on"].(map[string]any)
			next := since.AddDate(0, 0, step.next).Format(exchange.TimeLayout)
			if turn["since"] != since.Format(exchange.TimeLayout) || turn["reminder_at"] != next {
				t.Errorf("after %d days: %v, want a reminder at %s", step.waits, turn, next)
			}
		}
		since := s.wait(id, 30).Format(exchange.TimeLayout)
		for _, p := range []*testPerson{s.requester(), s.member} {
			events := p.want(200, "GET", path+"/events", nil).List
			e := events[0].(map[string]any)
			detail := e["detail"].(map[string]any)
			if e["kind"] != "reminded" || e["actor"] != nil || detail["party"] != "requester" ||
				fmt.Sprint(detail["what"]) != "[abstract]" ||
				detail["days"] != 28.0 || len(detail) != 4 || len(events) != 3 {
				t.Errorf("the timeline of %s: %v", p.name, e)
			}
		}
		a := s.requester().want(200, "GET", s.user("/notifications"), nil)
		n := a.List[0].(map[string]any)
		want := fmt.Sprintf("Aliquot reminded the requester, whose turn it is since %s: the research abstract "+
			"(request %d, HT-29).", since[:10], id)
		if n["category"] != "reminder_notif" || n["kind"] != "reminded" || n["actor"] != nil || n["text"] != want {
			t.Errorf("the notification: %v, want %s", n, want)
		}
		s.member.want(200, "PATCH", path, obj{"status": "REJECTED"})
		if s.wait(id, 900); s.member.want(200, "GET", path, nil).Body["waiting_on"] != nil ||
			s.member.want(200, "GET", path+"/events?limit=1", nil).List[0].(map[string]any)["kind"] == "reminded" {
			t.Error("a closed request is reminded of")
		}
	})
}

func TestReminder_IsNotShownWithoutTheSetting(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, storetest.Open(t, storetest.SQLite), func(c *app.Config) { c.Reminders = nil })
	a := w.person("asks").want(201, "POST", "/material-requests", obj{"material": w.lab().material})
	if at, shown := a.Body["waiting_on"].(map[string]any)["reminder_at"]; at != nil || !shown {
		t.Errorf("%s", a.Raw)
	}
}
