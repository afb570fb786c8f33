package core

import (
	"context"
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// CheckPaper is the kind of job that reads an attachment which is the MTA of requests, and checks it for each of them.
// It is heavy: reading takes a process of its own, and at most as many run as there are slots for heavy jobs.
var CheckPaper = job.Kind[PaperArgs]{Name: "papers.check", MaxAttempts: 5, Heavy: true}

// PaperArgs are the arguments of a CheckPaper job.
type PaperArgs struct{ Attachment int64 }

// ExpectPaper has an MTA checked that became the document of a request. Other documents are not checked.
func ExpectPaper(ctx context.Context, tx store.Conn, who exchange.Actor, request int64, slot document.Slot,
	attachment int64) error {
	if slot == document.IRB {
		return nil
	}
	if err := tx.Papers.Expect(ctx, request, slot, attachment); err != nil {
		return err
	}
	return CheckPaperLater(ctx, tx, who, attachment)
}

// CheckPaperLater enqueues the job that checks an attachment, for all requests of which it is the MTA.
func CheckPaperLater(ctx context.Context, tx store.Conn, who exchange.Actor, attachment int64) error {
	_, err := CheckPaper.Restart(ctx, tx, PaperArgs{attachment},
		job.EnqueueOptions{Key: strconv.FormatInt(attachment, 10), Turn: who.ID})
	return err
}
