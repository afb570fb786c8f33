// Package duty has what is still owed after an agreement was executed: which of its terms make duties, until when, and
// when people are reminded.
package duty

import (
	"time"

	"aliquot/internal/agreement/term"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// State is where a duty stands.
type State string

// The states. A duty that was done or waived is settled, and stays so.
const (
	Owed   State = "OWED"
	Done   State = "DONE"
	Waived State = "WAIVED"
)

// States lists all of them.
var States = []State{Owed, Done, Waived}

// Duty is what the recipient of an executed agreement owes its provider by a term.
type Duty struct {
	ID        int64
	Agreement int64
	Term      term.Term
	DueOn     exchange.Date // empty: nobody set a day
	Reminded  int           // the stage of the last reminder; 0: none
	State     State
	Text      string    // the evidence, or why it was waived
	SettledBy uuid.UUID // uuid.Nil: nobody
	SettledAt *time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}

// reportDays is how many days after the execution a first report is due.
const reportDays = 365

// Of returns the duties that the terms of an agreement make, which is executed at a moment. A report is due after a
// year, return or destruction on the day on which the use ends, if the agreement has one; otherwise, and for
// publications, the provider's side says when.
func Of(agreement int64, terms []term.Term, endsOn exchange.Date, executed time.Time) (list []Duty) {
	for _, t := range terms {
		d := Duty{Agreement: agreement, Term: t, State: Owed, CreatedAt: executed, UpdatedAt: executed}
		switch t {
		case term.Report:
			d.DueOn = exchange.DayOf(executed.AddDate(0, 0, reportDays))
		case term.Destroy:
			d.DueOn = endsOn
		case term.NotifyPublication:
		default:
			continue
		}
		list = append(list, d)
	}
	return list
}

// Words says what is owed.
func (d Duty) Words() string {
	return map[term.Term]string{
		term.Report:            "Report on the use of the material",
		term.Destroy:           "Return or destroy the material",
		term.NotifyPublication: "Notify the provider of publications",
	}[d.Term]
}

// stages are the days before the due day on which the recipient is reminded; after it, they are every month.
var stages = []int{30, 7, 0}

// month is the number of days between reminders of what is overdue.
const month = 30

// FirstReminder is how many days before the due day the first reminder is.
const FirstReminder = 30

// Remind returns the duty as it is after a reminder on a day, and whether one is due. Of several that are due, one is
// sent.
func (d Duty) Remind(today exchange.Date) (Duty, bool) {
	due, dated := day(d.DueOn)
	now, _ := day(today)
	if !dated || d.State != Owed {
		return d, false
	}
	left, stage := int(due.Sub(now)/(24*time.Hour)), 0
	for _, before := range stages {
		if left <= before {
			stage++
		}
	}
	if left < 0 {
		stage += -left / month
	}
	if stage <= d.Reminded {
		return d, false
	}
	d.Reminded = stage
	return d, true
}

// Overdue reports whether the duty should have been settled before the day.
func (d Duty) Overdue(today exchange.Date) bool {
	return d.State == Owed && d.DueOn != "" && d.DueOn < today
}

func day(d exchange.Date) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, string(d))
	return t, err == nil
}

// Settle returns the duty done or waived; Conflict if it is settled already.
func (d Duty) Settle(to State, text string, by uuid.UUID, now time.Time) (Duty, error) {
	if d.State != Owed {
		return d, settled()
	}
	d.State, d.Text, d.SettledBy, d.SettledAt, d.UpdatedAt = to, text, by, &now, now
	return d, nil
}

// Patch is the body of PUT and PATCH of a duty.
type Patch struct {
	DueOn exchange.Null[exchange.Date] `json:"due_on"`
}

// Apply sets the day on which a duty is due; null is none. Reminders begin again. Conflict if the duty is settled.
func (p Patch) Apply(d Duty, now time.Time) (Duty, error) {
	due := d.DueOn
	if p.DueOn.Set {
		due = ""
		if p.DueOn.Value != nil {
			due = *p.DueOn.Value
		}
	}
	if due == d.DueOn {
		return d, nil
	}
	if d.State != Owed {
		return d, settled()
	}
	d.DueOn, d.Reminded, d.UpdatedAt = due, 0, now
	return d, nil
}

// Validate implements exchange.Body; every day is valid.
func (p Patch) Validate(bool) exchange.FieldErrors { return nil }

// Evidence is the body of POST /agreements/:id/duties/:duty/evidence.
type Evidence struct {
	Text exchange.Opt[string] `json:"text"`
}

// Check returns the tidy text, which may not be empty.
func (e Evidence) Check() (string, error) { return needed("text", e.Text) }

// Validate implements exchange.Body.
func (e Evidence) Validate(bool) exchange.FieldErrors {
	_, err := e.Check()
	return exchange.FieldsOf(err)
}

// Waiver is the body of POST /agreements/:id/duties/:duty/waive.
type Waiver struct {
	Reason exchange.Opt[string] `json:"reason"`
}

// Check returns the tidy reason, which may not be empty.
func (w Waiver) Check() (string, error) { return needed("reason", w.Reason) }

// Validate implements exchange.Body.
func (w Waiver) Validate(bool) exchange.FieldErrors {
	_, err := w.Check()
	return exchange.FieldsOf(err)
}

func needed(field string, said exchange.Opt[string]) (text string, err error) {
	var f exchange.FieldErrors
	f.Long(field, said, &text)
	f.Need(field, text)
	return text, f.Err()
}

func settled() error { return exchange.Errorf(exchange.Conflict, "This duty is settled already.") }
