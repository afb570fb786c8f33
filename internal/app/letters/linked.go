package letters

import (
	"context"
	"errors"
	"io"
	"strings"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// Linked is a letter as the holder of a link sees it.
type Linked struct {
	View
	Link   signing.Link
	WhyNot error // why the link signs nothing; nil: it does
}

// Intent is what the holder of the link states who signs.
func (v Linked) Intent() string { return Intent(v.Link.Document, v.Link.Role) }

// Linked reads the letter of a link. A link that was used shows the letter until it ends; one whose letter has a newer
// version, or is open no more, shows why it signs nothing.
func (a Letters) Linked(ctx context.Context, who exchange.Actor, token string) (v Linked, err error) {
	if err := a.MayRead(ctx, who, exchange.AgreementOpen, who.Relations(), "agreement link"); err != nil {
		return v, err
	}
	c := a.DB.Read()
	if v.Link, err = c.Links.ByToken(ctx, signing.TokenHash(token)); err != nil {
		return v, err
	}
	l, err := c.Agreements.Get(ctx, v.Link.Agreement)
	if err != nil {
		return v, err
	}
	v.WhyNot = usable(v.Link, l, c)
	v.View, err = a.view(ctx, c, l)
	return v, err
}

// usable returns why a link signs nothing; nil: it does.
func usable(link signing.Link, l letter.Agreement, c store.Conn) error {
	if err := link.Open(signing.DocumentOf(l), c.Now); err != nil {
		return err
	}
	if l.State != letter.Sent {
		return notSent(l)
	}
	return nil
}

// LinkedDocument returns the letter of a link as a PDF: sealed, if it was executed.
func (a Letters) LinkedDocument(ctx context.Context, who exchange.Actor, token string) (pdf []byte, name string,
	err error) {
	v, err := a.Linked(ctx, who, token)
	if err != nil {
		return nil, "", err
	}
	name = v.Letter.Number + ".pdf"
	switch {
	case errors.Is(v.WhyNot, signing.ErrExpired), v.Link.Document != signing.DocumentOf(v.Agreement):
		return nil, "", notUsable(v.WhyNot)
	case v.Attachment == nil:
		pdf, err = v.Letter.PDF(v.Instrument)
		return pdf, name, err
	}
	t, err := a.DB.Read().Attachments.Get(ctx, *v.Attachment)
	if err != nil {
		return nil, "", err
	}
	file, err := a.OpenContent(ctx, *t.Content)
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	pdf, err = io.ReadAll(file)
	return pdf, name, err
}

// notUsable turns the reason why a link or a code is of no use into the error of the call.
func notUsable(err error) error {
	for _, why := range []error{signing.ErrUsed, signing.ErrExpired, signing.ErrTooManyCodes} {
		if errors.Is(err, why) {
			return exchange.Errorf(exchange.Conflict, "%v.", err)
		}
	}
	if errors.Is(err, signing.ErrStale) {
		return exchange.Errorf(exchange.StaleVersion, "%v.", err)
	}
	for _, why := range []error{signing.ErrWrongCode, signing.ErrCodeExpired, signing.ErrTooOften} {
		if errors.Is(err, why) {
			var f exchange.FieldErrors
			f.Add("code", "%v", err)
			return f.Err()
		}
	}
	return err
}

// AskCode has a code mailed to the address of a link: at most one a minute, ten in all.
func (a Letters) AskCode(ctx context.Context, who exchange.Actor, token string) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		l, link, err := a.linkForUpdate(ctx, tx, who, token)
		if err != nil {
			return err
		}
		if link, err = link.AskCode(signing.DocumentOf(l), tx.Now); err != nil {
			return notUsable(err)
		}
		if err := tx.Links.Update(ctx, link); err != nil {
			return err
		}
		_, err = MailCode.Enqueue(ctx, tx, LinkMail{link.ID}, job.EnqueueOptions{Turn: link.MadeBy})
		return err
	})
}

// linkForUpdate reads the link of a token and its letter, and locks both.
func (a Letters) linkForUpdate(ctx context.Context, tx store.Conn, who exchange.Actor, token string) (
	l letter.Agreement, link signing.Link, err error) {
	if err := a.May(ctx, tx, who, exchange.AgreementOpen, who.Relations(), "agreement link"); err != nil {
		return l, link, err
	}
	if link, err = tx.Links.ByToken(ctx, signing.TokenHash(token)); err != nil {
		return l, link, err
	}
	if l, err = tx.Agreements.ForUpdate(ctx, link.Agreement); err != nil {
		return l, link, err
	}
	if link, err = tx.Links.ForUpdate(ctx, link.ID); err == nil {
		err = notUsable(usable(link, l, tx))
	}
	return l, link, err
}

// use does something with the letter of a link for whoever has a code of it. A wrong code is counted, and nothing else
// changes.
func (a Letters) use(ctx context.Context, who exchange.Actor, token string, n letter.LinkUse,
	do func(ctx context.Context, tx store.Conn, l *letter.Agreement, link signing.Link) error) error {
	var refused error
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		refused = nil
		l, link, err := a.linkForUpdate(ctx, tx, who, token)
		if err != nil {
			return err
		}
		if n.SHA256 != link.Document.SHA256 { // a page with another letter, whose link was opened before
			return notUsable(signing.ErrStale)
		}
		var used signing.Link
		used, refused = link.Use(strings.TrimSpace(n.Code), signing.DocumentOf(l), tx.Now)
		if err := tx.Links.Update(ctx, used); err != nil || refused != nil {
			return err
		}
		if err := do(ctx, tx, &l, link); err != nil {
			return err
		}
		return tx.Audit.Insert(ctx, nil, exchange.AgreementOpen, object(l.ID), false, link.Signer.Mail)
	})
	if err == nil {
		err = notUsable(refused)
	}
	return err
}

// SignByLink signs the letter of a link as the person to whom the link and the code were mailed.
func (a Letters) SignByLink(ctx context.Context, who exchange.Actor, token string, n letter.LinkUse) error {
	return a.use(ctx, who, token, n, func(ctx context.Context, tx store.Conn, l *letter.Agreement,
		link signing.Link) error {
		evidence := map[string]any{"link": link.ID, "mail": link.Signer.Mail, "code_asked_at": link.CodeAskedAt,
			"intent": Intent(link.Document, link.Role)}
		return a.Sign(ctx, tx, l, Proof{Signer: link.Signer, Role: link.Role, Document: link.Document,
			Level: party.MailedLink, Evidence: evidence})
	})
}

// DeclineByLink declines the letter of a link with a reason.
func (a Letters) DeclineByLink(ctx context.Context, who exchange.Actor, token string, n letter.LinkUse,
	reason string) error {
	return a.use(ctx, who, token, n, func(ctx context.Context, tx store.Conn, l *letter.Agreement,
		link signing.Link) error {
		by := notify.Announcement{Detail: notify.AnnouncementDetail{Person: link.Signer.Name}}
		if err := decline(ctx, tx, l, by, reason); err != nil {
			return err
		}
		return tx.Agreements.Update(ctx, *l)
	})
}
