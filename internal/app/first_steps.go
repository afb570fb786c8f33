package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"
)

// TakeFirstSteps saves what new users say about themselves on their first visit, all or nothing.
func (a *App) TakeFirstSteps(ctx context.Context, who exchange.Actor, s person.FirstSteps) error {
	return a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.may(ctx, tx, who, exchange.UserUpdate, who.ToUser(who.ID), object("user", who.ID)); err != nil {
			return err
		}
		old, err := tx.Mail.ReaderForUpdate(ctx, who.ID)
		if err != nil {
			return err
		}
		u, mail, address, err := s.Apply(old.User, old.Mail)
		if err != nil {
			return err
		}
		if err := saveUser(ctx, tx, old.User, u); err != nil {
			return err
		}
		if !same(mail, old.Mail) {
			if err := a.may(ctx, tx, who, exchange.MailSettingsWrite, who.ToUser(who.ID),
				object("mail settings of", who.ID)); err != nil {
				return err
			}
			if err := saveMailSettings(ctx, tx, mail); err != nil {
				return err
			}
		}
		if address == nil {
			return nil
		}
		return a.addAddress(ctx, tx, who, address)
	})
}
