package notifier

import (
	"context"
	"fmt"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// heldMail counts the mail that a person causes by one action and returns the recipients whose mail is held back, and
// until when: those who got mailing.PerHour mails from that person within the hour, and new contacts of the person
// beyond mailing.Contacts. Mail that Aliquot itself causes is not held back.
func (a Notifications) heldMail(ctx context.Context, tx store.Conn, list []store.ToMail,
	actor uuid.UUID) (map[uuid.UUID]time.Time, error) {
	var recipients []string
	first := false
	for _, n := range list {
		if a.mailFor(n) == mailing.Waiting {
			recipients = append(recipients, n.Mail.User.String())
			first = n.Kind.FirstContact()
		}
	}
	if actor == uuid.Nil || len(recipients) == 0 {
		return nil, nil
	}
	counts, err := tx.Mail.Count(ctx, actor, recipients, mailing.Hour, mailing.Day, first)
	if err != nil {
		return nil, err
	}
	room := len(counts)
	if first {
		contacts, err := tx.Mail.Contacts(ctx, actor, tx.Now.Add(-mailing.Day))
		if err != nil {
			return nil, err
		}
		for _, m := range counts {
			if m.Met.Equal(tx.Now) {
				contacts--
			}
		}
		room = mailing.Contacts - contacts // new contacts that are still allowed
	}
	held := map[uuid.UUID]time.Time{}
	for _, m := range counts {
		user, err := uuid.Parse(m.Recipient)
		if err != nil {
			return nil, err
		}
		if m.Sent > mailing.PerHour {
			held[user] = m.Since.Add(mailing.Hour)
		}
		if first && m.Met.Equal(tx.Now) {
			if room--; room < 0 {
				held[user] = tx.Now.Add(mailing.Day)
			}
		}
	}
	return held, nil
}

// MayMailAddress counts mail about an invitation, and refuses it if a person causes too much mail to one address.
func MayMailAddress(ctx context.Context, tx store.Conn, who uuid.UUID, address string) error {
	counts, err := tx.Mail.Count(ctx, who, []string{address}, mailing.Day, mailing.Day, false)
	if err != nil || counts[0].Sent <= mailing.PerAddress {
		return err
	}
	return exchange.NotBefore(counts[0].Since.Add(mailing.Day), tx.Now,
		fmt.Sprintf("You sent %d e-mails to %s within a day", mailing.PerAddress, address))
}
