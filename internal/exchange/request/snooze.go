package request

import (
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"

	"github.com/google/uuid"
)

// longestSnooze is in days: someone who cannot act for more than a quarter should say so instead.
const longestSnooze = 90

// SnoozeNew is the body of POST /material-requests/:id/snooze.
type SnoozeNew struct {
	Until  exchange.Opt[exchange.Until] `json:"until"`
	Reason exchange.Opt[string]         `json:"reason"`
}

// Validate implements Body: it leaves out what depends on the time.
func (n SnoozeNew) Validate(bool) exchange.FieldErrors { return n.check(new(string)) }

// check stores the tidy reason in reason.
func (n SnoozeNew) check(reason *string) (f exchange.FieldErrors) {
	f.Must("until", n.Until.Set, "is required: the date on which reminders resume, such as 2026-03-12")
	f.Long("reason", n.Reason, reason)
	return f
}

// at validates n at a moment, and returns its end and the tidy reason.
func (n SnoozeNew) at(now time.Time) (until time.Time, reason string, err error) {
	f := n.check(&reason)
	switch until = time.Time(n.Until.Value); {
	case !n.Until.Set:
	case !until.After(now):
		f.Add("until", "must be in the future")
	case until.After(now.AddDate(0, 0, longestSnooze)):
		f.Add("until", "must be at most %d days ahead", longestSnooze)
	}
	return until, reason, f.Err()
}

// Snooze holds back reminders and the escalation of the current turn until a moment; what falls due before that is sent
// then. Only the side whose turn it is may snooze. A snooze ends with the turn.
func (r Request) Snooze(roles Roles, by uuid.UUID, n SnoozeNew, t Terms, now time.Time) (Request, []Event, error) {
	return r.act(roles, by, t, now, func(c *change) error {
		side, err := c.ownTurn()
		if err != nil {
			return err
		}
		until, reason, err := n.at(now)
		if err != nil || c.SnoozedUntil != nil && c.SnoozedUntil.Equal(until) {
			return err
		}
		c.SnoozedUntil = &until
		c.addEvent(Snoozed, EventDetail{Party: side, Until: new(exchange.Instant(until)), Reason: reason})
		return nil
	})
}

// Unsnooze ends a snooze; if there is none, it changes nothing.
func (r Request) Unsnooze(roles Roles, by uuid.UUID, t Terms, now time.Time) (Request, []Event, error) {
	return r.act(roles, by, t, now, func(c *change) error {
		side, err := c.ownTurn()
		if err != nil || !c.Snoozing(now) {
			return err
		}
		c.SnoozedUntil = nil
		c.addEvent(Unsnoozed, EventDetail{Party: side})
		return nil
	})
}

// ownTurn returns the side whose turn it is, if the actor may act for it.
func (c *change) ownTurn() (Side, error) {
	turn := WaitingOn(c.terms, lab.DefaultTargets, c.Request)
	switch {
	case turn == nil:
		return Nobody, exchange.Errorf(exchange.Conflict, "It is no one's turn in this request, so there is nothing "+
			"to be reminded of.")
	case turn.Side == RequesterSide && !c.roles.asRequester(), turn.Side == LabSide && !c.roles.lab():
		return Nobody, exchange.Errorf(exchange.Forbidden, "It is the turn of the %s, and only they may snooze its "+
			"reminders.", turn.Side)
	}
	return turn.Side, nil
}
