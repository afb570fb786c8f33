package catalog

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// Alert is the job that notifies people of new results of their saved searches. It is periodic; nothing enqueues it.
var Alert = job.Kind[struct{}]{Name: "alert"}

// AlertResult is the result of an Alert job.
type AlertResult struct {
	Changes       int64 `json:"changes"` // materials examined
	Announcements int64 `json:"news"`    // announcements, each to one person about one saved search
}

// The amount of work in one part of the job.
const (
	changesAtOnce  = 256 // in one statement per saved search
	searchesAtOnce = 100
	alertsAtOnce   = 50 // in one transaction; SQLite has no other writer meanwhile
)

// Alert first collects what is new and then announces it, so that one run notifies each person once of each of their
// saved searches. If a run dies, the next one continues: changes not examined are still there, and so are matches not
// announced. Concurrent runs examine changes twice but announce them once.
func (a Materials) Alert(ctx context.Context, r *job.Run, _ struct{}) error {
	var sum AlertResult
	if err := r.Resume(&sum); err != nil {
		return err
	}
	day, err := a.DB.Read().Alerts.EmbargoDay(ctx)
	if err == nil && day != a.DB.Read().Now.Format(time.DateOnly) {
		err = r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
			return sum.progress("ending embargoes"), sum, tx.Alerts.EndEmbargoes(ctx)
		})
	}
	if err != nil {
		return err
	}
	for {
		// The changes are read before the saved searches: a search that is missing here, though a change is visible,
		// was created after that change.
		changes, err := a.DB.Read().Alerts.Changes(ctx, changesAtOnce)
		if err != nil {
			return err
		}
		if len(changes) == 0 {
			break
		}
		if err := a.collect(ctx, r, &sum, changes); err != nil {
			return err
		}
	}
	for started := true; started; {
		before := sum
		err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
			sum = before // the transaction may run again
			var err error
			started, err = notifyMatches(ctx, tx, &sum)
			return sum.progress("telling"), sum, err
		})
		if err != nil {
			return err
		}
	}
	return r.Finish(ctx, func(context.Context, store.Conn) (any, error) { return sum, nil })
}

func (s AlertResult) progress(note string) exchange.Progress {
	return exchange.Progress{Done: s.Changes + s.Announcements, Note: note}
}

// collect records which of the changed materials are new in which saved searches.
func (a Materials) collect(ctx context.Context, r *job.Run, sum *AlertResult, changes []store.MaterialChange) error {
	step := func(do func(ctx context.Context, tx store.Conn) error) error {
		return r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
			return sum.progress("looking for what is new"), *sum, do(ctx, tx)
		})
	}
	for after, more := int64(0), true; more; {
		c := a.DB.Read()
		searches, err := c.Alerts.Searches(ctx, after, searchesAtOnce)
		if err != nil {
			return err
		}
		matches := make([][]int64, len(searches))
		for i, s := range searches {
			after = s.ID
			if matches[i], err = matching(ctx, c, s, changes); err != nil {
				return err
			}
		}
		err = step(func(ctx context.Context, tx store.Conn) error {
			for i, s := range searches {
				if err := tx.Alerts.AddMatches(ctx, s, matches[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		more = len(searches) == searchesAtOnce
	}
	sum.Changes += int64(len(changes))
	return step(func(ctx context.Context, tx store.Conn) error { return tx.Alerts.DeleteChanges(ctx, changes) })
}

// matching returns those of the changed materials that may be new to a saved search and match it.
func matching(ctx context.Context, c store.Conn, s material.SavedSearch, changes []store.MaterialChange) ([]int64,
	error) {
	var ids []int64
	for _, n := range changes {
		if n.MayBeNew(s.Since) {
			ids = append(ids, n.Material)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	return c.Search.Match(ctx, s.Query(), slices.Compact(ids)) // some may occur more than once
}

// notifyMatches notifies some people of what is new in their saved searches; it returns false if everybody has been
// notified.
func notifyMatches(ctx context.Context, tx store.Conn, sum *AlertResult) (bool, error) {
	searches, err := tx.Alerts.SearchesToTell(ctx, alertsAtOnce)
	if err != nil {
		return false, err
	}
	for _, s := range searches {
		m, err := tx.Alerts.TakeMatches(ctx, s)
		if err != nil {
			return false, err
		}
		if m.Count == 0 {
			continue
		}
		if err := notifier.NotifyPeople(ctx, tx, m.Announcement(), s.UserID); err != nil {
			return false, err
		}
		sum.Announcements++
	}
	return len(searches) > 0, nil
}
