package signing

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
)

// Why a person may not sign a letter.
var (
	ErrNoRole      = errors.New("nobody signs this letter in this role")
	ErrTwice       = errors.New("this version has been signed in this role already")
	ErrInstitution = errors.New("the institution is not confirmed here, or has withdrawn")
	ErrLevel       = errors.New("this letter needs a signature of a higher level")
	ErrNoAuthority = errors.New("this person has no authority to sign this")
)

// Signature is a signature on a version of a letter.
type Signature struct {
	Document Document
	Role     string
	Signer   party.Signer // of a scientist, without position and authority
	Level    party.Level
	At       time.Time
}

// Kept is a signature as it is kept.
type Kept struct {
	ID        int64
	Agreement int64
	Signature
	Represents string // the holder of the authority, of a stand-in
	Evidence   json.RawMessage
	Approval   *ByApproval // that made the signature; nil: a person did
}

// ByApproval is a standing approval in one version.
type ByApproval struct {
	ID      int64 `json:"id"`
	Version int   `json:"version"`
}

// Side is a party of a letter, and who its scientist is.
type Side struct {
	Institution party.Institution
	Register    party.Register
	Scientist   party.Person
}

// Agreement is what signatures are checked against: the version that a letter has now.
type Agreement struct {
	Document   Document
	Instrument instrument.Instrument
	Provider   Side
	Recipient  Side
	Acts       []party.Act // what an official signs: one for each material; the direction is that of the role
	Signatures []Signature
}

// side returns the party of a role, and the direction in which it signs.
func (a Agreement) side(role string) (Side, party.Direction) {
	if party.Provides(role) {
		return a.Provider, party.Provide
	}
	return a.Recipient, party.Receive
}

// Check returns as who a person signs a document in a role on a day, or why they may not: the version is not the
// newest, the role is not one of the instrument's or has signed already, the institution may not execute agreements,
// the level is too low for the instrument or the institution, or the person has no authority.
func (a Agreement) Check(d Document, role string, person party.Person, level party.Level,
	day exchange.Date) (party.Signer, error) {
	side, direction := a.side(role)
	switch {
	case d != a.Document:
		return party.Signer{}, ErrStale
	case !slices.Contains(a.Instrument.Signers, role):
		return party.Signer{}, ErrNoRole
	case a.signed(role):
		return party.Signer{}, ErrTwice
	case !side.Institution.MayExecute(day):
		return party.Signer{}, ErrInstitution
	case !level.Reaches(a.LeastLevel(role)):
		return party.Signer{}, fmt.Errorf("%w: %s or higher", ErrLevel, a.LeastLevel(role))
	}
	if !party.IsOfficial(role) {
		if !side.Scientist.Same(person) {
			return party.Signer{}, ErrNoAuthority
		}
		return party.Signer{Person: person}, nil
	}
	var signer party.Signer
	for _, act := range a.Acts {
		act.Direction = direction
		var refusal party.Refusal
		if signer, refusal = side.Register.Check(person, act, day); refusal != "" {
			return party.Signer{}, fmt.Errorf("%w: %s", ErrNoAuthority, refusal)
		}
	}
	if signer.Authority == 0 { // a letter about nothing
		return party.Signer{}, ErrNoAuthority
	}
	return signer, nil
}

// Officials returns who may sign in the role of an official on a day, holders before their stand-ins: those with
// authority for every material.
func (a Agreement) Officials(role string, day exchange.Date) (people []party.Person) {
	side, direction := a.side(role)
	if !party.IsOfficial(role) {
		return nil
	}
	for n, act := range a.Acts {
		act.Direction = direction
		var able []party.Person
		for _, s := range side.Register.MaySign(act, day) {
			same := func(p party.Person) bool { return p.Same(s.Person) }
			if (n == 0 || slices.ContainsFunc(people, same)) && !slices.ContainsFunc(able, same) {
				able = append(able, s.Person)
			}
		}
		people = able
	}
	return people
}

// LeastLevel returns the higher of the levels that the instrument and the institution of a role ask for.
func (a Agreement) LeastLevel(role string) party.Level {
	side, _ := a.side(role)
	level := party.Level(a.Instrument.LeastLevel)
	if own := side.Institution.LeastLevel; own.Reaches(level) {
		return own
	}
	return level
}

func (a Agreement) signed(role string) bool {
	return slices.ContainsFunc(a.Signatures, func(s Signature) bool {
		return s.Role == role && s.Document == a.Document
	})
}

// Unsigned returns the roles that have not signed this version. Signatures of earlier ones do not count.
func (a Agreement) Unsigned() (roles []string) {
	for _, role := range a.Instrument.Signers {
		if !a.signed(role) {
			roles = append(roles, role)
		}
	}
	return roles
}
