package simulate

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// future is what is going to happen, in the order of time; what happens at the same time does so in the order in which
// it was planned.
type future []planned

type planned struct {
	at time.Time
	n  int
	do func()
}

func (f future) Len() int { return len(f) }
func (f future) Less(i, j int) bool {
	return f[i].at.Before(f[j].at) || f[i].at.Equal(f[j].at) && f[i].n < f[j].n
}
func (f future) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *future) Push(x any)   { *f = append(*f, x.(planned)) }
func (f *future) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

// clock is the time of the simulation. It jumps from one thing that happens to the next.
type clock struct {
	now    atomic.Pointer[time.Time]
	coming future
	n      int
}

func newClock(start time.Time) *clock {
	c := &clock{}
	c.now.Store(&start)
	return c
}

func (c *clock) time() time.Time { return *c.now.Load() }

// plan has something happen at a time.
func (c *clock) plan(at time.Time, do func()) {
	c.n++
	heap.Push(&c.coming, planned{at, c.n, do})
}

// run has everything happen, until nothing is planned any more.
func (c *clock) run() {
	for len(c.coming) > 0 {
		next := heap.Pop(&c.coming).(planned)
		c.now.Store(&next.at)
		next.do()
	}
}

// delay is how long people take: half of the time at most the median, in hours of work, with a long tail.
type delay struct{ median, sigma float64 }

// draw returns a delay by a log-normal distribution.
func (d delay) draw(random *rand.Rand) time.Duration {
	return time.Duration(d.median * math.Exp(d.sigma*random.NormFloat64()) * float64(time.Hour))
}

// calendar is when people at a place work: from opens until closes on weekdays that are no holidays.
type calendar struct {
	zone     *time.Location
	holidays []string // YYYY-MM-DD
}

const (
	opens  = 9
	closes = 17
)

// after returns the time when so much working time has passed since t.
func (p calendar) after(t time.Time, working time.Duration) time.Time {
	t = t.In(p.zone)
	for {
		begin := time.Date(t.Year(), t.Month(), t.Day(), opens, 0, 0, 0, p.zone)
		end := time.Date(t.Year(), t.Month(), t.Day(), closes, 0, 0, 0, p.zone)
		if p.works(t) && t.Before(end) {
			if t.Before(begin) {
				t = begin
			}
			if left := end.Sub(t); working <= left {
				return t.Add(working)
			} else {
				working -= left
			}
		}
		t = time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, p.zone)
	}
}

func (p calendar) works(t time.Time) bool {
	return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday &&
		!slices.Contains(p.holidays, t.Format(time.DateOnly))
}

func TestCalendar_CountsHoursOfWorkAlone(t *testing.T) {
	t.Parallel()
	p := calendar{time.UTC, []string{"2026-05-01"}}
	for _, c := range []struct {
		from, want string
		hours      int
	}{
		{"2026-04-29T10:00:00Z", "2026-04-29T13:00:00Z", 3},
		{"2026-04-29T03:00:00Z", "2026-04-29T12:00:00Z", 3},
		{"2026-04-29T16:00:00Z", "2026-04-30T10:00:00Z", 2},
		{"2026-04-30T16:00:00Z", "2026-05-04T10:00:00Z", 2}, // a holiday, then a weekend
		{"2026-05-02T12:00:00Z", "2026-05-05T10:00:00Z", 9},
	} {
		from, err := time.Parse(time.RFC3339, c.from)
		if err != nil {
			t.Fatal(err)
		}
		got := p.after(from, time.Duration(c.hours)*time.Hour).UTC().Format(time.RFC3339)
		if got != c.want {
			t.Errorf("%d hours after %s: %s, not %s", c.hours, c.from, got, c.want)
		}
	}
}
