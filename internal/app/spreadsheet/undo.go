package spreadsheet

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// UndoImport is the kind of job that undoes an import: it archives what a spreadsheet or a list of identifiers listed.
var UndoImport = job.Kind[UndoArgs]{Name: "materials.undo", MaxAttempts: 5, Heavy: true}

// UndoArgs are the arguments of an UndoImport job.
type UndoArgs struct{ Import int64 }

// UndoHandler returns the handler of UndoImport.
func (a Spreadsheets) UndoHandler() job.Handler { return UndoImport.Handle(a.undoImport) }

// Undo enqueues a job that undoes an import, for whoever may list materials of its organization from a spreadsheet. An
// import is undone once; a second call returns the same job. What was requested or changed since stays. Conflict while
// the import runs, more than material.UndoTime after it, and if it listed nothing.
func (a Spreadsheets) Undo(ctx context.Context, who exchange.Actor, id int64) (j exchange.Job, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		was, err := tx.Jobs.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		organization, err := importedTo(ctx, tx, was)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.MaterialBulk, who.ToOrganization(organization),
			core.Object("organization", organization)); err != nil {
			return err
		}
		switch n, err := tx.Bulk.CountListed(ctx, id); {
		case err != nil:
			return err
		case !was.State.Over():
			return exchange.Errorf(exchange.Conflict, "This import is still under way; cancel it first.")
		case was.EndedAt != nil && tx.Now.Sub(*was.EndedAt) > material.UndoTime:
			return exchange.Errorf(exchange.Conflict, "An import can be undone for 30 days after it ended.")
		case n == 0:
			return exchange.Errorf(exchange.Conflict, "This import listed no materials, so there is nothing to undo.")
		}
		undo, err := UndoImport.Enqueue(ctx, tx, UndoArgs{id},
			job.EnqueueOptions{User: core.ActorID(who), Key: strconv.FormatInt(id, 10)})
		if err != nil {
			return err
		}
		if _, err = tx.Bulk.Get(ctx, undo); exchange.CodeOf(err) == exchange.NotFound {
			err = tx.Bulk.Insert(ctx, material.Bulk{JobID: undo, OrganizationID: organization, Stored: true})
		}
		if err != nil {
			return err
		}
		j, err = tx.Jobs.Get(ctx, undo)
		return err
	})
	return j, err
}

// importedTo returns the organization for which a job lists materials; NotFound for any other job.
func importedTo(ctx context.Context, c store.Conn, j exchange.Job) (int64, error) {
	switch j.Kind {
	case core.BulkMaterials.Name:
		b, err := c.Bulk.Get(ctx, j.ID)
		return b.OrganizationID, err
	case catalog.ImportMaterials.Name:
		var order material.BatchImportOptions
		if err := json.Unmarshal(j.Args, &order); err != nil {
			return 0, err
		}
		return order.Orders[0].OrganizationID, nil // it is the same for all
	}
	return 0, exchange.Errorf(exchange.NotFound, "There is no such import.")
}

// undoStep is how many materials are archived in one transaction; SQLite has no other writer meanwhile.
const undoStep = 25

// undoState is how far a job that undoes an import has got.
type undoState struct {
	After  int64 // the id of the last material
	Total  int64
	Counts material.BulkCounts
}

// undoImport is the handler of UndoImport. Its report has a row for each material, with why it was left as it is.
func (a Spreadsheets) undoImport(ctx context.Context, r *job.Run, args UndoArgs) error {
	var at undoState
	if err := r.Resume(&at); err != nil {
		return err
	}
	record, err := a.DB.Read().Bulk.Get(ctx, r.ID())
	if err != nil {
		return err
	}
	if at.Total == 0 {
		if at.Total, err = a.DB.Read().Bulk.CountListed(ctx, args.Import); err != nil {
			return err
		}
	}
	for more := true; more; {
		var next undoState
		err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
			next = at
			err := a.undoSome(ctx, tx, r, args.Import, record.OrganizationID, &next)
			return exchange.Progress{Done: next.Counts.Rows(), Total: next.Total, Note: "undoing"}, next, err
		})
		if err != nil {
			return err
		}
		more, at = next.After > at.After, next
	}
	return r.Finish(ctx, func(context.Context, store.Conn) (any, error) {
		return material.BulkResult{Mode: material.BulkUndo, Stored: true, BulkCounts: at.Counts, Complete: true,
			Report: reportPath(record.OrganizationID, r.ID()), Others: []string{}, Columns: []material.ColumnHeading{},
			Notes: []string{}}, nil
	})
}

// undoSome archives the next materials of an import, as far as nothing happened to them since.
func (a Spreadsheets) undoSome(ctx context.Context, tx store.Conn, r *job.Run, undone, organization int64,
	at *undoState) error {
	who, err := tx.Actors.Current(ctx, exchange.Actor{ID: r.User()})
	if err != nil {
		return err
	}
	if _, err := a.Can(who, exchange.MaterialBulk, who.ToOrganization(organization)); err != nil {
		return job.GiveUp(err)
	}
	list, err := tx.Bulk.ListedAfter(ctx, undone, at.After, undoStep)
	if err != nil || len(list) == 0 {
		return err
	}
	results := make([]material.RowResult, len(list))
	for i, l := range list {
		results[i] = material.RowResult{Row: int(at.Counts.Rows()) + i + 1, Material: l.ID, Reference: l.Title,
			Outcome: material.RowArchived}
		why := l.Kept()
		if l.Organization != organization {
			why = "is another lab’s by now"
		}
		if why != "" {
			results[i].Outcome, results[i].Problems = material.RowKept, map[string][]string{"material": {why}}
		} else if err := catalog.New(a.Core).UndoListing(ctx, tx, who, l.ID); err != nil {
			return err
		}
		at.After = l.ID
	}
	at.Counts.Count(results)
	return tx.Bulk.InsertPart(ctx, r.ID(), results)
}

func reportPath(organization, id int64) string {
	return fmt.Sprintf("/v1/organizations/%d/materials/bulk/%d/report", organization, id)
}
