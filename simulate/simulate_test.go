// Package simulate has requests go from the question to the executed agreement through the use cases of Aliquot, with
// people who work when offices are open, by the paper way and by the agreement way (docs/simulation.md).
package simulate

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"aliquot/internal/app/evidence"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

var (
	requests = flag.Int("requests", 60, "how many requests take each way")
	seed     = flag.Uint64("seed", 1, "of everything that is random")
)

// The way of a request, and what the bars ask of it, in days.
const (
	paperWay      = "paper"
	letterWay     = "letter"
	mostOfLetter  = 1 // the median
	mostOfNine    = 3 // nine of ten
	leastOfPaper  = 26
	mostOfPaper   = 57
	between       = 4 * time.Hour // requests
	hoursOfOneDay = 24
)

func TestSimulation_MeetsItsBars(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, *seed)
		for n := range *requests {
			w.ask(paperWay, w.time().Add(time.Duration(n)*between), w.paper)
			w.ask(letterWay, w.time().Add(time.Duration(n)*between), w.letter)
		}
		w.run()
		paper, letters := w.summary(paperWay), w.summary(letterWay)
		t.Logf("seed %d, %d requests each way\n%s\n%s", *seed, *requests, paper, letters)
		if letters.median >= mostOfLetter || letters.p90 >= mostOfNine || 10*letters.returns > paper.returns {
			t.Errorf("letters take %.1f days, nine of ten %.1f, with %.2f returns", letters.median, letters.p90,
				letters.returns)
		}
		if paper.median < leastOfPaper || paper.median > mostOfPaper {
			t.Errorf("the paper way takes %.1f days, not %d to %d", paper.median, leastOfPaper, mostOfPaper)
		}
		report, err := w.app.Evidence.Verify(w.ctx, evidence.Verification{Files: true})
		must(t, err)
		if len(report.Faults) > 0 {
			t.Errorf("the record of it has faults: %v", report.Faults)
		}
	})
}

// summary is what the transfers of a way took.
type summary struct {
	way                 string
	median, p90         float64 // days until the executed agreement
	touches, p90Touches float64
	returns             float64 // per request
}

func (s summary) String() string {
	return fmt.Sprintf("| %s | %.1f | %.1f | %.0f | %.0f | %.2f |", s.way, s.median, s.p90, s.touches, s.p90Touches,
		s.returns)
}

func (w *world) summary(way string) summary {
	w.t.Helper()
	var days, touches []float64
	s := summary{way: way}
	for _, x := range w.transfers {
		if x.way != way {
			continue
		}
		if x.executed.IsZero() {
			w.t.Errorf("request %d, %s: its agreement was never executed", x.id, way)
		}
		days = append(days, x.executed.Sub(x.began).Hours()/hoursOfOneDay)
		touches = append(touches, float64(x.touches))
		s.returns += float64(x.returns)
	}
	s.returns /= float64(len(days))
	s.median, s.p90 = quantile(days, 0.5), quantile(days, 0.9)
	s.touches, s.p90Touches = quantile(touches, 0.5), quantile(touches, 0.9)
	return s
}

// quantile returns the value that a share of the list is at most.
func quantile(list []float64, share float64) float64 {
	slices.Sort(list)
	return list[int(share*float64(len(list)-1))]
}
