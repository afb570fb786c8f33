package documents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// ScanContent is the kind of job that has a version of an attachment examined by the virus scanner.
var ScanContent = job.Kind[document.ScannedVersion]{Name: "files.scan"}

// ScanRest is the kind of job that has everything examined that was not, and for which no job is left: what the scanner
// was away for too long for, and what is from a time when there was none. It is periodic; nothing enqueues it.
var ScanRest = job.Kind[struct{}]{Name: "files.scan-rest"}

const (
	scanPatience = 15 * time.Minute // after which the job of an upload was given up
	scanAtOnce   = 1000             // jobs that ScanRest enqueues each time
)

// awaitScan withholds new content until it is scanned, if there is a scanner.
func (a Documents) awaitScan(c document.Content) document.Content {
	if a.Scanner != nil {
		c.Scan.State = document.Checking
	}
	return c
}

// scanLater enqueues the job for the content of an attachment that awaits it.
func scanLater(ctx context.Context, tx store.Conn, who exchange.Actor, t document.Attachment) error {
	if t.Content == nil || t.Content.Scan.State != document.Checking {
		return nil
	}
	v := document.ScannedVersion{Attachment: t.ID, Version: t.Version}
	_, err := ScanContent.Restart(ctx, tx, v, job.EnqueueOptions{Key: scanKey(v), Turn: who.ID})
	return err
}

// scanKey is the key of the job for a version of an attachment.
func scanKey(v document.ScannedVersion) string { return fmt.Sprintf("%d.%d", v.Attachment, v.Version) }

// Scan runs ScanContent. While the scanner does not respond, the job is tried again.
func (a Documents) Scan(ctx context.Context, r *job.Run, args document.ScannedVersion) error {
	if a.Scanner == nil {
		return exchange.Errorf(exchange.Unavailable, "This process has no virus scanner; set files-scan.")
	}
	v, err := versionOf(ctx, a.DB.Read(), args)
	if exchange.CodeOf(err) == exchange.NotFound { // it was deleted meanwhile
		return nil
	}
	if err != nil || v.Scan.State == document.Clean || v.Scan.State == document.Infected {
		return err
	}
	if v.Scan, err = a.examine(ctx, v.Content); err != nil {
		return err
	}
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		return v.Scan, scanned(ctx, tx, v)
	})
}

// versionOf reads the present or a former version of an attachment. NotFound: it was deleted.
func versionOf(ctx context.Context, c store.Conn, v document.ScannedVersion) (document.AttachmentVersion, error) {
	t, err := c.Attachments.Get(ctx, v.Attachment)
	if err != nil {
		return document.AttachmentVersion{}, err
	}
	if v.Version != t.Version {
		return c.Attachments.Version(ctx, v.Attachment, v.Version)
	}
	return present(t)
}

// examine has content examined. What is called clean is what was uploaded, to the last byte.
func (a Documents) examine(ctx context.Context, c document.Content) (document.Scan, error) {
	file, err := a.Files.Open(ctx, c.Key)
	if err != nil {
		return document.Scan{}, err
	}
	sum := sha256.New()
	found, err := a.Scanner.Scan(ctx, io.TeeReader(file, sum))
	if err = errors.Join(err, file.Close()); err != nil {
		return document.Scan{}, err
	}
	if found != "" {
		return document.Scan{State: document.Infected, Found: found}, nil
	}
	if hex.EncodeToString(sum.Sum(nil)) != c.SHA256 {
		return document.Scan{}, exchange.Errorf(exchange.Internal, "The file was altered in the store of files.")
	}
	return document.Scan{State: document.Clean}, nil
}

// scanned saves what the scanner said. The content stays as it is, whatever that is: it may have been signed. Whoever
// uploaded a virus is notified.
func scanned(ctx context.Context, tx store.Conn, v document.AttachmentVersion) error {
	t, err := tx.Attachments.ForUpdate(ctx, v.Attachment)
	if exchange.CodeOf(err) == exchange.NotFound {
		return nil
	} else if err != nil {
		return err
	}
	if err := tx.Scans.Save(ctx, v, v.Scan); err != nil {
		return err
	}
	papers, err := tx.Papers.OfAttachment(ctx, t.ID)
	if err == nil && len(papers) > 0 {
		err = core.CheckPaperLater(ctx, tx, exchange.Actor{}, t.ID)
	}
	if err != nil || v.Scan.State != document.Infected {
		return err
	}
	if err := tx.Audit.Insert(ctx, nil, exchange.AttachmentScan, core.Object("attachment", t.ID), false,
		map[string]any{"version": v.Version, "sha256": v.SHA256, "found": v.Scan.Found}); err != nil {
		return err
	}
	of := document.ScannedVersion{Attachment: t.ID, Version: v.Version}
	if _, err := core.ReturnInfected.Restart(ctx, tx, of, job.EnqueueOptions{Key: scanKey(of)}); err != nil {
		return err
	}
	uploader, err := tx.Scans.Uploader(ctx, of)
	if err != nil || uploader == nil {
		return err
	}
	return notifier.NotifyPeople(ctx, tx, notify.Announcement{Kind: notify.FileInfected,
		Detail: notify.AnnouncementDetail{Attachment: t.ID, Name: v.Filename, Reason: v.Scan.Found}}, *uploader)
}

// ScanTheRest runs ScanRest.
func (a Documents) ScanTheRest(ctx context.Context, r *job.Run, _ struct{}) error {
	if a.Scanner == nil {
		return nil
	}
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		list, err := tx.Scans.Due(ctx, tx.Now.Add(-scanPatience), scanAtOnce)
		if err != nil {
			return nil, err
		}
		jobs := make([]job.Queued[document.ScannedVersion], len(list))
		for i, v := range list {
			jobs[i] = job.Queued[document.ScannedVersion]{Args: v, EnqueueOptions: job.EnqueueOptions{Key: scanKey(v)}}
		}
		return nil, ScanContent.RestartAll(ctx, tx, jobs)
	})
}

// Quarantined reads all that is withheld because of a virus; for the operator.
func (a Documents) Quarantined(ctx context.Context) iter.Seq2[document.WithheldVersion, error] {
	return func(yield func(document.WithheldVersion, error) bool) {
		for after, more := (document.ScannedVersion{}), true; more; {
			list, err := a.DB.Read().Scans.Withheld(ctx, document.Infected, after, quarantinedAtOnce)
			if err != nil {
				yield(document.WithheldVersion{}, err)
				return
			}
			for _, w := range list {
				if !yield(w, nil) {
					return
				}
				after = w.ScannedVersion
			}
			more = len(list) == quarantinedAtOnce
		}
	}
}

const quarantinedAtOnce = 100

// Rescan has a version of an attachment examined again, which helps if the scanner was wrong. It stays withheld until
// then.
func (a Documents) Rescan(ctx context.Context, of document.ScannedVersion) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if _, err := tx.Attachments.ForUpdate(ctx, of.Attachment); err != nil {
			return err
		}
		v, err := versionOf(ctx, tx, of)
		if err != nil {
			return err
		}
		_, err = ScanContent.Restart(ctx, tx, of, job.EnqueueOptions{Key: scanKey(of)})
		return errors.Join(err, tx.Scans.Save(ctx, v, document.Scan{State: document.Checking}),
			tx.Audit.Insert(ctx, nil, exchange.AttachmentScan, core.Object("attachment", of.Attachment), true,
				map[string]any{"version": of.Version, "again": true}))
	})
}
