package notifier

import (
	"context"

	"aliquot/internal/exchange/mailing"
	"aliquot/internal/store"
)

// SaveMailSettings saves a person's mail settings and reschedules their digest.
func SaveMailSettings(ctx context.Context, tx store.Conn, s mailing.Settings) error {
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
