package app

import (
	"context"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/mail"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Bounce takes in what a mail server reported about mail of ours: where the address is refused for good,
// no mail is sent to it any more, and its person sees why. Anybody can write such a report, so it counts
// only where it names a message that we sent, and the address is still that of who got it. refused is the
// person whose address it is; nil: nothing was changed.
func (a *App) Bounce(ctx context.Context, b mail.Bounce) (refused *exchange.User, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		refused = nil
		token, _, _ := strings.Cut(b.MessageID, "@")
		text, err := unseal(ctx, tx, ofMessage, token)
		if exchange.CodeOf(err) == exchange.NotFound {
			return exchange.Fail(exchange.NotFound, "The report names no message of this installation.")
		} else if err != nil {
			return err
		}
		name, _, _ := strings.Cut(text, " ")
		user, err := uuid.Parse(name)
		if err != nil {
			return err
		}
		reader, err := tx.ReaderForUpdate(ctx, user)
		if err != nil {
			return err
		}
		if !b.Permanent || !strings.EqualFold(b.Recipient, reader.Email) || reader.Mail.MailFor("", reader.Email) == exchange.MailNoAddress {
			return nil
		}
		reader.Mail.Refused = &exchange.Refusal{Address: reader.Email, Reason: b.Reason, At: tx.Now}
		refused = &reader.User
		return tx.SaveMailSettings(ctx, reader.Mail)
	})
	return refused, err
}
