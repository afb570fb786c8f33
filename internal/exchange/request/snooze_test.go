package request_test

import (
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/request"
)

// until returns a snooze that ends some days after later.
func until(days int) request.SnoozeNew {
	return request.SnoozeNew{Until: exchange.Some(exchange.Until(exchangetest.Later.AddDate(0, 0, days)))}
}

func snooze(r request.Request, who part, n request.SnoozeNew) (request.Request, []request.Event, error) {
	return r.Snooze(who.roles, who.by, n, everything, exchangetest.Later)
}

func TestSnooze_IsForWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	for _, row := range exchangetest.Rows(`
		| turn | requester | member | admin | requester+member | stranger |
		| requester | y | n | y | y | n |
		| lab | n | y | y | y | n |
		| nobody | c | c | c | c | c |`)[1:] {
		r := map[string]request.Request{"requester": fresh(), "lab": given(request.Open),
			"nobody": given(request.Rejected)}[row[0]]
		for i, who := range parts {
			after, events, err := snooze(r, who, until(14))
			gone, ended, endErr := after.Unsnooze(who.roles, who.by, everything, exchangetest.Later)
			switch row[1+i] {
			case "y":
				wantKinds(t, events, err, request.Snoozed)
				e, err := events[0].Seal(0, "")
				if want := `{"party":"` + row[0] + `","until":"2026-03-17T11:00:00+0000"}`; err != nil ||
					e.Raw != want {
					t.Errorf("got %s, %v, want %s", e.Raw, err, want)
				}
				wantKinds(t, ended, endErr, request.Unsnoozed)
				gone.UpdatedAt = r.UpdatedAt
				exchangetest.Same(t, "the request behind its snooze", gone, r)
			default:
				code := map[string]exchange.Code{"n": exchange.Forbidden, "c": exchange.Conflict}[row[1+i]]
				exchangetest.WantCode(t, err, code, "")
				exchangetest.WantCode(t, endErr, code, "")
				exchangetest.Same(t, "the request", after, r)
			}
		}
	}
}

func TestSnooze_LastsAtMostNinetyDays(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) request.SnoozeNew {
		return request.SnoozeNew{Until: exchange.Some(exchange.Until(exchangetest.Later.Add(d)))}
	}
	long := until(7)
	long.Reason = exchange.Some(strings.Repeat("x", 100_001))
	for _, c := range []struct {
		n     request.SnoozeNew
		field string
	}{
		{at(time.Second), ""}, {until(90), ""}, {at(0), "until"}, {until(-1), "until"},
		{at(90*day + time.Second), "until"},
		{request.SnoozeNew{}, "until"}, {long, "reason"},
	} {
		after, events, err := snooze(fresh(), asRequester, c.n)
		if c.field != "" {
			exchangetest.WantFieldErrors(t, err, c.field)
			exchangetest.Same(t, "the request", after, fresh())
			continue
		}
		wantKinds(t, events, err, request.Snoozed)
		want := fresh()
		want.UpdatedAt, want.SnoozedUntil = exchangetest.Later, new(time.Time(c.n.Until.Value))
		exchangetest.Same(t, "the request", after, want)
	}
}

func TestSnooze_ReplacesTheOneBefore(t *testing.T) {
	t.Parallel()
	r, _, err := snooze(fresh(), asRequester, until(14))
	if err != nil {
		t.Fatal(err)
	}
	again, events, err := snooze(r, asRequester, until(14))
	wantKinds(t, events, err)
	exchangetest.Same(t, "the same again", again, r)
	r, events, err = snooze(r, asRequester, until(7))
	wantKinds(t, events, err, request.Snoozed)
	if !r.Snoozing(exchangetest.Later.AddDate(0, 0, 7).Add(-time.Microsecond)) ||
		r.Snoozing(exchangetest.Later.AddDate(0, 0, 7)) {
		t.Errorf("snoozed until %s", r.SnoozedUntil)
	}
	over := exchangetest.Later.AddDate(0, 0, 8)
	_, events, err = r.Unsnooze(asRequester.roles, asRequester.by, everything, over)
	wantKinds(t, events, err) // it ends without an event
}

func TestSnooze_EndsWithItsTurn(t *testing.T) {
	t.Parallel()
	r, _, err := snooze(fresh(), asRequester, until(14))
	if err != nil {
		t.Fatal(err)
	}
	r, _, err = r.Message(asRequester.roles, asRequester.by, "Soon", everything, exchangetest.Later)
	if err != nil || r.SnoozedUntil == nil {
		t.Errorf("a message ended it: %v", err)
	}
	r, _, err = apply(r, asRequester, request.Patch{Abstract: exchange.Some("To map receptors.")}, everything)
	if err != nil || r.SnoozedUntil != nil {
		t.Errorf("the lab's turn is snoozed until %s: %v", r.SnoozedUntil, err)
	}
}

func TestSnooze_RemindsOnceAtItsEnd(t *testing.T) {
	t.Parallel()
	r := given(request.Open).Begin(everything, exchangetest.Start)
	r.SnoozedUntil = new(exchangetest.Start.AddDate(0, 0, 40))
	exchangetest.Same(t, "the next reminder", weekly.At(r), r.SnoozedUntil)
	exchangetest.Same(t, "the escalation", request.Escalation(21).At(r), r.SnoozedUntil)
	early := exchangetest.Start.AddDate(0, 0, 40).Add(-time.Microsecond)
	_, none := r.Remind(everything, weekly, early)
	_, nor := r.Escalate(everything, 21, early)
	if len(none) != 0 || len(nor) != 0 {
		t.Errorf("during the snooze: %v, %v", none, nor)
	}
	r, events := r.Remind(everything, weekly, *r.SnoozedUntil)
	wantKinds(t, events, nil, request.Reminded)
	if events[0].Detail.Days != 28 {
		t.Errorf("reminded on day %d, want 28", events[0].Detail.Days)
	}
	r, events = r.Escalate(everything, 21, *r.SnoozedUntil)
	wantKinds(t, events, nil, request.Escalated)
	exchangetest.Same(t, "the next reminder", weekly.At(r), new(exchangetest.Start.AddDate(0, 0, 58)))
}

func TestSnooze_EndIsDateOrTimestamp(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"2026-03-12":                    time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC),
		"2026-03-12T09:40:00+0000":      time.Date(2026, 3, 12, 9, 40, 0, 0, time.UTC),
		"2026-03-12T09:40:00.999+01:00": time.Date(2026, 3, 12, 8, 40, 0, 0, time.UTC),
	} {
		if got := time.Time(exchangetest.Body[request.SnoozeNew](t, `{"until": "`+text+
			`"}`).Until.Value); !got.Equal(want) {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{`"soon"`, `7`, `"2026-02-30"`, `"12.03.2026"`, `""`, `{}`} {
		if err := new(exchange.Until).UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
