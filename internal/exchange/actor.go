package exchange

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Actor is whoever makes a call: nobody (anonymous), or a user with their organizations.
type Actor struct {
	ID            uuid.UUID // uuid.Nil: anonymous
	Admin         bool
	Organizations []int64    // organizations that the user is a member of
	Owns          []int64    // organizations that the user owns
	TokenID       int64      // ID of the token presented, so that logout can revoke it
	Scope         Scope      // of the token; "" for a login
	Lab           int64      // the only organization that the token reaches; 0: all that the user reaches
	Used          *time.Time // when the token was used, to the hour; nil: no token
}

// Bound returns a with the rights that its token leaves: with a token for one lab it is not an admin and sees no other
// lab.
func (a Actor) Bound() Actor {
	if a.Lab != 0 {
		others := func(id int64) bool { return id != a.Lab }
		a.Admin, a.Organizations, a.Owns = false, slices.DeleteFunc(a.Organizations, others),
			slices.DeleteFunc(a.Owns, others)
	}
	return a
}

// Viewer returns the user whose memberships decide which embargoed materials a list shows: nobody for a token of one
// lab, which sees what is public.
func (a Actor) Viewer() uuid.UUID {
	if a.Lab != 0 {
		return uuid.Nil
	}
	return a.ID
}

// Anonymous reports whether no token was presented.
func (a Actor) Anonymous() bool { return a.ID == uuid.Nil }

// MemberOf reports whether the actor is a member of an organization.
func (a Actor) MemberOf(organization int64) bool {
	return slices.Contains(a.Organizations, organization)
}

// Is reports whether the actor is that user, and not a program that has the user's rights in one lab only.
func (a Actor) Is(user uuid.UUID) bool { return !a.Anonymous() && a.ID == user && a.Lab == 0 }

// Relations returns the relations that hold for every object.
func (a Actor) Relations() Relation {
	r := Anyone
	if !a.Anonymous() {
		r |= SignedIn
	}
	if a.Admin {
		r |= AdminOf
	}
	if a.Scope == ScopeRead {
		r |= ReadOnly
	}
	if a.Lab != 0 {
		r |= OneLab
	}
	return r
}

// ToUser returns the relations of a to a user's record and to what belongs to that user alone.
func (a Actor) ToUser(user uuid.UUID) Relation {
	r := a.Relations()
	if a.Is(user) {
		r |= OwnerOf
	}
	return r
}

// ToOrganization returns the relations of a to an organization and to what it shares.
func (a Actor) ToOrganization(organization int64) Relation {
	r := a.Relations()
	if a.MemberOf(organization) {
		r |= MemberOf
	}
	if slices.Contains(a.Owns, organization) {
		r |= OwnerOf
	}
	return r
}
