package request_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/request"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

const day = 24 * time.Hour

var weekly = request.Reminders{7, 14, 28}

func TestReminders_AreDueOnTheirDaysThenMonthly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		days     request.Reminders
		after    time.Duration
		reminded int
		want     int // 0: none is due
		next     int // the one after that; 0: never
	}{
		{weekly, 0, 0, 0, 7},
		{weekly, 7*day - time.Microsecond, 0, 0, 7},
		{weekly, 7 * day, 0, 7, 14},
		{weekly, 7 * day, 7, 0, 14},
		{weekly, 14 * day, 7, 14, 28},
		{weekly, 28 * day, 14, 28, 58},
		{weekly, 57 * day, 28, 0, 58},
		{weekly, 58 * day, 28, 58, 88},
		{weekly, 88 * day, 58, 88, 118},
		{weekly, 27 * day, 0, 14, 28},    // the first one could not be sent
		{weekly, 100 * day, 14, 88, 118}, // several could not be sent
		{weekly, 28 * day, 20, 28, 58},   // the setting had 20 days then
		{weekly, 60 * day, 35, 58, 88},
		{weekly, 7 * day, 58, 0, 88}, // the clock was ahead then
		{weekly, -9 * day, 0, 0, 7},  // or the turn began while it was
		{request.Reminders{3}, 32 * day, 3, 0, 33},
		{request.Reminders{3}, 33 * day, 3, 33, 63},
		{request.Reminders{}, 99 * day, 0, 0, 0},
		{nil, 99 * day, 28, 0, 0},
	} {
		r := fresh()
		r.Reminded = c.reminded
		after, events := r.Remind(request.Terms{}, c.days, exchangetest.Start.Add(c.after))
		if got := after.Reminded - c.reminded; (got != 0) != (c.want != 0) || c.want != 0 && after.Reminded != c.want ||
			len(events) != min(c.want, 1) {
			t.Errorf("%v, %s after, reminded on day %d: got day %d and %d events, want day %d", c.days, c.after,
				c.reminded, after.Reminded, len(events), c.want)
		}
		var want *time.Time
		if c.next > 0 {
			want = new(exchangetest.Start.Add(time.Duration(c.next) * day))
		}
		exchangetest.Same(t, "the next one", c.days.At(after), want)
	}
}

func TestReminder_NamesTheTurnAndChangesNothing(t *testing.T) {
	t.Parallel()
	now := exchangetest.Start.Add(8 * day)
	for _, c := range []struct {
		r    request.Request
		tell string
	}{
		{fresh(), `"requester","what":["abstract"]`},
		{given(request.Open), `"lab","what":["decision"]`},
		{at(request.Approved), `"requester","what":["requester_signed_mta","irb","address","payment"]`},
		{given(request.InFulfillment), `"lab","what":["shipment"]`},
		{given(request.Fulfilled), `"requester","what":["receipt"]`},
	} {
		after, events := c.r.Remind(everything, weekly, now)
		wantKinds(t, events, nil, request.Reminded)
		e, err := events[0].Seal(4, "head")
		if want := `{"party":` + c.tell + `,"since":"2026-03-02T09:00:00+0000","days":7}`; err != nil ||
			e.Raw != want ||
			e.RequestID != c.r.ID || e.Actor != uuid.Nil || !e.At.Equal(now) || !e.Follows(4, "head", "") {
			t.Errorf("got %+v, %v, want %s", e, err, want)
		}
		want := c.r
		want.Reminded = 7
		exchangetest.Same(t, "the request", after, want)
		exchangetest.Same(t, "the turn", request.WaitingOn(everything, lab.DefaultTargets, after),
			request.WaitingOn(everything, lab.DefaultTargets, c.r))
	}
}

func TestEscalation_OncePerTurnOfTheLab(t *testing.T) {
	t.Parallel()
	lab := given(request.Open).Begin(everything, exchangetest.Start)
	for _, c := range []struct {
		what       string
		r          request.Request
		escalation request.Escalation
		at         *time.Time
	}{
		{"the lab's turn", lab, 21, new(exchangetest.Start.Add(21 * day))},
		{"another setting", lab, 3, new(exchangetest.Start.Add(3 * day))},
		{"without the setting", lab, 0, nil},
		{"the requester's turn", fresh().Begin(everything, exchangetest.Start), 21, nil},
		{"nobody's turn", given(request.Rejected).Begin(everything, exchangetest.Start), 21, nil},
	} {
		exchangetest.Same(t, c.what, c.escalation.At(c.r), c.at)
		if c.at == nil {
			_, events := c.r.Escalate(everything, c.escalation, exchangetest.Start.Add(900*day))
			wantKinds(t, events, nil)
			continue
		}
		_, events := c.r.Escalate(everything, c.escalation, c.at.Add(-time.Microsecond))
		wantKinds(t, events, nil)
		after, events := c.r.Escalate(everything, c.escalation, *c.at)
		wantKinds(t, events, nil, request.Escalated)
		e, err := events[0].Seal(4, "head")
		if want := fmt.Sprintf(`{"party":"lab","what":["decision"],"since":"2026-03-02T09:00:00+0000","days":%d}`,
			c.escalation); err != nil || e.Raw != want ||
			e.RequestID != c.r.ID || e.Actor != uuid.Nil || !e.At.Equal(*c.at) {
			t.Errorf("got %+v, %v, want %s", e, err, want)
		}
		want := c.r
		want.Escalates = false
		exchangetest.Same(t, "the request", after, want)
		exchangetest.Same(t, "again", c.escalation.At(after), (*time.Time)(nil))
		_, events = after.Escalate(everything, c.escalation, exchangetest.Start.Add(900*day))
		wantKinds(t, events, nil)
	}
}

func TestReminder_NeverOfAClosedRequest(t *testing.T) {
	t.Parallel()
	for _, s := range request.Statuses {
		r := at(s)
		r.Active = false
		if after, events := r.Remind(everything, weekly, exchangetest.Start.Add(900*day)); len(events) != 0 ||
			after.Reminded != 0 {
			t.Errorf("%s, closed: got %v", s, kinds(events))
		}
	}
}

// drawDays draws a setting.
func drawDays(t *rapid.T) request.Reminders {
	days := rapid.SliceOfNDistinct(rapid.IntRange(1, 60), 0, 4, rapid.ID).Draw(t, "days")
	slices.Sort(days)
	return days
}

// TestReminder_OncePerStepOfATurn walks a request under a clock that jumps and a job that runs at any time and
// any number of times, and compares with counting the days one by one.
func TestReminder_OncePerStepOfATurn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		days, escalation := drawDays(t), request.Escalation(rapid.IntRange(0, 60).Draw(t, "escalation"))
		last := time.Time{} // last reminder of this turn, by its day
		walk(t, func(s *step) {
			r := s.after
			if r.Reminded == 0 {
				last = time.Time{}
			}
			for range rapid.IntRange(0, 3).Draw(t, "runs") {
				now := s.now.Add(time.Duration(rapid.IntRange(-40, 100).Draw(t, "day")) * day)
				after, events := r.Remind(s.terms, days, now)
				want := naive(days, r, now)
				told, escalated := r.Escalate(s.terms, escalation, now)
				turned := r.WaitingSince.Add(time.Duration(escalation) * day)
				if !r.Active || r.Snoozing(now) {
					want, turned = 0, now.Add(1)
				}
				if yes := escalation > 0 && r.Escalates && !turned.After(now); yes != (len(escalated) == 1) ||
					told.Escalates != (r.Escalates && !yes) {
					t.Fatalf("day %d since %s, at %s: got %+v, want %t", escalation, r.WaitingSince, now, escalated,
						yes)
				}
				if (want != 0) != (len(events) == 1) || want != 0 && events[0].Detail.Days != want || len(events) > 1 {
					t.Fatalf("%v since %s, reminded on day %d, at %s: got %+v, want day %d", days, r.WaitingSince,
						r.Reminded, now, events, want)
				}
				if len(events) == 1 {
					moment := r.WaitingSince.AddDate(0, 0, want)
					if !moment.After(last) || moment.After(now) {
						t.Fatalf("reminded at %s for %s, behind %s", now, moment, last)
					}
					last = moment
				}
				if _, again := after.Remind(s.terms, days, now); len(again) != 0 {
					t.Fatalf("reminded twice at %s", now)
				}
				before := r
				before.Reminded = after.Reminded
				if diff := cmp.Diff(before, after); diff != "" {
					t.Fatalf("more than the reminder changed (-before +after):\n%s", diff)
				}
				r = after
				r.Escalates = told.Escalates
			}
			s.after = r // the walk continues from here
		})
	})
}

// naive returns the day of a turn for which a reminder is due at a moment, counted day by day; 0: none.
func naive(days request.Reminders, r request.Request, now time.Time) (due int) {
	if len(days) == 0 {
		return 0
	}
	last := days[len(days)-1]
	for d := 1; !now.Before(r.WaitingSince.Add(time.Duration(d) * day)); d++ {
		if (slices.Contains(days, d) || d > last && (d-last)%30 == 0) && d > r.Reminded {
			due = d
		}
	}
	return due
}
