// Package simulate has requests go from the question to the executed agreement through the use cases of Aliquot, with
// people who work when offices are open: on paper, as letters, and as letters with standing approvals
// (docs/simulation.md).
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
	requests = flag.Int("requests", 100, "how many requests take each way")
	seed     = flag.Uint64("seed", 1, "of everything that is random")
)

// The way of a request, and what the bars ask of it; times are in days.
const (
	paperWay      = "paper"
	letterWay     = "letter"
	standingWay   = "letter with standing approvals"
	mostOfLetter  = 1 // the median
	mostOfNine    = 3 // nine of ten
	mostTouches   = 2 // of each request that standing approvals cover
	leastOfPaper  = 26
	mostOfPaper   = 57
	between       = 4 * time.Hour // requests
	hoursOfOneDay = 24
)

func TestSimulation_MeetsItsBars(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db)
		for n := range *requests {
			w.ask(paperWay, n, w.paper)
			w.ask(letterWay, n, w.letter)
			w.ask(standingWay, n, w.standing)
		}
		w.run()
		paper := w.summary(paperWay, func(x *transfer) bool { return x.way == paperWay })
		ways := []summary{
			w.summary(letterWay, func(x *transfer) bool { return x.way == letterWay }),
			w.summary(standingWay, func(x *transfer) bool { return x.way == standingWay }),
			w.summary("covered by them", func(x *transfer) bool { return x.covered }),
			w.summary("not covered", func(x *transfer) bool { return x.way == standingWay && !x.covered }),
		}
		t.Logf("seed %d, %d requests each way\n%s\n%s\n%s\n%s\n%s", *seed, *requests, paper, ways[0], ways[1], ways[2],
			ways[3])
		for _, s := range ways[:3] {
			if s.median >= mostOfLetter || s.p90 >= mostOfNine || 10*s.returns > paper.returns {
				t.Errorf("%s: %.1f days, nine of ten %.1f, with %.2f returns", s.way, s.median, s.p90, s.returns)
			}
		}
		if covered := ways[2]; covered.mostTouches > mostTouches {
			t.Errorf("%.0f touches of a letter that standing approvals cover", covered.mostTouches)
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

// summary is what some of the transfers took.
type summary struct {
	way                              string
	requests                         int
	median, p90                      float64 // days until the executed agreement
	touches, p90Touches, mostTouches float64
	returns                          float64 // per request
}

func (s summary) String() string {
	return fmt.Sprintf("| %s | %d | %.1f | %.1f | %.0f | %.0f | %.0f | %.2f |", s.way, s.requests, s.median, s.p90,
		s.touches, s.p90Touches, s.mostTouches, s.returns)
}

func (w *world) summary(way string, of func(*transfer) bool) summary {
	w.t.Helper()
	var days, touches []float64
	s := summary{way: way}
	for _, x := range w.transfers {
		if !of(x) {
			continue
		}
		if x.executed.IsZero() {
			w.t.Errorf("request %d, %s: its agreement was never executed", x.id, way)
		}
		days = append(days, x.executed.Sub(x.began).Hours()/hoursOfOneDay)
		touches = append(touches, float64(x.touches))
		s.returns += float64(x.returns)
	}
	s.requests = len(days)
	s.returns /= float64(len(days))
	s.median, s.p90 = quantile(days, 0.5), quantile(days, 0.9)
	s.touches, s.p90Touches, s.mostTouches = quantile(touches, 0.5), quantile(touches, 0.9), quantile(touches, 1)
	return s
}

// quantile returns the value that a share of the list is at most.
func quantile(list []float64, share float64) float64 {
	slices.Sort(list)
	return list[int(share*float64(len(list)-1))]
}
