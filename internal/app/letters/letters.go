// Package letters has the use cases of agreements: letters are drafted for requests, sent, signed and executed.
package letters

import (
	"context"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/store"
	"aliquot/internal/store/agreement"

	"github.com/google/uuid"
)

// Letters are the use cases of agreements.
type Letters struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Letters { return Letters{c} }

// object names an agreement in audit events.
func object(id int64) string { return core.Object("agreement", id) }

// officesOf returns the institutions for which who may sign something today, as holder of an authority or as stand-in.
// Tokens of one lab have none.
func officesOf(ctx context.Context, c store.Conn, who exchange.Actor) ([]int64, error) {
	r, err := registersOf(ctx, c, who)
	return r.Offices(who.ID, exchange.DayOf(c.Now)), err
}

// registersOf reads, of the registers of all institutions, what tells where who may sign.
func registersOf(ctx context.Context, c store.Conn, who exchange.Actor) (r party.Register, err error) {
	if !who.Is(who.ID) {
		return r, nil
	}
	return c.Institutions.RegistersOf(ctx, who.ID)
}

// relationsOf returns how who is related to a letter.
func relationsOf(who exchange.Actor, offices []int64, l letter.Agreement) exchange.Relation {
	rel := who.ToOrganization(l.Organization) &^ exchange.OwnerOf
	if who.Is(l.Requester) {
		rel |= exchange.RequesterOf
	}
	for _, institution := range offices {
		if institution == l.Letter.Provider || institution == l.Letter.Recipient {
			rel |= exchange.OfficerOf
		}
	}
	return rel
}

// relations reads how who is related to a letter.
func relations(ctx context.Context, c store.Conn, who exchange.Actor, l letter.Agreement) (exchange.Relation, error) {
	offices, err := officesOf(ctx, c, who)
	return relationsOf(who, offices, l), err
}

// get reads a letter that who may see, and how they are related to it.
func (a Letters) get(ctx context.Context, c store.Conn, who exchange.Actor, id int64) (l letter.Agreement,
	rel exchange.Relation, err error) {
	if l, err = c.Agreements.Get(ctx, id); err != nil {
		return l, rel, err
	}
	if rel, err = relations(ctx, c, who, l); err == nil {
		err = core.Unseen(a.MayRead(ctx, who, exchange.AgreementRead, rel, object(id)))
	}
	return l, rel, err
}

// Letter reads one letter.
func (a Letters) Letter(ctx context.Context, who exchange.Actor, id int64) (v View, err error) {
	c := a.DB.Read()
	l, rel, err := a.get(ctx, c, who, id)
	if err != nil {
		return v, err
	}
	if v, err = a.view(ctx, c, l); err != nil {
		return v, err
	}
	return v, v.readPrecedent(ctx, c, who, rel)
}

// Letters lists the letters of the caller's own requests, and of their labs and institutions, newest first. An admin
// sees all.
func (a Letters) Letters(ctx context.Context, who exchange.Actor, by letter.Filter,
	p exchange.Page) (page exchange.ListPage[letter.Agreement], err error) {
	c := a.DB.Read()
	viewer, err := a.viewer(ctx, c, who)
	if err != nil {
		return page, err
	}
	return c.Agreements.List(ctx, viewer, by, p)
}

// viewer returns which letters who may list.
func (a Letters) viewer(ctx context.Context, c store.Conn, who exchange.Actor) (v agreement.Viewer, err error) {
	rel := who.Relations()
	if err := a.MayRead(ctx, who, exchange.AgreementList, rel, "agreements"); err != nil {
		return v, err
	}
	if who.Admin {
		if err := a.MayRead(ctx, who, exchange.AgreementRead, rel, "agreements"); err != nil {
			return v, err
		}
	}
	offices, err := officesOf(ctx, c, who)
	return agreement.Viewer{Person: who.ID, Labs: who.Organizations, Institutions: offices, All: who.Admin}, err
}

// Versions lists the versions of a letter, newest first.
func (a Letters) Versions(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (page exchange.ListPage[letter.Version], err error) {
	c := a.DB.Read()
	if _, _, err := a.get(ctx, c, who, id); err != nil {
		return page, err
	}
	return c.Agreements.Versions(ctx, id, p)
}

// Document returns the newest version of a letter as a PDF, of an executed one with its seals: the same bytes at each
// call.
func (a Letters) Document(ctx context.Context, who exchange.Actor, id int64) (pdf []byte, l letter.Agreement,
	err error) {
	c := a.DB.Read()
	if l, _, err = a.get(ctx, c, who, id); err != nil {
		return nil, l, err
	}
	if l.Attachment != nil {
		pdf, err = a.sealed(ctx, c, *l.Attachment)
		return pdf, l, err
	}
	i, err := a.instrument(ctx, c, l.Letter)
	if err != nil {
		return nil, l, err
	}
	pdf, err = l.Letter.PDF(i)
	return pdf, l, err
}

// Send sends a letter to be signed. Nothing may be missing, and its instrument must still be the right one today.
// Officials whose standing approvals cover it sign it at once.
func (a Letters) Send(ctx context.Context, who exchange.Actor, id int64) (View, error) {
	return a.act(ctx, who, id, func(ctx context.Context, tx store.Conn, l *letter.Agreement) error {
		return a.send(ctx, tx, who.ID, l)
	})
}

// send is Send for a letter whose row is locked; the caller saves it.
func (a Letters) send(ctx context.Context, tx store.Conn, by uuid.UUID, l *letter.Agreement) error {
	state, err := l.State.After(letter.Sending)
	if err != nil {
		return err
	}
	s, err := a.locked(ctx, tx, l)
	if err != nil {
		return err
	}
	v := View{Agreement: *l, Instrument: s.instrument, Provider: s.provider, Recipient: s.recipient}
	if missing := v.Missing(); len(missing) > 0 {
		return exchange.Errorf(exchange.MissingFields, "%s is not complete; fill in what is missing first.",
			l.Letter.Number).With("missing", missing)
	}
	if err := s.still(*l, s.instrument, exchange.DayOf(tx.Now)); err != nil {
		return err
	}
	if s.embargo != nil {
		return s.embargo
	}
	if _, err := l.Letter.PDF(s.instrument); err != nil {
		return exchange.Errorf(exchange.Conflict, "The letter cannot be printed: %v.", err)
	}
	l.State, l.SentAt = state, &tx.Now
	if err := a.complete(ctx, tx, &s); err != nil {
		return err
	}
	if err := s.announceSent(ctx, tx, by); err != nil || l.State != letter.Sent {
		return err
	}
	return a.inviteExternals(ctx, tx, s)
}

// Decline declines a letter that was sent. Whoever can correct what the reason names makes a new version.
func (a Letters) Decline(ctx context.Context, who exchange.Actor, id int64, reason string) (View, error) {
	return a.act(ctx, who, id, func(ctx context.Context, tx store.Conn, l *letter.Agreement) error {
		return decline(ctx, tx, l, notify.Announcement{Actor: who.ID}, reason)
	})
}

// decline declines a letter, which is locked; the caller saves it. by has who did it.
func decline(ctx context.Context, tx store.Conn, l *letter.Agreement, by notify.Announcement,
	reason string) (err error) {
	if l.State, err = l.State.After(letter.Declining); err != nil {
		return err
	}
	l.Reason, by.Kind = reason, notify.AgreementDeclined
	return announceEnd(ctx, tx, *l, by)
}

// Withdraw ends a letter that was not executed; its requests can be put into another.
func (a Letters) Withdraw(ctx context.Context, who exchange.Actor, id int64, reason string) (View, error) {
	return a.act(ctx, who, id, func(ctx context.Context, tx store.Conn, l *letter.Agreement) (err error) {
		l.Reason = reason
		if err := core.EndLetter(ctx, tx, l, letter.Withdrawing); err != nil {
			return err
		}
		return announceEnd(ctx, tx, *l, notify.Announcement{Kind: notify.AgreementWithdrawn, Actor: who.ID})
	})
}

// act changes a letter, which is locked, for who may, and returns what it is then.
func (a Letters) act(ctx context.Context, who exchange.Actor, id int64,
	do func(ctx context.Context, tx store.Conn, l *letter.Agreement) error) (v View, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		l, rel, err := a.forUpdate(ctx, tx, who, id)
		if err != nil {
			return err
		}
		if err := do(ctx, tx, &l); err != nil {
			return err
		}
		if err := tx.Agreements.Update(ctx, l); err != nil {
			return err
		}
		if err := a.RecordAction(ctx, tx, who, exchange.AgreementWrite, rel, object(id), l.State); err != nil {
			return err
		}
		if v, err = a.view(ctx, tx, l); err != nil {
			return err
		}
		return v.readPrecedent(ctx, tx, who, rel)
	})
	return v, err
}

// forUpdate reads a letter that who may change, and locks it until commit.
func (a Letters) forUpdate(ctx context.Context, tx store.Conn, who exchange.Actor, id int64) (l letter.Agreement,
	rel exchange.Relation, err error) {
	if l, err = tx.Agreements.ForUpdate(ctx, id); err != nil {
		return l, rel, err
	}
	if rel, err = relations(ctx, tx, who, l); err != nil {
		return l, rel, err
	}
	return l, rel, core.Unseen(a.May(ctx, tx, who, exchange.AgreementWrite, rel, object(id)))
}

// idleAtOnce is how many letters expire in one transaction.
const idleAtOnce = 100

// ExpireIdle ends letters that nobody has changed for letter.Life.
func ExpireIdle(ctx context.Context, tx store.Conn) error {
	list, err := tx.Agreements.Idle(ctx, tx.Now.Add(-letter.Life), idleAtOnce)
	for _, l := range list {
		if err == nil {
			err = core.EndLetter(ctx, tx, &l, letter.Expiring)
		}
		if err == nil {
			err = tx.Agreements.Update(ctx, l)
		}
	}
	return err
}
