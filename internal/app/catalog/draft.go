package catalog

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"
)

// Draft returns the form that who left unfinished; ok reports whether there is one.
func (a Materials) Draft(ctx context.Context, who exchange.Actor, key string) (d person.Draft, ok bool, err error) {
	if err := a.MayRead(ctx, who, exchange.DraftRead, who.ToUser(who.ID), "drafts"); err != nil {
		return d, false, err
	}
	d, err = a.DB.Read().Drafts.Get(ctx, who.ID, key)
	if exchange.CodeOf(err) == exchange.NotFound {
		return d, false, nil
	}
	return d, err == nil, err
}

// Drafts returns the drafts of who, the last changed first.
func (a Materials) Drafts(ctx context.Context, who exchange.Actor) ([]person.Draft, error) {
	if err := a.MayRead(ctx, who, exchange.DraftRead, who.ToUser(who.ID), "drafts"); err != nil {
		return nil, err
	}
	return a.DB.Read().Drafts.List(ctx, who.ID)
}

// SaveDraft saves the present state of a form of who.
func (a Materials) SaveDraft(ctx context.Context, who exchange.Actor, d person.Draft) error {
	if err := d.Check(); err != nil {
		return err
	}
	d.User = who.ID
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.DraftWrite, who.ToUser(d.User), "drafts"); err != nil {
			return err
		}
		return tx.Drafts.Save(ctx, d)
	})
}

// DeleteDraft deletes a draft of who, if there is one.
func (a Materials) DeleteDraft(ctx context.Context, who exchange.Actor, key string) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.DraftWrite, who.ToUser(who.ID), "drafts"); err != nil {
			return err
		}
		return tx.Drafts.Delete(ctx, who.ID, key)
	})
}
