package notifier

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/mail"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Bounce processes a bounce report about our mail: if the address was refused for good, no more mail is sent to it, and
// its user sees why. Anybody can forge such a report, so it counts only if it names a message that we sent, and its
// recipient still has that address. refused names the person or invitation whose address it is; "" if nothing changed.
func (a Notifications) Bounce(ctx context.Context, b mail.Bounce) (refused string, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		refused = ""
		token, _, _ := strings.Cut(b.MessageID, "@")
		text, err := core.Unseal(ctx, tx, OfMessage, token)
		if exchange.CodeOf(err) == exchange.NotFound {
			return exchange.Errorf(exchange.NotFound, "The report is not about a message of this installation.")
		} else if err != nil {
			return err
		}
		name, rest, _ := strings.Cut(text, " ")
		switch name {
		case OfInvitation:
			refused, err = bounceInvitation(ctx, tx, b, rest)
			return err
		case OfAgreementLink:
			refused, err = bounceLink(ctx, tx, b, rest)
			return err
		}
		user, err := uuid.Parse(name)
		if err != nil {
			return err
		}
		reader, err := tx.Mail.ReaderForUpdate(ctx, user)
		if err != nil {
			return err
		}
		if !b.Permanent || !strings.EqualFold(b.Recipient, reader.Email) ||
			reader.Mail.MailFor("", reader.Email) == mailing.NoAddress {
			return nil
		}
		reader.Mail.Refused = &mailing.Rejection{Address: reader.Email, Reason: b.Reason, At: tx.Now}
		refused = reader.Name()
		return tx.Mail.SaveSettings(ctx, reader.Mail)
	})
	return refused, err
}

// bounceInvitation is Bounce for the mail of one round of an invitation.
func bounceInvitation(ctx context.Context, tx store.Conn, b mail.Bounce, which string) (refused string, err error) {
	var id int64
	var round int
	if _, err := fmt.Sscan(which, &id, &round); err != nil {
		return "", err
	}
	v, err := tx.Invitations.Get(ctx, id)
	if err != nil || !b.Permanent || !strings.EqualFold(b.Recipient, v.Email) {
		return "", err
	}
	changed, err := tx.Invitations.SetMailState(ctx, id, round, mailing.Sent, mailing.Refused)
	if changed {
		refused = "The invitation to " + v.Organization
	}
	return refused, err
}

// bounceLink is Bounce for the mail of a link by which somebody without an account signs an agreement.
func bounceLink(ctx context.Context, tx store.Conn, b mail.Bounce, which string) (refused string, err error) {
	id, err := strconv.ParseInt(which, 10, 64)
	if err != nil {
		return "", err
	}
	l, err := tx.Links.ForUpdate(ctx, id)
	if err != nil || !b.Permanent || !strings.EqualFold(b.Recipient, l.Signer.Mail) || l.Mail == mailing.Refused {
		return "", err
	}
	l.Mail = mailing.Refused
	return "The link to sign " + l.Document.Letter, tx.Links.Update(ctx, l)
}
