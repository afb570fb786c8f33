package exchange

import "maps"

// Relation is a set of relations of an actor to an object.
type Relation uint16

// The relations that rules use (specification, "Authentication", 4).
const (
	Anyone      Relation = 1 << iota // everybody, with or without a token
	SignedIn                         // a valid token
	OwnerOf                          // the object's owner: its user, or the organization's owner
	MemberOf                         // a member of the organization that the object belongs to
	RequesterOf                      // the user who made the request
	PartyOf                          // a party of a request that the document is linked to
	ReaderOf                         // anyone, if a listed material shows the document
	OfficerOf                        // holds an authority of the institution that the object belongs to
	StaffOf                          // is at that institution, as known from others
	AdminOf                          // an administrator

	ReadOnly // restricts the others: the token only reads
	OneLab   // restricts the others: the token reaches one lab only
)

// Action names one thing that can be done; the route table and the policy table use the same names.
type Action string

// The actions.
const (
	Login             Action = "login"
	Register          Action = "register"
	Logout            Action = "logout"
	UserRead          Action = "user.read"
	UserReadPrivate   Action = "user.read-private"
	UserUpdate        Action = "user.update"
	UserClose         Action = "user.close"
	UserErase         Action = "user.erase"
	NotificationRead  Action = "notification.read"
	NotificationMark  Action = "notification.mark" // as read or unread
	MailSettingsRead  Action = "mail-settings.read"
	MailSettingsWrite Action = "mail-settings.write"
	SavedSearchRead   Action = "saved-search.read"
	SavedSearchWrite  Action = "saved-search.write"
	DraftRead         Action = "draft.read"
	DraftWrite        Action = "draft.write"
	BasketRead        Action = "basket.read"
	BasketWrite       Action = "basket.write"
	AccountExport     Action = "account.export" // all that is stored about a person
	TokenCreate       Action = "token.create"   // of one's own
	TokenRead         Action = "token.read"
	TokenRevoke       Action = "token.revoke"
	PasskeyRead       Action = "passkey.read"
	PasskeyWrite      Action = "passkey.write" // to register one of one's own, or remove it
	PasskeyUse        Action = "passkey.use"   // to sign with one of one's own

	OrganizationCreate   Action = "organization.create"
	OrganizationRead     Action = "organization.read"
	OrganizationUpdate   Action = "organization.update"
	OrganizationGrants   Action = "organization.grants" // the awards that paid for its materials
	InvitationRead       Action = "invitation.read"
	InvitationWrite      Action = "invitation.write"
	InvitationAnswer     Action = "invitation.answer"
	InvitationOpen       Action = "invitation.open" // with its token
	InvitationTake       Action = "invitation.take" // to answer it, with its token
	JoinAsk              Action = "join.ask"
	JoinRead             Action = "join.read"
	JoinAnswer           Action = "join.answer"
	JoinWithdraw         Action = "join.withdraw"
	SettingsRead         Action = "settings.read"
	SettingsUpdate       Action = "settings.update"
	OrganizationPublish  Action = "organization.publish" // custom fields of its materials
	OrganizationSign     Action = "organization.sign"    // its agreements, in advance
	OrganizationHistory  Action = "organization.history"
	OrganizationEvents   Action = "organization.events" // what happened in the requests of its materials
	OrganizationInsights Action = "organization.insights"
	OrganizationStorage  Action = "organization.storage" // what uses its storage
	OrganizationLeave    Action = "organization.leave"
	ReplyRead            Action = "reply.read" // texts that a lab uses again
	ReplyWrite           Action = "reply.write"
	WebhookRead          Action = "webhook.read" // not its secret
	WebhookWrite         Action = "webhook.write"

	MaterialCreate   Action = "material.create"
	MaterialRead     Action = "material.read"
	MaterialForesee  Action = "material.foresee" // the whole material before its embargo ends
	MaterialPrivate  Action = "material.private" // its private fields
	MaterialUpdate   Action = "material.update"
	MaterialArchive  Action = "material.archive"
	MaterialHistory  Action = "material.history"
	MaterialBulk     Action = "material.bulk"     // many at once, from a spreadsheet
	MaterialTemplate Action = "material.template" // the spreadsheet to fill in, and the result of one
	MaterialExport   Action = "material.export"   // embargoed and archived ones too
	MaterialImport   Action = "material.import"
	MaterialState    Action = "material.state"    // facts that decide what a transfer of it needs, and its lineage
	MaterialLineage  Action = "material.lineage"  // to read that lineage
	AgreementResolve Action = "agreement.resolve" // to ask which instrument a transfer takes
	MaterialPreview  Action = "material.preview"  // what an import would create
	PublicationRead  Action = "publication.read"
	ShippingRead     Action = "shipping.read"
	ShippingWrite    Action = "shipping.write"

	AttachmentCreate  Action = "attachment.create"
	AttachmentRead    Action = "attachment.read"
	AttachmentContent Action = "attachment.content"
	AttachmentList    Action = "attachment.list"
	AttachmentUpdate  Action = "attachment.update"
	AttachmentReplace Action = "attachment.replace" // its content
	AttachmentDelete  Action = "attachment.delete"
	AttachmentScan    Action = "attachment.scan" // by the virus scanner; no rule allows it

	RequestCreate Action = "request.create"
	RequestRead   Action = "request.read"
	RequestList   Action = "request.list"
	RequestUpdate Action = "request.update"
	RequestShip   Action = "request.ship"
	// what terms of data use ask about
	RequestPurpose Action = "request.purpose"
	RequestDelete  Action = "request.delete"

	InquiryCreate Action = "inquiry.create"
	InquiryRead   Action = "inquiry.read"
	InquiryAnswer Action = "inquiry.answer"

	AddressRead  Action = "address.read"
	AddressWrite Action = "address.write"

	InstitutionCreate    Action = "institution.create"
	InstitutionRead      Action = "institution.read" // with its labs and master agreements
	InstitutionUpdate    Action = "institution.update"
	InstitutionConfirm   Action = "institution.confirm"
	InstitutionLabClaim  Action = "institution-lab.claim" // that a lab belongs to it
	InstitutionLabUpdate Action = "institution-lab.update"
	AffiliationRead      Action = "affiliation.read" // the caller's own; officers read all
	AffiliationWrite     Action = "affiliation.write"
	AuthorityRead        Action = "authority.read" // with positions, stand-ins and approvals
	AuthorityWrite       Action = "authority.write"
	MasterWrite          Action = "master.write"
	PlaybookRead         Action = "playbook.read" // with where it conflicts with that of another institution
	PlaybookWrite        Action = "playbook.write"
	ApprovalWrite        Action = "approval.write" // standing approvals, also to withdraw one
	ApprovalSign         Action = "approval.sign"
	SignatoryRead        Action = "signatory.read" // all signatories of master agreements, as a spreadsheet
	SignatoryImport      Action = "signatory.import"
	InstrumentRead       Action = "instrument.read"

	PermitList  Action = "permit.list" // those of the caller's side
	PermitRead  Action = "permit.read"
	PermitWrite Action = "permit.write"
	PermitUse   Action = "permit.use" // for a request

	AgreementCreate Action = "agreement.create"
	AgreementList   Action = "agreement.list"  // those that the caller may read
	AgreementNeeds  Action = "agreement.needs" // requests of an institution that need one and have none
	AgreementRead   Action = "agreement.read"
	AgreementOpen   Action = "agreement.open" // with a link by mail; with its code, also to sign or decline
	AgreementSign   Action = "agreement.sign"
	AgreementWrite  Action = "agreement.write" // new versions, to send, decline or withdraw it
	DutyDecide      Action = "duty.decide"     // when it is due, and to waive it: by the side that provides
	DutySettle      Action = "duty.settle"     // with evidence

	GrantCreate       Action = "grant.create"
	GrantList         Action = "grant.list" // the caller's own
	GrantRead         Action = "grant.read"
	GrantUpdate       Action = "grant.update"
	GrantShare        Action = "grant.share"   // links to its report
	GrantReport       Action = "grant.report"  // with the key of such a link
	MaterialFund      Action = "material.fund" // to link it to a grant of one's own
	AuditRead         Action = "audit.read"
	DocumentationRead Action = "documentation.read"
	SearchRead        Action = "search.read"
	LogRead           Action = "log.read" // the log of the record: only hashes

	JobRead    Action = "job.read"
	JobList    Action = "job.list"     // the caller's own
	JobListAll Action = "job.list-all" // everybody's, and Aliquot's own
	JobCancel  Action = "job.cancel"
	JobRetry   Action = "job.retry"

	AdminRead Action = "admin.read" // the health of the installation: stuck requests, failed mail
	UserAdmin Action = "user.admin" // to make somebody an admin, or revoke that

	SecretsReset      Action = "secrets.reset"      // by the operator; no rule allows it
	SecretsRotate     Action = "secrets.rotate"     // by the operator; no rule allows it
	InstrumentInstall Action = "instrument.install" // by the operator; no rule allows it
)

// Access is the setting that decides who may write materials and organizations.
type Access string

// The values of Access (contract.md section 3, "Open writes").
const (
	AccessOpen    Access = "open"    // exactly the specification: no token needed
	AccessMembers Access = "members" // members and owners only
)

// Policy holds every access rule: an action is allowed to an actor who has any of its relations. AdminOf is only named
// where nobody else is allowed: an admin may do what any rule grants to anyone.
type Policy map[Action]Relation

var rules = Policy{
	Login:             Anyone,
	Register:          Anyone,
	Logout:            SignedIn,
	UserRead:          SignedIn,
	UserReadPrivate:   OwnerOf,
	UserUpdate:        OwnerOf,
	UserClose:         OwnerOf,
	UserErase:         OwnerOf,
	NotificationRead:  OwnerOf,
	NotificationMark:  OwnerOf,
	MailSettingsRead:  OwnerOf,
	MailSettingsWrite: OwnerOf,
	SavedSearchRead:   OwnerOf,
	SavedSearchWrite:  OwnerOf,
	DraftRead:         OwnerOf,
	DraftWrite:        OwnerOf,
	BasketRead:        OwnerOf,
	BasketWrite:       OwnerOf,
	AccountExport:     OwnerOf,
	TokenCreate:       OwnerOf,
	TokenRead:         OwnerOf,
	TokenRevoke:       OwnerOf,
	PasskeyRead:       OwnerOf,
	PasskeyWrite:      OwnerOf,
	PasskeyUse:        OwnerOf,

	OrganizationCreate:   Anyone,
	OrganizationRead:     Anyone,
	OrganizationUpdate:   Anyone,
	OrganizationGrants:   MemberOf,
	InvitationRead:       MemberOf,
	InvitationWrite:      OwnerOf,
	InvitationAnswer:     OwnerOf,
	InvitationOpen:       Anyone,
	InvitationTake:       SignedIn,
	JoinAsk:              SignedIn,
	JoinRead:             OwnerOf,
	JoinAnswer:           OwnerOf,
	JoinWithdraw:         OwnerOf,
	SettingsRead:         OwnerOf,
	SettingsUpdate:       OwnerOf,
	OrganizationPublish:  OwnerOf,
	OrganizationSign:     OwnerOf,
	OrganizationHistory:  MemberOf,
	OrganizationEvents:   MemberOf,
	OrganizationInsights: MemberOf,
	OrganizationStorage:  MemberOf,
	OrganizationLeave:    MemberOf,
	ReplyRead:            MemberOf,
	ReplyWrite:           MemberOf,
	WebhookRead:          MemberOf,
	WebhookWrite:         OwnerOf,

	MaterialCreate:   Anyone,
	MaterialRead:     Anyone,
	MaterialForesee:  MemberOf,
	MaterialPrivate:  MemberOf | RequesterOf,
	MaterialUpdate:   Anyone,
	MaterialArchive:  MemberOf,
	MaterialHistory:  MemberOf,
	MaterialBulk:     MemberOf,
	MaterialTemplate: MemberOf,
	MaterialExport:   MemberOf,
	MaterialImport:   MemberOf,
	MaterialState:    MemberOf,
	MaterialLineage:  MemberOf,
	AgreementResolve: Anyone,
	MaterialPreview:  SignedIn,
	PublicationRead:  SignedIn,
	ShippingRead:     Anyone,
	ShippingWrite:    MemberOf,

	AttachmentCreate:  SignedIn,
	AttachmentRead:    OwnerOf | MemberOf | PartyOf,
	AttachmentContent: OwnerOf | MemberOf | PartyOf | ReaderOf,
	AttachmentList:    AdminOf,
	AttachmentUpdate:  OwnerOf | MemberOf,
	AttachmentReplace: OwnerOf | MemberOf,
	AttachmentDelete:  OwnerOf | MemberOf,

	RequestCreate:  SignedIn,
	RequestRead:    MemberOf | RequesterOf,
	RequestList:    SignedIn,
	RequestUpdate:  MemberOf | RequesterOf,
	RequestShip:    MemberOf,
	RequestPurpose: RequesterOf,
	RequestDelete:  AdminOf,

	InquiryCreate: SignedIn,
	InquiryRead:   OwnerOf | MemberOf,
	InquiryAnswer: MemberOf,

	AddressRead:  OwnerOf,
	AddressWrite: OwnerOf,

	InstitutionCreate:    SignedIn,
	InstitutionRead:      Anyone,
	InstitutionUpdate:    OfficerOf | OwnerOf, // who made it owns it until it is confirmed
	InstitutionConfirm:   OfficerOf,
	InstitutionLabClaim:  OwnerOf,
	InstitutionLabUpdate: OfficerOf | OwnerOf,
	AffiliationRead:      SignedIn,
	AffiliationWrite:     OfficerOf | OwnerOf,
	AuthorityRead:        OfficerOf,
	AuthorityWrite:       OfficerOf,
	MasterWrite:          OfficerOf,
	PlaybookRead:         OfficerOf,
	PlaybookWrite:        OfficerOf,
	ApprovalWrite:        OfficerOf,
	ApprovalSign:         OfficerOf,
	SignatoryRead:        Anyone,
	SignatoryImport:      AdminOf,
	InstrumentRead:       Anyone,

	PermitList:  SignedIn,
	PermitRead:  OwnerOf | MemberOf | OfficerOf | StaffOf | PartyOf,
	PermitWrite: OwnerOf | MemberOf | OfficerOf,
	PermitUse:   OwnerOf | MemberOf | OfficerOf | StaffOf,

	AgreementCreate: MemberOf | RequesterOf | OfficerOf,
	AgreementList:   SignedIn,
	AgreementNeeds:  OfficerOf,
	AgreementRead:   MemberOf | RequesterOf | OfficerOf,
	AgreementOpen:   Anyone,
	AgreementSign:   MemberOf | RequesterOf | OfficerOf, // what each may sign, their authority says
	AgreementWrite:  MemberOf | RequesterOf | OfficerOf,
	DutyDecide:      MemberOf | OfficerOf,
	DutySettle:      MemberOf | RequesterOf | OfficerOf,

	GrantCreate:       SignedIn,
	GrantList:         SignedIn,
	GrantRead:         OwnerOf,
	GrantUpdate:       OwnerOf,
	GrantShare:        OwnerOf,
	GrantReport:       Anyone,
	MaterialFund:      MemberOf,
	AuditRead:         AdminOf,
	DocumentationRead: Anyone,
	SearchRead:        Anyone,
	LogRead:           Anyone,

	JobRead:    OwnerOf,
	JobList:    SignedIn,
	JobListAll: AdminOf,
	JobCancel:  OwnerOf,
	JobRetry:   AdminOf,

	AdminRead: AdminOf,
	UserAdmin: AdminOf,
}

// PolicyFor returns the rules under an access setting.
func PolicyFor(access Access) Policy {
	p := maps.Clone(rules)
	if access == AccessMembers {
		p[OrganizationCreate] = SignedIn
		p[OrganizationUpdate] = OwnerOf
		p[MaterialCreate] = MemberOf
		p[MaterialUpdate] = MemberOf
	}
	return p
}

// Can reports whether an actor with relations r may do action. asAdmin reports whether that is only because of being an
// admin, which is an audit event.
func (p Policy) Can(action Action, r Relation) (ok, asAdmin bool) {
	if !p.Covers(action, r) {
		return false, false
	}
	if p[action]&r != 0 && p[action] != AdminOf {
		return true, false
	}
	return r&AdminOf != 0, r&AdminOf != 0
}

// NeedsToken reports whether an action is never open to anonymous callers, so that its paths answer 401 without a
// token.
func (p Policy) NeedsToken(action Action) bool { return p[action]&(Anyone|ReaderOf) == 0 }
