package exchange

import "slices"

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
	UserRead, UserReadPrivate, NotificationRead, MailSettingsRead, SavedSearchRead, DraftRead, AccountExport, TokenRead,
	OrganizationRead, OrganizationGrants, InvitationRead, InvitationOpen, JoinRead, SettingsRead, OrganizationHistory,
	OrganizationEvents,
	OrganizationInsights, OrganizationStorage, WebhookRead, MaterialRead, MaterialForesee, MaterialPrivate,
	MaterialHistory, MaterialTemplate, MaterialExport,
	MaterialPreview, PublicationRead, ShippingRead, AttachmentRead, AttachmentContent, AttachmentList, RequestRead,
	RequestList, AddressRead, GrantList,
	GrantRead, GrantReport, AuditRead, DocumentationRead, SearchRead, LogRead, JobRead, JobList, JobListAll, AdminRead,
}

// ofOneLab lists the actions of a token that is bound to one lab, on the objects of that lab. Such a token never
// reaches what belongs to the user alone (account, addresses, grants, their own requests), and cannot join, found or
// leave a lab.
var ofOneLab = []Action{
	OrganizationRead, OrganizationUpdate, OrganizationPublish, OrganizationGrants, InvitationRead, InvitationWrite,
	JoinRead, JoinAnswer,
	OrganizationHistory, OrganizationEvents, OrganizationInsights, OrganizationStorage, WebhookRead, WebhookWrite,
	MaterialCreate, MaterialRead, MaterialForesee, MaterialPrivate, MaterialUpdate,
	MaterialArchive, MaterialHistory, MaterialBulk, MaterialTemplate, MaterialExport, ShippingRead, ShippingWrite,
	AttachmentRead,
	AttachmentContent, AttachmentUpdate, AttachmentReplace, AttachmentDelete, RequestRead, RequestUpdate, RequestShip,
	JobRead, JobCancel,
}

// ofNoObject lists those actions whose object is not known beforehand, or belongs to nobody: what they show is narrowed
// to the lab, and what they create must belong to it.
var ofNoObject = []Action{UserRead, MaterialPreview, PublicationRead, AttachmentCreate, RequestList, DocumentationRead,
	SearchRead, LogRead, InvitationOpen, GrantReport}

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
