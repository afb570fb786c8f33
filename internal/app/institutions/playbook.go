package institutions

import (
	"context"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// Playbook reads an institution with its playbook, for its officers.
func (a Institutions) Playbook(ctx context.Context, who exchange.Actor, id int64) (party.Institution, error) {
	c := a.DB.Read()
	i, err := c.Institutions.Get(ctx, id)
	if err != nil {
		return i, err
	}
	k, err := callerOf(ctx, c, who, i)
	if err != nil {
		return i, err
	}
	return i, a.MayRead(ctx, who, exchange.PlaybookRead, k.officer(), object(id))
}

// UpdatePlaybook changes the playbook of an institution; its officers may.
func (a Institutions) UpdatePlaybook(ctx context.Context, who exchange.Actor, id int64, p playbook.Patch,
	match core.IfMatch[party.Institution]) (i party.Institution, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if _, err := tx.Institutions.ForUpdate(ctx, id); err != nil {
			return err
		}
		if i, err = tx.Institutions.Get(ctx, id); err != nil {
			return err
		}
		k, err := callerOf(ctx, tx, who, i)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.PlaybookWrite, k.officer(), object(id)); err != nil {
			return err
		}
		if err := match.Check(i); err != nil {
			return err
		}
		changed, err := p.Patch(i.Playbook)
		wrong := exchange.FieldsOf(err)
		if err := a.refersToKnown(ctx, tx, id, p, &wrong); err != nil {
			return err
		}
		if err := wrong.Err(); err != nil || core.Same(changed, i.Playbook) {
			return err
		}
		i.Playbook = changed
		i.Playbook.ChangedAt = &tx.Now
		if err := tx.Institutions.SavePlaybook(ctx, id, i.Playbook); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.PlaybookWrite, k.officer(), object(id), nil)
	})
	return i, err
}

// refersToKnown checks that the families of instruments and the institutions exist that the body of a playbook names.
func (a Institutions) refersToKnown(ctx context.Context, tx store.Conn, id int64, p playbook.Patch,
	f *exchange.FieldErrors) error {
	library, err := a.Library(ctx, tx)
	if err != nil {
		return err
	}
	family := func(field, at, code string) {
		if !library.HasFamily(code) {
			f.Add(field, "%sthere is no family %q; GET /instruments lists them", at, code)
		}
	}
	var others []int64
	for _, one := range p.Provide.Value {
		others = append(others, one.Counterparties...)
	}
	names, err := tx.Institutions.Names(ctx, others)
	if err != nil {
		return err
	}
	for i, one := range p.Provide.Value {
		for _, code := range one.Families {
			family("provide", playbook.Number(i), code)
		}
		for _, other := range one.Counterparties {
			if names[other] == "" || other == id {
				f.Add("provide", "%sthere is no other institution with the id %d", playbook.Number(i), other)
			}
		}
	}
	for i, code := range p.Accept.Value {
		family("accept", playbook.Number(i), code)
	}
	return nil
}

// Comparison is where the playbooks of two institutions conflict, in the instruments that are in force today.
type Comparison struct {
	Own       party.Institution
	Other     party.Institution
	Conflicts []ComparedConflict // by instrument
}

// ComparedConflict is a conflict in an instrument, if one of the institutions provides under it to the other.
type ComparedConflict struct {
	playbook.Conflict
	Instrument instrument.Instrument
	Provider   party.Institution
	Of         party.Institution // whose position it is
}

// Compare returns where the playbook of an institution conflicts with that of another, in both directions: of all
// instruments that have a text and are in force today, or of the one with an id. It is for the officers of the first
// one. A conflict says the position of the other; what else its playbook has, nobody else reads.
func (a Institutions) Compare(ctx context.Context, who exchange.Actor, id, with int64,
	only string) (k Comparison, err error) {
	if k.Own, err = a.Playbook(ctx, who, id); err != nil {
		return k, err
	}
	c := a.DB.Read()
	if k.Other, err = c.Institutions.Get(ctx, with); err != nil {
		return k, core.Refer(err, "with", with)
	}
	if with == id {
		return k, core.FieldError("with", "must be another institution")
	}
	library, err := a.Library(ctx, c)
	if err != nil {
		return k, err
	}
	if _, known := library.Newest(only, exchange.DayOf(c.Now)); only != "" && !known {
		return k, core.FieldError("instrument", "there is no instrument %q; GET /instruments lists them", only)
	}
	for _, i := range library.Instruments() {
		if i.Template == "" || !i.InForce(exchange.DayOf(c.Now)) || only != "" && i.ID != only {
			continue
		}
		for _, sides := range [][2]party.Institution{{k.Own, k.Other}, {k.Other, k.Own}} {
			provider, recipient := sides[0], sides[1]
			for _, one := range playbook.Intersect(provider.Playbook, recipient.Playbook, i.Family, i.Terms) {
				of := recipient
				if one.Provider {
					of = provider
				}
				k.Conflicts = append(k.Conflicts, ComparedConflict{one, i, provider, of})
			}
		}
	}
	return k, nil
}

// PlaybookPage is what the page of a playbook shows.
type PlaybookPage struct {
	Families []Family         // whose text is here
	Names    map[int64]string // of the institutions that the playbook names
	Compared *Comparison      // with another institution, if one was asked for
}

// PlaybookPage reads what the page of the playbook of an institution shows besides it, for its officers; with 0
// compares it with none.
func (a Institutions) PlaybookPage(ctx context.Context, who exchange.Actor, id, with int64) (p PlaybookPage,
	err error) {
	i, err := a.Playbook(ctx, who, id)
	if err != nil {
		return p, err
	}
	var others []int64
	for _, one := range i.Playbook.Provide {
		others = append(others, one.Counterparties...)
	}
	if p.Names, err = a.DB.Read().Institutions.Names(ctx, others); err != nil {
		return p, err
	}
	if p.Families, err = a.families(ctx); err != nil || with == 0 {
		return p, err
	}
	k, err := a.Compare(ctx, who, id, with, "")
	p.Compared = &k
	return p, err
}
