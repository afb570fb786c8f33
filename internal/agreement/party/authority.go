package party

import (
	"cmp"
	"slices"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Direction is on which side of an agreement an authority is good for.
type Direction string

// The directions.
const (
	Provide Direction = "PROVIDE"
	Receive Direction = "RECEIVE"
	Both    Direction = "BOTH"
)

var directions = []string{string(Provide), string(Receive), string(Both)}

// Person is a user, or somebody without an account who is known by name, title and mail.
type Person struct {
	User  uuid.UUID // uuid.Nil: without an account
	Name  string
	Title string
	Mail  string
}

// Same reports whether both are the same person.
func (p Person) Same(other Person) bool {
	if p.User != uuid.Nil || other.User != uuid.Nil {
		return p.User == other.User
	}
	return p.Mail != "" && p.Mail == other.Mail
}

// Position is an office of an institution, such as "Director, Technology Transfer". Authority belongs to it.
type Position struct {
	ID          int64
	Institution int64
	Title       string
	Period
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Authority is what the holder of a position may sign. An empty list allows all.
type Authority struct {
	ID          int64
	Institution int64
	Position    int64
	Holder      Person
	Direction   Direction
	Families    []string // of instruments
	Categories  []string // of materials
	Human       bool     // whether it covers material of human origin
	LargestBSL  int
	Delegation  string // the document that delegates it
	Supersedes  *int64 // the authority that it replaces from its first day on
	Period
	CreatedAt time.Time
	UpdatedAt time.Time
}

// StandIn signs in the place of an authority's holder for a time. The record names both.
type StandIn struct {
	ID          int64
	Institution int64
	Authority   int64
	Person      Person
	Reason      string
	Period
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Act is what somebody would sign.
type Act struct {
	Direction Direction // Provide or Receive
	Family    string
	Category  string
	Human     bool
	BSL       int // 0: it has none
}

// Signer is who may sign, and by which authority. For is the holder whom a stand-in represents.
type Signer struct {
	Person    Person
	Position  Position
	Authority int64
	For       *Person
}

// Refusal is why somebody may not sign.
type Refusal string

// The refusals, from the one that is furthest from a right to the closest.
const (
	NoAuthority       Refusal = "NO_AUTHORITY"
	NotYet            Refusal = "NOT_YET"
	Ended             Refusal = "ENDED"
	Superseded        Refusal = "SUPERSEDED"
	PositionEnded     Refusal = "POSITION_ENDED"
	StandInLapsed     Refusal = "STAND_IN_LAPSED"
	WrongDirection    Refusal = "WRONG_DIRECTION"
	InstrumentOutside Refusal = "INSTRUMENT_OUTSIDE"
	CategoryOutside   Refusal = "CATEGORY_OUTSIDE"
	HumanOutside      Refusal = "HUMAN_OUTSIDE"
	BSLOutside        Refusal = "BSL_OUTSIDE"
)

var closeness = []Refusal{NoAuthority, NotYet, Ended, Superseded, PositionEnded, StandInLapsed, WrongDirection,
	InstrumentOutside, CategoryOutside, HumanOutside, BSLOutside}

// Register has the positions, authorities and stand-ins of an institution.
type Register struct {
	Positions   []Position
	Authorities []Authority
	StandIns    []StandIn
}

// MaySign returns who may sign the act on the day: holders before their stand-ins, otherwise by authority.
func (r Register) MaySign(act Act, day exchange.Date) []Signer {
	var signers []Signer
	for _, a := range r.Authorities {
		position, refusal := r.check(a, act, day)
		if refusal != "" {
			continue
		}
		signers = append(signers, Signer{Person: a.Holder, Position: position, Authority: a.ID})
		for _, s := range r.StandIns {
			if s.Authority == a.ID && s.Holds(day) {
				signers = append(signers, Signer{Person: s.Person, Position: position, Authority: a.ID, For: &a.Holder})
			}
		}
	}
	slices.SortStableFunc(signers, func(a, b Signer) int {
		if (a.For == nil) != (b.For == nil) {
			if a.For == nil {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Authority, b.Authority)
	})
	return signers
}

// Check returns by which authority the person may sign the act on the day, or why not: of several reasons, the one
// closest to a right. It is the one test of a signature; MaySign lists those who pass it.
func (r Register) Check(person Person, act Act, day exchange.Date) (Signer, Refusal) {
	for _, s := range r.MaySign(act, day) {
		if s.Person.Same(person) {
			return s, ""
		}
	}
	why := NoAuthority
	note := func(refusal Refusal) {
		if slices.Index(closeness, refusal) > slices.Index(closeness, why) {
			why = refusal
		}
	}
	for _, a := range r.Authorities {
		_, refusal := r.check(a, act, day)
		if a.Holder.Same(person) {
			note(refusal)
		}
		for _, s := range r.StandIns {
			if s.Authority != a.ID || !s.Person.Same(person) {
				continue
			}
			if s.Holds(day) {
				note(refusal)
			} else {
				note(StandInLapsed)
			}
		}
	}
	return Signer{}, why
}

// Held returns the authorities that a user holds on the day. Who holds one is an officer of the institution; a stand-in
// signs and is none.
func (r Register) Held(user uuid.UUID, day exchange.Date) (list []Authority) {
	for _, a := range r.Authorities {
		if user == uuid.Nil || a.Holder.User != user {
			continue
		}
		if _, refusal := r.inForce(a, day); refusal == "" {
			list = append(list, a)
		}
	}
	return list
}

// Officers returns the users who hold an authority on the day.
func (r Register) Officers(day exchange.Date) (list []uuid.UUID) {
	for _, a := range r.Authorities {
		if len(r.Held(a.Holder.User, day)) > 0 && !slices.Contains(list, a.Holder.User) {
			list = append(list, a.Holder.User)
		}
	}
	return list
}

// Offices returns the institutions for which a user may sign something on the day: as holder of an authority, or as a
// stand-in.
func (r Register) Offices(user uuid.UUID, day exchange.Date) (list []int64) {
	for _, a := range r.Authorities {
		stands := slices.ContainsFunc(r.StandIns, func(s StandIn) bool {
			return s.Authority == a.ID && s.Person.User == user && s.Holds(day)
		})
		_, refusal := r.inForce(a, day)
		if user != uuid.Nil && refusal == "" && (a.Holder.User == user || stands) &&
			!slices.Contains(list, a.Institution) {
			list = append(list, a.Institution)
		}
	}
	return list
}

// Seat is an institution for which somebody may sign something, and in which direction.
type Seat struct {
	Institution int64
	Direction   Direction
}

// Seats returns where a user may sign something on the day, like Offices, and in which direction, each once.
func (r Register) Seats(user uuid.UUID, day exchange.Date) (list []Seat) {
	for _, institution := range r.Offices(user, day) {
		own := r.Of(institution)
		for _, direction := range []Direction{Provide, Receive} {
			own.Authorities = slices.DeleteFunc(r.Of(institution).Authorities, func(a Authority) bool {
				return a.Direction != Both && a.Direction != direction
			})
			if len(own.Offices(user, day)) > 0 {
				list = append(list, Seat{institution, direction})
			}
		}
	}
	return list
}

// Of returns the register with the authorities of one institution alone.
func (r Register) Of(institution int64) Register {
	r.Authorities = slices.DeleteFunc(slices.Clone(r.Authorities), func(a Authority) bool {
		return a.Institution != institution
	})
	return r
}

// inForce returns the position of an authority that holds on the day, or why it does not.
func (r Register) inForce(a Authority, day exchange.Date) (Position, Refusal) {
	i := slices.IndexFunc(r.Positions, func(p Position) bool { return p.ID == a.Position })
	superseded := slices.ContainsFunc(r.Authorities, func(later Authority) bool {
		return later.Supersedes != nil && *later.Supersedes == a.ID && later.From <= day
	})
	switch {
	case day < a.From:
		return Position{}, NotYet
	case !a.Holds(day):
		return Position{}, Ended
	case superseded:
		return Position{}, Superseded
	case i < 0 || !r.Positions[i].Holds(day):
		return Position{}, PositionEnded
	}
	return r.Positions[i], ""
}

// check returns why the authority does not cover the act on the day, or nothing.
func (r Register) check(a Authority, act Act, day exchange.Date) (Position, Refusal) {
	position, refusal := r.inForce(a, day)
	switch {
	case refusal != "":
		return position, refusal
	case a.Direction != Both && a.Direction != act.Direction:
		return Position{}, WrongDirection
	case !allows(a.Families, act.Family):
		return Position{}, InstrumentOutside
	case !allows(a.Categories, act.Category):
		return Position{}, CategoryOutside
	case act.Human && !a.Human:
		return Position{}, HumanOutside
	case act.BSL > a.LargestBSL:
		return Position{}, BSLOutside
	}
	return position, ""
}

// Includes reports whether the authority covers all that another does, whatever days they hold.
func (a Authority) Includes(other Authority) bool {
	return (a.Direction == Both || a.Direction == other.Direction) &&
		Includes(a.Families, other.Families) && Includes(a.Categories, other.Categories) &&
		(a.Human || !other.Human) && other.LargestBSL <= a.LargestBSL
}

// Includes reports whether a limit allows all that another does; an empty one allows everything.
func Includes[T comparable](limit, other []T) bool {
	return len(limit) == 0 ||
		len(other) > 0 && !slices.ContainsFunc(other, func(o T) bool { return !slices.Contains(limit, o) })
}

// MayGrant reports whether the holder of an authority may grant another: only within what they may sign themselves,
// and not beyond its last day.
func (a Authority) MayGrant(other Authority) bool {
	return a.Includes(other) && other.From >= a.From &&
		(a.Until == "" || other.Until != "" && other.Until <= a.Until)
}

func allows(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
