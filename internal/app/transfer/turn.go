package transfer

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// Turns lists the turns of a request, past and present.
func (a Requests) Turns(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (exchange.ListPage[request.TurnRecord], error) {
	if _, err := a.Request(ctx, who, id); err != nil {
		return exchange.ListPage[request.TurnRecord]{}, err
	}
	return a.DB.Read().Turns.List(ctx, id, p)
}

// SnoozeRequest defers reminders of the present turn until a moment.
func (a Requests) SnoozeRequest(ctx context.Context, who exchange.Actor, id int64,
	n request.SnoozeNew) (request.Detail, error) {
	return a.Act(ctx, who, exchange.RequestUpdate, id, nil,
		func(_ context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			return q.Snooze(roles, who.ID, n, q.Terms, tx.Now)
		})
}

// UnsnoozeRequest ends a snooze.
func (a Requests) UnsnoozeRequest(ctx context.Context, who exchange.Actor, id int64,
	match core.IfMatch[request.Detail]) error {
	_, err := a.Act(ctx, who, exchange.RequestUpdate, id, match,
		func(_ context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			return q.Unsnooze(roles, who.ID, q.Terms, tx.Now)
		})
	return err
}
