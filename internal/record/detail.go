package record

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Mark tells what the value of a field is.
type Mark byte

// The marks of fields.
const (
	Clear     Mark = '=' // the value itself: a name, a number, a word, a hash
	Committed Mark = '#' // a commitment to personal or free text, see Opening
	Null      Mark = '-' // there is no value
)

// Field is one field of an event's detail. A name that begins with SetPrefix says that the object's field of the rest
// of the name has the value from this event on.
type Field struct {
	Name  string // a to z, 0 to 9, "_" and "."; at most 100 bytes
	Mark  Mark
	Value string
}

// SetPrefix begins the names of the fields that change the state of the object.
const SetPrefix = "set."

// StateField is the name of the field with the digest of the object's state after an event, see State.Digest.
const StateField = "state"

// Detail is the fields of an event or of a state, in ascending order of their names.
type Detail []Field

// MaxDetail is the most bytes that a detail may have.
const MaxDetail = 1 << 20

func tooLong(n int) error { return fmt.Errorf("a detail of %d bytes; at most %d", n, MaxDetail) }

// String returns the canonical text: for every field, its name as a part, then its mark and value as a part.
func (d Detail) String() string {
	b := make([]byte, 0, 64*len(d))
	for _, f := range d {
		b = appendPart(b, f.Name)
		b = appendPart(b, string(rune(f.Mark))+f.Value)
	}
	return string(b)
}

// ParseDetail is the reverse of Detail.String. Any text that Detail.String would not return is an error that names the
// field.
func ParseDetail(text string) (Detail, error) {
	if len(text) > MaxDetail {
		return nil, tooLong(len(text))
	}
	var d Detail
	for rest := text; rest != ""; {
		var name, value string
		var err error
		if name, rest, err = cutPart(rest); err == nil {
			value, rest, err = cutPart(rest)
		}
		if err != nil {
			return nil, fmt.Errorf("detail, field %d: %w", len(d)+1, err)
		}
		if value == "" {
			return nil, fmt.Errorf("detail, field %q: no mark", name)
		}
		d = append(d, Field{name, Mark(value[0]), value[1:]})
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	return d, nil
}

// check returns what is wrong with a field.
func (d Detail) check() error {
	for i, f := range d {
		if err := f.check(); err != nil {
			return fmt.Errorf("detail, field %q: %w", f.Name, err)
		}
		if i > 0 && d[i-1].Name >= f.Name {
			return fmt.Errorf("detail, field %q: not in order", f.Name)
		}
	}
	return nil
}

func (f Field) check() error {
	switch {
	case f.Name == "" || len(f.Name) > maxName || !consistsOf(f.Name, "abcdefghijklmnopqrstuvwxyz0123456789_."):
		return errors.New("not a name")
	case f.Mark == Clear && utf8.ValidString(f.Value), f.Mark == Null && f.Value == "",
		f.Mark == Committed && isHash(f.Value):
		return nil
	}
	return errors.New("not a value of its mark")
}

const maxName = 100

// isHash reports whether s is a SHA-256 in hex.
func isHash(s string) bool { return len(s) == hashLetters && consistsOf(s, "0123456789abcdef") }

// consistsOf reports whether every byte of s is one of some. Every change of an object asks this of all of its fields,
// so it is no pattern.
func consistsOf(s, some string) bool {
	for i := range len(s) {
		if strings.IndexByte(some, s[i]) < 0 {
			return false
		}
	}
	return true
}

// Get returns the field of a name, and whether there is one.
func (d Detail) Get(name string) (Field, bool) {
	i, ok := slices.BinarySearchFunc(d, name, func(f Field, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return Field{}, false
	}
	return d[i], true
}

// with returns d with a field added or replaced.
func (d Detail) with(f Field) Detail {
	i, ok := slices.BinarySearchFunc(d, f.Name, func(f Field, name string) int { return strings.Compare(f.Name, name) })
	if ok {
		d[i] = f
		return d
	}
	return slices.Insert(d, i, f)
}

// Draft is the detail of an event that is being written, with what opens its commitments.
type Draft struct {
	Detail   Detail
	Openings map[string]Opening // by field
}

// Clone returns a copy that can be changed on its own.
func (d Draft) Clone() Draft { return Draft{slices.Clone(d.Detail), maps.Clone(d.Openings)} }

// Set gives a field a value in clear. It must not be personal: it can never be erased.
func (d *Draft) Set(name, value string) { d.Detail = d.Detail.with(Field{name, Clear, value}) }

// SetNull says that a field has no value.
func (d *Draft) SetNull(name string) { d.Detail = d.Detail.with(Field{name, Null, ""}) }

// Commit gives a field a commitment to a personal or free text, which can be erased.
func (d *Draft) Commit(name, text string) {
	o := NewOpening(text)
	if d.Openings == nil {
		d.Openings = map[string]Opening{}
	}
	d.Openings[name] = o
	d.Detail = d.Detail.with(Field{name, Committed, o.Commitment()})
}

// Apply gives the state after this event, which it notes in the detail, and reports what is wrong with a field. Whoever
// seals the event calls it last.
func (d *Draft) Apply(before State) (State, error) {
	after := before.Apply(d.Detail)
	d.Set(StateField, after.Digest())
	if n := len(d.Detail.String()); n > MaxDetail {
		return after, tooLong(n)
	}
	return after, d.Detail.check()
}
