package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// MailSettings reads a person's mail settings.
func (a *App) MailSettings(ctx context.Context, who exchange.Actor, user uuid.UUID) (mailing.Settings, error) {
	reader, err := a.DB.Read().Mail.Reader(ctx, user)
	if err != nil {
		return reader.Mail, err
	}
	return reader.Mail, a.mayRead(ctx, who, exchange.MailSettingsRead, who.ToUser(user),
		object("mail settings of", user))
}

// UpdateMailSettings changes a person's mail settings. What waits for their digest is sent at the new time.
func (a *App) UpdateMailSettings(ctx context.Context, who exchange.Actor, user uuid.UUID,
	p mailing.Patch, match IfMatch[mailing.Settings]) (mailing.Settings, error) {
	return a.changeMail(ctx, who, user, match, p.Patch)
}

// RetryMail enables mail again to an address that a mail server refused.
func (a *App) RetryMail(ctx context.Context, who exchange.Actor, user uuid.UUID) (mailing.Settings, error) {
	return a.changeMail(ctx, who, user, nil, func(s mailing.Settings) (mailing.Settings, error) {
		s.Refused = nil
		return s, nil
	})
}

func (a *App) changeMail(ctx context.Context, who exchange.Actor, user uuid.UUID, match IfMatch[mailing.Settings],
	change func(mailing.Settings) (mailing.Settings, error)) (mailing.Settings, error) {
	var s mailing.Settings
	err := a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		reader, err := tx.Mail.ReaderForUpdate(ctx, user)
		if err != nil {
			return err
		}
		if err := a.may(ctx, tx, who, exchange.MailSettingsWrite, who.ToUser(user),
			object("mail settings of", user)); err != nil {
			return err
		}
		if err := match.check(reader.Mail); err != nil {
			return err
		}
		if s, err = change(reader.Mail); err != nil || same(s, reader.Mail) {
			return err
		}
		s.UpdatedAt = tx.Now
		if err := saveMailSettings(ctx, tx, s); err != nil {
			return err
		}
		return a.recordAction(ctx, tx, who, exchange.MailSettingsWrite, who.ToUser(user),
			object("mail settings of", user), nil)
	})
	return s, err
}

// saveMailSettings saves a person's mail settings and reschedules their digest.
func saveMailSettings(ctx context.Context, tx store.Conn, s mailing.Settings) error {
	if err := tx.Mail.SaveSettings(ctx, s); err != nil {
		return err
	}
	oldest, some, err := tx.Mail.DigestSince(ctx, s.User, mailing.ForDigest)
	if err != nil || !some {
		return err
	}
	d := digestAt(s.User, s.DigestDue(oldest, tx.Now))
	_, err = MailDigest.Enqueue(ctx, tx, d.Args, d.EnqueueOptions)
	return err
}
