package labs

import (
	"context"
	"slices"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// OrganizationChange is an organization after a call, with the pending invitations to the people whom the call named.
type OrganizationChange struct {
	core.OrganizationView
	Invitations []lab.ShownInvitation
}

// CreateOrganization creates an organization. Under exchange.AccessMembers its owner is the caller, or anybody whom an
// admin names; the other people in it are invited.
func (a Labs) CreateOrganization(ctx context.Context, who exchange.Actor,
	p lab.OrganizationPatch) (OrganizationChange, error) {
	founder := uuid.Nil
	if a.Access == exchange.AccessMembers {
		founder = who.ID
	}
	o, members, err := p.Create(founder)
	if err != nil {
		return OrganizationChange{}, err
	}
	var c OrganizationChange
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		c = OrganizationChange{}
		asAdmin, err := a.Can(who, exchange.OrganizationCreate, who.ToOrganization(0))
		if err != nil {
			return err
		}
		owner, err := people(ctx, tx, o.Owner, members)
		if err != nil {
			return err
		}
		if a.Access == exchange.AccessMembers && o.Owner != who.ID {
			if !who.Admin {
				return exchange.Errorf(exchange.FieldForbidden,
					"You will own the organization you create: leave owner out, and invite its later owner "+
						"afterwards.").With("field", "owner")
			}
			asAdmin = true
		}
		if o.Name == "" {
			o.Name = LabName(owner)
		}
		present, invited := a.asked(who, []uuid.UUID{o.Owner}, members)
		made, err := MakeOrganization(ctx, tx, o, present)
		if err != nil {
			return err
		}
		if c.OrganizationView, err = core.ShowOrganization(ctx, tx, made); err != nil {
			return err
		}
		if err := core.RecordOrganizationVersion(ctx, tx, who, exchange.OrganizationCreate, asAdmin,
			c.OrganizationView); err != nil {
			return err
		}
		c.Invitations, err = a.inviteUsers(ctx, tx, who, made.ID, lab.MemberRole, invited...)
		return err
	})
	return c, err
}

// asked splits the people named in a list of members into those who are members at once and those who are invited:
// under exchange.AccessMembers nobody joins without their consent.
func (a Labs) asked(who exchange.Actor, was, named []uuid.UUID) (present, invited []uuid.UUID) {
	for _, id := range named {
		if a.Access == exchange.AccessMembers && !slices.Contains(was, id) && !who.Is(id) {
			invited = append(invited, id)
		} else {
			present = append(present, id)
		}
	}
	return present, invited
}

// MakeOrganization saves a new organization.
func MakeOrganization(ctx context.Context, tx store.Conn, o lab.Organization,
	members []uuid.UUID) (lab.Organization, error) {
	id, err := tx.Organizations.Insert(ctx, o)
	if err != nil {
		return o, err
	}
	o.ID, o.CreatedAt, o.UpdatedAt = id, tx.Now, tx.Now
	_, err = tx.Organizations.SetMembers(ctx, id, members)
	return o, err
}

// people checks that an owner and members exist and returns the owner; a wrong id is an error on the field that named
// it.
func people(ctx context.Context, tx store.Conn, owner uuid.UUID, members []uuid.UUID) (person.User, error) {
	users, err := tx.Users.ByIDs(ctx, members)
	if err != nil {
		return person.User{}, err
	}
	known := map[uuid.UUID]person.User{}
	for _, u := range users {
		if !u.Closed {
			known[u.ID] = u
		}
	}
	var f exchange.FieldErrors
	for _, id := range members {
		if _, ok := known[id]; ok {
			continue
		}
		if id == owner {
			f.Add("owner", "there is no user with the id %s", id)
		} else {
			f.Add("members", "there is no user with the id %s", id)
		}
	}
	return known[owner], f.Err()
}

// LabName returns the name that a new user's lab gets.
func LabName(owner person.User) string { return owner.Name() + " lab" }
