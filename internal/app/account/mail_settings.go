package account

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// MailSettings reads a person's mail settings.
func (a Accounts) MailSettings(ctx context.Context, who exchange.Actor, user uuid.UUID) (mailing.Settings, error) {
	reader, err := a.DB.Read().Mail.Reader(ctx, user)
	if err != nil {
		return reader.Mail, err
	}
	return reader.Mail, a.MayRead(ctx, who, exchange.MailSettingsRead, who.ToUser(user),
		core.Object("mail settings of", user))
}

// UpdateMailSettings changes a person's mail settings. Notifications for their digest are sent at the new time.
func (a Accounts) UpdateMailSettings(ctx context.Context, who exchange.Actor, user uuid.UUID,
	p mailing.Patch, match core.IfMatch[mailing.Settings]) (mailing.Settings, error) {
	return a.changeMail(ctx, who, user, match, p.Patch)
}

// RetryMail enables mail again to an address that a mail server refused.
func (a Accounts) RetryMail(ctx context.Context, who exchange.Actor, user uuid.UUID) (mailing.Settings, error) {
	return a.changeMail(ctx, who, user, nil, func(s mailing.Settings) (mailing.Settings, error) {
		s.Refused = nil
		return s, nil
	})
}

func (a Accounts) changeMail(ctx context.Context, who exchange.Actor, user uuid.UUID,
	match core.IfMatch[mailing.Settings],
	change func(mailing.Settings) (mailing.Settings, error)) (mailing.Settings, error) {
	var s mailing.Settings
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		reader, err := tx.Mail.ReaderForUpdate(ctx, user)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.MailSettingsWrite, who.ToUser(user),
			core.Object("mail settings of", user)); err != nil {
			return err
		}
		if err := match.Check(reader.Mail); err != nil {
			return err
		}
		if s, err = change(reader.Mail); err != nil || core.Same(s, reader.Mail) {
			return err
		}
		s.UpdatedAt = tx.Now
		if err := notifier.SaveMailSettings(ctx, tx, s); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.MailSettingsWrite, who.ToUser(user),
			core.Object("mail settings of", user), nil)
	})
	return s, err
}
