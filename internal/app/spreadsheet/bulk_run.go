package spreadsheet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/job"
	"aliquot/internal/sheet"
	"aliquot/internal/store"
)

// bulkStep is how many rows are checked or stored at once; fewer if they have too many bytes.
const (
	bulkStep  = 500
	bulkBytes = 4 << 20
)

// bulkState is how far a job has got.
type bulkState struct {
	Counted  bool
	Total    int64 // rows
	Row      int   // the last row examined
	Checked  bool  // all rows have been
	Counts   material.BulkCounts
	Repeated int // how often all rows were checked again because others changed materials meanwhile

	// Of a large spreadsheet that is stored as a whole:
	Staging   bool  // rows are saved, but not visible yet
	Published bool  // they are visible to everyone
	Changed   bool  // all changes to materials are saved
	Epoch     int64 // search epoch at publication
	Settled   int64 // the last material that searches find
}

// bulkRun is a BulkMaterials job while it runs.
type bulkRun struct {
	a      Spreadsheets
	who    exchange.Actor
	args   core.BulkArgs
	record material.Bulk
	run    *job.Run
	state  bulkState
	layout material.Layout
	pace   pace
	waited time.Time        // when somebody else waited last to write
	seen   map[[16]byte]int // values that only one row may have, and the row that has it
}

// bulkMaterials is the handler of BulkMaterials.
func (a Spreadsheets) bulkMaterials(ctx context.Context, r *job.Run, args core.BulkArgs) error {
	b := &bulkRun{a: a, args: args, run: r, pace: newPace(a.DB.Postgres())}
	var err error
	if b.record, err = a.DB.Read().Bulk.Get(ctx, r.ID()); err != nil {
		return err
	}
	if b.who = Operator(); !args.Operator {
		if b.who, err = a.DB.Read().Actors.Of(ctx, r.User()); err != nil {
			return err
		}
	}
	if err := b.may(); err != nil {
		return err
	}
	if err := r.Resume(&b.state); err != nil {
		return err
	}
	file, err := a.Files.Open(ctx, b.record.ContentKey)
	if err != nil {
		return err
	}
	leave, err := a.Books.ForJob(ctx, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	defer leave()
	err = b.do(ctx)
	if code := exchange.CodeOf(err); err != nil && (code == exchange.InvalidInput || code == exchange.NotFound) {
		return job.GiveUp(said(err)) // the file itself is at fault
	}
	return err
}

// may cancels the job if its user has left the organization.
func (b *bulkRun) may() error {
	if _, err := b.a.Can(b.who, exchange.MaterialBulk, b.who.ToOrganization(b.record.OrganizationID)); err != nil {
		return job.GiveUp(err)
	}
	return nil
}

// present checks the rights again in a transaction that stores rows, since a job can take long.
func (b *bulkRun) present(ctx context.Context, tx store.Conn) (err error) {
	if b.args.Operator {
		return nil
	}
	if b.who, err = tx.Actors.Current(ctx, exchange.Actor{ID: b.run.User()}); err != nil {
		return err
	}
	return b.may()
}

// said returns an error whose message includes what is wrong with the file, since a job reports only the message.
func said(err error) error {
	if e, ok := errors.AsType[*exchange.Error](err); ok {
		for field, texts := range e.Fields {
			return exchange.Errorf(e.Code, "The %s %s.", field, texts[0])
		}
	}
	return err
}

func (b *bulkRun) do(ctx context.Context) error {
	if !b.state.Counted {
		if err := b.count(ctx); err != nil {
			return err
		}
	}
	for {
		if !b.state.Checked {
			if err := b.pass(ctx); err != nil {
				return err
			}
		}
		if b.args.Order.Mode != material.BulkAllOrNothing || b.state.Counts.Refused > 0 {
			stored := b.args.Order.Mode == material.BulkValidRows
			return b.run.Finish(ctx,
				func(ctx context.Context, tx store.Conn) (any, error) { return b.finish(ctx, tx, stored) })
		}
		store := b.storeAll
		if b.state.Total > bulkStep {
			store = b.storeStaged
		}
		err := store(ctx)
		if exchange.CodeOf(err) != exchange.Conflict || b.state.Repeated >= maxRepeated {
			return err
		}
		if err := b.checkAgain(ctx); err != nil {
			return err
		}
	}
}

// maxRepeated is how often a spreadsheet is checked again because it was valid and could not be stored.
const maxRepeated = 5

// count counts the rows, so that the progress has a total.
func (b *bulkRun) count(ctx context.Context) error {
	rows, err := b.a.openBulk(ctx, b.record.ContentKey, b.args)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for {
		some, err := rows.some(bulkStep)
		if err != nil {
			return err
		}
		if len(some) == 0 {
			break
		}
		b.state.Total += int64(len(some))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	b.state.Counted = true
	return b.run.Step(ctx, func(context.Context, store.Conn) (exchange.Progress, any, error) {
		return b.progress(), b.state, nil
	})
}

// pass goes through the rows not examined yet and checks them, or stores the valid ones.
func (b *bulkRun) pass(ctx context.Context) error {
	n := checkStep
	if b.args.Order.Mode == material.BulkValidRows {
		n = b.pace.rows
	}
	err := b.each(ctx, n, b.state.Row, func(rows []sheet.Row) (bool, error) {
		if b.state.Counts.Refused >= material.MaxRefused {
			return false, nil
		}
		return true, b.step(ctx, rows)
	})
	if err != nil {
		return err
	}
	b.state.Checked = true
	return b.save(ctx, b.progress().Note, func(context.Context, store.Conn, *bulkState) error { return nil })
}

func checkStep() int { return bulkStep }

// each calls do with the rows after the given one, n at a time, until do asks to stop.
func (b *bulkRun) each(ctx context.Context, n func() int, after int,
	do func([]sheet.Row) (more bool, err error)) error {
	rows, err := b.a.openBulk(ctx, b.record.ContentKey, b.args)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	b.layout, b.seen = rows.layout, map[[16]byte]int{}
	for {
		some, err := rows.some(n())
		if err != nil || len(some) == 0 {
			return err
		}
		for len(some) > 0 && some[0].Number <= after { // an earlier run examined it
			b.note(some[0])
			some = some[1:]
		}
		if len(some) == 0 {
			continue
		}
		if more, err := do(some); err != nil || !more {
			return err
		}
	}
}

// note records the unique values of a row that an earlier run examined.
func (b *bulkRun) note(row sheet.Row) {
	e := b.layout.RowTarget(row.Cells, b.record.OrganizationID)
	if e.Reference != "" {
		b.claim("reference", e.Reference, row.Number)
	}
	if e.ID != 0 {
		b.claim("id", fmt.Sprint(e.ID), row.Number)
	}
}

// claim returns the earlier row with the same value; 0 if there is none.
func (b *bulkRun) claim(what, name string, row int) int {
	sum := sha256.Sum256([]byte(what + "\x00" + name))
	key := [16]byte(sum[:])
	if other := b.seen[key]; other != 0 && other != row {
		return other
	}
	b.seen[key] = row
	return 0
}

// step handles some rows.
func (b *bulkRun) step(ctx context.Context, rows []sheet.Row) error {
	trial := b.args.Order.Mode != material.BulkValidRows
	for try := 1; ; try++ {
		next := b.state
		next.Row = rows[len(rows)-1].Number
		var list []material.RowResult
		var err error
		if trial {
			if list, err = b.look(ctx, b.a.DB.Read(), rows, tryRows); err != nil {
				return err
			}
			next.Counts.Count(list)
		}
		var took time.Duration
		var waits int64
		err = b.run.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
			began := time.Now()
			waits = b.a.DB.WriteWaits()
			defer func() { took = time.Since(began) }()
			if !trial {
				if err := b.present(ctx, tx); err != nil {
					return exchange.Progress{}, nil, err
				}
				if list, err = b.look(ctx, tx, rows, storeRows); err != nil {
					return exchange.Progress{}, nil, err
				}
				next.Counts = b.state.Counts
				next.Counts.Count(list)
			}
			err := tx.Bulk.InsertPart(ctx, b.run.ID(), list)
			progress := b.progress()
			progress.Done = next.Counts.Rows()
			return progress, next, err
		})
		switch {
		case err == nil:
			b.state = next
			b.rest(ctx, took, waits)
			return nil
		case exchange.CodeOf(err) != exchange.Conflict || try == maxRepeated: // else somebody listed the same meanwhile
			return err
		}
	}
}

func (b *bulkRun) progress() exchange.Progress {
	p := exchange.Progress{Done: b.state.Counts.Rows(), Total: b.state.Total, Note: "checking rows"}
	mode := b.args.Order.Mode
	if mode == material.BulkValidRows || mode == material.BulkAllOrNothing && b.state.Checked &&
		b.state.Counts.Refused == 0 {
		p.Note = "storing rows"
	}
	return p
}

// storeAll stores every row and finishes the job in one transaction. It fails with a Conflict if a row has become
// invalid.
func (b *bulkRun) storeAll(ctx context.Context) error {
	return b.run.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		if err := b.present(ctx, tx); err != nil {
			return nil, err
		}
		rows, err := b.a.openBulk(ctx, b.record.ContentKey, b.args)
		if err != nil {
			return nil, err
		}
		defer func() { _ = rows.Close() }()
		b.layout, b.seen, b.state.Counts = rows.layout, map[[16]byte]int{}, material.BulkCounts{}
		if err := tx.Bulk.DeleteParts(ctx, b.run.ID()); err != nil {
			return nil, err
		}
		for {
			some, err := rows.some(bulkStep)
			if err != nil {
				return nil, err
			}
			if len(some) == 0 {
				return b.finish(ctx, tx, true)
			}
			list, err := b.look(ctx, tx, some, storeRows)
			if err != nil {
				return nil, err
			}
			if b.state.Counts.Count(list); b.state.Counts.Refused > 0 {
				return nil, errWrongByNow
			}
			if err := tx.Bulk.InsertPart(ctx, b.run.ID(), list); err != nil {
				return nil, err
			}
		}
	})
}

// checkAgain restarts at the first row.
func (b *bulkRun) checkAgain(ctx context.Context) error {
	if b.state.Staging {
		err := b.unstage(ctx)
		if err == nil {
			err = b.yield(ctx)
		}
		if err != nil {
			return err
		}
	}
	b.state = bulkState{Counted: true, Total: b.state.Total, Repeated: b.state.Repeated + 1}
	return b.run.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
		return b.progress(), b.state, tx.Bulk.DeleteParts(ctx, b.run.ID())
	})
}

// finish returns the result of the job.
func (b *bulkRun) finish(ctx context.Context, tx store.Conn, stored bool) (material.BulkResult, error) {
	rows, err := b.a.openBulk(ctx, b.record.ContentKey, b.args)
	if err != nil {
		return material.BulkResult{}, err
	}
	defer func() { _ = rows.Close() }()
	result := material.BulkResult{Mode: b.args.Order.Mode, Stored: stored, BulkCounts: b.state.Counts,
		Complete: b.state.Counts.Rows() == b.state.Total,
		Report:   reportPath(b.record.OrganizationID, b.run.ID()),
		Columns:  rows.layout.Headings, Sheet: rows.Name, Others: append([]string{}, rows.Others...), Notes: []string{}}
	if !rows.layout.Names() && result.Created > 0 {
		result.Notes = append(result.Notes, "There is no column with a reference or id, so uploading this file again "+
			"will list the same materials again.")
	}
	if !result.Complete {
		result.Notes = append(result.Notes, fmt.Sprintf("Stopped after %d rows with errors.", b.state.Counts.Refused))
	}
	if !stored {
		return result, nil
	}
	return result, tx.Bulk.Store(ctx, b.run.ID())
}
