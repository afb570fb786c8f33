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

// ToInstitution returns the relations of a to an institution, of which the user is an officer or not.
func (a Actor) ToInstitution(officer bool) Relation {
	r := a.Relations()
	if officer && a.Is(a.ID) {
		r |= OfficerOf
	}
	return r
}

// Scope limits what a token made for a program may do. A login has no scope: it has all rights of its user.
type Scope string

// The scopes.
const (
	ScopeRead  Scope = "read"
	ScopeWrite Scope = "write" // includes read
)

// Scopes lists all of them.
var Scopes = []Scope{ScopeRead, ScopeWrite}

// reads lists the actions that change nothing: the only ones that a token with scope read may do.
var reads = []Action{
	UserRead, UserReadPrivate, NotificationRead, MailSettingsRead, SavedSearchRead, DraftRead, BasketRead,
	AccountExport, TokenRead, PasskeyRead,
	OrganizationRead, OrganizationGrants, InvitationRead, InvitationOpen, JoinRead, SettingsRead, OrganizationHistory,
	OrganizationEvents,
	OrganizationInsights, OrganizationStorage, ReplyRead, WebhookRead, MaterialRead, MaterialForesee, MaterialPrivate,
	MaterialHistory, MaterialLineage, MaterialTemplate, MaterialExport, AgreementResolve,
	MaterialPreview, PublicationRead, ShippingRead, AttachmentRead, AttachmentContent, AttachmentList, RequestRead,
	RequestList, InquiryRead, AddressRead, GrantList,
	InstitutionRead, AffiliationRead, AuthorityRead, PlaybookRead, SignatoryRead,
	AgreementList, AgreementNeeds, AgreementRead, AgreementOpen,
	InstrumentRead, PermitList, PermitRead,
	GrantRead, GrantReport, AuditRead, DocumentationRead, SearchRead, LogRead, JobRead, JobList, JobListAll, AdminRead,
}

// ofOneLab lists the actions of a token that is bound to one lab, on the objects of that lab. Such a token never
// reaches what belongs to the user alone (account, addresses, grants, their own requests), and cannot join, found or
// leave a lab.
var ofOneLab = []Action{
	OrganizationRead, OrganizationUpdate, OrganizationPublish, OrganizationGrants, InvitationRead, InvitationWrite,
	JoinRead, JoinAnswer,
	OrganizationHistory, OrganizationEvents, OrganizationInsights, OrganizationStorage, ReplyRead, ReplyWrite,
	WebhookRead, WebhookWrite,
	MaterialCreate, MaterialRead, MaterialForesee, MaterialPrivate, MaterialUpdate, MaterialState,
	MaterialLineage,
	MaterialArchive, MaterialHistory, MaterialBulk, MaterialTemplate, MaterialExport, ShippingRead, ShippingWrite,
	AttachmentRead,
	AttachmentContent, AttachmentUpdate, AttachmentReplace, AttachmentDelete, RequestRead, RequestUpdate, RequestShip,
	InquiryRead, InquiryAnswer, JobRead, JobCancel,
}

// ofNoObject lists those actions whose object is not known beforehand, or belongs to nobody: what they show is narrowed
// to the lab, and what they create must belong to it.
var ofNoObject = []Action{UserRead, MaterialPreview, PublicationRead, AttachmentCreate, RequestList, DocumentationRead,
	SearchRead, LogRead, InvitationOpen, GrantReport, InstitutionRead, SignatoryRead,
	AgreementResolve, InstrumentRead}

// always lists the actions that need no right of the token.
var always = []Action{Login, Register, Logout}

// Reads reports whether an action changes nothing.
func (a Action) Reads() bool { return slices.Contains(reads, a) }

// InScope reports whether the actor's token may do an action at all, on any object.
func (a Actor) InScope(action Action) bool { return inScope(action, a.Relations()) }

func inScope(action Action, r Relation) bool {
	switch {
	case slices.Contains(always, action):
		return true
	case r&ReadOnly != 0 && !action.Reads():
		return false
	}
	return r&OneLab == 0 || slices.Contains(ofOneLab, action) || slices.Contains(ofNoObject, action)
}

// Covers reports whether the limits of a token allow an action on an object with relations r: a token for one lab
// reaches the objects of that lab, and of others what is public.
func (p Policy) Covers(action Action, r Relation) bool {
	if r&(ReadOnly|OneLab) == 0 {
		return true
	}
	if !inScope(action, r) {
		return false
	}
	public := action.Reads() && p[action]&(Anyone|ReaderOf)&r != 0
	return r&OneLab == 0 || r&(OwnerOf|MemberOf) != 0 || public || !slices.Contains(ofOneLab, action)
}

// BeyondScope returns an error if the limits of the actor's token do not cover an action.
func (a Actor) BeyondScope(action Action) error {
	if a.Scope == ScopeRead && !action.Reads() {
		return Errorf(OutOfScope, "This token is read-only (%s needs the scope write).", action)
	}
	return Errorf(OutOfScope, "This token has access to organization %d only (%s).", a.Lab,
		action)
}
