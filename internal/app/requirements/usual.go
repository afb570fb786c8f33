package requirements

import (
	"context"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
	"aliquot/internal/store/agreement"
)

// Usual is under which agreement most institutions get a material, and the visitor's own.
type Usual struct {
	Instrument *instrument.Instrument // what most get it under; nil: that depends on facts that nobody has stated
	Own        *party.Institution     // the visitor's; nil: none is known
	Same       bool                   // it is the one that provides, which needs no agreement
	Theirs     *instrument.Instrument // what their own gets it under today; nil: nothing is valid yet
	Master     party.Master           // of their own, that Instrument needs; the zero value: none is in force
}

// most is the institution that most are like: not for profit, with the same master agreements as the provider.
const most = -1

// Usual returns under which agreement a material is passed on today; nil if its lab is of no institution.
func (a Requirements) Usual(ctx context.Context, who exchange.Actor, m material.Material,
	facts requirement.Facts) (*Usual, error) {
	c := a.DB.Read()
	id, err := core.ProviderOf(ctx, c, m.OrganizationID)
	if err != nil || id == 0 {
		return nil, err
	}
	library, err := a.Library(ctx, c)
	if err != nil {
		return nil, err
	}
	t := instrument.Transfer{Category: m.Category, Facts: facts, Purpose: instrument.UsualPurpose,
		Recipient: party.Institution{ID: most, Kind: party.Nonprofit}}
	if t.Provider, err = c.Institutions.Get(ctx, id); err != nil {
		return nil, err
	}
	if t.Masters, err = c.Institutions.Masters.Of(ctx, id); err != nil {
		return nil, err
	}
	masters := t.Masters
	for _, one := range masters {
		if one.Standing != party.Bilateral {
			one.Institution = most
			t.Masters = append(t.Masters, one)
		}
	}
	today := exchange.DayOf(c.Now)
	r, err := library.Resolve(t, today)
	if err != nil {
		return nil, err
	}
	u := &Usual{Instrument: r.Instrument}
	t.Masters = masters
	return u, u.readOwn(ctx, c, who, library, t)
}

// readOwn reads what the institution of who gets the material under.
func (u *Usual) readOwn(ctx context.Context, c store.Conn, who exchange.Actor, library *instrument.Library,
	t instrument.Transfer) error {
	if who.Anonymous() {
		return nil
	}
	today := exchange.DayOf(c.Now)
	rows, err := c.Institutions.OfPerson(ctx, who.ID)
	if err != nil {
		return err
	}
	own := party.Home(rows, today)
	if own == 0 {
		return nil
	}
	if t.Recipient, err = c.Institutions.Get(ctx, own); err != nil {
		return err
	}
	u.Own, u.Same = &t.Recipient, own == t.Provider.ID
	if u.Same {
		return nil
	}
	theirs, err := c.Institutions.Masters.Of(ctx, own)
	if err != nil {
		return err
	}
	t.Masters = append(t.Masters, theirs...)
	if t.Precedents, err = c.Agreements.Precedents(ctx, agreement.Viewer{All: true}, t.Provider.ID, own,
		c.Now); err != nil {
		return err
	}
	if u.Instrument != nil && u.Instrument.Master != "" {
		u.Master, _ = party.MasterInForce(t.Masters, u.Instrument.Master, own, t.Provider.ID, today)
	}
	r, err := library.Resolve(t, today)
	u.Theirs = r.Instrument
	return err
}
