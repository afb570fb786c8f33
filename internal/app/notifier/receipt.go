package notifier

import (
	"context"
	"errors"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/mail"
	"aliquot/internal/store"
)

// MailReceipt is the job that mails a requester the receipt of a request sent with the form: what was requested, from
// whom, and what happens next. It is no notification, since people are not notified of their own actions.
var MailReceipt = job.Kind[ReceiptArgs]{Name: "mail.receipt", MaxAttempts: MailTries}

// ReceiptArgs names the request.
type ReceiptArgs struct {
	Request int64 `json:"request"`
}

// EnqueueReceipt enqueues the receipt of a request, if mail is sent at all.
func (a Notifications) EnqueueReceipt(ctx context.Context, tx store.Conn, q request.Detail) error {
	if a.Mail == nil {
		return nil
	}
	_, err := MailReceipt.Enqueue(ctx, tx, ReceiptArgs{q.ID}, job.EnqueueOptions{Turn: q.Requester})
	return err
}

// MailReceipt sends a receipt, at most once, as MailNotification does. A requester who wants no mail about changes to
// requests gets none; one who wants digests gets it at once, while they still remember the form.
func (a Notifications) MailReceipt(ctx context.Context, r *job.Run, args ReceiptArgs) error {
	c := a.DB.Read()
	made, err := c.Events.List(ctx, args.Request, request.Made, exchange.Page{Limit: 1})
	if err != nil || len(made.Items) == 0 {
		return err
	}
	n := notify.Notification{User: made.Items[0].Actor, Event: made.Items[0], Category: mailing.StatusNotif}
	reader, err := c.Mail.Reader(ctx, n.User)
	if err != nil {
		return err
	}
	says, visible, err := a.content(ctx, c, n, reader)
	if err != nil {
		return err
	}
	state := reader.Mail.MailFor(n.Category, reader.Email)
	if state != mailing.Waiting && state != mailing.ForDigest || !visible {
		return nil
	}
	sending := false // by an earlier run that died: nobody knows whether that mail arrived
	if err := r.Resume(&sending); err != nil || sending {
		return err
	}
	m := mail.Message{Kind: string(n.Category), To: reader.Email, ToName: reader.Name(), At: n.Event.At,
		References: []string{says.thread}, List: a.List("request")}
	err = r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
		if m.ID, err = a.messageID(ctx, tx, n.User, 0); err == nil {
			m.Unsubscribe, err = a.unsubscribeURL(ctx, tx, n.User, n.Category)
		}
		return p, true, err
	})
	if err != nil {
		return err
	}
	words, err := says.write(ctx, m.Unsubscribe)
	m.Subject, m.Text, m.HTML = words.Subject, words.Text, words.HTML
	var reason string
	if err == nil {
		state, reason, err = a.Post(ctx, m)
	}
	if err != nil { // it was not sent, so it may be sent again
		return errors.Join(err, r.Step(context.WithoutCancel(ctx),
			func(context.Context, store.Conn) (p exchange.Progress, _ any, err error) { return p, false, nil }))
	}
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		if state == mailing.Refused {
			if err := a.refuse(ctx, tx, reader, reason); err != nil {
				return nil, err
			}
		}
		return MailResult{state}, nil
	})
}
