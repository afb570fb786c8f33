package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/app/evidence"
	"aliquot/internal/app/labs"
	"aliquot/internal/app/letters"
	"aliquot/internal/app/notifier"
	"aliquot/internal/app/requirements"
	"aliquot/internal/app/spreadsheet"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// The kinds of jobs that clean up. They are periodic; nothing enqueues them.
var (
	SweepExpired  = job.Kind[struct{}]{Name: "sweep.expired"}
	SweepContent  = job.Kind[struct{}]{Name: "sweep.content"}
	SweepOrphans  = job.Kind[struct{}]{Name: "sweep.orphans"}
	SweepErasures = job.Kind[struct{}]{Name: "sweep.erasures"}
)

// Senders returns the handlers of the jobs that wait for external servers. They have a worker of their own, so that
// slow servers delay no other jobs.
func (a *App) Senders() []job.Handler {
	return []job.Handler{notifier.Deliver.Handle(a.Webhooks.Deliver), evidence.Vouch.Handle(a.Evidence.AskOthers),
		documents.ScanContent.Handle(a.Documents.Scan), core.HoldContent.Handle(a.Documents.Hold)}
}

// Handlers returns the handlers of all other kinds of job.
func (a *App) Handlers() []job.Handler {
	return []job.Handler{
		SweepExpired.Handle(a.sweepExpired).Every(time.Hour),
		SweepContent.Handle(a.sweepContent).Every(time.Hour),
		SweepOrphans.Handle(a.sweepOrphans).Every(24 * time.Hour),
		evidence.Checkpoint.Handle(a.Evidence.SignLog).Every(time.Hour),
		evidence.Nightly.Handle(a.Evidence.VerifyNightly).Every(24 * time.Hour),
		SweepErasures.Handle(a.sweepErasures).Every(time.Hour),
		transfer.Remind.Handle(a.Requests.Remind).Every(time.Hour),
		catalog.Alert.Handle(a.Materials.Alert).Every(10 * time.Minute),
		transfer.Do.Handle(a.runPendingAction),
		documents.ScanRest.Handle(a.Documents.ScanTheRest).Every(10 * time.Minute),
		documents.HoldRest.Handle(a.Documents.HoldTheRest).Every(time.Hour),
		core.CheckPaper.Handle(a.Papers.Check),
		core.ReturnInfected.Handle(a.Requests.ReturnInfected),
		notifier.RestJob.Handle(a.Notifications.NotifyRest),
		core.Reindex.Handle(a.Materials.Reindex),
		core.NamesInVersions.Handle(a.NamesInVersions),
		notifier.MailNotification.Handle(a.Notifications.MailNotification),
		notifier.MailDigest.Handle(a.Notifications.MailDigest),
		notifier.MailReceipt.Handle(a.Notifications.MailReceipt),
		labs.MailInvitation.Handle(a.Labs.MailInvitation),
		letters.Remind.Handle(a.Duties.Remind).Every(time.Hour),
		requirements.Remind.Handle(a.Requirements.Remind).Every(time.Hour),
		letters.MailLink.Handle(a.Letters.MailLink),
		letters.MailCode.Handle(a.Letters.MailCode),
		a.Spreadsheets.BulkHandler(),
		spreadsheet.SettleBulks.Handle(a.Spreadsheets.SettleBulks).Every(10 * time.Minute),
		catalog.ImportMaterials.Handle(a.Materials.ImportMaterials),
		a.Spreadsheets.UndoHandler(),
	}
}

// jobTime is how long a finished job is kept, and with it its key.
const jobTime = 30 * 24 * time.Hour

// sheetTime is how long a spreadsheet without a job is kept.
const sheetTime = 24 * time.Hour

// factTime is how long the state of a request after an event is kept: longer than mail is retried, and than a digest
// waits.
const factTime = 30 * 24 * time.Hour

// sweepExpired deletes expired tokens, responses to Idempotency-Keys, finished jobs, old deliveries to webhooks, counts
// of mail, and spreadsheets without a job. It ends what people may sign for institutions that they left.
func (a *App) sweepExpired(ctx context.Context, r *job.Run, _ struct{}) error {
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		return nil, errors.Join(tx.Tokens.DeleteExpired(ctx), tx.Statements.DeleteUntil(ctx, tx.Now),
			letters.ExpireIdle(ctx, tx), tx.Institutions.EndLeft(ctx),
			tx.Audit.ForgetRefusals(ctx, tx.Now.Add(-core.RefusalTime)),
			tx.IdempotentCalls.DeleteUntil(ctx, tx.Now.Add(-core.RetryTime)),
			tx.Jobs.DeleteUntil(ctx, tx.Now.Add(-jobTime)), tx.Events.ForgetFacts(ctx, tx.Now.Add(-factTime)),
			tx.Deliveries.DeleteUntil(ctx, tx.Now.Add(-notify.DeliveryLifetime)),
			tx.Mail.DeleteCounts(ctx, tx.Now.Add(-mailing.Day)),
			tx.Storage.DeleteOldSheets(ctx, tx.Now.Add(-sheetTime)))
	})
}

// Removed is the result of a job that removes the content of attachments.
type Removed struct {
	Files int64 `json:"files"`
}

// sweepContent removes the content of attachments that were deleted longer ago than the grace period. It updates the
// records first; a file that is left if the process dies then is an orphan.
func (a *App) sweepContent(ctx context.Context, r *job.Run, _ struct{}) error {
	for {
		var gone []document.Attachment
		var versions []document.AttachmentVersion
		err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
			if gone, err = tx.Attachments.DeletedContent(ctx, tx.Now.Add(-a.Grace), 100); err != nil {
				return p, nil, err
			}
			for _, t := range gone {
				t.Content, t.ContentDeleted = nil, true
				if err := tx.Attachments.Update(ctx, t); err != nil {
					return p, nil, err
				}
			}
			if versions, err = tx.Attachments.DeletedVersions(ctx, tx.Now.Add(-a.Grace), 100); err != nil {
				return p, nil, err
			}
			for _, v := range versions {
				if err := tx.Attachments.DeleteVersion(ctx, v); err != nil {
					return p, nil, err
				}
			}
			return exchange.Progress{Done: r.Progress().Done + int64(len(gone)+len(versions)), Note: "removing files"},
				nil, nil
		})
		if err != nil {
			return err
		}
		if len(gone)+len(versions) == 0 {
			return r.Finish(ctx, func(context.Context, store.Conn) (any, error) {
				return Removed{r.Progress().Done},
					nil
			})
		}
		for _, t := range gone {
			versions = append(versions, t.Present())
		}
		for _, v := range versions {
			if err := a.RemoveContent(ctx, v.Key); err != nil {
				return fmt.Errorf("content of attachment %d: %w", v.Attachment, err)
			}
		}
	}
}

// sweepOrphans removes content that no record names.
func (a *App) sweepOrphans(ctx context.Context, r *job.Run, _ struct{}) error {
	c := a.DB.Read()
	removed := Removed{}
	for info, err := range a.Files.Keys(ctx) {
		if err != nil {
			return err
		}
		if c.Now.Sub(info.Modified) < 24*time.Hour { // its record may not be committed yet
			continue
		}
		known, err := c.Attachments.ContentKnown(ctx, info.Key)
		if err == nil && !known {
			err = a.RemoveContent(ctx, info.Key)
			removed.Files++
		}
		if err != nil {
			return err
		}
	}
	return r.Finish(ctx, func(context.Context, store.Conn) (any, error) { return removed, nil })
}

// Erased is the result of a job that erases people.
type Erased struct {
	People int `json:"people"`
}

// sweepErasures erases the people whose time of grace is over.
func (a *App) sweepErasures(ctx context.Context, r *job.Run, _ struct{}) error {
	n, err := a.Accounts.EraseDue(ctx)
	if err != nil {
		return err
	}
	return r.Finish(ctx, func(context.Context, store.Conn) (any, error) { return Erased{n}, nil })
}
