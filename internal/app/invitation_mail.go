package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/mail"
	"aliquot/internal/notice"
	"aliquot/internal/store"
)

// MailInvitation is the job that mails an invitation to an address that belongs to no user.
var MailInvitation = job.Kind[InvitationMail]{Name: "mail.invitation", MaxAttempts: mailTries}

// InvitationMail names one mail of an invitation: that of its first, second, ... round.
type InvitationMail struct {
	Invitation int64 `json:"invitation"`
	Round      int   `json:"round"`
}

// mailOfInvitation returns the state of an invitation's own mail. Addressees who have signed in before get a
// notification instead.
func (a *App) mailOfInvitation(i lab.Invitation, asked []store.InvitedUser) mailing.State {
	if i.Email == "" || len(asked) > 0 || a.Mail == nil {
		return ""
	}
	return mailing.Waiting
}

// mailInvitation mails one round of an invitation, at most once, as mailNotification does.
func (a *App) mailInvitation(ctx context.Context, r *job.Run, args InvitationMail) error {
	c := a.DB.Read()
	v, err := c.Invitations.Get(ctx, args.Invitation)
	if err != nil {
		return err
	}
	become := func(tx store.Conn, was, now mailing.State) (bool, error) {
		return tx.Invitations.SetMailState(ctx, v.ID, args.Round, was, now)
	}
	m := mail.Message{Kind: "invitation", To: v.Email, At: v.SentAt, References: []string{a.invitationThread(v.ID)},
		List: a.list("invitation")}
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
		token, err := seal(ctx, tx, ofMessage, fmt.Sprintf("%s %d %d", ofInvitation, v.ID, args.Round))
		if err != nil {
			return p, nil, err
		}
		m.ID = token + "@" + a.host()
		link, err = a.InvitationLink(ctx, tx, v.Invitation)
		return p, nil, err
	})
	if err != nil || !begins {
		return err
	}
	words, err := a.Notice.Invitation(invitationWords(v, link))
	m.Subject, m.Text, m.HTML = words.Subject, words.Text, words.HTML
	var state mailing.State
	if err == nil {
		state, _, err = a.post(ctx, m)
	}
	if err != nil { // it was not sent, so it may be sent again
		return errors.Join(err, a.DB.Tx(context.WithoutCancel(ctx), func(_ context.Context, tx store.Conn) error {
			_, err := become(tx, mailing.Sending, mailing.Waiting)
			return err
		}))
	}
	return r.Finish(ctx, func(_ context.Context, tx store.Conn) (any, error) {
		_, err := become(tx, mailing.Sending, state)
		return MailResult{state}, err
	})
}

// invitationThread returns the thread id for all mail about an invitation.
func (a *App) invitationThread(id int64) string { return fmt.Sprintf("invitation.%d@%s", id, a.host()) }

// searchThread returns the thread id for all mail about a saved search.
func (a *App) searchThread(id int64) string { return fmt.Sprintf("search.%d@%s", id, a.host()) }

func invitationWords(v lab.ShownInvitation, link string) notice.Invitation {
	return notice.Invitation{Organization: v.Organization, Inviter: v.Inviter.Name(),
		Role: strings.ToLower(string(v.Role)), Expires: v.ExpiresAt, Link: link}
}

// letter is the content of mail about a notification, written when it is sent.
type letter struct {
	thread string // the conversation to which it belongs
	write  func(ctx context.Context, unsubscribe string) (notice.Text, error)
}

// letter returns the content of mail about a notification. visible reports whether the person may still see it.
func (a *App) letter(ctx context.Context, c store.Conn, n notify.Notification, reader store.Reader) (l letter,
	visible bool, err error) {
	if n.News == nil {
		facts, visible, err := a.facts(ctx, c, n, reader)
		if err == nil && visible {
			var kept map[int64]request.Detail
			kept, err = c.Events.Facts(ctx, []int64{n.Event.ID})
			facts = then(facts, kept)
		}
		return letter{a.thread(n.Event.RequestID), func(_ context.Context, unsubscribe string) (notice.Text, error) {
			facts.Unsubscribe = unsubscribe
			return a.Notice.Event(facts)
		}}, visible, err
	}
	switch n.News.Kind {
	case notify.Invited:
		return a.invitationLetter(ctx, c, n, reader)
	case notify.SearchMatched:
		m, visible, err := match(ctx, c, n, reader)
		return letter{a.searchThread(n.News.Detail.SavedSearch),
			func(_ context.Context, unsubscribe string) (notice.Text, error) {
				m.Unsubscribe = unsubscribe
				return a.Notice.Match(m)
			}}, visible, err
	}
	d := n.News.Detail
	m := notice.Membership{Kind: notice.MembershipKind(n.News.Kind), Organization: n.OrganizationName,
		Person: "Aliquot", Note: d.Text,
		Link: fmt.Sprintf("%s/labs/%d/people", a.PublicURL, n.Organization)}
	if n.Actor != nil {
		m.Person = n.Actor.Name()
	}
	l = letter{a.invitationThread(d.Invitation),
		func(context.Context, string) (notice.Text, error) { return a.Notice.Membership(m) }}
	if n.News.Kind == notify.WebhookOff {
		l.thread = fmt.Sprintf("webhook.%d@%s", d.Webhook, a.host())
		m.Note, m.Link = d.Reason, fmt.Sprintf("%s/labs/%d/webhooks", a.PublicURL, n.Organization)
	}
	if d.JoinRequest == 0 {
		visible, err = c.Organizations.IsMember(ctx, n.Organization, n.User)
		return l, visible, err
	}
	l.thread = fmt.Sprintf("join.%d@%s", d.JoinRequest, a.host())
	if n.News.Kind != notify.JoinAsked {
		m.Note = d.Reason
		return l, true, nil
	}
	j, err := c.JoinRequests.Get(ctx, n.Organization, d.JoinRequest)
	if err != nil {
		return l, false, err
	}
	o, err := c.Organizations.Get(ctx, n.Organization)
	return l, j.Status == lab.JoinPending && o.Owner == n.User, err
}

// invitationLetter returns the letter of an invitation to someone who has signed in before.
func (a *App) invitationLetter(ctx context.Context, c store.Conn, n notify.Notification,
	reader store.Reader) (l letter, visible bool, err error) {
	v, err := c.Invitations.Get(ctx, n.News.Detail.Invitation)
	write := func(ctx context.Context, _ string) (words notice.Text, err error) {
		link := ""
		err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
			link, err = a.InvitationLink(ctx, tx, v.Invitation)
			return err
		})
		if err != nil {
			return words, err
		}
		i := invitationWords(v, link)
		i.Location = reader.Mail.Location()
		return a.Notice.Invitation(i)
	}
	return letter{a.invitationThread(v.ID), write}, v.Status == lab.InvitationPending, err
}
