package request

import (
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"

	"github.com/google/uuid"
)

// Reminders lists, in ascending order, the days of a turn on which its side is reminded of what it owes; after the last
// one reminders continue monthly. If the list is empty, nobody is ever reminded.
type Reminders []int

// month is the number of days between reminders after the last of the list.
const month = 30

// Next returns the first day after day on which a reminder is due; false if there is none.
func (s Reminders) Next(day int) (int, bool) {
	for _, next := range s {
		if next > day {
			return next, true
		}
	}
	if len(s) == 0 {
		return 0, false
	}
	last := s[len(s)-1]
	return last + ((day-last)/month+1)*month, true
}

// At returns when the side whose turn it is in r is reminded next; nil: never. A moment in the past means at once.
func (s Reminders) At(r Request) *time.Time {
	day, some := s.Next(r.Reminded)
	if !some {
		return nil
	}
	return r.day(day)
}

// day returns when day n of the turn of r begins, or when its snooze ends if that is later.
func (r Request) day(n int) *time.Time {
	at := r.WaitingSince.AddDate(0, 0, n)
	if r.Snoozing(at) {
		at = *r.SnoozedUntil
	}
	return &at
}

// Snoozing reports whether reminders of the current turn of r are snoozed.
func (r Request) Snoozing(now time.Time) bool {
	return r.SnoozedUntil != nil && now.Before(*r.SnoozedUntil)
}

// Remind reminds the side whose turn it is in r if a reminder is due. If several are due because none could be sent,
// only the last is. It does not change the request: the turn continues.
func (r Request) Remind(t Terms, s Reminders, now time.Time) (Request, []Event) {
	turn := WaitingOn(t, lab.DefaultTargets, r)
	if turn == nil || r.Snoozing(now) {
		return r, nil
	}
	today, due := int(now.Sub(turn.Since)/(24*time.Hour)), false
	for day, some := s.Next(r.Reminded); some && day <= today; day, some = s.Next(day) {
		r.Reminded, due = day, true
	}
	if !due {
		return r, nil
	}
	return r, []Event{r.ofTurn(Reminded, turn, r.Reminded, now)}
}

// Escalation is the day of a lab's turn on which its owner is notified; 0: never.
type Escalation int

// At returns when the lab's owner is notified of the turn of r; nil: never, or already done. A moment in the past means
// at once.
func (e Escalation) At(r Request) *time.Time {
	if e == 0 || !r.Escalates {
		return nil
	}
	return r.day(int(e))
}

// Escalate notifies the lab's owner of the turn of r if that is due: once in each turn of the lab. It does not change
// the request: the turn continues.
func (r Request) Escalate(t Terms, e Escalation, now time.Time) (Request, []Event) {
	turn, at := WaitingOn(t, lab.DefaultTargets, r), e.At(r)
	if turn == nil || at == nil || now.Before(*at) {
		return r, nil
	}
	r.Escalates = false
	return r, []Event{r.ofTurn(Escalated, turn, int(e), now)}
}

// ofTurn returns an event that Aliquot itself caused on a day of a turn.
func (r Request) ofTurn(kind EventKind, turn *Turn, day int, now time.Time) Event {
	return Event{RequestID: r.ID, Kind: kind, At: now,
		Detail: EventDetail{Party: turn.Side, What: turn.What, Since: new(exchange.Instant(turn.Since)), Days: day}}
}

// RemindNow lets one side remind the other, whose turn it is: not on the first day of the turn, once on each other day,
// and never while it is snoozed. It does not change the request: the turn continues.
func (r Request) RemindNow(roles Roles, by uuid.UUID, t Terms, now time.Time) (Request, []Event, error) {
	turn := WaitingOn(t, lab.DefaultTargets, r)
	switch {
	case turn == nil:
		return r, nil, exchange.Errorf(exchange.Conflict, "It is no one's turn in this request, so there is nothing "+
			"to be reminded of.")
	case turn.Side == RequesterSide && !roles.lab(), turn.Side == LabSide && !roles.asRequester():
		return r, nil, exchange.Errorf(exchange.Forbidden, "It is your own turn in this request.")
	case r.Snoozing(now):
		return r, nil, exchange.Errorf(exchange.Conflict, "They snoozed reminders until %s.",
			r.SnoozedUntil.UTC().Format(time.DateOnly))
	}
	switch today := int(now.Sub(turn.Since) / (24 * time.Hour)); {
	case today < 1:
		return r, nil, exchange.Errorf(exchange.Conflict, "Their turn began less than a day ago.")
	case r.Reminded >= today:
		return r, nil, exchange.Errorf(exchange.Conflict, "They were reminded today.")
	default:
		r.Reminded = today
	}
	e := r.ofTurn(Reminded, turn, r.Reminded, now)
	e.Actor = by
	return r, []Event{e}, nil
}
