package labs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Organization reads one organization.
func (a Labs) Organization(ctx context.Context, id int64) (core.OrganizationView, error) {
	c := a.DB.Read()
	o, err := c.Organizations.Get(ctx, id)
	if err != nil {
		return core.OrganizationView{}, err
	}
	return core.ShowOrganization(ctx, c, o)
}

// Organizations lists organizations.
func (a Labs) Organizations(ctx context.Context, p exchange.Page) (exchange.ListPage[core.OrganizationView], error) {
	c := a.DB.Read()
	part, err := c.Organizations.List(ctx, p)
	if err != nil {
		return exchange.ListPage[core.OrganizationView]{}, err
	}
	views, err := core.ShowOrganizations(ctx, c, part.Items)
	return exchange.ListPage[core.OrganizationView]{Items: views, Total: part.Total, Next: part.Next}, err
}

// Members lists the members of an organization, the last to join first.
func (a Labs) Members(ctx context.Context, id int64, p exchange.Page) (exchange.ListPage[person.User], error) {
	c := a.DB.Read()
	if _, err := c.Organizations.Get(ctx, id); err != nil {
		return exchange.ListPage[person.User]{}, err
	}
	return c.Organizations.ListMembers(ctx, id, p)
}

// MaterialsOf lists the materials of an organization that who may see.
func (a Labs) MaterialsOf(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (exchange.ListPage[material.Shown], error) {
	c := a.DB.Read()
	if _, err := c.Organizations.Get(ctx, id); err != nil {
		return exchange.ListPage[material.Shown]{}, err
	}
	part, err := c.Materials.List(ctx, p, material.Filter{Organization: &id}, who.Viewer())
	core.Reveal(who, part.Items)
	return part, err
}

// UpdateOrganization changes an organization and its members. The listings whose contact left, and the active requests
// assigned to them, go to the owner, so that none is forgotten. Under exchange.AccessMembers new members and a new
// owner are invited; but an admin may make a member the owner.
func (a Labs) UpdateOrganization(ctx context.Context, who exchange.Actor, id int64,
	p lab.OrganizationPatch, match core.IfMatch[core.OrganizationView]) (OrganizationChange, error) {
	var c OrganizationChange
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		c = OrganizationChange{}
		old, err := tx.Organizations.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		asAdmin, err := a.Can(who, exchange.OrganizationUpdate, who.ToOrganization(id))
		if err != nil {
			return err
		}
		if c.OrganizationView, err = core.ShowOrganization(ctx, tx, old); err != nil {
			return err
		}
		if err := match.Check(c.OrganizationView); err != nil {
			return err
		}
		was := c.MemberIDs()
		o, named, err := p.Patch(old, was)
		if err != nil {
			return err
		}
		slices.SortFunc(was, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
		if !slices.Equal(o.PublicKeys, old.PublicKeys) {
			if _, err := a.Can(who, exchange.OrganizationPublish, who.ToOrganization(id)); err != nil {
				return exchange.Errorf(exchange.FieldForbidden,
					"Only the owner of a lab can make custom fields public.").With("field", "public_metadata_keys")
			}
		}
		if o.SignsAhead != old.SignsAhead {
			if o, err = a.signAhead(tx, who, o); err != nil {
				return err
			}
		}
		if core.Same(o, old) && slices.Equal(named, was) {
			return nil
		}
		if _, err := people(ctx, tx, o.Owner, named); err != nil {
			return err
		}
		members, invited := a.asked(who, was, named)
		if next := o.Owner; a.Access == exchange.AccessMembers && next != old.Owner && !who.Is(next) &&
			!(asAdmin && slices.Contains(was, next)) {
			o.Owner = old.Owner
			invited = slices.DeleteFunc(invited, func(u uuid.UUID) bool { return u == next })
			if !slices.Contains(members, old.Owner) {
				members = append(members, old.Owner)
			}
			if c.Invitations, err = a.inviteUsers(ctx, tx, who, id, lab.OwnerRole, next); err != nil {
				return err
			}
		}
		more, err := a.inviteUsers(ctx, tx, who, id, lab.MemberRole, invited...)
		if err != nil {
			return err
		}
		c.Invitations = append(c.Invitations, more...)
		slices.SortFunc(members, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
		if core.Same(o, old) && slices.Equal(members, was) {
			return nil
		}
		if c.OrganizationView, err = a.changeOrganization(ctx, tx, who, old, o, was, members); err != nil {
			return err
		}
		return core.RecordOrganizationVersion(ctx, tx, who, exchange.OrganizationUpdate, asAdmin, c.OrganizationView)
	})
	return c, err
}

// signAhead checks that its owner changes until when they sign agreements of a lab in advance: not an admin for them,
// and not a program.
func (a Labs) signAhead(tx store.Conn, who exchange.Actor, o lab.Organization) (lab.Organization, error) {
	asAdmin, err := a.Can(who, exchange.OrganizationSign, who.ToOrganization(o.ID))
	if err != nil || asAdmin || !who.Is(o.Owner) {
		return o, exchange.Errorf(exchange.FieldForbidden, "Only the owner of a lab signs its agreements in advance.").
			With("field", "signs_ahead_until")
	}
	if who.Scope != "" {
		return o, exchange.Errorf(exchange.OutOfScope, "A program’s token cannot do this; sign in to do it (%s).",
			exchange.OrganizationSign)
	}
	return o.SignAhead(exchange.DayOf(tx.Now))
}

// changeOrganization saves an organization, whose row is locked, and its members.
func (a Labs) changeOrganization(ctx context.Context, tx store.Conn, who exchange.Actor, old, o lab.Organization,
	was, members []uuid.UUID) (v core.OrganizationView, err error) {
	if o.Owner != old.Owner {
		if err := errors.Join(tx.Actors.LockOwner(ctx, o.ID), tx.Invitations.WithdrawOwners(ctx, o.ID)); err != nil {
			return v, err
		}
	}
	if err := tx.Organizations.Update(ctx, o); err != nil {
		return v, err
	}
	if o.Name != old.Name || !slices.Equal(o.PublicKeys, old.PublicKeys) {
		if err := core.Renamed(ctx, tx, request.Renaming{Organization: o.ID}); err != nil {
			return v, err
		}
	}
	left, err := tx.Organizations.SetMembers(ctx, o.ID, members)
	if err != nil {
		return v, err
	}
	if !slices.Equal(members, was) {
		if err := tx.Invitations.Settle(ctx, o.ID); err != nil {
			return v, err
		}
	}
	for _, user := range left {
		if err := a.HandOver(ctx, tx, who, o, user, o.Owner); err != nil {
			return v, err
		}
	}
	o.UpdatedAt = tx.Now
	return core.ShowOrganization(ctx, tx, o)
}

// Settings reads one record of notification settings. Only its user may, and only while they are in the organization.
func (a Labs) Settings(ctx context.Context, who exchange.Actor, id int64) (lab.Membership, error) {
	m, err := a.DB.Read().Memberships.Get(ctx, id)
	if err != nil {
		return m, err
	}
	return m, a.MayRead(ctx, who, exchange.SettingsRead, toSettings(who, m), core.Object("settings", id))
}

// toSettings returns the relations of who to a record of settings. The record of someone who left belongs to nobody
// until they are back.
func toSettings(who exchange.Actor, m lab.Membership) exchange.Relation {
	rel := who.ToUser(m.UserID)
	if m.LeftAt != nil {
		rel &^= exchange.OwnerOf
	}
	return rel
}

// OwnSettings lists the caller's own records of notification settings.
func (a Labs) OwnSettings(ctx context.Context, who exchange.Actor,
	p exchange.Page) (exchange.ListPage[lab.Membership], error) {
	return a.DB.Read().Memberships.List(ctx, who.ID, p)
}

// OwnSwitches holds a user's notification switches in one organization.
type OwnSwitches struct {
	lab.Membership
	Organization string // its name
}

// OwnSwitches returns the caller's switches in all their organizations, sorted by the organization's name.
func (a Labs) OwnSwitches(ctx context.Context, who exchange.Actor) ([]OwnSwitches, error) {
	c := a.DB.Read()
	own, err := c.Memberships.List(ctx, who.ID, core.Everything)
	if err != nil {
		return nil, err
	}
	organizations, err := c.Organizations.OfUser(ctx, who.ID)
	if err != nil {
		return nil, err
	}
	names := map[int64]string{}
	for _, o := range organizations {
		names[o.ID] = o.Name
	}
	list := make([]OwnSwitches, len(own.Items))
	for i, m := range own.Items {
		list[i] = OwnSwitches{m, names[m.OrganizationID]}
	}
	slices.SortStableFunc(list, func(a, b OwnSwitches) int {
		return strings.Compare(exchange.SortKey(a.Organization), exchange.SortKey(b.Organization))
	})
	return list, nil
}

// UpdateSettings changes notification switches.
func (a Labs) UpdateSettings(ctx context.Context, who exchange.Actor, id int64,
	p lab.SwitchesPatch, match core.IfMatch[lab.Membership]) (lab.Membership, error) {
	var m lab.Membership
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		var err error
		if m, err = tx.Memberships.ForUpdate(ctx, id); err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.SettingsUpdate, toSettings(who, m),
			core.Object("settings", id)); err != nil {
			return err
		}
		if err := match.Check(m); err != nil {
			return err
		}
		switches := p.Patch(m.Switches)
		if switches == m.Switches {
			return nil
		}
		m.Switches, m.UpdatedAt = switches, tx.Now
		if err := tx.Memberships.UpdateSwitches(ctx, id, switches); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.SettingsUpdate, toSettings(who, m), core.Object("settings", id),
			switches)
	})
	return m, err
}
