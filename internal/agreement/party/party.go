// Package party has the parties of agreements: institutions, who may sign for them and since when. Everything holds for
// days; no function here knows today, callers pass the day they ask about.
package party

import (
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/identifier"
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
type Level int

// The levels, from wet ink on an uploaded paper to a signature by a qualified service.
const (
	Uploaded Level = iota + 1
	MailedLink
	SignedIn
	Passkey
	Qualified
)

var levels = []string{"UPLOADED", "MAILED_LINK", "SIGNED_IN", "PASSKEY", "QUALIFIED"}

// String returns the name of the level; that of no level is empty.
func (l Level) String() string {
	if l < Uploaded || l > Qualified {
		return ""
	}
	return levels[l-1]
}

// ParseLevel returns the level with a name.
func ParseLevel(name string) (Level, bool) {
	i := slices.Index(levels, name)
	return Level(i + 1), i >= 0
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
	Confirmed    bool // by an admin, or by one of its officers
	Withdrawn    exchange.Date
	Playbook     Playbook
}

// Playbook has what an institution prefers: families of instruments, best first.
type Playbook struct {
	Provide []Preference
	Accept  []string // families that it accepts as recipient, best first; empty: any
}

// Preference is a row of a playbook: the first that fits is used. An empty list fits everything.
type Preference struct {
	Categories     []string
	Counterparties []int64
	Families       []string
}

// Check returns what is wrong with an institution, by field.
func (i Institution) Check() error {
	var faults exchange.FieldErrors
	if strings.TrimSpace(i.LegalName) == "" {
		faults.Add("legal_name", "is required")
	}
	if i.ROR != "" {
		if _, err := identifier.ROR(i.ROR); err != nil {
			faults.Add("ror", "%s", err)
		}
	}
	if _, err := identifier.Country(i.Country); err != nil {
		faults.Add("country", "%s", err)
	}
	if !slices.Contains(Kinds(), string(i.Kind)) {
		faults.Add("kind", "must be one of %s", strings.Join(Kinds(), ", "))
	} else if i.Kind != Unknown && (i.KindEvidence == "" || i.KindSince == "") {
		faults.Add("kind_evidence", "is required, with its date, where the kind is not %s", Unknown)
	}
	for _, d := range i.MailDomains {
		if d != strings.ToLower(d) || !strings.Contains(d, ".") || strings.ContainsAny(d, "@ /") {
			faults.Add("mail_domains", "must be names of domains in lower case, such as example.edu")
		}
	}
	return faults.Err()
}

// MayExecute reports whether an agreement of the institution may become executed on the day: proposals may also be
// made to an institution that nobody confirmed.
func (i Institution) MayExecute(day exchange.Date) bool {
	return i.Confirmed && (i.Withdrawn == "" || day < i.Withdrawn)
}

// Lab is a lab of an institution for a time. An agreement keeps the institution of its day.
type Lab struct {
	Organization int64
	Institution  int64
	Period
	ConfirmedBy int64
}

// InstitutionOf returns the institution of a lab on a day: where several claim it, that of the latest confirmed row;
// 0 if there is none.
func InstitutionOf(labs []Lab, organization int64, day exchange.Date) int64 {
	var best Lab
	for _, l := range labs {
		if l.Organization == organization && l.ConfirmedBy != 0 && l.Holds(day) &&
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

// Affiliation is a person's being at an institution.
type Affiliation struct {
	Person      int64
	Institution int64
	Source      Source
	Period
}

// Affiliated reports whether the person is at the institution on the day. Confirmed is false where that is known from
// the person alone: such a person may ask for a material, and no agreement of theirs is executed.
func Affiliated(rows []Affiliation, person, institution int64, day exchange.Date) (affiliated, confirmed bool) {
	for _, a := range rows {
		if a.Person == person && a.Institution == institution && a.Holds(day) {
			affiliated, confirmed = true, confirmed || a.Source != Self
		}
	}
	return affiliated, confirmed
}

// Standing is how a master agreement was entered.
type Standing string

// The kinds of master agreements: signed, declared willing without signing, or with one counterparty only.
const (
	Signed    Standing = "SIGNED"
	Willing   Standing = "WILLING"
	Bilateral Standing = "BILATERAL"
)

// Master is an institution's signature under a master agreement.
type Master struct {
	Institution  int64
	Counterparty int64 // of a bilateral one
	Family       string
	Version      string
	Standing     Standing
	SignedOn     exchange.Date
	WithdrawnOn  exchange.Date
	Signer       string
	Evidence     string
	CheckedBy    string
	CheckedOn    exchange.Date
}

// InForce reports whether the master agreement holds on the day, towards the counterparty.
func (m Master) InForce(day exchange.Date, counterparty int64) bool {
	return m.SignedOn != "" && Period{m.SignedOn, m.WithdrawnOn}.Holds(day) &&
		(m.Standing != Bilateral || m.Counterparty == counterparty)
}

// NeedsCheck reports whether the entry was last checked before the first day that the institution accepts.
func (m Master) NeedsCheck(notBefore exchange.Date) bool { return m.CheckedOn < notBefore }

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
