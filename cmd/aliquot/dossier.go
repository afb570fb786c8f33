package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aliquot/internal/app"
	"aliquot/internal/config"
	"aliquot/internal/record"
)

// writeDossier is "aliquot dossier".
type writeDossier struct {
	config.Store
	Request int64  `arg:"" help:"Number of the request."`
	File    string `arg:"" optional:"" help:"File to write, - for stdout. Default: request-NUMBER-record.zip."`
}

// Run writes the dossier of a request. A file that is there is left unchanged.
func (d *writeDossier) Run(e environment) error {
	path, err := d.RecordKeyPath()
	if err != nil {
		return err
	}
	if d.File == "" {
		d.File = fmt.Sprintf("request-%d-record.zip", d.Request)
	}
	return withApp(e, d.Store, func(ctx context.Context, a *app.App) error {
		a.LogKeys = func() (record.Keys, error) { return record.ReadKeys(path) }
		ready, err := a.Evidence.OperatorDossier(ctx, d.Request)
		if err != nil {
			return err
		}
		if d.File == "-" {
			return ready.Write(e.stdout)
		}
		if err := writeNew(d.File, ready.Write); err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "%s has %d bytes; \"aliquot verify %s\" or the verify.py in it checks it.\n",
			d.File, ready.Size(), d.File)
		return err
	})
}

// writeNew writes a file that is not there yet, readable by its owner alone; a part of one is removed.
func writeNew(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
