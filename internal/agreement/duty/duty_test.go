package duty_test

import (
	"testing"
	"time"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/agreement/term"
	"aliquot/internal/exchange"
)

var executed = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func TestOf_MakesDutiesOfTheTermsThatAskForSomething(t *testing.T) {
	t.Parallel()
	terms := []term.Term{term.Attribution, term.Report, term.NoRedistribution, term.Destroy}
	list := duty.Of(7, terms, "", executed)
	if len(list) != 2 || list[0].Term != term.Report || list[0].DueOn != "2027-03-01" || list[1].Term != term.Destroy ||
		list[1].DueOn != "" {
		t.Errorf("the duties are %+v", list)
	}
	if ends := duty.Of(7, terms, "2026-12-31", executed); ends[0] != list[0] || ends[1].DueOn != "2026-12-31" {
		t.Errorf("with an end of the use, they are %+v", ends)
	}
	for _, d := range list {
		if d.Words() == "" || d.Agreement != 7 || d.State != duty.Owed {
			t.Errorf("one is %+v", d)
		}
	}
}

func TestRemind_ComesBeforeOnAndAfterTheDay(t *testing.T) {
	t.Parallel()
	d := duty.Duty{Term: term.Report, State: duty.Owed, DueOn: "2026-06-30"}
	var days []string
	for day := executed; day.Before(executed.AddDate(0, 7, 0)); day = day.AddDate(0, 0, 1) {
		var due bool
		if d, due = d.Remind(exchange.DayOf(day)); due {
			days = append(days, day.Format("01-02"))
		}
	}
	want := []string{"05-31", "06-23", "06-30", "07-30", "08-29", "09-28"}
	if len(days) != len(want) {
		t.Fatalf("reminded on %v, want %v", days, want)
	}
	for i := range want {
		if days[i] != want[i] {
			t.Errorf("reminded on %v, want %v", days, want)
		}
	}
	late := duty.Duty{Term: term.Report, State: duty.Owed, DueOn: "2026-06-30"}
	if late, due := late.Remind("2026-08-15"); !due || late.Reminded != 4 {
		t.Errorf("of several that are due, one: %+v", late)
	}
	for name, d := range map[string]duty.Duty{"without a day": {State: duty.Owed},
		"settled": {State: duty.Done, DueOn: "2026-06-30"}} {
		if _, due := d.Remind("2026-08-15"); due {
			t.Errorf("%s: a reminder", name)
		}
	}
}
