package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// MailNotification is the job that sends mail about one notification.
var MailNotification = job.Kind[Mailing]{Name: "mail.notification", Most: mailTries}

// Mailing names what a mail is about.
type Mailing struct {
	Notification int64 `json:"notification"`
}

// mailTries is how often a mail is tried that the mail server puts off, with an hour between tries at the
// most: three days.
const mailTries = 80

// mailOf has mail sent about an event to those who have been told of it and want mail.
func (a *App) mailOf(ctx context.Context, tx store.Conn, e exchange.Event) error {
	list, err := tx.NotificationsToMail(ctx, e.ID, 2*tellAtOnce)
	if err != nil {
		return err
	}
	become := map[exchange.MailState][]int64{}
	var mails []job.Queued[Mailing]
	var digests []job.Queued[Digesting]
	for _, n := range list {
		state := n.Mail.MailFor(n.Category, n.Address)
		become[state] = append(become[state], n.Notification)
		switch state {
		case exchange.MailWaiting:
			mails = append(mails, job.Queued[Mailing]{Args: Mailing{n.Notification}, Order: job.Order{At: n.Mail.Quiet(tx.Now)}})
		case exchange.MailDigest:
			digests = append(digests, digestAt(n.Mail.User, n.Mail.Digest(tx.Now)))
		}
	}
	if err := MailNotification.EnqueueAll(ctx, tx, mails); err != nil {
		return err
	}
	if err := MailDigest.EnqueueAll(ctx, tx, digests); err != nil {
		return err
	}
	for state, ids := range become {
		if err := tx.MailBecomes(ctx, exchange.MailNew, state, ids...); err != nil {
			return err
		}
	}
	return nil
}
