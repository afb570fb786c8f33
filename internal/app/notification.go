package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Notifications lists a person's notifications, and counts the unread ones.
func (a *App) Notifications(ctx context.Context, who exchange.Actor, user uuid.UUID, f notify.NotificationFilter,
	p exchange.Page) (exchange.ListPage[notify.Notification], int64, error) {
	if err := a.mayRead(ctx, who, exchange.NotificationRead, who.ToUser(user),
		object("notifications of", user)); err != nil {
		return exchange.ListPage[notify.Notification]{}, 0, err
	}
	c := a.DB.Read()
	part, err := c.Notifications.List(ctx, user, f, p)
	if err != nil {
		return part, 0, err
	}
	n, err := c.Notifications.Unread(ctx, user)
	return part, n, err
}

// MarkRead marks one notification of a person as read or unread; without a mark it changes nothing.
func (a *App) MarkRead(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64,
	read exchange.Opt[bool], match IfMatch[Untagged]) error {
	return a.mark(ctx, who, user, match, func(ctx context.Context, tx store.Conn) error {
		if !read.Set {
			return nil
		}
		return tx.Notifications.MarkRead(ctx, user, id, read.Value)
	})
}

// MarkAllRead marks a person's notifications as read, up to the one with the id until: those that arrive while they
// read the list stay unread.
func (a *App) MarkAllRead(ctx context.Context, who exchange.Actor, user uuid.UUID, until int64) error {
	if until < 1 {
		return fieldError("until", "must be the id of a notification")
	}
	return a.mark(ctx, who, user, nil,
		func(ctx context.Context, tx store.Conn) error { return tx.Notifications.MarkAllRead(ctx, user, until) })
}

func (a *App) mark(ctx context.Context, who exchange.Actor, user uuid.UUID, match IfMatch[Untagged],
	do func(ctx context.Context, tx store.Conn) error) error {
	return a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.may(ctx, tx, who, exchange.NotificationMark, who.ToUser(user),
			object("notifications of", user)); err != nil {
			return err
		}
		if err := match.check(Untagged{}); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}
