package core

import (
	"context"
	"slices"

	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// SaveRequest saves a changed request and its events, of which nobody is notified yet; q becomes the new state. It
// returns the events with their ids.
func (a *Core) SaveRequest(ctx context.Context, tx store.Conn, q *request.Detail, after request.Request,
	events []request.Event) ([]request.Event, error) {
	before := q.Request
	q.Request = after
	events, err := tx.Events.Append(ctx, q, events)
	if err != nil {
		return nil, err
	}
	deleted := events[len(events)-1].Kind == request.Deleted
	if err := tx.Requests.Update(ctx, *q, deleted); err != nil {
		return nil, err
	}
	if err := tx.Requests.SaveDocuments(ctx, q.ID, before.Documents, after.Documents); err != nil {
		return nil, err
	}
	if q.Letter != 0 && events[0].Kind != request.AgreementExecuted && after.LeavesLetter(before) {
		if err := a.LeaveLetter(ctx, tx, q.Letter, q.ID); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(events, request.Event.ChangesIndex) {
		if err := tx.Requests.IndexEvents(ctx, *q, events); err != nil {
			return nil, err
		}
	}
	if after.Clock.Turn != before.Clock.Turn {
		turn := after.PresentTurn(q.Terms)
		if !deleted {
			turn.Organization = q.Organization
		}
		if err := tx.Turns.Insert(ctx, []request.TurnRecord{turn}); err != nil {
			return nil, err
		}
	}
	return events, nil
}
