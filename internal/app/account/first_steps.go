package account

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"
)

// TakeFirstSteps saves what new users say about themselves on their first visit, all or nothing.
func (a Accounts) TakeFirstSteps(ctx context.Context, who exchange.Actor, s person.FirstSteps) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.UserUpdate, who.ToUser(who.ID),
			core.Object("user", who.ID)); err != nil {
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
		if !core.Same(mail, old.Mail) {
			if err := a.May(ctx, tx, who, exchange.MailSettingsWrite, who.ToUser(who.ID),
				core.Object("mail settings of", who.ID)); err != nil {
				return err
			}
			if err := notifier.SaveMailSettings(ctx, tx, mail); err != nil {
				return err
			}
		}
		if address == nil {
			return nil
		}
		return documents.New(a.Core).AddAddress(ctx, tx, who, address)
	})
}
