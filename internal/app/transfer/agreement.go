package transfer

import (
	"context"

	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// ExecuteAgreement adds an executed agreement to requests, which are locked: one event for each, of which people are
// notified once, as of one thing. by signed last; who made the letter adds the document.
func ExecuteAgreement(ctx context.Context, a Requests, tx store.Conn, by, madeBy uuid.UUID, list []request.Detail,
	number string, attachment int64) error {
	var events []request.Event
	for i := range list {
		q := &list[i]
		after, happened, err := q.ExecuteAgreement(by, madeBy, number, attachment, q.Terms, tx.Now)
		if err != nil {
			return err
		}
		if happened, err = a.saveRequest(ctx, tx, q, after, happened); err != nil {
			return err
		}
		events = append(events, happened...)
	}
	return notifier.NotifyAboutGroup(ctx, tx, list, request.Roles{}, events)
}
