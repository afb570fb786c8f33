package spreadsheet

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/job"
	"aliquot/internal/sheet"
	"aliquot/internal/store"
)

// pace is how many rows are written in one transaction. It adapts so that a transaction takes at most long, or polite
// while others wait to write.
type pace struct {
	n            int
	long, polite time.Duration
}

const (
	firstPace, leastPace = 25, 5
	politeFor            = time.Second // since somebody waited
)

// newPace returns the pace of a database. SQLite has only one writer, so that every other one waits for the whole of a
// transaction. On PostgreSQL others wait for the same rows only, and the round trips of even the smallest transaction
// can take longer than SQLite's limits when the machine is busy: fewer rows would not shorten it.
func newPace(postgres bool) pace {
	if postgres {
		return pace{firstPace, 250 * time.Millisecond, 100 * time.Millisecond}
	}
	return pace{firstPace, 25 * time.Millisecond, 6 * time.Millisecond}
}

// rows returns how many rows to write next.
func (p *pace) rows() int { return max(p.n, leastPace) }

// took adapts the pace to how long a transaction took, and to whether others want to write too.
func (p *pace) took(d time.Duration, shared bool) {
	most := p.long
	if shared {
		most = p.polite
	}
	switch {
	case d < most/3:
		p.n = min(2*p.rows(), bulkStep)
	case d > most:
		p.n = p.rows() / 2
	}
}

// storeStaged stores every row of a spreadsheet that is too large for one transaction. New materials are staged in
// short transactions, and one transaction publishes all of them, together with the changes if there are few; more
// changes are made after it. It fails with a Conflict if a row has become invalid, and then leaves nothing behind.
func (b *bulkRun) storeStaged(ctx context.Context) error {
	if !b.state.Published {
		err := b.stage(ctx)
		if err == nil {
			err = b.publish(ctx)
		}
		if err != nil {
			return err
		}
	}
	if err := b.changeRest(ctx); err != nil {
		return err
	}
	for {
		var last int64
		err := b.save(ctx, "making rows found", func(ctx context.Context, tx store.Conn, next *bulkState) (err error) {
			last, err = tx.Bulk.SettleStaged(ctx, b.run.ID(), b.state.Epoch, b.state.Settled, b.pace.rows())
			next.Settled = max(last, b.state.Settled)
			return err
		})
		if err != nil {
			return err
		}
		if last == 0 {
			return b.run.Finish(ctx,
				func(ctx context.Context, tx store.Conn) (any, error) { return b.finish(ctx, tx, true) })
		}
	}
}

// save is a step that saves the state of the job as do changes a copy of it.
func (b *bulkRun) save(ctx context.Context, note string, do func(context.Context, store.Conn, *bulkState) error) error {
	var next bulkState
	// in the transaction, without the wait for it and its commit, which fewer rows do not shorten
	var took time.Duration
	var waits int64
	err := b.run.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
		began := time.Now()
		waits = b.a.DB.WriteWaits()
		next = b.state
		err := do(ctx, tx, &next)
		took = time.Since(began)
		return exchange.Progress{Done: next.Counts.Rows(), Total: next.Total, Note: note}, next, err
	})
	if err == nil {
		b.state = next
		b.rest(ctx, took, waits)
	}
	return err
}

// rest adapts the pace to a transaction that took so long. If others waited to write during it, or shortly before, it
// leaves them twice as long. Waits is what DB.WriteWaits returned when the transaction began.
func (b *bulkRun) rest(ctx context.Context, took time.Duration, waits int64) {
	if b.a.DB.WriteWaits() > waits {
		b.waited = time.Now()
	}
	shared := time.Since(b.waited) < politeFor
	b.pace.took(took, shared)
	if shared {
		select {
		case <-time.After(2 * took):
		case <-ctx.Done():
		}
	}
}

// stage stages the new materials and records the outcome of the other rows.
func (b *bulkRun) stage(ctx context.Context) error {
	if !b.state.Staging {
		if err := b.unstage(ctx); err != nil { // left by a run that was interrupted
			return err
		}
		err := b.save(ctx, "storing rows", func(ctx context.Context, tx store.Conn, next *bulkState) error {
			next.Staging, next.Row, next.Counts = true, 0, material.BulkCounts{}
			return tx.Bulk.DeleteParts(ctx, b.run.ID())
		})
		if err != nil {
			return err
		}
	}
	return b.each(ctx, b.pace.rows, b.state.Row, func(rows []sheet.Row) (bool, error) {
		return true, b.save(ctx, "storing rows", func(ctx context.Context, tx store.Conn, next *bulkState) error {
			if err := b.present(ctx, tx); err != nil {
				return err
			}
			list, err := b.look(ctx, tx, rows, stageRows)
			if err != nil {
				return err
			}
			next.Row = rows[len(rows)-1].Number
			if next.Counts.Count(list); next.Counts.Refused > 0 {
				return errWrongByNow
			}
			return tx.Bulk.InsertPart(ctx, b.run.ID(), list)
		})
	})
}

var errWrongByNow = exchange.Errorf(exchange.Conflict,
	"A row now has errors, because someone changed materials meanwhile.")

// publish makes the staged materials visible, with all changes if they are few.
func (b *bulkRun) publish(ctx context.Context) error {
	var rows []sheet.Row
	few := b.state.Counts.Updated <= bulkStep
	if few && b.state.Counts.Updated > 0 {
		err := b.changed(ctx, checkStep, func(some []sheet.Row) error {
			rows = append(rows, some...)
			return nil
		})
		if err != nil {
			return err
		}
	}
	agreements, err := b.a.DB.Read().Bulk.StagedAgreements(ctx, b.run.ID(), b.record.OrganizationID)
	if err != nil {
		return err
	}
	return b.save(ctx, "publishing", func(ctx context.Context, tx store.Conn, next *bulkState) (err error) {
		if err := b.present(ctx, tx); err != nil {
			return err
		}
		if err := b.file(ctx, tx, agreements); err != nil {
			return err
		}
		list, err := b.look(ctx, tx, rows, storeRows)
		if err != nil {
			return err
		}
		var counts material.BulkCounts
		if counts.Count(list); counts.Refused > 0 {
			return errWrongByNow
		}
		next.Published, next.Changed, next.Row = true, few, 0
		next.Epoch, err = tx.Bulk.PublishStaged(ctx, b.run.ID())
		return err
	})
}

// file moves to the lab the documents that staged materials show as their MTA.
func (b *bulkRun) file(ctx context.Context, tx store.Conn, agreements []int64) error {
	writer := catalog.New(b.a.Core).NewWriter(tx, b.who)
	for _, id := range agreements {
		err := writer.Publish(ctx, "mta_attachment_id", id, b.record.OrganizationID)
		if code := exchange.CodeOf(err); code == exchange.InvalidInput || code == exchange.FieldForbidden {
			return errWrongByNow
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changeRest makes the changes that were too many for publish. If somebody else's change has made one invalid
// meanwhile, only that one is refused.
func (b *bulkRun) changeRest(ctx context.Context) error {
	if b.state.Changed {
		return nil
	}
	err := b.changed(ctx, b.pace.rows, func(rows []sheet.Row) error {
		return b.save(ctx, "changing materials", func(ctx context.Context, tx store.Conn, next *bulkState) error {
			if err := b.present(ctx, tx); err != nil {
				return err
			}
			list, err := b.look(ctx, tx, rows, storeRows)
			if err != nil {
				return err
			}
			next.Row = rows[len(rows)-1].Number
			var counts material.BulkCounts
			counts.Count(list)
			next.Counts.Updated += counts.Updated - int64(len(list))
			next.Counts.Unchanged += counts.Unchanged
			next.Counts.Refused += counts.Refused
			if counts.Updated == int64(len(list)) {
				return nil
			}
			return tx.Bulk.AmendParts(ctx, b.run.ID(), list)
		})
	})
	if err != nil {
		return err
	}
	return b.save(ctx, "changing materials", func(_ context.Context, _ store.Conn, next *bulkState) error {
		next.Changed = true
		return nil
	})
}

// changed calls do with the remaining rows that change materials, some at a time.
func (b *bulkRun) changed(ctx context.Context, n func() int, do func([]sheet.Row) error) error {
	numbers := map[int]bool{}
	err := b.a.EachOutcome(ctx, "", b.run.ID(), func(o material.RowResult) error {
		if o.Outcome == material.RowUpdated {
			numbers[o.Row] = true
		}
		return nil
	})
	if err != nil || len(numbers) == 0 {
		return err
	}
	after := 0
	if b.state.Published { // else it is the last staged row
		after = b.state.Row
	}
	var list []sheet.Row
	err = b.each(ctx, n, after, func(rows []sheet.Row) (bool, error) {
		for _, row := range rows {
			if numbers[row.Number] {
				list = append(list, row)
			}
		}
		if len(list) < n() {
			return true, nil
		}
		some := list
		list = nil
		return true, do(some)
	})
	if err == nil && len(list) > 0 {
		err = do(list)
	}
	return err
}

// unstage removes the staged materials.
func (b *bulkRun) unstage(ctx context.Context) error {
	for after := int64(0); ; {
		var last int64 // of this step, which may run again if its transaction does
		err := b.save(ctx, "checking rows", func(ctx context.Context, tx store.Conn, next *bulkState) (err error) {
			next.Staging = false
			last, err = tx.Bulk.Unstage(ctx, b.run.ID(), after, b.pace.rows())
			return err
		})
		if err != nil || last == 0 {
			return err
		}
		after = last
	}
}

// yield waits until nobody else stages materials of the organization, which may be the same ones.
func (b *bulkRun) yield(ctx context.Context) error {
	for until := time.Now().Add(othersTime); time.Now().Before(until); {
		others, err := b.a.DB.Read().Bulk.StagedBeside(ctx, b.record.OrganizationID, b.run.ID())
		if err != nil || !others {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second/4 + rand.N(time.Second)):
		}
	}
	return nil
}

// othersTime is how long a spreadsheet waits for other ones of the same organization.
const othersTime = 5 * time.Minute

// SettleBulks is the job that cleans up after spreadsheet jobs that were cancelled or given up: published materials are
// indexed for search, others are removed.
var SettleBulks = job.Kind[struct{}]{Name: "materials.settle", Heavy: true}

// SettleBulks is the handler of SettleBulks jobs.
func (a Spreadsheets) SettleBulks(ctx context.Context, r *job.Run, _ struct{}) error {
	ids, err := a.DB.Read().Bulk.StagedIn(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		for after, more := int64(0), true; more; {
			last := after // of this step, which may run again if its transaction does
			err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
				last, err = settleBulk(ctx, tx, id, after)
				return p, nil, err
			})
			if err != nil {
				return err
			}
			after, more = last, last != 0
		}
	}
	return nil
}

// settleBulk settles some materials of a finished job with ids greater than after, and returns the last of their ids; 0
// if none is left.
func settleBulk(ctx context.Context, tx store.Conn, id, after int64) (int64, error) {
	j, err := tx.Jobs.ForUpdate(ctx, id)
	if err != nil && exchange.CodeOf(err) != exchange.NotFound || err == nil && !j.State.Over() {
		return 0, err
	}
	bulk, err := tx.Bulk.Get(ctx, id)
	switch {
	case err == nil && bulk.Stored:
		epoch, err := tx.Bulk.PublishStaged(ctx, id)
		if err != nil {
			return 0, err
		}
		return tx.Bulk.SettleStaged(ctx, id, epoch, after, firstPace)
	case err == nil:
		// they describe what is removed
		err = errors.Join(tx.Bulk.ForgetCheckpoint(ctx, id), tx.Bulk.DeleteParts(ctx, id))
	case exchange.CodeOf(err) == exchange.NotFound:
		err = nil
	}
	if err != nil {
		return 0, err
	}
	return tx.Bulk.Unstage(ctx, id, after, firstPace)
}
