package labs

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/store"
)

// Replies lists the replies that an organization keeps.
func (a Labs) Replies(ctx context.Context, who exchange.Actor, organization int64) ([]lab.Reply, error) {
	if err := a.MayRead(ctx, who, exchange.ReplyRead, who.ToOrganization(organization),
		core.Object("replies of organization", organization)); err != nil {
		return nil, err
	}
	return a.DB.Read().Replies.List(ctx, organization)
}

// SaveReply changes a reply of an organization, or adds one if id is 0; at most lab.MaxReplies are kept.
func (a Labs) SaveReply(ctx context.Context, who exchange.Actor, organization, id int64, form lab.ReplyForm) error {
	return a.writeReply(ctx, who, organization, func(ctx context.Context, tx store.Conn) (found bool, err error) {
		r := lab.Reply{ID: id, OrganizationID: organization}
		if r.Title, r.Text, err = form.Check(); err != nil {
			return true, err
		}
		if id != 0 {
			return tx.Replies.Update(ctx, r)
		}
		kept, err := tx.Replies.List(ctx, organization)
		if err == nil && len(kept) >= lab.MaxReplies {
			err = exchange.Errorf(exchange.Conflict, "A lab keeps at most %d replies; delete one first.",
				lab.MaxReplies)
		}
		if err == nil {
			_, err = tx.Replies.Insert(ctx, r)
		}
		return true, err
	})
}

// DeleteReply deletes a reply of an organization.
func (a Labs) DeleteReply(ctx context.Context, who exchange.Actor, organization, id int64) error {
	return a.writeReply(ctx, who, organization, func(ctx context.Context, tx store.Conn) (bool, error) {
		return tx.Replies.Delete(ctx, organization, id)
	})
}

// writeReply changes the replies of an organization; the organization is locked, so that their number holds.
func (a Labs) writeReply(ctx context.Context, who exchange.Actor, organization int64,
	write func(ctx context.Context, tx store.Conn) (found bool, err error)) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if _, err := tx.Organizations.ForUpdate(ctx, organization); err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.ReplyWrite, who.ToOrganization(organization),
			core.Object("replies of organization", organization)); err != nil {
			return err
		}
		found, err := write(ctx, tx)
		if err == nil && !found {
			err = exchange.Errorf(exchange.NotFound, "There is no such reply.")
		}
		return err
	})
}
