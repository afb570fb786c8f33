package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"aliquot/internal/app"
	"aliquot/internal/config"
	"aliquot/internal/exchange"
	"aliquot/internal/importer"
)

// catalogue is "aliquot catalogue".
type catalogue struct {
	Load catalogueLoad `cmd:"" help:"Load the Cellosaurus, so that cell lines can be listed by their number."`
}

type catalogueLoad struct {
	config.Store
	File string `arg:"" help:"${catalogue_file}"`
}

// Run checks the whole file before it stores anything.
func (l *catalogueLoad) Run(e environment) (err error) {
	file, err := os.Open(l.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var total int64
	for _, err := range importer.CellLines(file) {
		if err != nil {
			return fmt.Errorf("%s: %w; nothing was loaded", l.File, err)
		}
		total++
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return withApp(e, l.Store, func(ctx context.Context, a *app.App) error {
		show := progressOn(e.stdout)
		n, err := a.Materials.LoadCellLines(ctx, importer.CellLines(file), func(done int) {
			show(exchange.Progress{Note: "cell lines", Done: int64(done), Total: total})
		})
		if err == nil {
			_, err = fmt.Fprintf(e.stdout, "%d cell lines can be listed by their number\n", n)
		}
		return err
	})
}
