package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Notifications lists a person's notifications, and counts the unread ones.
func (a *App) Notifications(ctx context.Context, who exchange.Actor, user uuid.UUID, unread bool, p exchange.Page) (exchange.Part[exchange.Notification], int64, error) {
	if err := a.mayRead(ctx, who, exchange.NotificationRead, who.ToUser(user), object("notifications of", user)); err != nil {
		return exchange.Part[exchange.Notification]{}, 0, err
	}
	c := a.DB.Read()
	part, err := c.Notifications(ctx, user, unread, p)
	if err != nil {
		return part, 0, err
	}
	n, err := c.Unread(ctx, user)
	return part, n, err
}

// MarkRead marks one notification of a person, or all where id is 0, as read or unread; without a
// mark it changes nothing.
func (a *App) MarkRead(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64, read exchange.Opt[bool]) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if err := a.may(ctx, tx, who, exchange.NotificationRead, who.ToUser(user), object("notifications of", user)); err != nil {
			return err
		}
		if err := neverShown(ctx); err != nil {
			return err
		}
		if !read.Set {
			return nil
		}
		return tx.MarkRead(ctx, user, id, read.Value)
	})
}
