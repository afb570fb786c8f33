package exchange

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Actor is who makes a call: nobody, or a user with the organizations they are in.
type Actor struct {
	ID            uuid.UUID // uuid.Nil: anonymous
	Admin         bool
	Organizations []int64    // those the user is a member of
	Owns          []int64    // those the user owns
	TokenID       int64      // the token presented, so that logout can revoke it
	Scope         Scope      // of that token; "": it is a login
	Lab           int64      // the only one that the token reaches; 0: whatever the user may
	Used          *time.Time // when the token was used, to the hour; nil: there is none
}

// Bound is a with what its token leaves of the user's rights: one of a lab is no admin's, and knows no other lab.
func (a Actor) Bound() Actor {
	if a.Lab != 0 {
		others := func(id int64) bool { return id != a.Lab }
		a.Admin, a.Organizations, a.Owns = false, slices.DeleteFunc(a.Organizations, others),
			slices.DeleteFunc(a.Owns, others)
	}
	return a
}

// Viewer is whose memberships show embargoed things in lists: nobody's for a token of one lab, which shows what is
// public.
func (a Actor) Viewer() uuid.UUID {
	if a.Lab != 0 {
		return uuid.Nil
	}
	return a.ID
}

// Anonymous says that no token was presented.
func (a Actor) Anonymous() bool { return a.ID == uuid.Nil }

// MemberOf reports whether the actor is a member of an organization.
func (a Actor) MemberOf(organization int64) bool {
	return slices.Contains(a.Organizations, organization)
}

// Is reports whether the actor is that user, and not a program that only has the user's rights in one lab.
func (a Actor) Is(user uuid.UUID) bool { return !a.Anonymous() && a.ID == user && a.Lab == 0 }

// relations are those that hold whatever the object is.
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

// ToUser gives the relations of a to a user's record and what belongs to that user alone.
func (a Actor) ToUser(user uuid.UUID) Relation {
	r := a.relations()
	if a.Is(user) {
		r |= OwnerOf
	}
	return r
}

// ToOrganization gives the relations of a to an organization and what it shares.
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

// ToAttachment gives the relations of a to an attachment. linked: a is a party of a request that the attachment is or
// was linked to; public: a listed material names it. What was filed for a lab is nobody's own: who leaves the lab has
// no right from it.
func (a Actor) ToAttachment(t Attachment, linked, public bool) Relation {
	r := a.relations()
	if t.OwnedByUser != nil && a.Is(*t.OwnedByUser) && !t.OfLab {
		r |= OwnerOf
	}
	if t.OwnedByOrg != nil && a.MemberOf(*t.OwnedByOrg) {
		r |= MemberOf
	}
	if linked && a.Lab == 0 { // it may be by a request of the user's own
		r |= PartyOf
	}
	if public {
		r |= ReaderOf
	}
	return r
}

// ToRequest gives the relations of a to a request; organization owns the requested material.
func (a Actor) ToRequest(r Request, organization int64) Relation {
	rel := a.ToOrganization(organization) &^ OwnerOf
	if a.Is(r.Requester) {
		rel |= RequesterOf
	}
	return rel
}
