package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"aliquot/internal/app"
	"aliquot/internal/backup"
	"aliquot/internal/config"
	"aliquot/internal/files"
	"aliquot/internal/store/hold"
)

// filesTool is "aliquot files".
type filesTool struct {
	Move       moveFiles   `cmd:"" help:"Copy the content of files to another place, and say how to go on from there."`
	Holds      heldFiles   `cmd:"" help:"Ask the bucket whether it holds what it should, or have it hold the rest."`
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

// heldFiles is "aliquot files holds".
type heldFiles struct {
	config.Store
	Repair bool `setting:"" help:"Have the bucket hold what it does not hold yet."`
}

// Run lists the files that the bucket should hold and does not.
func (h *heldFiles) Run(e environment) error {
	return withDatabase(e, h.Store, func(ctx context.Context, a *app.App) error {
		bucket, ok := a.Files.(*files.S3)
		if !ok {
			return errors.New("files: only a bucket can hold files")
		}
		if err := bucket.Locks(ctx); err != nil {
			return fmt.Errorf("files: %w", err)
		}
		all, repaired, missing := 0, 0, 0
		err := a.Documents.CheckHolds(ctx, bucket, h.Repair, func(c hold.Content, held bool, err error) {
			switch all++; {
			case held:
			case err != nil:
				missing++
				_, _ = fmt.Fprintf(e.stdout, "attachment %d: %q is lost\n", c.Attachment, c.Filename)
			case h.Repair:
				repaired++
				_, _ = fmt.Fprintf(e.stdout, "attachment %d: %q is held now\n", c.Attachment, c.Filename)
			default:
				missing++
				_, _ = fmt.Fprintf(e.stdout, "attachment %d: %q is not held\n", c.Attachment, c.Filename)
			}
			if all%1000 == 0 {
				_, _ = fmt.Fprintf(e.stdout, "%d files so far\n", all)
			}
		})
		if err != nil {
			return fmt.Errorf("%w; the same command can be repeated", err)
		}
		_, _ = fmt.Fprintf(e.stdout, "Files to hold: %d. Held now: %d. Not held: %d.\n", all, repaired, missing)
		if missing > 0 {
			return errors.New("the bucket does not hold all that it should")
		}
		return nil
	})
}

// bucket returns the bucket twice: as what downloads may come from, and as what holds files; nil: it does not.
func (s *serve) bucket(ctx context.Context, content files.Store, log *slog.Logger) (links, holds *files.S3, err error) {
	bucket, _ := content.(*files.S3)
	if s.FilesLinks {
		links = bucket
	}
	if !s.FilesHold {
		return links, nil, nil
	}
	if err := bucket.Locks(ctx); errors.Is(err, files.ErrNoLock) {
		return nil, nil, fmt.Errorf("files-hold: %w", err)
	} else if err != nil {
		log.WarnContext(ctx, "whether the bucket can hold files is not known yet", "error", err)
	}
	return links, bucket, nil
}

// heldInTime returns an error if the bucket should have held files for an hour.
func heldInTime(a *app.App) func(context.Context) error {
	return func(ctx context.Context) error {
		_, late, err := a.Documents.NotHeld(ctx)
		if err == nil && late > 0 {
			err = fmt.Errorf("the bucket does not hold %d files; see aliquot files holds", late)
		}
		return err
	}
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
