package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"aliquot/internal/api/catalog"
	"aliquot/internal/app"
	"aliquot/internal/app/spreadsheet"
	"aliquot/internal/config"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/job"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

// bulk is "aliquot import" of a spreadsheet.
type bulk struct {
	config.Store
	Organization int64             `placeholder:"ID" help:"Whose materials they are."`
	DryRun       bool              `help:"Only say what would be done, and every problem."`
	ValidRows    bool              `help:"Store the rows that are right, also where others are refused."`
	Category     string            `help:"Category of rows that name none, such as CELL_LINE."`
	Sheet        string            `help:"Name of the sheet of an XLSX or ODS; without it the first one."`
	KeepUnknown  bool              `help:"Keep columns that nobody knows as keys of additional_metadata."`
	Map          map[string]string `help:"${map}"`
}

// run imports a file, shows the progress and prints the result. It fails if a row was refused.
func (b *bulk) run(e environment, file string) error {
	debug.SetGCPercent(50) // a large file then needs less memory, and hardly more time
	order := material.BulkOptions{Mode: material.BulkAllOrNothing, Category: b.Category, Sheet: b.Sheet,
		Mapping: map[string]*string{}}
	switch {
	case b.DryRun:
		order.Mode = material.BulkDryRun
	case b.ValidRows:
		order.Mode = material.BulkValidRows
	}
	if b.KeepUnknown {
		order.Unknown = material.UnknownKeep
	}
	for header, field := range b.Map {
		order.Mapping[header] = &field
	}
	return withApp(e, b.Store, func(ctx context.Context, a *app.App) error {
		releaseExecutable()
		j, err := enqueue(ctx, a, b.Organization, file, order)
		if err != nil {
			return plainly(err)
		}
		if j, err = follow(e, a, j); err != nil {
			return err
		}
		return printResult(ctx, e, a, j)
	})
}

// enqueue stores the file and enqueues a job for it.
func enqueue(ctx context.Context, a *app.App, organization int64, name string,
	order material.BulkOptions) (exchange.Job, error) {
	file, err := os.Open(name)
	if err != nil {
		return exchange.Job{}, err
	}
	defer func() { _ = file.Close() }()
	content, err := a.Spreadsheets.StoreBulk(ctx, spreadsheet.Operator(), organization, file)
	if err != nil {
		return exchange.Job{}, err
	}
	j, err := a.Spreadsheets.Bulk(ctx, spreadsheet.Operator(), organization, order, content)
	if err != nil {
		a.Spreadsheets.DiscardBulk(ctx, content, err)
	}
	return j, err
}

// plainly returns an error with all field errors, for a person at a terminal.
func plainly(err error) error {
	failed, ok := errors.AsType[*exchange.Error](err)
	if !ok {
		return err
	}
	lines := []string{failed.Message}
	for _, field := range slices.Sorted(maps.Keys(failed.Fields)) {
		for _, text := range failed.Fields[field] {
			lines = append(lines, "  "+field+": "+text)
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

// The intervals of follow.
const (
	lookEvery = 100 * time.Millisecond
	sayEvery  = 5 * time.Second
	leaseTime = 30 * time.Second
)

// follow runs the job in this process, or watches another process run it, and shows the progress. If it is interrupted
// it cancels the job.
func follow(e environment, a *app.App, j exchange.Job) (exchange.Job, error) {
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	worker, err := job.New(job.Config{DB: a.DB, Log: log, Handlers: []job.Handler{a.Spreadsheets.BulkHandler()},
		Slots: 1, Lease: leaseTime, Drain: drainTime})
	if err != nil {
		return j, err
	}
	ctx, stop := context.WithCancel(e.ctx)
	var working sync.WaitGroup
	working.Go(func() { worker.Run(ctx) })
	defer working.Wait()
	defer stop()
	show := progressOn(e.stdout)
	for !j.State.Over() {
		show(j.Progress)
		select {
		case <-time.After(lookEvery):
			if j, err = a.DB.Read().Jobs.Get(context.WithoutCancel(e.ctx), j.ID); err != nil {
				return j, err
			}
		case <-e.ctx.Done():
			_, err := a.CancelJob(context.WithoutCancel(e.ctx), spreadsheet.Operator(), j.ID)
			return j, errors.Join(errors.New("it was interrupted; what is not reported as stored was not stored"), err)
		}
	}
	show(j.Progress)
	return j, nil
}

// progressOn shows progress as a bar on a terminal, otherwise as a line from time to time.
func progressOn(out io.Writer) func(exchange.Progress) {
	if file, isFile := out.(*os.File); isFile && isatty.IsTerminal(file.Fd()) {
		bar := progressbar.NewOptions64(-1, progressbar.OptionSetWriter(out), progressbar.OptionShowCount(),
			progressbar.OptionClearOnFinish())
		return func(p exchange.Progress) {
			bar.Describe(p.Note)
			if p.Total > 0 {
				bar.ChangeMax64(p.Total)
			}
			_ = bar.Set64(p.Done) // a bar that cannot be drawn does no harm
		}
	}
	var said exchange.Progress
	var at time.Time
	return func(p exchange.Progress) {
		if p.Note == "" || p == said || p.Note == said.Note && time.Since(at) < sayEvery {
			return
		}
		said, at = p, time.Now()
		_, _ = fmt.Fprintf(out, "%s: %d of %d\n", p.Note, p.Done, p.Total)
	}
}

// printResult prints the result of the job: each row with a problem, and the counts.
func printResult(ctx context.Context, e environment, a *app.App, j exchange.Job) error {
	if j.State != exchange.JobDone {
		return fmt.Errorf("nothing more was done, the job is %s: %s", j.State, j.Error)
	}
	err := a.Spreadsheets.EachOutcome(ctx, "", j.ID, func(o material.RowResult) error {
		for _, list := range []map[string][]string{o.Problems, o.Doubts} {
			for _, column := range slices.Sorted(maps.Keys(list)) {
				for _, text := range list[column] {
					_, _ = fmt.Fprintf(e.stdout, "row %d, %s: %s\n", o.Row, column, text)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var r material.BulkResult
	if err := json.Unmarshal(j.Result, &r); err != nil {
		return err
	}
	for _, note := range r.Notes {
		_, _ = fmt.Fprintln(e.stdout, note)
	}
	words := "stored"
	if !r.Stored {
		words = "nothing was stored; it would be"
	}
	_, _ = fmt.Fprintf(e.stdout, "%s: %d created, %d updated, %d unchanged, %d refused\n", words, r.Created, r.Updated,
		r.Unchanged, r.Refused)
	if r.Refused > 0 {
		return fmt.Errorf("%d rows were refused", r.Refused)
	}
	return nil
}

// export is "aliquot export".
type export struct {
	config.Store
	Organization int64  `placeholder:"ID" help:"Whose materials; without it those of all."`
	Format       string `enum:"csv,xlsx,json" default:"csv" help:"csv or xlsx, as import takes, or json as of the API."`
}

// Run writes the materials to the standard output.
func (x *export) Run(e environment) error {
	return withApp(e, x.Store, func(ctx context.Context, a *app.App) error {
		var organization *int64
		if x.Organization != 0 {
			organization = &x.Organization
		}
		if err := a.Spreadsheets.MayExport(ctx, spreadsheet.Operator(), organization); err != nil {
			return plainly(err)
		}
		return catalog.Export(ctx, a, "", organization, x.Format, func() io.Writer { return e.stdout })
	})
}
