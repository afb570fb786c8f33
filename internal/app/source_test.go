package app_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange/material"
	"aliquot/internal/importer"
	"aliquot/internal/importer/sourcetest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// noted notes which moments for calls a process got.
type noted struct {
	importer.Calls
	mu    *sync.Mutex
	times map[string][]time.Time // by source
}

func (n noted) Change(ctx context.Context, source string,
	change func([]time.Time) ([]time.Time, error)) error {
	var got time.Time
	err := n.Calls.Change(ctx, source, func(calls []time.Time) ([]time.Time, error) {
		calls, err := change(calls)
		if err == nil {
			got = calls[len(calls)-1]
		}
		return calls, err
	})
	if err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.times[source] = append(n.times[source], got)
	}
	return err
}

// TestSourceCalls_OfAllProcessesTogetherKeepThePace: four processes import at the same moment.
func TestSourceCalls_OfAllProcessesTogetherKeepThePace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const processes, imports, pace = 4, 3, 5
		source := sourcetest.Start(t)
		var mu sync.Mutex
		times := map[string][]time.Time{}
		var all sync.WaitGroup
		for process := range processes {
			cfg := source.Config()
			cfg.Pace, cfg.Calls = pace, noted{core.SourceCalls{DB: db}, &mu, times}
			im, err := importer.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			for i := range imports {
				all.Go(func() {
					if _, err := im.Draft(t.Context(), material.ImportOptions{Source: material.SourceGEO,
						Identifier: fmt.Sprintf("GSE%d", 1000+10*process+i)}); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		if len(times["GEO"]) < processes*imports {
			t.Fatalf("%d calls", len(times["GEO"]))
		}
		for source, list := range times {
			slices.SortFunc(list, time.Time.Compare)
			for i := pace; i < len(list); i++ {
				if span := list[i].Sub(list[i-pace]); span < time.Second {
					t.Errorf("%s: calls %d to %d within %s", source, i-pace, i, span)
				}
			}
		}
	})
}
