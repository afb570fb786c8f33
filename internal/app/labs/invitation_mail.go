package labs

import (
	"context"
	"errors"
	"fmt"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/job"
	"aliquot/internal/mail"
	"aliquot/internal/store"
)

// MailInvitation is the job that mails an invitation to an address that belongs to no user.
var MailInvitation = job.Kind[InvitationMail]{Name: "mail.invitation", MaxAttempts: notifier.MailTries}

// InvitationMail names one mail of an invitation: that of its first, second, ... round.
type InvitationMail struct {
	Invitation int64 `json:"invitation"`
	Round      int   `json:"round"`
}

// mailOfInvitation returns the state of an invitation's own mail. Addressees who have signed in before get a
// notification instead.
func (a Labs) mailOfInvitation(i lab.Invitation, asked []store.InvitedUser) mailing.State {
	if i.Email == "" || len(asked) > 0 || a.Mail == nil {
		return ""
	}
	return mailing.Waiting
}

// MailInvitation mails one round of an invitation, at most once, as mailNotification does.
func (a Labs) MailInvitation(ctx context.Context, r *job.Run, args InvitationMail) error {
	c := a.DB.Read()
	v, err := c.Invitations.Get(ctx, args.Invitation)
	if err != nil {
		return err
	}
	become := func(tx store.Conn, was, now mailing.State) (bool, error) {
		return tx.Invitations.SetMailState(ctx, v.ID, args.Round, was, now)
	}
	m := mail.Message{Kind: "invitation", To: v.Email, At: v.SentAt,
		References: []string{notifier.New(a.Core).InvitationThread(v.ID)},
		List:       notifier.New(a.Core).List("invitation")}
	begins, link := false, ""
	err = r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
		died, err := become(tx, mailing.Sending, mailing.InDoubt)
		if err != nil || died {
			return p, nil, err
		}
		if v.Status != lab.InvitationPending {
			_, err = become(tx, mailing.Waiting, mailing.NotWanted)
			return p, nil, err
		}
		if begins, err = become(tx, mailing.Waiting, mailing.Sending); err != nil || !begins {
			return p, nil, err
		}
		token, err := core.Seal(ctx, tx, notifier.OfMessage, fmt.Sprintf("%s %d %d", notifier.OfInvitation, v.ID,
			args.Round))
		if err != nil {
			return p, nil, err
		}
		m.ID = token + "@" + notifier.New(a.Core).Host()
		link, err = notifier.New(a.Core).InvitationLink(ctx, tx, v.Invitation)
		return p, nil, err
	})
	if err != nil || !begins {
		return err
	}
	words, err := a.Notice.Invitation(notifier.InvitationWords(v, link))
	m.Subject, m.Text, m.HTML = words.Subject, words.Text, words.HTML
	var state mailing.State
	if err == nil {
		state, _, err = notifier.New(a.Core).Post(ctx, m)
	}
	if err != nil { // it was not sent, so it may be sent again
		return errors.Join(err, a.DB.Tx(context.WithoutCancel(ctx), func(_ context.Context, tx store.Conn) error {
			_, err := become(tx, mailing.Sending, mailing.Waiting)
			return err
		}))
	}
	return r.Finish(ctx, func(_ context.Context, tx store.Conn) (any, error) {
		_, err := become(tx, mailing.Sending, state)
		return notifier.MailResult{Mail: state}, err
	})
}
