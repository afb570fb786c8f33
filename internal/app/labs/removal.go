package labs

import (
	"context"
	"slices"

	"aliquot/internal/app/core"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Removal is what passes to another member when someone is removed from a lab or leaves it.
type Removal struct {
	Member   person.User
	Owner    person.User // of the lab
	Listings int64       // whose contact they are
	Requests int         // active ones that are assigned to them
}

// Removal returns what would pass to another member if who removed a member (OrganizationUpdate), or left
// (OrganizationLeave).
func (a Labs) Removal(ctx context.Context, who exchange.Actor, action exchange.Action, id int64,
	member uuid.UUID) (r Removal, err error) {
	if err := a.MayRead(ctx, who, action, who.ToOrganization(id), core.Object("organization", id)); err != nil {
		return r, err
	}
	c := a.DB.Read()
	o, err := c.Organizations.Get(ctx, id)
	if err != nil {
		return r, err
	}
	switch is, err := c.Organizations.IsMember(ctx, id, member); {
	case err != nil:
		return r, err
	case !is:
		return r, exchange.Errorf(exchange.NotFound, "There is no such member.")
	case member == o.Owner:
		return r, ownerStays()
	}
	if r.Member, err = c.Users.Get(ctx, member); err != nil {
		return r, err
	}
	if r.Owner, err = c.Users.Get(ctx, o.Owner); err != nil {
		return r, err
	}
	if r.Listings, err = c.Materials.CountOfContact(ctx, id, member); err != nil {
		return r, err
	}
	requests, err := c.Requests.AssignedTo(ctx, id, member)
	r.Requests = len(requests)
	return r, err
}

// ownerStays returns the error for removing the owner of a lab.
func ownerStays() error {
	return exchange.Errorf(exchange.Conflict, "The owner of a lab cannot leave it. Transfer ownership first.")
}

// RemoveMember removes a member from a lab. Their listings and the active requests assigned to them pass to another
// member; uuid.Nil is the owner.
func (a Labs) RemoveMember(ctx context.Context, who exchange.Actor, id int64, member, to uuid.UUID) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		o, err := tx.Organizations.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		asAdmin, err := a.Can(who, exchange.OrganizationUpdate, who.ToOrganization(id))
		if err != nil {
			return err
		}
		return a.DropMember(ctx, tx, who, exchange.OrganizationUpdate, asAdmin, o, member, to)
	})
}

// DropMember is RemoveMember for an organization whose row is locked, recorded as an action.
func (a Labs) DropMember(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action, asAdmin bool,
	o lab.Organization, member, to uuid.UUID) error {
	v, err := core.ShowOrganization(ctx, tx, o)
	if err != nil {
		return err
	}
	if to == uuid.Nil {
		to = o.Owner
	}
	members := v.MemberIDs()
	rest := slices.DeleteFunc(slices.Clone(members), func(m uuid.UUID) bool { return m == member })
	switch {
	case len(rest) == len(members):
		return nil // they left already
	case member == o.Owner:
		return ownerStays()
	case !slices.Contains(rest, to):
		return core.FieldError("to", "choose a member who stays")
	}
	if _, err := tx.Organizations.SetMembers(ctx, o.ID, rest); err != nil {
		return err
	}
	if err := tx.Invitations.Settle(ctx, o.ID); err != nil {
		return err
	}
	if err := a.HandOver(ctx, tx, who, o, member, to); err != nil {
		return err
	}
	o.UpdatedAt = tx.Now
	if v, err = core.ShowOrganization(ctx, tx, o); err != nil {
		return err
	}
	return core.RecordOrganizationVersion(ctx, tx, who, action, asAdmin, v)
}

// HandOver passes the listings and the active requests of someone who left an organization to one of its members. If an
// anonymous caller of an open installation did it, the owner counts as the actor of these events.
func (a Labs) HandOver(ctx context.Context, tx store.Conn, who exchange.Actor, o lab.Organization,
	left, to uuid.UUID) error {
	requests, err := tx.Requests.AssignedTo(ctx, o.ID, left)
	if err != nil {
		return err
	}
	by := who.ID
	if who.Anonymous() {
		by = o.Owner
	}
	for _, id := range requests {
		q, err := tx.Requests.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		roles := request.Roles{Member: true}
		after, events, err := q.Apply(roles, by, transfer.HandTo(to), nil, q.Terms, tx.Now)
		if err != nil {
			return err
		}
		if err := transfer.New(a.Core).CommitRequest(ctx, tx, &q, after, roles, events); err != nil {
			return err
		}
	}
	return handOverListings(ctx, tx, who, o.ID, left, to)
}

// handedAtOnce is how many listings handOverListings reads at once.
const handedAtOnce = 500

// handOverListings makes a user the contact of the listings of another one.
func handOverListings(ctx context.Context, tx store.Conn, who exchange.Actor, organization int64,
	left, to uuid.UUID) error {
	byAdmin := who.Admin && !who.MemberOf(organization) && !who.Is(left)
	for {
		old, err := tx.Materials.OfContact(ctx, organization, left, handedAtOnce)
		if err != nil || len(old) == 0 {
			return err
		}
		list, asAdmin := slices.Clone(old), map[int64]bool{}
		for i := range list {
			list[i].ContactID, asAdmin[list[i].ID] = to, byAdmin
		}
		if err := core.SaveMaterials(ctx, tx, old, list); err != nil {
			return err
		}
		if err := core.RecordMaterialVersions(ctx, tx, who, asAdmin); err != nil {
			return err
		}
	}
}
