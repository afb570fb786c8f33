package institutions

import (
	"context"
	"slices"
	"strings"

	"aliquot/internal/agreement/party"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/institution"

	"github.com/google/uuid"
)

// always returns the action that both adding and changing an entry are.
func always[T any](action exchange.Action) func(*T) exchange.Action {
	return func(*T) exchange.Action { return action }
}

// ofOfficer are the relations to an entry that officers keep.
func ofOfficer[T any](_ exchange.Actor, k caller, _ T) exchange.Relation { return k.officer() }

var labs = kind[party.Lab]{
	name: "lab", read: exchange.InstitutionRead,
	rows: func(c store.Conn) institution.Rows[party.Lab] { return c.Institutions.Labs },
	usual: func(_ exchange.Actor, id int64) party.Lab {
		return party.Lab{Institution: id}
	},
	action: func(old *party.Lab) exchange.Action {
		if old == nil {
			return exchange.InstitutionLabClaim
		}
		return exchange.InstitutionLabUpdate
	},
	relations: func(who exchange.Actor, k caller, l party.Lab) exchange.Relation {
		return k.officer() | who.ToOrganization(l.Organization)
	},
	refer: func(ctx context.Context, tx store.Conn, l party.Lab) error {
		_, err := tx.Organizations.Get(ctx, l.Organization)
		return core.Refer(err, "organization", l.Organization)
	},
	settle: func(_ context.Context, c *core.Core, _ store.Conn, who exchange.Actor, k caller,
		old, l *party.Lab) error {
		if old == nil {
			old = &party.Lab{Organization: l.Organization}
		}
		if l.Organization != old.Organization {
			return core.FieldError("organization", "stays as it is; set until, and add the other lab")
		}
		if err := confirms(c, k.officer(), who, old.Confirmed, l.Confirmed); err != nil {
			return err
		}
		if old.Confirmed {
			return ends(c, who, k, old.Period, l.Period)
		}
		if l.Confirmed {
			l.ConfirmedBy = who.ID
		}
		return nil
	},
}

var affiliations = kind[party.Affiliation]{
	name: "affiliation", read: exchange.AffiliationRead,
	rows: func(c store.Conn) institution.Rows[party.Affiliation] { return c.Institutions.Affiliations },
	usual: func(who exchange.Actor, id int64) party.Affiliation {
		return party.Affiliation{Institution: id, Person: who.ID, Source: party.Self}
	},
	action: always[party.Affiliation](exchange.AffiliationWrite),
	relations: func(who exchange.Actor, k caller, a party.Affiliation) exchange.Relation {
		return k.officer() | who.ToUser(a.Person)
	},
	refer: func(ctx context.Context, tx store.Conn, a party.Affiliation) error {
		return present(ctx, tx, "person", a.Person)
	},
	settle: func(ctx context.Context, c *core.Core, tx store.Conn, who exchange.Actor, k caller,
		old, a *party.Affiliation) error {
		if old != nil && a.Person != old.Person {
			return core.FieldError("person", "stays as it is; set expires, and add the other person")
		}
		was := old != nil && old.Confirmed
		if err := confirms(c, k.officer(), who, was, a.Confirmed); err != nil {
			return err
		}
		if a.Confirmed && !was {
			*a = a.By(party.Officer)
		}
		if was {
			return ends(c, who, k, old.Period, a.Period)
		}
		if old != nil {
			return nil
		}
		u, err := tx.Users.Get(ctx, a.Person)
		if err != nil {
			return err
		}
		if !a.Confirmed && a.Person == who.ID && k.institution.Confirmed &&
			domainOf(u.VerifiedEmail, k.institution.MailDomains) {
			*a = a.By(party.MailDomain)
		}
		return claimedOnce(ctx, tx, k.institution.ID, *a)
	},
}

// ends checks a change of a period that was confirmed: others than officers only end it earlier.
func ends(c *core.Core, who exchange.Actor, k caller, old, p party.Period) error {
	if p == old || p.From == old.From && p.Until != "" && (old.Until == "" || p.Until < old.Until) {
		return nil
	}
	if _, err := c.Can(who, exchange.InstitutionConfirm, k.officer()); err != nil {
		return exchange.Errorf(exchange.FieldForbidden, "It is confirmed: only an officer of the institution or an "+
			"admin extends it or moves its first day.").With("field", "from")
	}
	return nil
}

// domainOf reports whether an address is under one of the domains, or under a domain below it.
func domainOf(address string, domains []string) bool {
	_, domain, found := strings.Cut(strings.ToLower(address), "@")
	return found && slices.ContainsFunc(domains, func(d string) bool {
		return domain == d || strings.HasSuffix(domain, "."+d)
	})
}

// claimedOnce refuses a second affiliation of a person with an institution that holds on the same days.
func claimedOnce(ctx context.Context, tx store.Conn, id int64, a party.Affiliation) error {
	all, err := tx.Institutions.OfPerson(ctx, a.Person)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.Institution == id && (other.Confirmed || !a.Confirmed) &&
			(other.Until == "" || a.From < other.Until) && (a.Until == "" || other.From < a.Until) {
			return exchange.Errorf(exchange.Conflict, "This is known already: affiliation %d.", other.ID)
		}
	}
	return nil
}

var positions = kind[party.Position]{
	name: "position", read: exchange.AuthorityRead,
	rows:   func(c store.Conn) institution.Rows[party.Position] { return c.Institutions.Positions },
	usual:  func(_ exchange.Actor, id int64) party.Position { return party.Position{Institution: id} },
	action: always[party.Position](exchange.AuthorityWrite), relations: ofOfficer[party.Position],
	settle: func(ctx context.Context, _ *core.Core, tx store.Conn, _ exchange.Actor, k caller, old,
		p *party.Position) error {
		if old == nil || p.Period == old.Period {
			return nil
		}
		authorities, err := tx.Institutions.Authorities.Of(ctx, p.Institution)
		if err != nil {
			return err
		}
		for _, a := range authorities { // whoever ends a position ends its authorities
			if a.Position == p.ID {
				if err := reaches(k, a); err != nil {
					return err
				}
			}
		}
		return nil
	},
}

var authorities = kind[party.Authority]{
	name: "authority", read: exchange.AuthorityRead,
	rows: func(c store.Conn) institution.Rows[party.Authority] { return c.Institutions.Authorities },
	usual: func(_ exchange.Actor, id int64) party.Authority {
		return party.Authority{Institution: id, LargestBSL: 1}
	},
	action: always[party.Authority](exchange.AuthorityWrite), relations: ofOfficer[party.Authority],
	settle: func(ctx context.Context, _ *core.Core, tx store.Conn, _ exchange.Actor, k caller,
		old, a *party.Authority) error {
		if _, err := tx.Institutions.Positions.Get(ctx, a.Institution, a.Position); err != nil {
			return core.Refer(err, "position", a.Position)
		}
		if a.Supersedes != nil {
			if *a.Supersedes == a.ID {
				return core.FieldError("supersedes", "an authority cannot replace itself")
			}
			replaced, err := tx.Institutions.Authorities.Get(ctx, a.Institution, *a.Supersedes)
			if err != nil {
				return core.Refer(err, "supersedes", *a.Supersedes)
			}
			if err := reaches(k, replaced); err != nil {
				return err
			}
		}
		if err := present(ctx, tx, "holder", a.Holder.User); err != nil {
			return err
		}
		if old != nil {
			if err := reaches(k, *old); err != nil {
				return err
			}
		}
		return grants(k, *a)
	},
}

// present checks that a user exists and has not closed their account; uuid.Nil is nobody.
func present(ctx context.Context, tx store.Conn, field string, user uuid.UUID) error {
	if user == uuid.Nil {
		return nil
	}
	u, err := tx.Users.Get(ctx, user)
	if err == nil {
		err = u.Present()
	}
	if err != nil {
		return core.Refer(err, field, user)
	}
	return nil
}

// reaches checks that the caller, unless an admin, holds an authority that includes another: they may end it.
func reaches(k caller, a party.Authority) error {
	return beyond(k, func(own party.Authority) bool { return own.Includes(a) })
}

// grants checks that the caller, unless an admin, holds an authority by which they may grant another.
func grants(k caller, a party.Authority) error {
	return beyond(k, func(own party.Authority) bool { return own.MayGrant(a) })
}

func beyond(k caller, enough func(own party.Authority) bool) error {
	if k.relations&exchange.AdminOf != 0 || slices.ContainsFunc(k.held, enough) {
		return nil
	}
	e := exchange.Errorf(exchange.NoAuthority, "This goes beyond what you may sign for the institution yourself. Ask "+
		"an officer with a wider authority, or an admin.")
	e.Action = exchange.AuthorityWrite
	return e
}

var standIns = kind[party.StandIn]{
	name: "stand-in", read: exchange.AuthorityRead,
	rows:   func(c store.Conn) institution.Rows[party.StandIn] { return c.Institutions.StandIns },
	usual:  func(_ exchange.Actor, id int64) party.StandIn { return party.StandIn{Institution: id} },
	action: always[party.StandIn](exchange.AuthorityWrite), relations: ofOfficer[party.StandIn],
	settle: func(ctx context.Context, _ *core.Core, tx store.Conn, _ exchange.Actor, k caller,
		old, s *party.StandIn) error {
		of := []int64{s.Authority}
		if old != nil && old.Authority != s.Authority {
			of = append(of, old.Authority)
		}
		for _, id := range of {
			a, err := tx.Institutions.Authorities.Get(ctx, s.Institution, id)
			if err != nil {
				return core.Refer(err, "authority", id)
			}
			if err := reaches(k, a); err != nil {
				return err
			}
		}
		return present(ctx, tx, "person", s.Person.User)
	},
}

var masters = kind[party.Master]{
	name: "master agreement", read: exchange.InstitutionRead,
	rows: func(c store.Conn) institution.Rows[party.Master] { return c.Institutions.Masters },
	usual: func(_ exchange.Actor, id int64) party.Master {
		return party.Master{Institution: id, Standing: party.Signed}
	},
	action: always[party.Master](exchange.MasterWrite), relations: ofOfficer[party.Master],
	settle: func(ctx context.Context, _ *core.Core, tx store.Conn, _ exchange.Actor, _ caller,
		_, m *party.Master) error {
		if m.Counterparty == nil {
			return nil
		}
		_, err := tx.Institutions.Get(ctx, *m.Counterparty)
		return core.Refer(err, "counterparty", *m.Counterparty)
	},
}
