package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"text/tabwriter"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/app"
	"aliquot/internal/app/instruments"
	"aliquot/internal/config"
	"aliquot/internal/exchange"
)

// libraryTool is "aliquot instruments".
type libraryTool struct {
	Add  addInstruments  `cmd:"" help:"Install the texts of agreements, each as a new version; none is ever edited."`
	List listInstruments `cmd:"" help:"List the instruments, with those that the program brings along."`
}

type addInstruments struct {
	config.Store
	By    string   `help:"Who installs them, as the record says. Default: the user of the operating system."`
	Files []string `arg:"" name:"file" help:"${instrument_files}"`
}

// Run installs all files or, if one is wrong, none.
func (c *addInstruments) Run(e environment) error {
	var files []instruments.File
	for _, name := range c.Files {
		content, err := readUpTo(name, instrument.MaxFile)
		if err != nil {
			return err
		}
		files = append(files, instruments.File{Name: filepath.Base(name), Content: content})
	}
	if c.By == "" {
		who, err := user.Current()
		if err != nil {
			return fmt.Errorf("by: name who installs them: %w", err)
		}
		c.By = who.Username
	}
	return withDatabase(e, c.Store, func(ctx context.Context, a *app.App) error {
		added, err := a.Instruments.Install(ctx, c.By, files...)
		if err != nil {
			return err
		}
		for _, i := range added {
			_, _ = fmt.Fprintf(e.stdout, "%s, version %s, from %s: SHA-256 %s\n", i.ID, i.Version, i.From, i.SHA256)
		}
		_, err = fmt.Fprintf(e.stdout, "%d installed, %d were already\n", len(added), len(files)-len(added))
		return err
	})
}

// readUpTo reads a file, and one byte more than limit if it is larger.
func readUpTo(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

type listInstruments struct{ config.Store }

// Run prints a line for each instrument.
func (c *listInstruments) Run(e environment) error {
	return withDatabase(e, c.Store, func(ctx context.Context, a *app.App) error {
		page, err := a.Instruments.List(ctx, func(instruments.View) bool { return true }, exchange.Page{})
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "INSTRUMENT\tVERSION\tFROM\tUNTIL\tTEXT\tREVIEWED")
		for _, i := range page.Items {
			text, reviewed := "not installed", "no"
			if i.Template != "" {
				text = i.SHA256[:12]
			}
			if i.Reviewed {
				reviewed = "yes"
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", i.ID, i.Version, i.From, i.Until, text, reviewed)
		}
		return w.Flush()
	})
}
