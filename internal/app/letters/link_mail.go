package letters

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/mail"
	"aliquot/internal/notice"
	"aliquot/internal/store"
)

// MailLink is the job that mails a link, and MailCode the one that mails a code for it. Each try makes a new token or
// code, since nothing that is kept tells the one before: the newest mail counts.
var (
	MailLink = job.Kind[LinkMail]{Name: "mail.agreement_link", MaxAttempts: notifier.MailTries}
	MailCode = job.Kind[LinkMail]{Name: "mail.agreement_code", MaxAttempts: notifier.MailTries}
)

// LinkMail names the link.
type LinkMail struct {
	Link int64 `json:"link"`
}

// MailLink mails a link to whoever is to sign by it.
func (a Letters) MailLink(ctx context.Context, r *job.Run, args LinkMail) error {
	return a.mailSigner(ctx, r, args, func(l signing.Link, v View, sender string, _ time.Time) (signing.Link,
		notice.Text, error) {
		l, token := l.Issue()
		words, err := a.Notice.SigningLink(notice.SigningLink{Number: v.Letter.Number, Title: v.Instrument.Title,
			Provider: v.Provider.LegalName, Recipient: v.Recipient.LegalName, Sender: sender,
			Role: party.Label(l.Role), Link: a.PublicURL + "/sign?token=" + url.QueryEscape(token),
			Expires: l.Expires})
		return l, words, err
	})
}

// MailCode mails a code for a link.
func (a Letters) MailCode(ctx context.Context, r *job.Run, args LinkMail) error {
	return a.mailSigner(ctx, r, args, func(l signing.Link, v View, _ string, now time.Time) (signing.Link,
		notice.Text, error) {
		l, code, err := l.SendCode(now)
		if err != nil {
			return l, notice.Text{}, err
		}
		words, err := a.Notice.SigningCode(v.Letter.Number, code, *l.CodeExpires)
		return l, words, err
	})
}

// mailSigner mails what write returns to the signer of a link, unless the link signs nothing any more.
func (a Letters) mailSigner(ctx context.Context, r *job.Run, args LinkMail,
	write func(l signing.Link, v View, sender string, now time.Time) (signing.Link, notice.Text, error)) error {
	post := notifier.New(a.Core)
	var m mail.Message
	err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
		link, err := tx.Links.ForUpdate(ctx, args.Link)
		if err != nil {
			return p, nil, err
		}
		var l letter.Agreement
		if l, err = tx.Agreements.Get(ctx, link.Agreement); err != nil || usable(link, l, tx) != nil {
			return p, nil, err
		}
		v := View{Agreement: l}
		if v.Instrument, err = a.instrument(ctx, tx, l.Letter); err != nil {
			return p, nil, err
		}
		if err := v.readParties(ctx, tx); err != nil {
			return p, nil, err
		}
		sender, err := tx.Users.Get(ctx, link.MadeBy)
		if err != nil {
			return p, nil, err
		}
		link, words, err := write(link, v, sender.Name(), tx.Now)
		if err != nil {
			return p, nil, err
		}
		if err := tx.Links.Update(ctx, link); err != nil {
			return p, nil, err
		}
		id, err := core.Seal(ctx, tx, notifier.OfMessage, fmt.Sprint(notifier.OfAgreementLink, " ", link.ID))
		m = mail.Message{ID: id + "@" + post.Host(), Kind: "agreement", To: link.Signer.Mail, ToName: link.Signer.Name,
			At: tx.Now, References: []string{post.AgreementThread(l.ID)},
			List: post.List("agreement"), Subject: words.Subject, Text: words.Text, HTML: words.HTML}
		return p, nil, err
	})
	if err != nil || m.To == "" {
		return err
	}
	state, _, err := post.Post(ctx, m)
	if err != nil {
		return err
	}
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		link, err := tx.Links.ForUpdate(ctx, args.Link)
		link.Mail = state
		return notifier.MailResult{Mail: state}, errors.Join(err, tx.Links.Update(ctx, link))
	})
}
