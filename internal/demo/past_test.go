package demo

import (
	"testing"

	"aliquot/internal/app"
	"aliquot/internal/app/evidence"
)

func paced(t *testing.T, a *app.App) {
	numbers, err := a.SiteNumbers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := numbers.Pace
	if !p.Decides() || !p.Receives() || p.Decision < hour || p.Documents < p.Decision || p.Sent < p.Documents+12*hour ||
		p.Receipt < p.Sent+day || p.Receipt > 30*day {
		t.Errorf("the pace is %+v", p)
	}
	for _, owns := range []string{owner, neighbour} {
		insights, err := a.Requests.Insights(t.Context(), actor(t, a, owns), actor(t, a, owns).Owns[0], "", 6)
		if err != nil {
			t.Fatal(err)
		}
		months := 0
		for _, m := range insights.Months {
			if m.Received > 0 {
				months++
			}
		}
		if months < 3 {
			t.Errorf("the lab of %s was asked in %d months", owns, months)
		}
	}
}

func waited(t *testing.T, a *app.App) {
	days := map[int]bool{}
	for _, q := range requests(t, a) {
		if turn := turn(q); turn != nil {
			days[int(a.DB.Read().Now.Sub(turn.Since)/day)] = true
		}
	}
	for _, n := range []int{0, 2, 9, 16} {
		if !days[n] {
			t.Errorf("nobody waits for %d days: %v", n, days)
		}
	}
}

func inOrder(t *testing.T, a *app.App) {
	later := a.DB.Read().Now
	for _, q := range requests(t, a) { // the newest first
		if q.CreatedAt.After(later) {
			t.Errorf("request %d was made after the one that follows", q.ID)
		}
		later = q.CreatedAt
	}
	if age := a.DB.Read().Now.Sub(later); age < 100*day {
		t.Errorf("the oldest request was made %s ago", age)
	}
}

func toldAlready(t *testing.T, a *app.App) {
	before := recorded(t, a)
	if err := a.Requests.RemindDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := recorded(t, a); after.Events != before.Events {
		t.Errorf("the record had %d events and has %d", before.Events, after.Events)
	}
}

// recorded returns what the record has, without a fault.
func recorded(t *testing.T, a *app.App) *evidence.Report {
	t.Helper()
	r, err := a.Evidence.Verify(t.Context(), evidence.Verification{Files: true})
	if err != nil || r.FaultCount > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	return r
}
