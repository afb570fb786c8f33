package core

import (
	"context"
	"errors"

	"aliquot/internal/exchange/request"
	"aliquot/internal/files"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// HoldContent is the kind of job that has the bucket hold the content that is to be held and is not yet.
var HoldContent = job.Kind[struct{}]{Name: "files.hold"}

// holdEvidence has the bucket hold executed agreements and accepted documents, if the operator wants that.
func (a *Core) holdEvidence(ctx context.Context, tx store.Conn, events []request.Event) error {
	if a.Holds == nil {
		return nil
	}
	for _, e := range events {
		if e.Kind != request.AgreementExecuted && e.Kind != request.DocumentAccepted {
			continue
		}
		if err := tx.Holds.Expect(ctx, e.Detail.Attachment); err != nil {
			return err
		}
		if _, err := HoldContent.Enqueue(ctx, tx, struct{}{}, job.EnqueueOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// RemoveContent deletes content that no record names, unless the bucket holds it: then it stays, and the log says so.
func (a *Core) RemoveContent(ctx context.Context, key string) error {
	err := a.Files.Delete(ctx, key)
	if errors.Is(err, files.ErrHeld) {
		a.Log.WarnContext(ctx, "content that no record names stays", "key", key, "error", err)
		return nil
	}
	return err
}
