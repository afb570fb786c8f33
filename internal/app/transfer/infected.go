package transfer

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// ReturnInfected runs core.ReturnInfected. Without it, a reviewer would be waited for who cannot open the document.
func (a Requests) ReturnInfected(ctx context.Context, _ *job.Run, of document.ScannedVersion) error {
	ids, err := a.DB.Read().Requests.Submitted(ctx, of.Attachment)
	if err != nil {
		return err
	}
	for _, id := range ids {
		err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
			q, err := tx.Requests.ForUpdate(ctx, id)
			if err != nil {
				return err
			}
			t, err := tx.Attachments.Get(ctx, of.Attachment)
			if err != nil || t.Version != of.Version || t.Content == nil || t.Content.Scan.State != document.Infected {
				return err // there is a newer version, or the scanner was wrong
			}
			after, events, err := q.ReturnInfected(t.ID, t.Content.Scan.Found, q.Terms, tx.Now)
			if err != nil || len(events) == 0 {
				return err
			}
			return a.CommitRequest(ctx, tx, &q, after, request.Roles{}, events)
		})
		if err != nil && exchange.CodeOf(err) != exchange.NotFound { // it was deleted meanwhile
			return err
		}
	}
	return nil
}
