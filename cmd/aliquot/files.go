package main

import (
	"context"
	"errors"
	"fmt"

	"aliquot/internal/app"
	"aliquot/internal/backup"
	"aliquot/internal/config"
	"aliquot/internal/files"
)

// filesTool is "aliquot files".
type filesTool struct {
	Move       moveFiles   `cmd:"" help:"Copy the content of files to another place, and say how to go on from there."`
	Quarantine quarantined `cmd:"" help:"List files in which a virus was found, or have them scanned again."`
}

// moveFiles is "aliquot files move".
type moveFiles struct {
	config.Store
	To string `required:"" help:"${files_to}"`
}

// Run copies the content of files from where the setting files says, and leaves it there too.
func (m *moveFiles) Run(e environment) error {
	if m.To == m.FilesPath() {
		return errors.New("to: the files are there already")
	}
	to, err := files.Open(m.To, m.UploadsPath())
	if err != nil {
		return fmt.Errorf("to: %w", err)
	}
	defer func() { _ = to.Close() }()
	return withDatabase(e, m.Store, func(ctx context.Context, a *app.App) error {
		moved, err := backup.Mover{DB: a.DB, From: a.Files, To: to, Progress: progressOn(e.stdout)}.Move(ctx)
		for _, fault := range moved.Faults {
			_, _ = fmt.Fprintln(e.stdout, fault)
		}
		_, _ = fmt.Fprintf(e.stdout, "%d files were copied, %d were there already.\n", moved.Copied, moved.There)
		if err != nil {
			return fmt.Errorf("%w; the same command continues where this one stopped", err)
		}
		_, _ = fmt.Fprintf(e.stdout, `To use the files there:
1. Restart every process with the setting files: --files '%[1]s'
2. Copy what was uploaded meanwhile: aliquot files move --files '%[2]s' --to '%[1]s'
3. Check every file: aliquot verify --files --files-in '%[1]s'
Nothing was removed from %[2]s; once step 3 finds no fault, you can.
`, m.To, m.FilesPath())
		if len(moved.Faults) > 0 {
			return fmt.Errorf("%d files were lost or altered before, and are not copied", len(moved.Faults))
		}
		return nil
	})
}

// quarantined is "aliquot files quarantine".
type quarantined struct {
	config.Store
	Rescan bool `setting:"" help:"Have each scanned again, for a scanner that was wrong before; they wait until then."`
}

// Run lists the files in which a virus was found.
func (q *quarantined) Run(e environment) error {
	return withDatabase(e, q.Store, func(ctx context.Context, a *app.App) error {
		n := 0
		for w, err := range a.Documents.Quarantined(ctx) {
			if err == nil && q.Rescan {
				err = a.Documents.Rescan(ctx, w.ScannedVersion)
			}
			if err != nil {
				return err
			}
			n++
			_, _ = fmt.Fprintf(e.stdout, "attachment %d, version %d: %q has %s\n", w.Attachment, w.Version, w.Filename,
				w.Scan.Found)
		}
		_, err := fmt.Fprintf(e.stdout, "In quarantine: %d. Content stays where it is, and nobody can open it.\n", n)
		return err
	})
}
