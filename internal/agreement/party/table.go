package party

import (
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/identifier"
)

// InstitutionFields are the fields of institutions, in the order of answers.
var InstitutionFields = []field.Descriptor[Institution]{
	{Name: "id", At: func(i *Institution) any { return &i.ID }, ReadOnly: true},
	{Name: "legal_name", At: func(i *Institution) any { return &i.LegalName }, Max: exchange.LineLength,
		Label: "Legal name", Help: "The name under which it signs agreements."},
	ListOf(field.Descriptor[Institution]{Name: "aliases", Label: "Other names",
		Doc: "Names that people also know it by.", Help: "Separated by semicolons."}, anyText,
		func(i *Institution) *[]string { return &i.Aliases }),
	{Name: "ror", At: func(i *Institution) any { return &i.ROR }, Canonical: identifier.ROR,
		Format: "ror", Label: "ROR ID",
		Help: "From ror.org, such as 05dxps055. It identifies the institution and proves nothing about its kind."},
	{Name: "country", At: func(i *Institution) any { return &i.Country }, Canonical: identifier.Country,
		Format: "country", Examples: []string{"DE"}, Label: "Country",
		Help: "A name or a code, such as Germany or DE."},
	{Name: "address", At: func(i *Institution) any { return &i.Address }, Label: "Address",
		Help: "As it stands in agreements."},
	field.OneOf(field.Descriptor[Institution]{Name: "kind", Label: "Kind",
		Help: "It decides which agreements are valid; an unknown one needs no evidence."}, "InstitutionKind", Kinds(),
		func(i *Institution) *string { return (*string)(&i.Kind) }),
	{Name: "kind_evidence", At: func(i *Institution) any { return &i.KindEvidence }, Max: exchange.TitleLength,
		Label: "Evidence of the kind", Help: "A statute, a tax letter or an address of one."},
	{Name: "kind_since", At: func(i *Institution) any { return &i.KindSince }, Label: "Date of the evidence",
		Help: "The day of the evidence of the kind."},
	{Name: "mailbox", At: func(i *Institution) any { return &i.Mailbox }, Max: exchange.LineLength,
		Label: "Mail of its office", Help: "Where the office for agreements reads mail."},
	ListOf(field.Descriptor[Institution]{Name: "mail_domains", Label: "Mail domains",
		Doc:  "Who has a verified mail address under one of these is known to be here.",
		Help: "Such as example.edu, separated by semicolons. Who has a verified address there is known to be here."},
		mailDomain,
		func(i *Institution) *[]string { return &i.MailDomains }),
	field.OneOf(field.Descriptor[Institution]{Name: "least_level", Label: "Lowest level of signatures",
		Help: "What a signature must have been made with at least."}, "SignatureLevel", Levels(),
		func(i *Institution) *string { return (*string)(&i.LeastLevel) }),
	{Name: "recheck_days", At: func(i *Institution) any { return &i.RecheckDays }, From: 1, To: 365, Unit: "days",
		Label: "Days between checks",
		Help:  "After so many days, an entry of a master agreement is shown as one to check again."},
	{Name: "confirmed", At: func(i *Institution) any { return &i.Confirmed },
		Doc: "Whether an admin or an officer confirmed it. One that is not confirmed can receive proposals, never an " +
			"executed agreement."},
	{Name: "withdrawn", At: func(i *Institution) any { return &i.Withdrawn }, Label: "Withdrawn on",
		Help: "The first day on which it signs nothing any more."},
	{Name: "created_at", At: func(i *Institution) any { return &i.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(i *Institution) any { return &i.UpdatedAt }, ReadOnly: true},
}

// Table implements Described.
func (i Institution) Table() []field.Descriptor[Institution] { return InstitutionFields }

// Faults implements Described.
func (i Institution) Faults(f *exchange.FieldErrors) {
	f.Need("legal_name", i.LegalName)
	f.Must("country", i.Country != "", "is required: a name or a code, such as Germany or DE")
	mailbox(f, "mailbox", i.Mailbox)
	if i.Kind == Unknown || i.Kind == "" || len((*f)["kind"]) > 0 {
		return
	}
	if i.KindEvidence == "" {
		f.Add("kind_evidence", "is required where the kind is not %s", Unknown)
	}
	if i.KindSince == "" {
		f.Add("kind_since", "is required where the kind is not %s: the day of its evidence", Unknown)
	}
}

// LabFields are the fields of the labs of institutions, in the order of answers.
var LabFields = []field.Descriptor[Lab]{
	{Name: "id", At: func(l *Lab) any { return &l.ID }, ReadOnly: true},
	{Name: "institution", At: func(l *Lab) any { return &l.Institution }, ReadOnly: true,
		Doc: "The institution that it is registered of."},
	{Name: "organization", At: func(l *Lab) any { return &l.Organization }, Doc: "The lab. It stays as it is."},
	{Name: "from", Column: "from_day", At: func(l *Lab) any { return &l.From }, Label: "Since",
		Help: "The first day on which the lab belonged to it; empty: ever since."},
	{Name: "until", Column: "until_day", At: func(l *Lab) any { return &l.Until }, Label: "Until",
		Help: "The first day on which the lab no longer belongs to it."},
	{Name: "confirmed", At: func(l *Lab) any { return &l.Confirmed },
		Doc: "Whether an officer of the institution, or an admin, confirmed it."},
	{Name: "confirmed_by", At: func(l *Lab) any { return &l.ConfirmedBy }, ReadOnly: true, OrNobody: true,
		Doc: "Who confirmed it; null before."},
	{Name: "created_at", At: func(l *Lab) any { return &l.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(l *Lab) any { return &l.UpdatedAt }, ReadOnly: true},
}

// Table implements Described.
func (l Lab) Table() []field.Descriptor[Lab] { return LabFields }

// Faults implements Described.
func (l Lab) Faults(f *exchange.FieldErrors) {
	f.Must("organization", l.Organization != 0, "is required: the id of a lab that you own")
	l.ordered(f, "until")
}

// AffiliationFields are the fields of affiliations, in the order of answers.
var AffiliationFields = []field.Descriptor[Affiliation]{
	{Name: "id", At: func(a *Affiliation) any { return &a.ID }, ReadOnly: true},
	{Name: "institution", At: func(a *Affiliation) any { return &a.Institution }, ReadOnly: true,
		Doc: "The institution that it is registered of."},
	{Name: "person", At: func(a *Affiliation) any { return &a.Person },
		Doc: "Who is at the institution: the caller, unless an officer names somebody else. It stays as it is."},
	{Name: "source", At: func(a *Affiliation) any { return (*string)(&a.Source) }, ReadOnly: true,
		Doc: "How it is known. SELF is what the person says; an officer who confirms it makes it OFFICER."},
	{Name: "confirmed", At: func(a *Affiliation) any { return &a.Confirmed },
		Doc: "Whether it is known from somebody else than the person. An officer sets it."},
	{Name: "from", Column: "from_day", At: func(a *Affiliation) any { return &a.From }, Label: "Since",
		Help: "The first day; empty: ever since."},
	{Name: "expires", Column: "until_day", At: func(a *Affiliation) any { return &a.Until }, Label: "Until",
		Help: "The first day on which it no longer holds."},
	{Name: "created_at", At: func(a *Affiliation) any { return &a.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(a *Affiliation) any { return &a.UpdatedAt }, ReadOnly: true},
}

// Table implements Described.
func (a Affiliation) Table() []field.Descriptor[Affiliation] { return AffiliationFields }

// Faults implements Described.
func (a Affiliation) Faults(f *exchange.FieldErrors) {
	f.Rule("source", exchange.Rule{Words: Sources(), Name: "AffiliationSource"})
	a.ordered(f, "expires")
}

// PositionFields are the fields of positions, in the order of answers.
var PositionFields = []field.Descriptor[Position]{
	{Name: "id", At: func(p *Position) any { return &p.ID }, ReadOnly: true},
	{Name: "institution", At: func(p *Position) any { return &p.Institution }, ReadOnly: true,
		Doc: "The institution that it is registered of."},
	{Name: "title", At: func(p *Position) any { return &p.Title }, Max: exchange.LineLength, Label: "Title",
		Help: "Such as Director, Technology Transfer. Authority belongs to the position."},
	{Name: "from", Column: "from_day", At: func(p *Position) any { return &p.From }, Label: "Since",
		Help: "The first day of the position; empty: ever since."},
	{Name: "until", Column: "until_day", At: func(p *Position) any { return &p.Until }, Label: "Until",
		Help: "The first day on which the position no longer exists."},
	{Name: "created_at", At: func(p *Position) any { return &p.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(p *Position) any { return &p.UpdatedAt }, ReadOnly: true},
}

// Table implements Described.
func (p Position) Table() []field.Descriptor[Position] { return PositionFields }

// Faults implements Described.
func (p Position) Faults(f *exchange.FieldErrors) {
	f.Need("title", p.Title)
	p.ordered(f, "until")
}

// AuthorityFields are the fields of authorities, in the order of answers.
var AuthorityFields = []field.Descriptor[Authority]{
	{Name: "id", At: func(a *Authority) any { return &a.ID }, ReadOnly: true},
	{Name: "institution", At: func(a *Authority) any { return &a.Institution }, ReadOnly: true,
		Doc: "The institution that it is registered of."},
	{Name: "position", At: func(a *Authority) any { return &a.Position }, Doc: "The position that it belongs to."},
	{Name: "holder", At: func(a *Authority) any { return &a.Holder.User }, OrNobody: true,
		Doc: "The user who holds it; null: somebody without an account, whose name and mail are known."},
	{Name: "name", At: func(a *Authority) any { return &a.Holder.Name }, Max: exchange.LineLength, Label: "Name",
		Help: "Of a holder without an account."},
	{Name: "title", At: func(a *Authority) any { return &a.Holder.Title }, Max: exchange.LineLength,
		Label: "Title in letters", Help: "If it is not that of the position."},
	{Name: "mail", At: func(a *Authority) any { return &a.Holder.Mail }, Max: exchange.LineLength, Label: "Mail",
		Help: "Of a holder without an account: where letters to sign are sent."},
	field.OneOf(field.Descriptor[Authority]{Name: "direction", Label: "Direction",
		Help: "On which side of an agreement it is good for."}, "AgreementDirection", directions,
		func(a *Authority) *string { return (*string)(&a.Direction) }),
	ListOf(field.Descriptor[Authority]{Name: "families", Label: "Kinds of agreements",
		Doc:  "Families of instruments; an empty list allows all.",
		Help: "Codes such as UBMTA, separated by semicolons; empty: all."}, Code,
		func(a *Authority) *[]string { return &a.Families }),
	ListOf(field.Descriptor[Authority]{Name: "categories", Label: "Categories of materials",
		Doc:  "Categories of materials; an empty list allows all.",
		Help: "Codes such as PLASMID, separated by semicolons; empty: all."}, Code,
		func(a *Authority) *[]string { return &a.Categories }),
	{Name: "human", At: func(a *Authority) any { return &a.Human }, Label: "Also material of human origin",
		Help: "Whether it covers material of human origin."},
	{Name: "largest_bsl", At: func(a *Authority) any { return &a.LargestBSL }, From: 1, To: 4, Unit: "biosafety levels",
		Label: "Highest biosafety level", Help: "From 1 to 4."},
	{Name: "delegation", At: func(a *Authority) any { return &a.Delegation }, Max: exchange.TitleLength,
		Label: "Delegated by", Help: "The document that delegates it, and where that is kept."},
	{Name: "supersedes", At: func(a *Authority) any { return &a.Supersedes },
		Doc: "The authority that it replaces from its first day on; null: none."},
	{Name: "from", Column: "from_day", At: func(a *Authority) any { return &a.From }, Label: "Since",
		Help: "The first day on which it holds."},
	{Name: "until", Column: "until_day", At: func(a *Authority) any { return &a.Until }, Label: "Until",
		Help: "The first day on which it no longer holds."},
	{Name: "created_at", At: func(a *Authority) any { return &a.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(a *Authority) any { return &a.UpdatedAt }, ReadOnly: true},
}

// Table implements Described.
func (a Authority) Table() []field.Descriptor[Authority] { return AuthorityFields }

// Faults implements Described.
func (a Authority) Faults(f *exchange.FieldErrors) {
	f.Must("position", a.Position != 0, "is required: the id of a position")
	f.Must("direction", a.Direction != "", "is required: PROVIDE, RECEIVE or BOTH")
	f.Must("from", a.From != "", "is required: the first day on which it holds")
	a.Holder.known(f, "holder")
	for _, c := range a.Categories {
		if !slices.Contains(category.Codes(), c) {
			f.Add("categories", "there is no category %s", c)
		}
	}
	a.ordered(f, "until")
}

// StandInFields are the fields of stand-ins, in the order of answers.
var StandInFields = []field.Descriptor[StandIn]{
	{Name: "id", At: func(s *StandIn) any { return &s.ID }, ReadOnly: true},
	{Name: "institution", At: func(s *StandIn) any { return &s.Institution }, ReadOnly: true,
		Doc: "The institution that it is registered of."},
	{Name: "authority", At: func(s *StandIn) any { return &s.Authority },
		Doc: "The authority whose holder the person represents."},
	{Name: "person", At: func(s *StandIn) any { return &s.Person.User }, OrNobody: true,
		Doc: "The user who signs; null: somebody without an account, whose name and mail are known."},
	{Name: "name", At: func(s *StandIn) any { return &s.Person.Name }, Max: exchange.LineLength, Label: "Name",
		Help: "Of a person without an account."},
	{Name: "title", At: func(s *StandIn) any { return &s.Person.Title }, Max: exchange.LineLength,
		Label: "Title in letters", Help: "Of the person who signs."},
	{Name: "mail", At: func(s *StandIn) any { return &s.Person.Mail }, Max: exchange.LineLength, Label: "Mail",
		Help: "Of a person without an account: where letters to sign are sent."},
	{Name: "reason", At: func(s *StandIn) any { return &s.Reason }, Max: exchange.TitleLength, Label: "Reason",
		Help: "Such as leave or travel."},
	{Name: "from", Column: "from_day", At: func(s *StandIn) any { return &s.From }, Label: "Since",
		Help: "The first day."},
	{Name: "until", Column: "until_day", At: func(s *StandIn) any { return &s.Until }, Label: "Until",
		Help: "The first day on which the person no longer signs."},
	{Name: "created_at", At: func(s *StandIn) any { return &s.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(s *StandIn) any { return &s.UpdatedAt }, ReadOnly: true},
}

// Table implements Described.
func (s StandIn) Table() []field.Descriptor[StandIn] { return StandInFields }

// Faults implements Described.
func (s StandIn) Faults(f *exchange.FieldErrors) {
	f.Must("authority", s.Authority != 0, "is required: the id of an authority")
	f.Must("from", s.From != "", "is required: the first day")
	f.Must("until", s.Until != "", "is required: the first day on which the person no longer signs")
	s.Person.known(f, "person")
	s.ordered(f, "until")
}

// MasterFields are the fields of master agreements, in the order of answers.
var MasterFields = []field.Descriptor[Master]{
	{Name: "id", At: func(m *Master) any { return &m.ID }, ReadOnly: true},
	{Name: "institution", At: func(m *Master) any { return &m.Institution }, ReadOnly: true,
		Doc: "The institution that it is registered of."},
	{Name: "family", At: func(m *Master) any { return &m.Family }, Canonical: Code, Format: "code",
		Examples: []string{"UBMTA"}, Label: "Agreement", Help: "Its code, such as UBMTA.", Sheet: 1},
	{Name: "version", Column: "edition", At: func(m *Master) any { return &m.Version }, Max: exchange.LineLength,
		Label: "Version", Help: "Such as 1995.", Doc: "Which text was signed.", Sheet: 1},
	field.OneOf(field.Descriptor[Master]{Name: "standing", Label: "Standing", Sheet: 1,
		Help: "Signed, willing to use it without having signed, or signed with one counterparty only."},
		"MasterStanding", standings, func(m *Master) *string { return (*string)(&m.Standing) }),
	{Name: "counterparty", At: func(m *Master) any { return &m.Counterparty }, Label: "Counterparty",
		Doc:  "The other institution of a bilateral one; null of all others.",
		Help: "Of a bilateral one: the number at the end of the address of the other institution’s page."},
	{Name: "signed_on", At: func(m *Master) any { return &m.SignedOn }, Label: "Signed on",
		Help: "The first day on which it holds.", Sheet: 1},
	{Name: "withdrawn_on", At: func(m *Master) any { return &m.WithdrawnOn }, Label: "Withdrawn on",
		Help: "The first day on which it no longer holds.", Sheet: 1},
	{Name: "signer", At: func(m *Master) any { return &m.Signer }, Max: exchange.LineLength, Label: "Signed by",
		Help: "Who signed for the institution.", Sheet: 1},
	{Name: "evidence", At: func(m *Master) any { return &m.Evidence }, Max: exchange.TitleLength, Label: "Evidence",
		Help: "Where it can be looked up.", Sheet: 1},
	{Name: "checked_by", At: func(m *Master) any { return &m.CheckedBy }, Max: exchange.LineLength,
		Label: "Checked by", Help: "Who looked it up last.", Doc: "Who looked it up last.", Sheet: 1},
	{Name: "checked_on", At: func(m *Master) any { return &m.CheckedOn }, Label: "Checked on",
		Help: "When it was looked up last.", Sheet: 1},
	{Name: "created_at", At: func(m *Master) any { return &m.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(m *Master) any { return &m.UpdatedAt }, ReadOnly: true},
}

// Table implements Described.
func (m Master) Table() []field.Descriptor[Master] { return MasterFields }

// Faults implements Described.
func (m Master) Faults(f *exchange.FieldErrors) {
	f.Need("family", m.Family)
	f.Must("signed_on", m.SignedOn != "", "is required: the first day on which it holds")
	switch bilateral := m.Standing == Bilateral; {
	case bilateral && m.Counterparty == nil:
		f.Add("counterparty", "is required of a bilateral one: the id of the other institution")
	case !bilateral && m.Counterparty != nil:
		f.Add("counterparty", "is only for a bilateral one")
	case bilateral && *m.Counterparty == m.Institution:
		f.Add("counterparty", "must be another institution")
	}
	Period{m.SignedOn, m.WithdrawnOn}.ordered(f, "withdrawn_on")
}
