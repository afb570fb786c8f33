package notifier

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Notifications lists a person's notifications, and counts the unread ones.
func (a Notifications) Notifications(ctx context.Context, who exchange.Actor, user uuid.UUID,
	f notify.NotificationFilter, p exchange.Page) (exchange.ListPage[notify.Notification], int64, error) {
	if err := a.MayRead(ctx, who, exchange.NotificationRead, who.ToUser(user),
		core.Object("notifications of", user)); err != nil {
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
func (a Notifications) MarkRead(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64,
	read exchange.Opt[bool], match core.IfMatch[core.Untagged]) error {
	return a.mark(ctx, who, user, match, func(ctx context.Context, tx store.Conn) error {
		if !read.Set {
			return nil
		}
		return tx.Notifications.MarkRead(ctx, user, id, read.Value)
	})
}

// MarkAllRead marks a person's notifications as read, up to the one with the id until: those that arrive while they
// read the list stay unread.
func (a Notifications) MarkAllRead(ctx context.Context, who exchange.Actor, user uuid.UUID, until int64) error {
	if until < 1 {
		return core.FieldError("until", "must be the id of a notification")
	}
	return a.mark(ctx, who, user, nil,
		func(ctx context.Context, tx store.Conn) error { return tx.Notifications.MarkAllRead(ctx, user, until) })
}

// MarkGroupRead marks a person's notification as read, and all earlier ones about the same request.
func (a Notifications) MarkGroupRead(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64) error {
	return a.mark(ctx, who, user, nil,
		func(ctx context.Context, tx store.Conn) error { return tx.Notifications.MarkGroupRead(ctx, user, id) })
}

func (a Notifications) mark(ctx context.Context, who exchange.Actor, user uuid.UUID, match core.IfMatch[core.Untagged],
	do func(ctx context.Context, tx store.Conn) error) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.NotificationMark, who.ToUser(user),
			core.Object("notifications of", user)); err != nil {
			return err
		}
		if err := match.Check(core.Untagged{}); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}
