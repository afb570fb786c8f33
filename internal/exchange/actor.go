package exchange

import (
	"slices"

	"github.com/google/uuid"
)

// Actor is who makes a call: nobody, or a user with the organizations they are in.
type Actor struct {
	ID            uuid.UUID // uuid.Nil: anonymous
	Admin         bool
	Organizations []int64 // those the user is a member of
	Owns          []int64 // those the user owns
	TokenID       int64   // the token presented, so that logout can revoke it
}

// Anonymous says that no token was presented.
func (a Actor) Anonymous() bool { return a.ID == uuid.Nil }

// MemberOf says whether the actor is a member of an organization.
func (a Actor) MemberOf(organization int64) bool {
	return slices.Contains(a.Organizations, organization)
}

// Is says whether the actor is that user.
func (a Actor) Is(user uuid.UUID) bool { return !a.Anonymous() && a.ID == user }

// relations are those that hold whatever the object is.
func (a Actor) relations() Relation {
	r := Anyone
	if !a.Anonymous() {
		r |= SignedIn
	}
	if a.Admin {
		r |= AdminOf
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

// ToAttachment gives the relations of a to an attachment. linked: a is a party of a request
// that the attachment is or was linked to; public: a listed material names it. What was filed for a lab is nobody's own:
// who leaves the lab has no right from it.
func (a Actor) ToAttachment(t Attachment, linked, public bool) Relation {
	r := a.relations()
	if t.OwnedByUser != nil && a.Is(*t.OwnedByUser) && !t.OfLab {
		r |= OwnerOf
	}
	if t.OwnedByOrg != nil && a.MemberOf(*t.OwnedByOrg) {
		r |= MemberOf
	}
	if linked {
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
