package letters

import (
	"context"
	"slices"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Page is a letter as its page shows it, with what the caller can do with it now.
type Page struct {
	View
	Requests []request.Detail
	Lab      lab.Organization
	People   map[uuid.UUID]person.User
	Versions exchange.ListPage[letter.Version] // the newest
	Records  map[string]string                 // the fields as the records say, whatever people filled in
	Choices  []Choice                          // the other families
	Roles    []RoleOffer                       // in which the caller has the right to sign
	NotNow   error                             // why the letter can be neither sent nor signed today
	NotYet   error                             // why the last signature would not execute it today
	// by unsigned roles of officials: who may sign by a link, and the newest link to the newest version
	Externals map[string][]party.Person
	Links     map[string]signing.Link
	Duties    AgreementDuties
	mayWrite  bool
	mayOpen   bool
}

// Choice is a family that people may choose for a letter. Of several obstacles it has those of one material.
type Choice struct {
	Family, Title string
	WhyNot        []instrument.Reason // empty: it is valid
}

// RoleOffer is a role in which a letter is not signed yet, and the caller may sign it.
type RoleOffer struct {
	Role   string
	Signer party.Signer
	Level  party.Level // the lowest that counts
}

// TooLow reports whether the signature of somebody who is signed in does not reach the level.
func (o RoleOffer) TooLow() bool { return !party.SignedIn.Reaches(o.Level) }

// OutOfReach reports whether not even the signature of a passkey reaches the level.
func (o RoleOffer) OutOfReach() bool { return !party.Passkey.Reaches(o.Level) }

// maxVersionsShown is how many versions the page of a letter has.
const maxVersionsShown = 50

// Page reads a letter for its page, with a fixed number of statements.
func (a Letters) Page(ctx context.Context, who exchange.Actor, id int64) (p Page, err error) {
	c := a.DB.Read()
	l, err := c.Agreements.Get(ctx, id)
	if err != nil {
		return p, err
	}
	offices, err := officesOf(ctx, c, who)
	if err != nil {
		return p, err
	}
	rel := relationsOf(who, offices, l)
	if err := core.Unseen(a.MayRead(ctx, who, exchange.AgreementRead, rel, object(id))); err != nil {
		return p, err
	}
	p.mayWrite, _ = a.Policy().Can(exchange.AgreementWrite, rel)
	p.mayOpen, _ = a.Policy().Can(exchange.RequestRead, rel&^exchange.OfficerOf)
	if p.Requests, err = c.Requests.ByIDs(ctx, l.Letter.RequestIDs()); err != nil {
		return p, err
	}
	if p.Lab, err = c.Organizations.Get(ctx, l.Organization); err != nil {
		return p, err
	}
	if p.Versions, err = c.Agreements.Versions(ctx, id, exchange.Page{Limit: maxVersionsShown}); err != nil {
		return p, err
	}
	if l.State.Open() && len(p.Requests) > 0 {
		err = a.readOpen(ctx, c, &p, l, who)
	} else {
		p.View, err = a.view(ctx, c, l)
	}
	if err == nil {
		err = p.readPrecedent(ctx, c, who, rel)
	}
	if err == nil && l.State == letter.Executed {
		p.Duties, err = a.duties(ctx, c, who, offices, l)
	}
	if err != nil {
		return p, err
	}
	return p, p.readPeople(ctx, c)
}

// readOpen reads what the page of an open letter has: what it is made of today, and what can be done with it.
func (a Letters) readOpen(ctx context.Context, c store.Conn, p *Page, l letter.Agreement, who exchange.Actor) error {
	s, err := a.signable(ctx, c, &l, p.Requests)
	if err != nil {
		return err
	}
	m := s.drafting
	if p.View, err = s.view(ctx, c); err != nil {
		return err
	}
	today := exchange.DayOf(c.Now)
	if p.Records, err = m.fields(p.Instrument, nil, today); err != nil {
		return err
	}
	if p.Choices, err = m.choices(l.Purpose, p.Instrument.Family, today); err != nil {
		return err
	}
	if p.NotNow = m.still(l, p.Instrument, today); !isRefusal(p.NotNow) {
		return p.NotNow
	}
	p.NotYet, p.Roles = s.binds, s.roles(who, today)
	if l.State != letter.Sent {
		return nil
	}
	return a.readExternals(ctx, c, p, s, today)
}

// maxLinksShown is how many links of a letter its page looks at.
const maxLinksShown = 20

// readExternals reads who may sign by a link, and the links that were mailed.
func (a Letters) readExternals(ctx context.Context, c store.Conn, p *Page, s signable, today exchange.Date) error {
	links, err := c.Links.List(ctx, p.ID, exchange.Page{Limit: maxLinksShown})
	if err != nil {
		return err
	}
	p.Externals, p.Links = map[string][]party.Person{}, map[string]signing.Link{}
	for _, role := range s.checks.Unsigned() {
		for _, l := range links.Items { // the newest first
			if _, seen := p.Links[role]; !seen && l.Role == role && l.Document == s.checks.Document {
				p.Links[role] = l
			}
		}
		if a.Mail != nil && p.mayWrite {
			p.Externals[role], _ = externals(s.checks.Officials(role, today))
		}
	}
	return nil
}

// isRefusal reports whether there is no error, or one that people can do something about.
func isRefusal(err error) bool { return err == nil || exchange.CodeOf(err) != exchange.Internal }

// roles returns the roles in which who may sign.
func (s *signable) roles(who exchange.Actor, today exchange.Date) (list []RoleOffer) {
	if s.letter.State != letter.Sent || !who.Is(who.ID) || who.Scope != "" {
		return nil
	}
	for _, role := range s.checks.Unsigned() {
		signer, err := s.checks.Check(s.checks.Document, role, party.Person{User: who.ID}, party.Qualified, today)
		if err == nil {
			list = append(list, RoleOffer{role, signer, s.checks.LeastLevel(role)})
		}
	}
	return list
}

// MayOpen reports whether the caller may read the requests of the letter.
func (p Page) MayOpen() bool { return p.mayOpen }

// Can reports whether the caller can do an act with the letter now.
func (p Page) Can(act letter.Act) bool {
	if act == letter.Sending && (p.NotNow != nil || len(p.Missing()) > 0) {
		return false
	}
	return p.mayWrite && p.State.Allows(act)
}

// CanSign reports whether a signature of the caller counts in a role: it is offered to them at a level that they reach
// here, the letter is still the right one, and, if it is the last one, executes it.
func (p Page) CanSign(role string) bool {
	last := len(p.Unsigned()) == 1
	return p.NotNow == nil && (!last || p.NotYet == nil) && slices.ContainsFunc(p.Roles, func(o RoleOffer) bool {
		return o.Role == role && !o.OutOfReach()
	})
}

// Signs returns who signs in a role of a scientist; false for the role of an official.
func (p Page) Signs(role string) (person.User, bool) {
	switch role {
	case party.ProviderScientist:
		return p.People[p.Scientist], true
	case party.RecipientScientist:
		return p.People[p.Requester], true
	}
	return person.User{}, false
}

// readPeople reads everybody who is named on the page.
func (p *Page) readPeople(ctx context.Context, c store.Conn) (err error) {
	ids := []uuid.UUID{p.Requester, p.Scientist, p.MadeBy}
	for _, v := range p.Versions.Items {
		if v.MadeBy != uuid.Nil {
			ids = append(ids, v.MadeBy)
		}
	}
	for _, d := range p.Duties.Duties {
		ids = append(ids, d.SettledBy)
	}
	p.People, err = usersOf(ctx, c, ids)
	return err
}

// view is Letters.view from what was read already.
func (s *signable) view(ctx context.Context, c store.Conn) (v View, err error) {
	v = View{Agreement: *s.letter, Instrument: s.instrument, Provider: s.provider, Recipient: s.recipient,
		Signatures: s.signatures, Conflicts: s.conflicts()}
	for _, one := range s.materials {
		v.categories = append(v.categories, one.Category)
	}
	if v.Findings, err = v.lint(ctx, c, s.requests); err == nil && v.State != letter.Declined {
		v.Coverage, err = s.coverage(ctx, c)
	}
	return v, err
}

// choices returns the families other than one that can be chosen for all materials, or why not.
func (m drafting) choices(purpose, other string, day exchange.Date) (list []Choice, err error) {
	for _, family := range m.library.Families() {
		if family != other {
			list = append(list, Choice{Family: family})
		}
	}
	for _, one := range m.materials {
		r, err := m.library.Resolve(m.transfer(one, purpose, ""), day)
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].note(r, m.library)
		}
	}
	return list, nil
}

// note adds what the resolution for a material says about the family.
func (c *Choice) note(r instrument.Resolution, l *instrument.Library) {
	if r.Instrument != nil && r.Instrument.Family == c.Family {
		c.Title = r.Instrument.Title
		return
	}
	var why []instrument.Reason
	for _, other := range r.Alternatives {
		if !l.IsOfFamily(other.Instrument, c.Family) {
			continue
		}
		c.Title, why = other.Title, other.WhyNot
		if len(why) == 1 && why[0].Remedy == instrument.Choose {
			return
		}
	}
	if len(c.WhyNot) == 0 {
		c.WhyNot = why
	}
}
