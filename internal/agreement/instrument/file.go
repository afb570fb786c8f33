package instrument

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"aliquot/internal/exchange"
)

// MaxFile is how many bytes the file of an instrument has at most.
const MaxFile = 512 << 10

// Installed is an instrument that an operator installed.
type Installed struct {
	Instrument
	File []byte // as it was installed
	By   string // name of the operator
	At   time.Time
}

// Parse reads the file of an instrument to install, which has its text, and checks it by itself. The error is one
// InvalidInput that names the fields.
func Parse(file []byte) (Instrument, error) {
	var i Instrument
	var f exchange.FieldErrors
	decoder := json.NewDecoder(bytes.NewReader(file))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&i); {
	case len(file) > MaxFile:
		f.Add("file", "must be at most %d bytes", MaxFile)
	case !utf8.Valid(file):
		f.Add("file", "must be UTF-8 text")
	case err != nil:
		f.Add("file", "must be one instrument as JSON: %v", err)
	case !errors.Is(decoder.Decode(new(any)), io.EOF):
		f.Add("file", "must be one instrument as JSON: something follows it")
	default:
		f = i.faults()
		must(&f, "template", i.Template != "", "is required")
	}
	return i, f.Err()
}

// With returns the instruments of a box and those that were installed, by id and first day. An installed one takes
// the place of the one with its id and version, and of one in its family that has no text. One without a last day holds
// until the first day of the next in its family.
func With(box, installed []Instrument) []Instrument {
	list := slices.DeleteFunc(slices.Clone(box), func(b Instrument) bool {
		return slices.ContainsFunc(installed, func(i Instrument) bool {
			return b.same(i) || b.Template == "" && b.Family == i.Family
		})
	})
	list = append(list, installed...)
	slices.SortStableFunc(list, func(a, b Instrument) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.From, b.From))
	})
	for n := range list {
		i := &list[n]
		if i.Until != "" {
			continue
		}
		for _, next := range list {
			if next.Family == i.Family && next.From > i.From && (i.Until == "" || next.From < i.Until) {
				i.Until = next.From
			}
		}
	}
	return list
}

// WithBox returns the library of the box and of what was installed.
func WithBox(installed []Installed) (*Library, error) {
	box, err := Box()
	if err != nil {
		return nil, err
	}
	list := make([]Instrument, len(installed))
	for n, i := range installed {
		list[n] = i.Instrument
	}
	return NewLibrary(With(box, list))
}

func (i Instrument) same(other Instrument) bool {
	return i.ID == other.ID && i.Version == other.Version
}

// Add checks whether an instrument may be installed on a day beside those of a library: no other text has its id and
// version, and it ends none that has been in force.
func (l *Library) Add(i Instrument, day exchange.Date) error {
	var f exchange.FieldErrors
	for _, other := range l.instruments {
		switch {
		case other.Template == "":
		case i.same(other):
			f.Add("version", "%s of %s has another text already; a change is a new version", i.Version, i.ID)
		case other.Family == i.Family && other.InForce(i.From):
			must(&f, "from", i.From >= day, "must be %s or later: %s, version %s, is in force until then", day,
				other.ID, other.Version)
		}
	}
	return f.Err()
}
