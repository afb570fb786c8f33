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

// relations returns the relations that hold for every object.
func (a Actor) relations() Relation {
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
	r := a.relations()
	if a.Is(user) {
		r |= OwnerOf
	}
	return r
}

// ToOrganization returns the relations of a to an organization and to what it shares.
func (a Actor) ToOrganization(organization int64) Relation {
	r := a.relations()
	if a.MemberOf(organization) {
		r |= MemberOf
	}
	if slices.Contains(a.Owns, organization) {
		r |= OwnerOf
	}
	return r
}

// ToAttachment returns the relations of a to an attachment. linked means that a is a party of a request that the
// attachment is or was linked to; public means that a listed material shows it. An attachment filed for a lab belongs
// to nobody else: members who leave the lab lose access.
func (a Actor) ToAttachment(t Attachment, linked, public bool) Relation {
	r := a.relations()
	if t.OwnedByUser != nil && a.Is(*t.OwnedByUser) && !t.OfLab {
		r |= OwnerOf
	}
	if t.OwnedByOrg != nil && a.MemberOf(*t.OwnedByOrg) {
		r |= MemberOf
	}
	if linked && a.Lab == 0 { // the link may come from a request of the user's own
		r |= PartyOf
	}
	if public {
		r |= ReaderOf
	}
	return r
}

// ToRequest returns the relations of a to a request; organization is the owner of the requested material.
func (a Actor) ToRequest(r Request, organization int64) Relation {
	rel := a.ToOrganization(organization) &^ OwnerOf
	if a.Is(r.Requester) {
		rel |= RequesterOf
	}
	return rel
}
