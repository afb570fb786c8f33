package letters

import (
	"context"
	"slices"
	"strings"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Links lists the links by which people without an account sign a letter, newest first.
func (a Letters) Links(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (page exchange.ListPage[signing.Link], err error) {
	c := a.DB.Read()
	if _, _, err := a.get(ctx, c, who, id); err != nil {
		return page, err
	}
	return c.Links.List(ctx, id, p)
}

// Invite mails a link by which an official without an account signs a letter that was sent. Earlier links for the same
// role and address end.
func (a Letters) Invite(ctx context.Context, who exchange.Actor, id int64, n letter.LinkNew) (made signing.Link,
	err error) {
	if err := n.Validate(true).Err(); err != nil {
		return made, err
	}
	if a.Mail == nil {
		return made, exchange.Errorf(exchange.Conflict, "This installation sends no mail, so nobody can sign by "+
			"a link.")
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		l, rel, err := a.forUpdate(ctx, tx, who, id)
		if err != nil {
			return err
		}
		if l.State != letter.Sent {
			return notSent(l)
		}
		s, err := a.locked(ctx, tx, &l)
		if err != nil {
			return err
		}
		c := s.checks
		if !slices.Contains(c.Instrument.Signers, n.Role.Value) {
			return refusal(signing.ErrNoRole, c.Document)
		}
		if !slices.Contains(c.Unsigned(), n.Role.Value) {
			return refusal(signing.ErrTwice, c.Document)
		}
		people, _ := externals(c.Officials(n.Role.Value, exchange.DayOf(tx.Now)))
		person, err := chooseExternal(people, n.Mail.Value)
		if err != nil {
			return err
		}
		if err := notifier.MayMailAddress(ctx, tx, who.ID, person.Mail); err != nil {
			return err
		}
		if made, err = invite(ctx, tx, signing.NewLink(id, c.Document, n.Role.Value, person, who.ID,
			tx.Now)); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.AgreementWrite, rel, object(id), n.Role.Value)
	})
	return made, err
}

// externals returns those of some people who have no account but a mail address, and whether others have an account.
func externals(people []party.Person) (list []party.Person, accounts bool) {
	for _, p := range people {
		if p.User != uuid.Nil {
			accounts = true
		} else if p.Mail != "" {
			list = append(list, p)
		}
	}
	return list, accounts
}

// chooseExternal returns the one person to whom a link goes.
func chooseExternal(people []party.Person, mail string) (p party.Person, err error) {
	var addresses []string
	for _, one := range people {
		if addresses = append(addresses, one.Mail); strings.EqualFold(one.Mail, mail) {
			return one, nil
		}
	}
	switch {
	case len(people) == 0:
		return p, exchange.Errorf(exchange.NoAuthority, "Nobody without an account has the authority to sign this "+
			"today. An officer of the institution adds who does, with their mail address.")
	case mail != "" || len(people) > 1:
		var f exchange.FieldErrors
		f.Add("mail", "must be the address of somebody who may sign this without an account: %s",
			strings.Join(addresses, ", "))
		return p, f.Err()
	}
	return people[0], nil
}

// invite keeps a link, ends earlier ones for the same role and address, and has the new one mailed.
func invite(ctx context.Context, tx store.Conn, l signing.Link) (signing.Link, error) {
	earlier, err := tx.Links.Pending(ctx, l.Agreement, l.Role, l.Signer.Mail)
	if err != nil {
		return l, err
	}
	for _, old := range earlier {
		old.Expires = tx.Now
		if err := tx.Links.Update(ctx, old); err != nil {
			return l, err
		}
	}
	if l.ID, err = tx.Links.Insert(ctx, l); err != nil {
		return l, err
	}
	_, err = MailLink.Enqueue(ctx, tx, LinkMail{l.ID}, job.EnqueueOptions{Turn: l.MadeBy})
	return l, err
}

// inviteExternals mails links for the roles of officials that nobody with an account may sign, in the name of who made
// the letter. If that person caused too much mail to an address within a day, people have it mailed later.
func (a Letters) inviteExternals(ctx context.Context, tx store.Conn, s signable) error {
	for _, role := range s.checks.Unsigned() {
		people, accounts := externals(s.checks.Officials(role, exchange.DayOf(tx.Now)))
		if a.Mail == nil || len(people) == 0 || accounts {
			continue
		}
		by := s.letter.MadeBy
		err := notifier.MayMailAddress(ctx, tx, by, people[0].Mail)
		if exchange.CodeOf(err) == exchange.RateLimited {
			continue
		}
		if err == nil {
			_, err = invite(ctx, tx, signing.NewLink(s.letter.ID, s.checks.Document, role, people[0], by, tx.Now))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
