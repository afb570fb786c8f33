// Package party has the parties of agreements: institutions, who may sign for them and since when. Everything holds for
// days; no function here knows today, callers pass the day they ask about.
package party

import (
	"slices"
	"time"

	"aliquot/internal/agreement/playbook"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Period is when something holds: from its first day on, until the day before Until. An empty day sets no limit.
type Period struct {
	From  exchange.Date `json:"from,omitempty"`
	Until exchange.Date `json:"until,omitempty"`
}

// Holds reports whether the day is in the period.
func (p Period) Holds(day exchange.Date) bool {
	return p.From <= day && (p.Until == "" || day < p.Until)
}

// Kind is what sort of party an institution is. An entry in a public registry is no proof of it.
type Kind string

// The kinds of institutions.
const (
	Nonprofit  Kind = "NONPROFIT"
	Government Kind = "GOVERNMENT"
	ForProfit  Kind = "FOR_PROFIT"
	Individual Kind = "INDIVIDUAL"
	Unknown    Kind = "UNKNOWN"
)

// Kinds returns every kind.
func Kinds() []string {
	return []string{string(Nonprofit), string(Government), string(ForProfit), string(Individual), string(Unknown)}
}

// Level is how a signature was made. Higher levels prove more.
type Level string

// The levels, from wet ink on an uploaded paper to a signature by a qualified service.
const (
	Uploaded   Level = "UPLOADED"
	MailedLink Level = "MAILED_LINK"
	SignedIn   Level = "SIGNED_IN"
	Passkey    Level = "PASSKEY"
	Qualified  Level = "QUALIFIED"
)

// Levels returns every level, the lowest first.
func Levels() []string {
	return []string{string(Uploaded), string(MailedLink), string(SignedIn), string(Passkey), string(Qualified)}
}

// Reaches reports whether a signature of the level is enough where least is asked; one of no known level never is.
func (l Level) Reaches(least Level) bool {
	have, want := slices.Index(Levels(), string(l)), slices.Index(Levels(), string(least))
	return want >= 0 && have >= want
}

// Institution is who an agreement binds. A lab belongs to one and binds nobody.
type Institution struct {
	ID           int64
	LegalName    string
	Aliases      []string
	ROR          string
	Country      string // ISO 3166-1, two letters
	Address      string
	Kind         Kind
	KindEvidence string
	KindSince    exchange.Date
	Mailbox      string // of its office for agreements
	MailDomains  []string
	LeastLevel   Level
	RecheckDays  int  // after so many days the entry of a master agreement is to be checked again
	Confirmed    bool // by an admin, or by one of its officers
	Withdrawn    exchange.Date
	MadeBy       uuid.UUID
	Playbook     playbook.Playbook
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// NewInstitution returns an institution of which nothing is known.
func NewInstitution(by uuid.UUID) Institution {
	return Institution{Kind: Unknown, LeastLevel: MailedLink, RecheckDays: 365, MadeBy: by}
}

// MayExecute reports whether an agreement of the institution may become executed on the day: proposals may also be
// made to an institution that nobody confirmed.
func (i Institution) MayExecute(day exchange.Date) bool {
	return i.Confirmed && (i.Withdrawn == "" || day < i.Withdrawn)
}

// Lab is a lab of an institution for a time. An agreement keeps the institution of its day.
type Lab struct {
	ID           int64
	Organization int64
	Institution  int64
	Period
	Confirmed   bool
	ConfirmedBy uuid.UUID
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// InstitutionOf returns the institution of a lab on a day: where several claim it, that of the latest confirmed row;
// 0 if there is none.
func InstitutionOf(labs []Lab, organization int64, day exchange.Date) int64 {
	var best Lab
	for _, l := range labs {
		if l.Organization == organization && l.Confirmed && l.Holds(day) &&
			(best.Institution == 0 || l.From > best.From) {
			best = l
		}
	}
	return best.Institution
}

// Source is how an affiliation is known.
type Source string

// The sources of affiliations. Self is what a person states about themselves.
const (
	IdentityProvider Source = "IDENTITY_PROVIDER"
	ORCIDAsserted    Source = "ORCID_ASSERTED"
	Officer          Source = "OFFICER"
	MailDomain       Source = "MAIL_DOMAIN"
	Self             Source = "SELF"
)

// Sources returns every source.
func Sources() []string {
	return []string{string(IdentityProvider), string(ORCIDAsserted), string(Officer), string(MailDomain), string(Self)}
}

// Affiliation is a person's being at an institution.
type Affiliation struct {
	ID          int64
	Person      uuid.UUID
	Institution int64
	Source      Source
	Confirmed   bool // the source is not the person alone
	Period
	CreatedAt time.Time
	UpdatedAt time.Time
}

// By returns the affiliation as known from a source.
func (a Affiliation) By(s Source) Affiliation {
	a.Source, a.Confirmed = s, s != Self
	return a
}

// Affiliated reports whether the person is at the institution on the day. Confirmed is false where that is known from
// the person alone: such a person may ask for a material, and no agreement of theirs is executed.
func Affiliated(rows []Affiliation, person uuid.UUID, institution int64,
	day exchange.Date) (affiliated, confirmed bool) {
	for _, a := range rows {
		if a.Person == person && a.Institution == institution && a.Holds(day) {
			affiliated, confirmed = true, confirmed || a.Source != Self
		}
	}
	return affiliated, confirmed
}

// InstitutionsOf returns the institutions at which the person is on the day, each once, however that is known.
func InstitutionsOf(rows []Affiliation, person uuid.UUID, day exchange.Date) (list []int64) {
	for _, a := range rows {
		if a.Person == person && a.Holds(day) && !slices.Contains(list, a.Institution) {
			list = append(list, a.Institution)
		}
	}
	return list
}

// Home returns the institution of a person on a day: of several, that of a confirmed affiliation, and then the latest;
// 0 if there is none.
func Home(own []Affiliation, day exchange.Date) int64 {
	var best Affiliation
	for _, a := range own {
		if a.Holds(day) && (best.Institution == 0 || a.Confirmed && !best.Confirmed ||
			a.Confirmed == best.Confirmed && a.From > best.From) {
			best = a
		}
	}
	return best.Institution
}

// Standing is how a master agreement was entered.
type Standing string

// The kinds of master agreements: signed, declared willing without signing, or with one counterparty only.
const (
	Signed    Standing = "SIGNED"
	Willing   Standing = "WILLING"
	Bilateral Standing = "BILATERAL"
)

var standings = []string{string(Signed), string(Willing), string(Bilateral)}

// Master is an institution's signature under a master agreement.
type Master struct {
	ID           int64
	Institution  int64
	Counterparty *int64 // of a bilateral one
	Family       string
	Version      string
	Standing     Standing
	SignedOn     exchange.Date
	WithdrawnOn  exchange.Date
	Signer       string
	Evidence     string
	CheckedBy    string
	CheckedOn    exchange.Date
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// InForce reports whether the master agreement holds on the day, towards the counterparty.
func (m Master) InForce(day exchange.Date, counterparty int64) bool {
	return m.SignedOn != "" && Period{m.SignedOn, m.WithdrawnOn}.Holds(day) &&
		(m.Standing != Bilateral || m.Counterparty != nil && *m.Counterparty == counterparty)
}

// NeedsCheck reports whether an entry of a master agreement of the institution is older today than the institution
// accepts.
func (i Institution) NeedsCheck(m Master, today time.Time) bool {
	return string(m.CheckedOn) < today.AddDate(0, 0, -i.RecheckDays).Format(time.DateOnly)
}

// MasterInForce returns the latest master agreement of a family between the two on the day. Of a bilateral one, the row
// of either institution is enough, since it is one paper; otherwise it is the first institution's own.
func MasterInForce(rows []Master, family string, institution, counterparty int64, day exchange.Date) (Master, bool) {
	var best Master
	for _, m := range rows {
		own := m.Institution == institution && m.InForce(day, counterparty) ||
			m.Standing == Bilateral && m.Institution == counterparty && m.InForce(day, institution)
		if own && m.Family == family && m.SignedOn > best.SignedOn {
			best = m
		}
	}
	return best, best.SignedOn != ""
}
