package api_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// timed is a lab on a clock that stands still until it is moved.
type timed struct {
	testLab
	requester *testPerson
	now       *atomic.Pointer[time.Time]
	w         *world
}

func newTimed(t *testing.T, db *store.DB) timed {
	t.Helper()
	now := &atomic.Pointer[time.Time]{}
	now.Store(new(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)))
	db.Clock = func() time.Time { return *now.Load() }
	w := newWorldWith(t, db, func(c *app.Config) { c.TokenLifetime = 1e6 * time.Hour })
	return timed{testLab: w.lab(), requester: w.person("requester"), now: now, w: w}
}

// pass lets time pass and returns the moment.
func (c timed) pass(d time.Duration) string {
	c.now.Store(new(c.now.Load().Add(d)))
	return c.now.Load().Format(exchange.TimeLayout)
}

func TestClock_AddsUpAndStopsWhenNobodyIsWaitedFor(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newTimed(t, db)
		made := c.pass(0)
		id := c.requester.want(201, "POST", "/material-requests", obj{"material": c.material}).id()
		path := fmt.Sprintf("/material-requests/%d", id)
		check := func(a answer, clock string) {
			t.Helper()
			if got := encode(a.Body["clock"]); got != clock {
				t.Errorf("got the clock %s, want %s", got, clock)
			}
		}
		written := c.pass(24 * time.Hour)
		check(c.requester.want(200, "PATCH", path, obj{"requester_abstract": "To map receptors."}),
			`{"lab":0,"nobody":0,"requester":86400,"stages":{"OPEN":86400},"until":"`+written+`"}`)
		declined := c.pass(2*time.Hour + 700*time.Millisecond)
		clock := `{"lab":7200,"nobody":0,"requester":86400,"stages":{"OPEN":93600},"until":"` + declined + `"}`
		check(c.member.want(200, "PATCH", path, obj{"status": "REJECTED"}), clock)
		a := c.requester.want(200, "GET", path, nil)
		c.pass(time.Hour)
		if again := c.requester.callWith(map[string]string{"If-None-Match": a.Header.Get("ETag")}, "GET", path,
			nil); again.Status != 304 {
			t.Errorf("an hour later it is another request: %d %s", again.Status, again.Raw)
		}
		if list := c.member.want(200, "GET", "/material-requests",
			nil).List; encode(list[0].(map[string]any)["clock"]) != clock {
			t.Errorf("in the list it is %v", list[0])
		}
		reopened := c.pass(time.Hour)
		check(c.member.want(200, "PATCH", path, obj{"status": "OPEN"}),
			`{"lab":7200,"nobody":7200,"requester":86400,"stages":{"OPEN":93600,"REJECTED":7200},"until":"`+reopened+
				`"}`)
		got := []any{}
		for _, turn := range c.requester.want(200, "GET", path+"/turns", nil).List {
			delete(turn.(map[string]any), "id")
			got = append(got, turn)
		}
		want := `[{"began_at":"` + reopened +
			`","ended_at":null,"party":"lab","seq":4,"status":"OPEN","what":["decision"]},` +
			`{"began_at":"` + declined + `","ended_at":"` + reopened +
			`","party":null,"seq":3,"status":"REJECTED","what":[]},` +
			`{"began_at":"` + written + `","ended_at":"` + declined +
			`","party":"lab","seq":2,"status":"OPEN","what":["decision"]},` +
			`{"began_at":"` + made + `","ended_at":"` + written +
			`","party":"requester","seq":1,"status":"OPEN","what":["abstract"]}]`
		if encode(got) != want {
			t.Errorf("the turns are %s, want %s", encode(got), want)
		}
	})
}

func TestSnooze_PostponesTheAnnouncedReminder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newTimed(t, db)
		path := fmt.Sprintf("/material-requests/%d", c.requester.want(201, "POST", "/material-requests",
			obj{"material": c.material, "requester_abstract": "To map receptors."}).id())
		check := func(reminder, escalation, snoozed any) {
			t.Helper()
			a := c.requester.want(200, "GET", path, nil)
			if got := []any{a.at("waiting_on.reminder_at"), a.at("waiting_on.escalation_at"),
				a.at("waiting_on.snoozed_until")}; got[0] != reminder || got[1] != escalation || got[2] != snoozed {
				t.Errorf("got %v, want %v, %v, %v", got, reminder, escalation, snoozed)
			}
		}
		const first, owner, free = "2026-03-09T09:00:00+0000", "2026-03-23T09:00:00+0000", "2026-03-30T00:00:00+0000"
		check(first, owner, nil)
		c.requester.refused(403, "FORBIDDEN", "POST", path+"/snooze", obj{"until": "2026-03-30"})
		for _, until := range []any{nil, "2026-03-02", "2026-06-01", "soon"} {
			a := c.member.refused(400, "INVALID_INPUT", "POST", path+"/snooze", obj{"until": until})
			if a.at("fields.until") == nil {
				t.Errorf("%v: %s", until, a.Raw)
			}
		}
		check(first, owner, nil)
		before := c.w.rows()
		for range 3 {
			a := c.member.want(200, "POST", path+"/snooze",
				obj{"until": "2026-03-30", "reason": "The freezer is being mended."})
			if a.at("waiting_on.snoozed_until") != free {
				t.Errorf("%s", a.Raw)
			}
		}
		if diff := grew(before, c.w.rows()); diff != "request_events+1 notifications+1 jobs+1" {
			t.Errorf("the same snooze three times made %s", diff)
		}
		check(free, free, free)
		e := c.requester.want(200, "GET", path+"/events?limit=1", nil).List[0].(map[string]any)
		if e["kind"] != "snoozed" ||
			encode(e["detail"]) != `{"party":"lab","reason":"The freezer is being mended.","until":"`+free+`"}` {
			t.Errorf("the timeline has %v", e)
		}
		c.pass(28 * day)
		check(free, free, nil) // both are due since then
		c.member.want(200, "POST", path+"/snooze", obj{"until": "2026-04-30T12:00:00+02:00"})
		check("2026-04-30T10:00:00+0000", "2026-04-30T10:00:00+0000", "2026-04-30T10:00:00+0000")
		for range 2 {
			c.member.want(204, "DELETE", path+"/snooze", nil)
			check(first, owner, nil)
		}
		c.member.want(200, "POST", path+"/snooze", obj{"until": "2026-04-30"})
		c.member.want(200, "PATCH", path, obj{"status": "REJECTED"})
		for _, method := range []string{"POST", "DELETE"} {
			c.member.refused(409, "CONFLICT", method, path+"/snooze", obj{"until": "2026-04-30"})
		}
		c.member.want(200, "PATCH", path, obj{"status": "OPEN"})
		check("2026-04-06T09:00:00+0000", "2026-04-20T09:00:00+0000", nil)
	})
}

const day = 24 * time.Hour

func TestEscalation_IsNotShownWithoutTheSetting(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, storetest.Open(t, storetest.SQLite), func(c *app.Config) { c.Escalation = 0 })
	a := w.person("asks").want(201, "POST", "/material-requests",
		obj{"material": w.lab().material, "requester_abstract": "To map receptors."})
	if at, shown := a.at("waiting_on").(map[string]any)["escalation_at"]; at != nil || !shown {
		t.Errorf("%s", a.Raw)
	}
}
