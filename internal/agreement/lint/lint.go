// Package lint finds what is wrong with a letter, or with a paper that was uploaded for it, before a person reads it.
// Its findings are hints: each says how to correct what it is about, and none is a decision.
package lint

import (
	"fmt"
	"maps"
	"slices"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
)

// Class is a kind of mistake.
type Class string

// The classes.
const (
	SignerWithoutAuthority Class = "SIGNER_WITHOUT_AUTHORITY"
	PersonIsOrganization   Class = "PERSON_IS_ORGANIZATION"
	InstitutionsDiffer     Class = "INSTITUTIONS_DIFFER"
	AddressesDiffer        Class = "ADDRESSES_DIFFER"
	TextDiffers            Class = "TEXT_DIFFERS"
	PartsMissing           Class = "PARTS_MISSING"
	DatesOutOfOrder        Class = "DATES_OUT_OF_ORDER"
	PermitExpired          Class = "PERMIT_EXPIRED"
	BlankTemplate          Class = "BLANK_TEMPLATE"
	UnreadableScan         Class = "UNREADABLE_SCAN"
	SeveralLetters         Class = "SEVERAL_LETTERS"
	QuantitiesDiffer       Class = "QUANTITIES_DIFFER"
)

// Classes returns every class.
func Classes() []Class {
	return []Class{SignerWithoutAuthority, PersonIsOrganization, InstitutionsDiffer, AddressesDiffer, TextDiffers,
		PartsMissing, DatesOutOfOrder, PermitExpired, BlankTemplate, UnreadableScan, SeveralLetters, QuantitiesDiffer}
}

// Severity is how much a finding matters.
type Severity string

// The severities: an error makes an agreement void or useless, a warning costs time.
const (
	Error   Severity = "ERROR"
	Warning Severity = "WARNING"
)

var warnings = []Class{AddressesDiffer, SeveralLetters, QuantitiesDiffer}

// Finding is something that is wrong.
type Finding struct {
	Class    Class    `json:"class"`
	Severity Severity `json:"severity"`
	Where    string   `json:"where"`   // a field, a signer, a page or a clause
	Message  string   `json:"message"` // what is wrong, and how to correct it
}

// Side is a party of a letter.
type Side struct {
	Institution party.Institution
	Register    party.Register
}

// Signature is who signs, or signed, in a role of the instrument.
type Signature struct {
	Role        string
	Person      party.Person
	Institution int64
	Acts        []party.Act   // of an official: what they sign, one for each material
	Date        exchange.Date // empty: not signed yet
}

// Address is where a party is, by one source.
type Address struct {
	Party  string // such as recipient
	Source string
	Text   string
}

// Grant pays for the work until a day.
type Grant struct {
	Number string
	Until  exchange.Date // the first day on which it no longer pays; empty: without end
}

// Case is a letter with what is known about it, or a paper by another form, which has no letter.
type Case struct {
	Day        exchange.Date
	Letter     letter.Letter
	Instrument instrument.Instrument
	Provider   Side
	Recipient  Side
	Signatures []Signature
	Addresses  []Address
	Permits    []requirement.Permit
	Grants     []Grant
	Quantities map[int64]string // what each request asks for
	Others     []letter.Letter  // that are not executed yet
	Paper      *Paper           // that was uploaded; nil: none
	Form       *Paper           // the form that a paper without a letter is by; nil: it is not known
	Blank      bool             // the paper is the file of that form, unchanged
}

// report collects findings.
type report struct{ findings []Finding }

func (r *report) add(class Class, where, format string, args ...any) {
	severity := Error
	if slices.Contains(warnings, class) {
		severity = Warning
	}
	r.findings = append(r.findings, Finding{class, severity, where, fmt.Sprintf(format, args...)})
}

// Check returns what is wrong with a letter and its paper.
func Check(c Case) []Finding {
	r := &report{}
	for _, s := range c.Signatures {
		r.checkSigner(c, s)
	}
	r.checkNames(c)
	r.checkAddresses(c.Addresses)
	r.checkDates(c)
	r.checkPermits(c)
	r.checkOthers(c)
	for _, request := range c.Letter.Requests {
		if asked, known := c.Quantities[request.ID]; known && quantity(asked) != quantity(request.Quantity) {
			r.add(QuantitiesDiffer, fmt.Sprintf("request %d", request.ID),
				"The letter has %q of %s, the request %q. Change one of them.", request.Quantity, request.Material,
				asked)
		}
	}
	switch {
	case c.Paper == nil || r.checkReadable(c.Paper):
	case c.Letter.Number != "":
		r.checkPaper(c)
	default:
		r.checkForm(c)
	}
	return r.findings
}

// side returns the party for which somebody signs.
func (c Case) side(role string) Side {
	if party.Provides(role) {
		return c.Provider
	}
	return c.Recipient
}

func (r *report) checkSigner(c Case, s Signature) {
	side := c.side(s.Role)
	if s.Institution != side.Institution.ID {
		r.add(InstitutionsDiffer, s.Role, "%s is not of %s, which the letter binds. Choose a person of that "+
			"institution, or make the letter with theirs.", s.Person.Name, side.Institution.LegalName)
		return
	}
	if !party.IsOfficial(s.Role) {
		return
	}
	day := s.Date
	if day == "" {
		day = c.Day
	}
	for _, act := range s.Acts {
		if _, refusal := side.Register.Check(s.Person, act, day); refusal != "" {
			r.add(SignerWithoutAuthority, s.Role, "%s has no authority to sign this for %s on %s (%s). Choose "+
				"somebody who has, or ask the office of the institution.", s.Person.Name, side.Institution.LegalName,
				day, refusal)
			return
		}
	}
}

// checkNames checks that fields for people name people.
func (r *report) checkNames(c Case) {
	institutions := []party.Institution{c.Provider.Institution, c.Recipient.Institution}
	names := map[string]string{}
	for field, value := range c.Letter.Fields {
		if field == "provider_scientist" || field == "recipient_scientist" {
			names[field] = value
		}
	}
	for _, s := range c.Signatures {
		names[s.Role] = s.Person.Name
	}
	for _, where := range slices.Sorted(maps.Keys(names)) {
		if namesOrganization(names[where], institutions) {
			r.add(PersonIsOrganization, where, "%q is an organization. Enter the person's name.", names[where])
		}
	}
}

func (r *report) checkAddresses(addresses []Address) {
	first, differs := map[string]Address{}, map[string]bool{}
	for _, a := range addresses {
		known, found := first[a.Party]
		if !found {
			first[a.Party] = a
		} else if !differs[a.Party] && !sameAddress(known.Text, a.Text) {
			differs[a.Party] = true
			r.add(AddressesDiffer, a.Party, "The address of %s differs from that of %s. Check which one is right.",
				a.Source, known.Source)
		}
	}
}

func (r *report) checkDates(c Case) {
	if c.Letter.Date < c.Instrument.From {
		r.add(DatesOutOfOrder, "date", "The letter is of %s, before its form was in force (%s). Correct the date.",
			c.Letter.Date, c.Instrument.From)
	}
	if c.Letter.Date > c.Day {
		r.add(DatesOutOfOrder, "date", "The letter is of %s, which is in the future. Correct the date.", c.Letter.Date)
	}
	for _, s := range c.Signatures {
		switch {
		case s.Date == "":
		case s.Date < c.Letter.Date:
			r.add(DatesOutOfOrder, s.Role, "%s signed on %s, before the letter was made (%s). Sign this version.",
				s.Person.Name, s.Date, c.Letter.Date)
		case s.Date > c.Day:
			r.add(DatesOutOfOrder, s.Role, "%s signed on %s, which is in the future. Correct the date.",
				s.Person.Name, s.Date)
		}
	}
	for _, p := range c.Permits {
		if p.Until != "" && p.Until <= p.From {
			r.add(DatesOutOfOrder, "permit "+p.Number, "The permit ends on %s and begins on %s. Correct the dates.",
				p.Until, p.From)
		}
	}
}

func (r *report) checkPermits(c Case) {
	for _, p := range c.Permits {
		renewed := slices.ContainsFunc(c.Permits, func(other requirement.Permit) bool {
			return other.Regime == p.Regime && other.Valid(c.Day)
		})
		if p.Until > p.From && p.Until <= c.Day && !renewed {
			r.add(PermitExpired, "permit "+p.Number, "The permit %s (%s) ended on %s. Upload its renewal.", p.Number,
				p.Regime, p.Until)
		}
	}
	for _, g := range c.Grants {
		if g.Until != "" && g.Until <= c.Day {
			r.add(PermitExpired, "grant "+g.Number, "The grant %s ended on %s. Name one that pays now.", g.Number,
				g.Until)
		}
	}
}

func (r *report) checkOthers(c Case) {
	for _, other := range c.Others {
		l := c.Letter
		if other.Number != l.Number && other.Provider == l.Provider && other.Recipient == l.Recipient &&
			other.Instrument == l.Instrument && other.Edition == l.Edition {
			r.add(SeveralLetters, "letter "+other.Number, "Letter %s is between the same institutions and by the same "+
				"form. Put its requests into one letter.", other.Number)
		}
	}
}
