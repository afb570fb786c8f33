// Package institutions holds the use cases of institutions: who they are, who is at them, and who may sign for them.
package institutions

import (
	"context"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// Institutions are the use cases of institutions, and of what is registered of them.
type Institutions struct {
	*core.Core
	Labs         Entries[party.Lab]
	Affiliations Entries[party.Affiliation]
	Positions    Entries[party.Position]
	Authorities  Entries[party.Authority]
	StandIns     Entries[party.StandIn]
	Masters      Entries[party.Master]
	Approvals    Entries[approval.Approval]
}

// New returns the use cases of c.
func New(c *core.Core) Institutions {
	return Institutions{Core: c, Labs: Entries[party.Lab]{c, labs},
		Affiliations: Entries[party.Affiliation]{c, affiliations},
		Positions:    Entries[party.Position]{c, positions}, Authorities: Entries[party.Authority]{c, authorities},
		StandIns: Entries[party.StandIn]{c, standIns}, Masters: Entries[party.Master]{c, masters},
		Approvals: Entries[approval.Approval]{c, approvals}}
}

// caller is how somebody is related to an institution.
type caller struct {
	institution party.Institution
	held        []party.Authority // by the caller, today
	relations   exchange.Relation
}

// callerOf reads how somebody is related to an institution.
func callerOf(ctx context.Context, c store.Conn, who exchange.Actor, i party.Institution) (k caller, err error) {
	k.institution = i
	if who.Is(who.ID) {
		register, err := c.Institutions.RegisterOf(ctx, i.ID, who.ID)
		if err != nil {
			return k, err
		}
		k.held = register.Held(who.ID, exchange.DayOf(c.Now))
	}
	k.relations = who.ToInstitution(len(k.held) > 0)
	if !i.Confirmed && who.Is(i.MadeBy) {
		k.relations |= exchange.OwnerOf
	}
	return k, nil
}

// officer returns the relations without that of who made the institution, which gives no right to its register.
func (k caller) officer() exchange.Relation { return k.relations &^ exchange.OwnerOf }

// object names an institution in audit events.
func object(id int64) string { return core.Object("institution", id) }

// List lists institutions; name "" is every one, otherwise those whose legal name contains it.
func (a Institutions) List(ctx context.Context, name string,
	p exchange.Page) (exchange.ListPage[party.Institution], error) {
	return a.DB.Read().Institutions.List(ctx, name, p)
}

// Get reads one institution.
func (a Institutions) Get(ctx context.Context, id int64) (party.Institution, error) {
	return a.DB.Read().Institutions.Get(ctx, id)
}

// maxUnconfirmed is how many institutions that nobody has confirmed a person may have made.
const maxUnconfirmed = 20

// Create makes an institution. Only an admin makes one that is confirmed.
func (a Institutions) Create(ctx context.Context, who exchange.Actor,
	p party.Patch[party.Institution]) (i party.Institution, err error) {
	if i, err = p.Patch(party.NewInstitution(who.ID)); err != nil {
		return i, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.InstitutionCreate, who.ToUser(who.ID), "institution"); err != nil {
			return err
		}
		if _, err := tx.Users.ForUpdate(ctx, who.ID); err != nil { // so that the number holds
			return err
		}
		if i.Confirmed {
			if err := a.May(ctx, tx, who, exchange.InstitutionConfirm, who.Relations(), "institution"); err != nil {
				return fieldForbidden("confirmed")
			}
		} else if n, err := tx.Institutions.UnconfirmedBy(ctx, who.ID); err != nil {
			return err
		} else if n >= maxUnconfirmed && !who.Admin {
			return exchange.Errorf(exchange.Conflict, "You made %d institutions that nobody has confirmed; wait until "+
				"some are.", n)
		}
		if err := alone(ctx, tx, i); err != nil {
			return err
		}
		i.CreatedAt, i.UpdatedAt = tx.Now, tx.Now
		if i.ID, err = tx.Institutions.Insert(ctx, i); err != nil {
			return err
		}
		return tx.Audit.Insert(ctx, &who.ID, exchange.InstitutionCreate, object(i.ID), false, nil)
	})
	return i, err
}

// alone checks that no other institution has the ROR ID.
func alone(ctx context.Context, tx store.Conn, i party.Institution) error {
	if i.ROR == "" {
		return nil
	}
	known, err := tx.Institutions.Known(ctx, i.ROR, "", "")
	for _, other := range known {
		if other.ROR == i.ROR && other.ID != i.ID {
			return core.FieldError("ror", "institution %d, %s, has it", other.ID, other.LegalName)
		}
	}
	return err
}

func fieldForbidden(field string) error {
	return exchange.Errorf(exchange.FieldForbidden, "Only an officer of the institution or an admin may set %s.",
		field).With("field", field)
}

// Update changes an institution: its officers may, and who made it until it is confirmed.
func (a Institutions) Update(ctx context.Context, who exchange.Actor, id int64, p party.Patch[party.Institution],
	match core.IfMatch[party.Institution]) (i party.Institution, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		old, err := tx.Institutions.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		k, err := callerOf(ctx, tx, who, old)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.InstitutionUpdate, k.relations, object(id)); err != nil {
			return err
		}
		if err := match.Check(old); err != nil {
			return err
		}
		if i, err = p.Patch(old); err != nil || core.Same(i, old) {
			return err
		}
		if err := confirms(a.Core, k.officer(), who, old.Confirmed, i.Confirmed); err != nil {
			return err
		}
		if err := alone(ctx, tx, i); err != nil {
			return err
		}
		i.UpdatedAt = tx.Now
		if err := tx.Institutions.Update(ctx, i); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.InstitutionUpdate, k.relations, object(id), nil)
	})
	return i, err
}

// confirms checks a change of a field confirmed: officers and admins set it, nobody withdraws it.
func confirms(c *core.Core, rel exchange.Relation, who exchange.Actor, old, confirmed bool) error {
	switch {
	case old == confirmed:
		return nil
	case old:
		return core.FieldError("confirmed", "cannot be taken back; set the day on which it ends instead")
	}
	if _, err := c.Can(who, exchange.InstitutionConfirm, rel); err != nil {
		return fieldForbidden("confirmed")
	}
	return nil
}
