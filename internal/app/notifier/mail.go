package notifier

import (
	"context"
	"errors"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/job"
	"aliquot/internal/mail"
	"aliquot/internal/notice"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// MailNotification is the job that sends mail about one notification.
var MailNotification = job.Kind[MailArgs]{Name: "mail.notification", MaxAttempts: MailTries}

// MailArgs names the notification that a mail is about.
type MailArgs struct {
	Notification int64 `json:"notification"`
}

// MailResult is the result of a job that sends mail.
type MailResult struct {
	Mail mailing.State `json:"mail"`
}

// MailTries is how often a mail is tried if the mail server defers it. With at most an hour between tries, that is
// three days.
const MailTries = 80

// NoMailSoFar keeps mail about what has happened until now from being sent: nobody wants mail about sample data.
func (a Notifications) NoMailSoFar(ctx context.Context) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error { return tx.Mail.NoneSoFar(ctx) })
}

// mailOf enqueues mail about one thing that happened, to those who were notified of it and want mail, on the account of
// the actor. If the actor causes much mail, some of it is held back and sent together. Where first, it returns the
// first mail that may be sent now, which is marked as being sent instead of enqueued; nil: there is none.
func (a Notifications) mailOf(ctx context.Context, tx store.Conn, list []store.ToMail, turn uuid.UUID,
	first bool) (own *ownMail, err error) {
	held, err := a.heldMail(ctx, tx, list, turn)
	if err != nil {
		return nil, err
	}
	become := map[mailing.State][]int64{}
	var mails []job.Queued[MailArgs]
	var digests []job.Queued[DigestArgs]
	for _, n := range list {
		state := a.mailFor(n)
		until, late := held[n.Mail.User]
		if late {
			state = mailing.Held
		}
		if first && own == nil && state == mailing.Waiting && !n.Mail.Quiet(tx.Now).After(tx.Now) {
			if own, err = a.newOwnMail(ctx, tx, n); err != nil {
				return nil, err
			}
			state = mailing.Sending
		}
		become[state] = append(become[state], n.Notification)
		switch state {
		case mailing.Waiting:
			mails = append(mails, job.Queued[MailArgs]{Args: MailArgs{n.Notification},
				EnqueueOptions: job.EnqueueOptions{At: n.Mail.Quiet(tx.Now), Turn: turn}})
		case mailing.ForDigest:
			digests = append(digests, digestAt(n.Mail.User, n.Mail.Digest(tx.Now)))
		case mailing.Held:
			digests = append(digests, heldAt(n.Mail.User, n.Mail.Quiet(until)))
		}
	}
	if err := MailNotification.EnqueueAll(ctx, tx, mails); err != nil {
		return nil, err
	}
	if err := MailDigest.EnqueueAll(ctx, tx, digests); err != nil {
		return nil, err
	}
	for state, ids := range become {
		if err := tx.Mail.SetState(ctx, mailing.NotProcessed, state, ids...); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// mailFor returns the state of the mail about a new notification, by its reader's settings.
func (a Notifications) mailFor(n store.ToMail) mailing.State {
	if a.Mail == nil {
		return mailing.NotWanted
	}
	return n.Mail.MailFor(n.Category, n.Address)
}

// MailNotification sends mail about one notification, at most once. That it is being sent is committed first: a later
// run that finds it in this state cannot know whether it arrived, and does not send it again.
func (a Notifications) MailNotification(ctx context.Context, r *job.Run, args MailArgs) error {
	c := a.DB.Read()
	n, err := c.Notifications.Get(ctx, args.Notification)
	if exchange.CodeOf(err) == exchange.NotFound {
		return nil
	} else if err != nil {
		return err
	}
	reader, err := c.Mail.Reader(ctx, n.User)
	if err != nil {
		return err
	}
	says, visible, err := a.content(ctx, c, n, reader)
	if err != nil {
		return err
	}
	state := reader.Mail.MailFor(n.Category, reader.Email)
	if !visible {
		state = mailing.NotWanted
	}
	if state == mailing.Waiting {
		state = mailing.Sending
	}
	m := a.message(n, reader, says)
	var found mailing.State
	err = r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
		now, err := tx.Notifications.ForUpdate(ctx, n.ID)
		if err != nil {
			return p, nil, err
		}
		switch found = now.Mail; {
		case found == mailing.Sending: // the process that sent it died
			return p, nil, tx.Mail.SetState(ctx, found, mailing.InDoubt, n.ID)
		case found != mailing.Waiting:
			return p, nil, nil
		}
		if until := reader.Mail.Quiet(tx.Now); state == mailing.Sending && until.After(tx.Now) {
			found = mailing.NotProcessed // it is quiet time; not now
			_, err = MailNotification.Enqueue(ctx, tx, args, job.EnqueueOptions{At: until, Turn: r.Turn()})
			return p, nil, err
		}
		if state == mailing.ForDigest {
			d := digestAt(n.User, reader.Mail.Digest(tx.Now))
			if _, err := MailDigest.Enqueue(ctx, tx, d.Args, d.EnqueueOptions); err != nil {
				return p, nil, err
			}
		}
		if m.ID, err = a.messageID(ctx, tx, n.User, n.ID); err != nil {
			return p, nil, err
		}
		if m.Unsubscribe, err = a.unsubscribeURL(ctx, tx, n.User, n.Category); err != nil {
			return p, nil, err
		}
		return p, nil, tx.Mail.SetState(ctx, mailing.Waiting, state, n.ID)
	})
	if err != nil || found != mailing.Waiting || state != mailing.Sending {
		return err
	}
	state, reason, err := a.postContent(ctx, m, says)
	if err != nil { // it was not sent, so it may be sent again
		return errors.Join(err, a.mailWaitsAgain(ctx, mailing.Sending, mailing.Waiting, n.ID))
	}
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		if state == mailing.Refused {
			if err := a.refuse(ctx, tx, reader, reason); err != nil {
				return nil, err
			}
		}
		return MailResult{state}, tx.Mail.SetState(ctx, mailing.Sending, state, n.ID)
	})
}

// message returns the message about a notification, without what it says and its ids.
func (a Notifications) message(n notify.Notification, reader store.Reader, l content) mail.Message {
	list, _, _ := strings.Cut(l.thread, ".")
	return mail.Message{Kind: string(n.Category), To: reader.Email, ToName: reader.Name(), At: n.CreatedAt,
		References: []string{l.thread}, List: a.List(list)}
}

// postContent is Post of a message that says what l says.
func (a Notifications) postContent(ctx context.Context, m mail.Message, l content) (state mailing.State, reason string,
	err error) {
	words, err := l.write(ctx, m.Unsubscribe)
	if err != nil {
		return "", "", err
	}
	m.Subject, m.Text, m.HTML = words.Subject, words.Text, words.HTML
	return a.Post(ctx, m)
}

// Post sends a message, with the newest checkpoint of the log at its end. If that fails and the message may be sent
// again, it returns an error; if it is marked by GiveUp, somebody has to fix something first.
func (a Notifications) Post(ctx context.Context, m mail.Message) (state mailing.State, reason string, err error) {
	c, err := a.DB.Read().Log.Checkpoint(ctx, 0)
	if err != nil && exchange.CodeOf(err) != exchange.NotFound {
		return "", "", err
	}
	m.Text, m.HTML = notice.Anchor(m.Text, m.HTML, c.Note)
	err = a.Mail.Send(ctx, m)
	failure, ok := errors.AsType[*mail.Failure](err)
	switch {
	case err == nil:
		return mailing.Sent, "", nil
	case !ok || failure.Kind == mail.Rejected:
		return "", "", job.GiveUp(&exchange.Error{Code: exchange.Unavailable,
			Message: "The mail server refused it: " + err.Error(), Cause: err})
	case failure.Kind == mail.Temporary:
		return "", "", &exchange.Error{Code: exchange.Unavailable, Message: "The mail server deferred it: " +
			failure.Text, Cause: err}
	case failure.Kind == mail.Refused:
		return mailing.Refused, failure.Text, nil
	default:
		a.Log.WarnContext(ctx, "mail in doubt", "id", m.ID, "error", err)
		return mailing.InDoubt, "", nil
	}
}

// mailWaitsAgain records that mail was not sent. The end of the job does not interrupt it.
func (a Notifications) mailWaitsAgain(ctx context.Context, was, now mailing.State, ids ...int64) error {
	return a.DB.Tx(context.WithoutCancel(ctx), func(ctx context.Context, tx store.Conn) error {
		return tx.Mail.SetState(ctx, was, now, ids...)
	})
}

// refuse records that a mail server refused a person's address for good.
func (a Notifications) refuse(ctx context.Context, tx store.Conn, reader store.Reader, reason string) error {
	now, err := tx.Mail.ReaderForUpdate(ctx, reader.ID)
	if err != nil {
		return err
	}
	now.Mail.Refused = &mailing.Rejection{Address: reader.Email, Reason: reason, At: tx.Now}
	return tx.Mail.SaveSettings(ctx, now.Mail)
}
