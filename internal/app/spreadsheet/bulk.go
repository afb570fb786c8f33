package spreadsheet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/app/labs"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/files"
	"aliquot/internal/job"
	"aliquot/internal/sheet"
	"aliquot/internal/store"
)

// BulkHandler returns the handler of BulkMaterials.
func (a Spreadsheets) BulkHandler() job.Handler { return core.BulkMaterials.Handle(a.bulkMaterials) }

// Operator returns the actor of commands on the command line: no user, with the rights of an admin.
func Operator() exchange.Actor { return exchange.Actor{Admin: true} }

// StoreBulk stores a spreadsheet before there is a job for it. The caller passes it to Bulk, or to DiscardBulk if that
// fails. It counts towards the organization's quota from now on.
func (a Spreadsheets) StoreBulk(ctx context.Context, who exchange.Actor, organization int64,
	body io.Reader) (document.Content, error) {
	if err := a.MayBulk(ctx, who, organization); err != nil {
		return document.Content{}, err
	}
	owner := document.LabStorage(organization)
	content, err := a.Put(ctx, body, owner)
	if err != nil {
		return content, err
	}
	err = a.Within(a.DB.Tx).Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if _, err := a.Can(who, exchange.MaterialBulk, who.ToOrganization(organization)); err != nil {
			return err
		}
		if err := tx.Storage.InsertSheet(ctx, organization, content); err != nil {
			return err
		}
		return a.WithinQuota(ctx, tx, owner, content.Size)
	})
	if err != nil {
		documents.New(a.Core).Discard(ctx, content, err)
	}
	return content, err
}

// DiscardBulk is Discard for a spreadsheet from StoreBulk, which no longer counts towards the quota.
func (a Spreadsheets) DiscardBulk(ctx context.Context, c document.Content, err error) {
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
	documents.New(a.Core).Discard(ctx, c, err)
}

// MayBulk reports whether who may list an organization's materials from a spreadsheet.
func (a Spreadsheets) MayBulk(ctx context.Context, who exchange.Actor, organization int64) error {
	return labs.New(a.Core).MayToLab(ctx, who, exchange.MaterialBulk, organization)
}

// Bulk enqueues a job that lists, changes or checks the materials of a spreadsheet. Unreadable files and unknown
// columns are refused at once, with how the other columns were understood.
func (a Spreadsheets) Bulk(ctx context.Context, who exchange.Actor, organization int64, order material.BulkOptions,
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
func (a Spreadsheets) bulkArgs(ctx context.Context, who exchange.Actor, organization int64,
	order material.BulkOptions) (core.BulkArgs, error) {
	order, err := order.Check()
	if err != nil {
		return core.BulkArgs{}, err
	}
	mapping, err := a.DB.Read().Bulk.Mapping(ctx, organization)
	maps.DeleteFunc(mapping, func(header, _ string) bool { return material.OwnHeader(header) })
	for header, field := range order.Mapping {
		if delete(mapping, material.Fold(header)); field != nil {
			mapping[material.Fold(header)] = *field
		}
	}
	return core.BulkArgs{Order: order, Mapping: mapping, Operator: who.Anonymous() && who.Admin}, err
}

// enqueueBulk enqueues the job and, unless it is a trial, remembers what was said about headers.
func (a Spreadsheets) enqueueBulk(ctx context.Context, who exchange.Actor, organization int64, args core.BulkArgs,
	key string) (j exchange.Job, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.MaterialBulk, who.ToOrganization(organization),
			core.Object("organization", organization)); err != nil {
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
		id, err := core.BulkMaterials.Enqueue(ctx, tx, args, job.EnqueueOptions{User: core.ActorID(who)})
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
func (a Spreadsheets) BulkReport(ctx context.Context, who exchange.Actor, organization, id int64,
	begin func() io.Writer) error {
	var b material.Bulk
	err := a.Expensive(ctx, who.ID.String(), func(ctx context.Context) error {
		if _, err := a.DB.Read().Organizations.Get(ctx, organization); err != nil {
			return err
		}
		if err := a.MayRead(ctx, who, exchange.MaterialTemplate, who.ToOrganization(organization),
			core.Object("organization", organization)); err != nil {
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
		for _, column := range catalog.Sorted(list) {
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
func (a Spreadsheets) EachOutcome(ctx context.Context, caller string, id int64,
	do func(material.RowResult) error) error {
	part := a.Parts(caller)
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
func (a Spreadsheets) headers(ctx context.Context, who exchange.Actor, key string, args core.BulkArgs) (bulkRows,
	error) {
	file, err := a.Files.Open(ctx, key)
	if err != nil {
		return bulkRows{}, err
	}
	leave, err := a.Books.ForCaller(ctx, who.ID, file)
	if err != nil {
		return bulkRows{}, errors.Join(err, file.Close())
	}
	defer leave()
	rows, err := openRows(file, args)
	return rows, errors.Join(err, file.Close())
}

// openBulk opens a spreadsheet for a job, once it is the job's turn.
func (a Spreadsheets) openBulk(ctx context.Context, key string, args core.BulkArgs) (rows bulkRows, err error) {
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
func openRows(file files.File, args core.BulkArgs) (rows bulkRows, err error) {
	rows.Closer, rows.values = file, material.NewReplaced(args.Values)
	if rows.Reader, err = sheet.Open(file, args.Order.Sheet); err != nil {
		return rows, err
	}
	headers, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return rows, core.FieldError("file", "has no rows; the first row must contain the column headers")
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
