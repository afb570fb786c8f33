package exchange

import "time"

// Reminders are the days of a turn on which its side is reminded of what it owes, rising; behind the
// last one every month goes on. Without any nobody is ever reminded.
type Reminders []int

// month is the days between reminders behind the last of the list.
const month = 30

// Next is the first day behind day on which a reminder is due; false: none is.
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

// At is when the side whose turn it is in r is reminded next; nil: never. A moment that has passed
// means at once.
func (s Reminders) At(r Request) *time.Time {
	day, some := s.Next(r.Reminded)
	if !some {
		return nil
	}
	return new(r.WaitingSince.AddDate(0, 0, day))
}

// Remind reminds the side whose turn it is in r, where that is due. Of several reminders that are due,
// since nobody could send them, only the last is sent. It is no change of the request: the turn goes on.
func (r Request) Remind(t Terms, s Reminders, now time.Time) (Request, []Event) {
	turn := WaitingOn(t, DefaultTargets, r)
	if turn == nil {
		return r, nil
	}
	today, due := int(now.Sub(turn.Since)/(24*time.Hour)), false
	for day, some := s.Next(r.Reminded); some && day <= today; day, some = s.Next(day) {
		r.Reminded, due = day, true
	}
	if !due {
		return r, nil
	}
	return r, []Event{{RequestID: r.ID, Kind: Reminded, At: now,
		Detail: Detail{Party: turn.Side, What: turn.What, Since: new(Instant(turn.Since)), Days: r.Reminded}}}
}
