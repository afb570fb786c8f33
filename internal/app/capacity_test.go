package app_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
)

func limitedApp() *app.App {
	return app.New(app.Config{Capacity: core.Capacity{Slots: 3, Share: 2, Queue: 4, Wait: 10 * time.Second,
		Time: 5 * time.Second}})
}

// TestExpensiveReads_OfOneCallerLeaveRoomForOthers makes more calls for one caller than there are slots: another caller
// gets a turn at once, and waiting callers take turns, however many calls each of them has.
func TestExpensiveReads_OfOneCallerLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := limitedApp()
		began := time.Now()
		var mu sync.Mutex
		var order []string
		ask := func(caller string, takes time.Duration) {
			go func() {
				err := a.Expensive(t.Context(), caller, func(context.Context) error {
					mu.Lock()
					order = append(order, fmt.Sprintf("%s %v", caller, time.Since(began)))
					mu.Unlock()
					time.Sleep(takes)
					return nil
				})
				if err != nil {
					t.Errorf("%s: %v", caller, err)
				}
			}()
			synctest.Wait()
		}
		for range 5 {
			ask("many", time.Second)
		}
		ask("other", time.Second) // gets the third slot at once
		ask("third", time.Second) // waits, behind the three of one caller
		time.Sleep(5 * time.Second)
		synctest.Wait()
		want := []string{"many 0s", "many 0s", "other 0s"}
		if got := order[:3]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("at once began %v, want %v", got, want)
		}
		if len(order) != 7 {
			t.Fatalf("%d of 7 had a turn: %v", len(order), order)
		}
		for _, one := range order {
			if one == "third 1s" {
				return
			}
		}
		t.Errorf("one with a single call waited behind all of another's: %v", order)
	})
}

func TestExpensiveReads_QueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := limitedApp()
		var ended sync.WaitGroup
		codes := make(chan error, 10)
		for range 7 { // two run, four wait
			ended.Go(func() {
				codes <- a.Expensive(t.Context(), "many", func(ctx context.Context) error {
					<-ctx.Done()
					return ctx.Err()
				})
			})
			synctest.Wait()
		}
		err := <-codes
		if e, _ := errors.AsType[*exchange.Error](err); exchange.CodeOf(err) != exchange.RateLimited ||
			e.Details["limit"] != 4 || e.Details["retry_after"] == nil {
			t.Errorf("the seventh: %v", err)
		}
		ended.Wait()
		close(codes)
		for err := range codes { // each that had a turn ran too long, and the last two waited too long
			if e, _ := errors.AsType[*exchange.Error](err); exchange.CodeOf(err) != exchange.Unavailable ||
				e.Details["retry_after"] == nil {
				t.Errorf("got %v", err)
			}
		}
		if took := a.Expensive(t.Context(), "many", func(context.Context) error { return nil }); took != nil {
			t.Errorf("afterwards: %v", took)
		}
	})
}

func TestExpensiveReads_CancelledOneFreesItsSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := limitedApp()
		ctx, leave := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		for range 5 {
			ended.Go(func() {
				err := a.Expensive(ctx, "many", func(ctx context.Context) error {
					<-ctx.Done()
					return ctx.Err()
				})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		leave()
		ended.Wait()
		for range 3 {
			ended.Go(func() {
				began := time.Now()
				if err := a.Expensive(t.Context(), fmt.Sprint(time.Now()),
					func(context.Context) error { return nil }); err != nil || time.Since(began) > 0 {
					t.Errorf("afterwards: %v after %v", err, time.Since(began))
				}
			})
		}
		ended.Wait()
	})
}

// TestExpensiveReads_AreDividedAmongProcesses: of three slots, each of two processes has one.
func TestExpensiveReads_AreDividedAmongProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := limitedApp()
		a.Divide(2)
		began := time.Now()
		for _, caller := range []string{"first", "second"} {
			go func() {
				if err := a.Expensive(t.Context(), caller, func(context.Context) error {
					time.Sleep(time.Second)
					return nil
				}); err != nil {
					t.Errorf("%s: %v", caller, err)
				}
			}()
			synctest.Wait()
		}
		if err := a.Expensive(t.Context(), "third", func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited != 2*time.Second {
			t.Errorf("the third read waited %s, want 2 s", waited)
		}
	})
}
