package request_test

import (
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/request"
)

// actorOf returns an actor with a role in a request to the lab with the id 4.
func actorOf(p part) exchange.Actor {
	a := exchange.Actor{ID: p.by, Admin: p.roles.Admin}
	if p.roles.Member {
		a.Organizations = []int64{4}
	}
	return a
}

func requested(r request.Request) request.Detail {
	return request.Detail{Request: r, Organization: 4, Terms: everything}
}

func TestAvailableActions_AreTheContractsMoves(t *testing.T) {
	t.Parallel()
	for _, who := range parts {
		for _, s := range request.Statuses {
			o := requested(given(s)).AvailableActions(actorOf(who), exchangetest.Later)
			want := contractAllows(who, s)
			if !slices.Equal(o.Moves, want) && len(o.Moves)+len(want) > 0 || len(o.Waivable) != 0 {
				t.Errorf("%s at %s: %v and %v, want %v", who.name, s, o.Moves, o.Waivable, want)
			}
			bare := requested(at(s)).AvailableActions(actorOf(who), exchangetest.Later)
			for _, to := range request.Statuses {
				now, waives := slices.Contains(want, to), false
				if slices.Contains(needAll, to) {
					now, waives = false, now && who.lab()
				}
				if bare.Now(to) != now || bare.Waives(to) != waives || bare.Can(to) != (now || waives) {
					t.Errorf("%s from %s to %s with everything missing: %v, with a reason %v; want %v, %v", who.name, s,
						to, bare.Now(to), bare.Waives(to), now, waives)
				}
			}
		}
	}
}

func TestAvailableActions_OfStrangersAreNone(t *testing.T) {
	t.Parallel()
	for _, s := range request.Statuses {
		o := requested(given(s)).AvailableActions(actorOf(asStranger), exchangetest.Later)
		anything := len(o.Moves) > 0 || o.Abstract || o.Address || o.Payment || o.Assign || o.Ship || o.Close ||
			o.Reopen || o.Issue || o.Snooze || o.Unsnooze || o.Remind || o.Delete || o.Question
		for _, slot := range document.Slots {
			anything = anything || o.Review[slot] || o.Upload[slot] || o.Withdraw[slot]
		}
		if anything {
			t.Errorf("%s: %+v", s, o)
		}
	}
}

func TestAvailableActions_OfEachSide(t *testing.T) {
	t.Parallel()
	r := given(request.Open)
	mine, theirs := requested(r).AvailableActions(actorOf(asRequester), exchangetest.Later),
		requested(r).AvailableActions(actorOf(asMember), exchangetest.Later)
	for what, c := range map[string]struct{ requester, member, want bool }{
		"the abstract":     {mine.Abstract, theirs.Abstract, true},
		"the address":      {mine.Address, theirs.Address, true},
		"the payment":      {mine.Payment, theirs.Payment, true},
		"an executed MTA":  {mine.Upload[document.ExecutedMTA], theirs.Upload[document.ExecutedMTA], false},
		"checking the MTA": {mine.Review[document.SignedMTA], theirs.Review[document.SignedMTA], false},
		"checking theirs":  {mine.Review[document.ExecutedMTA], theirs.Review[document.ExecutedMTA], true},
		"assigning":        {mine.Assign, theirs.Assign, false},
		"a question":       {mine.Question, theirs.Question, false},
		"sending":          {mine.Ship, theirs.Ship, false},
		"snoozing":         {mine.Snooze, theirs.Snooze, false}, // the lab decides
		"reminding":        {mine.Remind, theirs.Remind, true},
	} {
		if c.requester != c.want || c.member == c.want {
			t.Errorf("%s is offered to the requester %v, to the lab %v", what, c.requester, c.member)
		}
	}
}

func TestAvailableActions_RemindOnceADayAfterTheFirst(t *testing.T) {
	t.Parallel()
	r := given(request.Open)
	remind := func(now time.Time, who part) error {
		after, events, err := r.RemindNow(who.roles, who.by, everything, now)
		if err == nil {
			wantKinds(t, events, err, request.Reminded)
			if d := events[0].Detail; d.Party != request.LabSide ||
				d.Days != int(now.Sub(exchangetest.Start).Hours()/24) ||
				events[0].Actor != who.by {
				t.Errorf("%+v by %s", d, events[0].Actor)
			}
			if !after.WaitingSince.Equal(r.WaitingSince) || !after.UpdatedAt.Equal(r.UpdatedAt) {
				t.Error("it changed the turn")
			}
			r = after
		}
		return err
	}
	day := 24 * time.Hour
	exchangetest.WantCode(t, remind(exchangetest.Start.Add(day-time.Second), asRequester), exchange.Conflict, "")
	exchangetest.WantCode(t, remind(exchangetest.Start.Add(day), asMember), exchange.Forbidden, "")
	if err := remind(exchangetest.Start.Add(day), asRequester); err != nil {
		t.Error(err)
	}
	exchangetest.WantCode(t, remind(exchangetest.Start.Add(2*day-time.Second), asRequester), exchange.Conflict, "")
	if err := remind(exchangetest.Start.Add(2*day), asAdmin); err != nil {
		t.Error(err)
	}
	if next, _ := (request.Reminders{7, 14}).Next(r.Reminded); next != 7 {
		t.Errorf("Aliquot reminds next on day %d", next)
	}
	r.SnoozedUntil = new(exchangetest.Start.Add(9 * day))
	exchangetest.WantCode(t, remind(exchangetest.Start.Add(3*day), asRequester), exchange.Conflict, "")
	r = given(request.Verified)
	exchangetest.WantCode(t, remind(exchangetest.Start.Add(9*day), asRequester), exchange.Conflict, "")
}
