package importer

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace_HoldsInEveryInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, sent := newPace(3, time.Second), &memory{calls: map[string][]time.Time{}}
		began := time.Now()
		var mu sync.Mutex
		var times []time.Duration
		for burst := range 2 { // the second comes after a rest
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if err := p.wait(t.Context(), "GEO", sent); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					times = append(times, time.Since(began))
				})
			}
			all.Wait()
			if took := times[8*burst+2] - times[8*burst]; took > 0 {
				t.Errorf("three calls that may leave at once take %s", took)
			}
			time.Sleep(time.Minute)
		}
		for i := 3; i < len(times); i++ {
			if span := times[i] - times[i-3]; span <= time.Second {
				t.Errorf("calls %d to %d leave within %s", i-3, i, span)
			}
		}
	})
}

func TestPace_TooLongWaitIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, sent := newPace(1, time.Second), &memory{calls: map[string][]time.Time{}}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 15 {
			all.Go(func() { _ = p.wait(ctx, "GEO", sent) })
		}
		synctest.Wait()
		began := time.Now()
		if err := p.wait(ctx, "GEO", sent); !errors.Is(err, errBusy) || time.Since(began) > 0 {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		cancel()
		all.Wait()
		if time.Since(began) > 0 {
			t.Error("who went away still waits")
		}
	})
}
