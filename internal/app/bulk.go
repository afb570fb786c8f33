package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/files"
	"aliquot/internal/job"
	"aliquot/internal/sheet"
	"aliquot/internal/store"
)

// BulkMaterials is the kind of job that imports a spreadsheet of materials. A step handles a part of the rows: its
// results, its effects and the progress of the job are one transaction.
var BulkMaterials = job.Kind[BulkArgs]{Name: "materials.bulk", MaxAttempts: 5, Heavy: true}

// BulkArgs are the arguments of a BulkMaterials job.
type BulkArgs struct {
	Order    material.BulkOptions
	Mapping  map[string]string      // all that the organization has said about its headers so far
	Values   []material.Replacement // cell values that are read as others
	Operator bool                   // it was started on the command line
}

// BulkHandler returns the handler of BulkMaterials.
func (a *App) BulkHandler() job.Handler { return BulkMaterials.Handle(a.bulkMaterials) }

// Operator returns the actor of commands on the command line: no user, with the rights of an admin.
func Operator() exchange.Actor { return exchange.Actor{Admin: true} }

// StoreBulk stores a spreadsheet before there is a job for it. The caller passes it to Bulk, or to DiscardBulk if that
// fails. It counts towards the organization's quota from now on.
func (a *App) StoreBulk(ctx context.Context, who exchange.Actor, organization int64, body io.Reader) (document.Content,
	error) {
	if err := a.MayBulk(ctx, who, organization); err != nil {
		return document.Content{}, err
	}
	owner := document.LabStorage(organization)
	content, err := a.put(ctx, body, owner)
	if err != nil {
		return content, err
	}
	err = a.within(a.DB.Tx).write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if _, err := a.can(who, exchange.MaterialBulk, who.ToOrganization(organization)); err != nil {
			return err
		}
		if err := tx.Storage.InsertSheet(ctx, organization, content); err != nil {
			return err
		}
		return a.withinQuota(ctx, tx, owner, content.Size)
	})
	if err != nil {
		a.Discard(ctx, content, err)
	}
	return content, err
}

// DiscardBulk is Discard for a spreadsheet from StoreBulk, which no longer counts towards the quota.
func (a *App) DiscardBulk(ctx context.Context, c document.Content, err error) {
	if exchange.CodeOf(err).ServerFault() {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		return tx.Storage.DeleteSheet(ctx, c.Key)
	}); err != nil {
		a.Log.WarnContext(ctx, "discard spreadsheet", "error", err) // the sweep deletes it later
		return
	}
	a.Discard(ctx, c, err)
}

// MayBulk reports whether who may list an organization's materials from a spreadsheet.
func (a *App) MayBulk(ctx context.Context, who exchange.Actor, organization int64) error {
	return a.MayToLab(ctx, who, exchange.MaterialBulk, organization)
}

// Bulk enqueues a job that lists, changes or checks the materials of a spreadsheet. Unreadable files and unknown
// columns are refused at once, with how the other columns were understood.
func (a *App) Bulk(ctx context.Context, who exchange.Actor, organization int64, order material.BulkOptions,
	content document.Content) (exchange.Job, error) {
	args, err := a.bulkArgs(ctx, who, organization, order)
	if err != nil {
		return exchange.Job{}, err
	}
	if _, err := a.headers(ctx, who, content.Key, args); err != nil {
		return exchange.Job{}, err
	}
	return a.enqueueBulk(ctx, who, organization, args, content.Key)
}

// bulkArgs returns the arguments of a job, with all that the organization has said about its headers so far.
func (a *App) bulkArgs(ctx context.Context, who exchange.Actor, organization int64,
	order material.BulkOptions) (BulkArgs, error) {
	order, err := order.Check()
	if err != nil {
		return BulkArgs{}, err
	}
	mapping, err := a.DB.Read().Bulk.Mapping(ctx, organization)
	maps.DeleteFunc(mapping, func(header, _ string) bool { return material.OwnHeader(header) })
	for header, field := range order.Mapping {
		if delete(mapping, material.Fold(header)); field != nil {
			mapping[material.Fold(header)] = *field
		}
	}
	return BulkArgs{Order: order, Mapping: mapping, Operator: who.Anonymous() && who.Admin}, err
}

// enqueueBulk enqueues the job and, unless it is a trial, remembers what was said about headers.
func (a *App) enqueueBulk(ctx context.Context, who exchange.Actor, organization int64, args BulkArgs,
	key string) (j exchange.Job, err error) {
	err = a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.may(ctx, tx, who, exchange.MaterialBulk, who.ToOrganization(organization),
			object("organization", organization)); err != nil {
			return err
		}
		for header, field := range args.Order.Mapping {
			if args.Order.Mode == material.BulkDryRun || material.OwnHeader(header) && field != nil {
				continue
			}
			if err := tx.Bulk.SetMapping(ctx, organization, material.Fold(header), field); err != nil {
				return err
			}
		}
		id, err := BulkMaterials.Enqueue(ctx, tx, args, job.EnqueueOptions{User: actorID(who)})
		if err != nil {
			return err
		}
		if err := tx.Bulk.Insert(ctx,
			material.Bulk{JobID: id, OrganizationID: organization, ContentKey: key}); err != nil {
			return err
		}
		j, err = tx.Jobs.Get(ctx, id)
		return err
	})
	return j, err
}

// BulkReport returns the outcome of each row of a spreadsheet as CSV; before the job is done, of the rows examined so
// far.
func (a *App) BulkReport(ctx context.Context, who exchange.Actor, organization, id int64,
	begin func() io.Writer) error {
	var b material.Bulk
	err := a.Expensive(ctx, who.ID.String(), func(ctx context.Context) error {
		if _, err := a.DB.Read().Organizations.Get(ctx, organization); err != nil {
			return err
		}
		if err := a.mayRead(ctx, who, exchange.MaterialTemplate, who.ToOrganization(organization),
			object("organization", organization)); err != nil {
			return err
		}
		var err error
		if b, err = a.DB.Read().Bulk.Get(ctx, id); err == nil && b.OrganizationID != organization {
			err = exchange.Errorf(exchange.NotFound, "There is no such object.")
		}
		return err
	})
	if err != nil {
		return err
	}
	w, err := sheet.NewCSV(begin())
	if err != nil {
		return err
	}
	if err := w.Write([]string{"row", "outcome", "material", "reference", "column", "problem"}); err != nil {
		return err
	}
	err = a.EachOutcome(ctx, who.ID.String(), id, func(o material.RowResult) error {
		word := string(o.Outcome)
		if !b.Stored && o.Outcome != material.RowRefused && o.Outcome != material.RowUnchanged {
			word = "would be " + word
		}
		for _, line := range reportLines(o) {
			cells := []string{fmt.Sprint(o.Row), word, "", o.Reference, line[0], line[1]}
			if o.Material != 0 {
				cells[2] = fmt.Sprint(o.Material)
			}
			if err := w.Write(cells); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, w.Close())
}

// reportLines returns the columns and problems of a row, at least one pair.
func reportLines(o material.RowResult) [][2]string {
	var lines [][2]string
	for _, list := range []map[string][]string{o.Problems, o.Doubts} {
		for _, column := range sorted(list) {
			for _, text := range list[column] {
				lines = append(lines, [2]string{column, text})
			}
		}
	}
	if lines == nil {
		lines = [][2]string{{}}
	}
	return lines
}

// EachOutcome calls back with the result of each row that a job has examined, in the order of the spreadsheet. It reads
// a part at a time, as EachMaterial does.
func (a *App) EachOutcome(ctx context.Context, caller string, id int64, do func(material.RowResult) error) error {
	part := a.parts(caller)
	for after := 0; ; {
		var list []material.RowResult
		err := part(ctx, func(ctx context.Context) (err error) {
			list, err = a.DB.Read().Bulk.Part(ctx, id, after)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		after = list[0].Row
		for _, o := range list {
			if err := do(o); err != nil {
				return err
			}
		}
	}
}

// bulkRows is an open spreadsheet, read past its headers.
type bulkRows struct {
	*sheet.Reader
	io.Closer
	layout material.Layout
	values material.Replaced
}

// headers reads a spreadsheet up to its headers, once it is who's turn.
func (a *App) headers(ctx context.Context, who exchange.Actor, key string, args BulkArgs) (bulkRows, error) {
	file, err := a.Files.Open(ctx, key)
	if err != nil {
		return bulkRows{}, err
	}
	leave, err := a.books.atDoor(ctx, who.ID, file)
	if err != nil {
		return bulkRows{}, errors.Join(err, file.Close())
	}
	defer leave()
	rows, err := openRows(file, args)
	return rows, errors.Join(err, file.Close())
}

// openBulk opens a spreadsheet for a job, once it is the job's turn.
func (a *App) openBulk(ctx context.Context, key string, args BulkArgs) (rows bulkRows, err error) {
	file, err := a.Files.Open(ctx, key)
	if err != nil {
		return rows, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	return openRows(file, args)
}

// openRows reads a spreadsheet up to its headers.
func openRows(file files.File, args BulkArgs) (rows bulkRows, err error) {
	rows.Closer, rows.values = file, material.NewReplaced(args.Values)
	if rows.Reader, err = sheet.Open(file, args.Order.Sheet); err != nil {
		return rows, err
	}
	headers, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return rows, fieldError("file", "has no rows; the first row must contain the column headers")
	}
	if err != nil {
		return rows, err
	}
	rows.layout, err = material.ReadHeader(headers.Cells,
		material.ColumnMapping{Category: args.Order.Category, Mapping: args.Mapping,
			KeepAll: args.Order.Unknown == material.UnknownKeep})
	if e, ok := errors.AsType[*exchange.Error](err); ok {
		err = e.With("columns", rows.layout.Headings)
	}
	return rows, err
}

// some reads the next n rows, or fewer if they are long; none at the end.
func (r bulkRows) some(n int) ([]sheet.Row, error) {
	var list []sheet.Row
	for length := 0; len(list) < n && length < bulkBytes; {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		r.layout.Read(row.Cells, r.values)
		for _, cell := range row.Cells {
			length += len(cell)
		}
		list = append(list, row)
	}
	return list, nil
}

// sorted returns the sorted keys of a map.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
