package notifier

import (
	"context"
	"errors"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// ownMail is the mail that the job that tells people of an act sends itself, marked as being sent. It is one: a process
// that dies leaves as many in doubt as jobs were sending.
type ownMail struct {
	notification    int64
	id, unsubscribe string
}

// ownMailPause is after how long a job of its own tries again to send it.
const ownMailPause = time.Second

func (a Notifications) newOwnMail(ctx context.Context, tx store.Conn, n store.ToMail) (*ownMail, error) {
	m := &ownMail{notification: n.Notification}
	var err error
	if m.id, err = a.messageID(ctx, tx, n.Mail.User, n.Notification); err != nil {
		return nil, err
	}
	m.unsubscribe, err = a.unsubscribeURL(ctx, tx, n.Mail.User, n.Category)
	return m, err
}

// sendOwn sends a mail and ends the job. If it was not sent, a job of its own tries again.
func (a Notifications) sendOwn(ctx context.Context, r *job.Run, m *ownMail) error {
	reader, state, reason, failed := a.postOwn(ctx, m)
	settle := func(ctx context.Context, tx store.Conn) error {
		if failed != nil {
			state = mailing.Waiting
			if _, err := MailNotification.Enqueue(ctx, tx, MailArgs{m.notification},
				job.EnqueueOptions{At: tx.Now.Add(ownMailPause), Turn: r.Turn()}); err != nil {
				return err
			}
		}
		if state == mailing.Refused {
			if err := a.refuse(ctx, tx, reader, reason); err != nil {
				return err
			}
		}
		return tx.Mail.SetState(ctx, mailing.Sending, state, m.notification)
	}
	if ctx.Err() == nil {
		return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) { return nil, settle(ctx, tx) })
	}
	return errors.Join(ctx.Err(), a.DB.Tx(context.WithoutCancel(ctx), settle))
}

// postOwn sends a mail, unless its reader may not see any more what it is about. An error is why it was not sent.
func (a Notifications) postOwn(ctx context.Context, m *ownMail) (reader store.Reader, state mailing.State,
	reason string, err error) {
	c := a.DB.Read()
	n, err := c.Notifications.Get(ctx, m.notification)
	if exchange.CodeOf(err) == exchange.NotFound {
		return reader, mailing.NotWanted, "", nil
	} else if err != nil {
		return reader, "", "", err
	}
	if reader, err = c.Mail.Reader(ctx, n.User); err != nil {
		return reader, "", "", err
	}
	says, visible, err := a.content(ctx, c, n, reader)
	if err != nil || !visible {
		return reader, mailing.NotWanted, "", err
	}
	message := a.message(n, reader, says)
	message.ID, message.Unsubscribe = m.id, m.unsubscribe
	state, reason, err = a.postContent(ctx, message, says)
	return reader, state, reason, err
}
