package letters

import (
	"context"
	"fmt"
	"slices"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
	"aliquot/internal/store/agreement"
)

// drafting is what the version of a letter is made of.
type drafting struct {
	library   *instrument.Library
	provider  party.Institution
	recipient party.Institution
	masters   []party.Master // of both

	precedents []instrument.Precedent // of both, from before the letter was drafted

	requester person.User
	scientist person.User // the owner of the lab
	materials []material.Shown
	facts     map[int64]requirement.Facts
}

// drafting reads what a version of a letter for some requests is made of.
func (a Letters) drafting(ctx context.Context, c store.Conn, l letter.Agreement,
	requests []request.Detail) (m drafting, err error) {
	if m.library, err = a.Library(ctx, c); err != nil {
		return m, err
	}
	if m.provider, err = c.Institutions.Get(ctx, l.Letter.Provider); err != nil {
		return m, err
	}
	if m.recipient, err = c.Institutions.Get(ctx, l.Letter.Recipient); err != nil {
		return m, err
	}
	if m.masters, err = core.MastersOf(ctx, c, m.provider.ID, m.recipient.ID); err != nil {
		return m, err
	}
	drafted := l.CreatedAt
	if drafted.IsZero() { // nobody has drafted it yet
		drafted = c.Now
	}
	if m.precedents, err = c.Agreements.Precedents(ctx, agreement.Viewer{All: true}, m.provider.ID, m.recipient.ID,
		drafted); err != nil {
		return m, err
	}
	if m.requester, err = c.Users.Get(ctx, l.Requester); err != nil {
		return m, err
	}
	lab, err := c.Organizations.Get(ctx, l.Organization)
	if err != nil {
		return m, err
	}
	if m.scientist, err = c.Users.Get(ctx, lab.Owner); err != nil {
		return m, err
	}
	ids := make([]int64, len(requests))
	for i, q := range requests {
		ids[i] = q.MaterialID
	}
	if m.materials, err = c.Materials.ShownByIDs(ctx, slices.Compact(slices.Sorted(slices.Values(ids)))); err != nil {
		return m, err
	}
	list := make([]material.Material, len(m.materials))
	for i, one := range m.materials {
		list[i] = one.Material
	}
	m.facts, err = core.FactsOf(ctx, c, list...)
	return m, err
}

// resolve returns the one instrument that all materials of the letter take, and why. It fails if facts are missing that
// decide (MISSING_FACTS), if none is valid (NOT_IN_FORCE), or if the materials take different ones (CONFLICT).
func (m drafting) resolve(purpose, choice string, day exchange.Date) (i instrument.Instrument, b letter.Basis,
	err error) {
	if choice != "" && !m.library.HasFamily(choice) {
		return i, b, exchange.Errorf(exchange.NotInForce, "There is no instrument of the family %q here.", choice)
	}
	b.Questions = []letter.Question{}
	var open, against []letter.Question // of materials without an instrument; those that another takes
	var why []Obstacle
	for _, one := range m.materials {
		r, err := m.library.Resolve(m.transfer(one, purpose, choice), day)
		if err != nil {
			return i, b, err
		}
		var questions []letter.Question
		for _, fact := range r.Questions {
			questions = append(questions, letter.Question{Material: one.ID, Fact: fact})
		}
		b.Questions = append(b.Questions, questions...)
		switch {
		case r.Instrument == nil || choice != "" && r.Instrument.Family != choice:
			open, why = append(open, questions...), append(why, obstacles(one.ID, r, m.library, choice)...)
		case i.ID == "":
			i, b.Because = *r.Instrument, r.Because
		case i.ID != r.Instrument.ID:
			against = append(against, letter.Question{Material: one.ID, Fact: r.Instrument.ID})
		}
	}
	switch {
	case len(open) > 0:
		return i, b, exchange.Errorf(exchange.MissingFacts, "Which instrument is right depends on facts that the lab "+
			"has not stated.").With("questions", open).With("obstacles", why)
	case len(why) > 0:
		return i, b, exchange.Errorf(exchange.NotInForce, "No instrument is valid for this transfer today.").
			With("obstacles", why)
	case len(against) > 0:
		return i, b, exchange.Errorf(exchange.Conflict, "The materials take different instruments: material %d takes "+
			"%s, others %s. Make a letter for each.", against[0].Material, against[0].Fact, i.ID)
	}
	return i, b, nil
}

// transfer returns what an instrument is chosen for: one of the materials.
func (m drafting) transfer(one material.Shown, purpose, choice string) instrument.Transfer {
	return instrument.Transfer{Provider: m.provider, Recipient: m.recipient, Masters: m.masters,
		Precedents: m.precedents, Category: one.Category, Facts: m.facts[one.ID], Purpose: purpose, Choice: choice}
}

// Obstacle is why an instrument is not valid for a material, and what would change that.
type Obstacle struct {
	Material   int64  `json:"material"`
	Instrument string `json:"instrument"`
	Rule       string `json:"rule"`
	Why        string `json:"why"`
	Remedy     string `json:"remedy"`
	Title      string `json:"-"` // of the instrument, for pages
}

// obstacles returns what keeps instruments from a material: those of the chosen family, if one was chosen.
func obstacles(of int64, r instrument.Resolution, l *instrument.Library, choice string) (list []Obstacle) {
	for _, other := range r.Alternatives {
		if choice != "" && !l.IsOfFamily(other.Instrument, choice) {
			continue
		}
		for _, reason := range other.WhyNot {
			list = append(list, Obstacle{of, other.Instrument, reason.Rule, reason.Why, string(reason.Remedy),
				other.Title})
		}
	}
	return list
}

// still checks that an instrument would be chosen for the letter on a day as well, and that its use has not ended.
func (m drafting) still(l letter.Agreement, i instrument.Instrument, day exchange.Date) error {
	if end := l.Letter.EndsOn(); end != "" && end <= day {
		return exchange.Errorf(exchange.NotInForce, "The use ended on %s already; make a new version of the letter "+
			"with a later day.", end)
	}
	now, _, err := m.resolve(l.Purpose, l.Choice, day)
	if err != nil {
		return err
	}
	if now.ID != i.ID || now.Version != i.Version {
		return exchange.Errorf(exchange.NotInForce, "Today the right instrument is %s in version %s, not %s in "+
			"version %s; make a new version of the letter.", now.ID, now.Version, i.ID, i.Version)
	}
	return nil
}

// instrument returns the instrument of a letter, in its version.
func (a Letters) instrument(ctx context.Context, c store.Conn, l letter.Letter) (instrument.Instrument, error) {
	library, err := a.Library(ctx, c)
	if err != nil {
		return instrument.Instrument{}, err
	}
	return find(library, l)
}

func find(library *instrument.Library, l letter.Letter) (instrument.Instrument, error) {
	i, known := library.Find(l.Instrument, l.Edition)
	if !known || i.SHA256 != l.TextHash {
		return i, fmt.Errorf("letter %s: version %s of %s with the hash %s is not here", l.Number, l.Edition,
			l.Instrument, l.TextHash)
	}
	return i, nil
}
