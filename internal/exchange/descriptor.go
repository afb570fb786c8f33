package exchange

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange/fulltext"

	"github.com/google/uuid"
)

// Descriptor describes one field of the objects of type T. Columns and arguments of SQL, validation, history, answers and
// their documentation, spreadsheets, forms, pages, search, filters and linked data are all made of it.
type Descriptor[T any] struct {
	Name  string       // of its column, in bodies, forms, spreadsheets and errors
	Shown string       // its name in answers; if it is left out, Name
	At    func(*T) any // a pointer to its value; the type is one of those of newSlot, or only answers have it: nil
	Doc   string       // what it means, for the documentation of the API; if it is left out, Help

	// What may be written, and by whom.
	ReadOnly  bool   // nobody sends it
	Hidden    bool   // nobody sees it either
	Right     Action // what else somebody needs the right to who changes it; a restored version keeps it
	Apart     bool   // Create and Patch check and set it by rules of their own
	Most      int    // characters of a line; 0: a text of any number of lines, up to longLength characters
	Canonical func(string) (string, error)
	Format    string   // of a text with a canonical form, for the documentation
	Examples  []string // the same

	// In spreadsheets and forms.
	Label   string
	Help    string
	Example string
	Sheet   int      // its place among the columns of a spreadsheet; 0: it has none
	Also    []string // other headers that mean it
	Values  []string // the only values, if it is not a flag
	Keeps   bool     // an empty cell keeps the value; in other columns it clears it
	Number  bool     // spreadsheets may write it as 7.0
	Read    func(cell string, slot any) error
	Section string // of the form and of the page, which show it after the fields that they place themselves

	// In search and in linked data.
	Found  *fulltext.Weight // how much a match in it counts; nil: search does not look at it alone
	Facet  string           // its label as a filter; "": it is none
	Linked string           // a property of schema.org; "additionalProperty": it is among the characteristics
}

// ShownName returns the name of the field in answers.
func (d Descriptor[T]) ShownName() string {
	if d.Shown != "" {
		return d.Shown
	}
	return d.Name
}

// Stored reports whether the field has a column of its own.
func (d Descriptor[T]) Stored() bool { return d.At != nil }

// Text returns the value of the field in o as a cell of a spreadsheet shows it.
func (d Descriptor[T]) Text(o *T) string {
	switch at := d.At(o).(type) {
	case *string:
		return *at
	case **string:
		return orEmpty(*at)
	case *bool:
		return strconv.FormatBool(*at)
	case *int64:
		return strconv.FormatInt(*at, 10)
	case **int64:
		if *at != nil {
			return strconv.FormatInt(**at, 10)
		}
	case **Date:
		return string(deref(*at))
	case *[]string:
		return joinItems(*at)
	case *uuid.UUID:
		return at.String()
	}
	return ""
}

// values returns the values of a field that has several.
func (d Descriptor[T]) values(o *T) (list []string, several bool) {
	if d.At == nil {
		return nil, false
	}
	if at, several := d.At(o).(*[]string); several {
		return *at, true
	}
	return nil, false
}

// newSlot returns what holds the field in a body: a pointer to an Opt, or to a Null if null clears it; nil if bodies do
// not have it.
func (d Descriptor[T]) newSlot() any {
	if d.ReadOnly || d.At == nil {
		return nil
	}
	switch d.At(new(T)).(type) {
	case *string:
		return new(Opt[string])
	case **string:
		return new(Null[string])
	case *bool:
		return new(Opt[bool])
	case *int64:
		return new(Opt[Ref])
	case **int64:
		return new(Null[Ref])
	case **Date:
		return new(Null[Date])
	case *[]string:
		return new(Null[Names])
	case *uuid.UUID:
		return new(Opt[UserRef])
	case *json.RawMessage:
		return new(Opt[json.RawMessage])
	}
	return nil
}

// apply checks what a body says of the field, and sets it in o.
func (d Descriptor[T]) apply(f *FieldErrors, slot any, o *T) {
	switch at := d.At(o).(type) {
	case *string:
		said := *slot.(*Opt[string])
		switch {
		case d.Canonical != nil:
			f.rule(d.Name, Rule{Format: d.Format, Examples: d.Examples})
			f.canonical(d.Name, said, d.Canonical, at)
		case d.Most > 0:
			f.line(d.Name, said, d.Most, at)
		default:
			f.long(d.Name, said, at)
		}
	case **string:
		said := *slot.(*Null[string])
		switch {
		case d.Canonical != nil:
			f.rule(d.Name, Rule{Format: d.Format, Examples: d.Examples})
			if said.Set && said.Value != nil {
				*at = new("")
				f.canonical(d.Name, Some(*said.Value), d.Canonical, *at)
			} else {
				*at = said.Or(*at)
			}
		case d.Most > 0:
			f.nullLine(d.Name, said, d.Most, at)
		default:
			f.nullLong(d.Name, said, at)
		}
	case *bool:
		*at = slot.(*Opt[bool]).Or(*at)
	case *int64:
		*at = int64(slot.(*Opt[Ref]).Or(Ref(*at)))
	case **int64:
		*at = refID(*slot.(*Null[Ref]), *at)
	case **Date:
		*at = slot.(*Null[Date]).Or(*at)
	case *[]string:
		f.organisms(*slot.(*Null[Names]), at)
	case *uuid.UUID:
		*at = uuid.UUID(slot.(*Opt[UserRef]).Or(UserRef(*at)))
	}
}

// send makes a body say what o has.
func (d Descriptor[T]) send(o *T, slot any) {
	switch at := d.At(o).(type) {
	case *string:
		*slot.(*Opt[string]) = Some(*at)
	case **string:
		*slot.(*Null[string]) = Null[string]{true, *at}
	case *bool:
		*slot.(*Opt[bool]) = Some(*at)
	case *int64:
		*slot.(*Opt[Ref]) = Some(Ref(*at))
	case **int64:
		*slot.(*Null[Ref]) = Null[Ref]{true, (*Ref)(*at)}
	case **Date:
		*slot.(*Null[Date]) = Null[Date]{true, *at}
	case *[]string:
		if *slot.(*Null[Names]) = Cleared[Names](); *at != nil {
			*slot.(*Null[Names]) = NullOf(Names(*at))
		}
	case *uuid.UUID:
		*slot.(*Opt[UserRef]) = Some(UserRef(*at))
	case *json.RawMessage:
		*slot.(*Opt[json.RawMessage]) = Some(slices.Clone(*at))
	}
}

// readCell makes a body say what a cell of a spreadsheet says.
func (d Descriptor[T]) readCell(cell string, slot any) error {
	if d.Number {
		cell = whole(cell)
	}
	if d.Read != nil {
		return d.Read(cell, slot)
	}
	switch slot := slot.(type) {
	case *Opt[string]:
		*slot = Some(cell)
	case *Null[string]:
		if *slot = Cleared[string](); cell != "" {
			*slot = NullOf(cell)
		}
	case *Opt[bool]:
		value, known := parseBool(cell)
		if !known {
			return errors.New("must be true or false")
		}
		*slot = Some(value)
	case *Null[Ref]:
		return fromCell(whole(cell), slot)
	case *Null[Date]:
		return fromCell(isoDate(cell), slot)
	case *Null[Names]:
		if *slot = Cleared[Names](); cell != "" {
			*slot = NullOf(Names(splitItems(cell)))
		}
	}
	return nil
}

// IsFlag reports whether the field is true or false.
func (d Descriptor[T]) IsFlag() bool {
	if d.At == nil {
		return false
	}
	_, flag := d.At(new(T)).(*bool)
	return flag
}

// Rows returns how many rows a form gives the field; 0: it is one line.
func (d Descriptor[T]) Rows() int {
	if _, text := d.At(new(T)).(**string); text && d.Most == 0 && d.Canonical == nil {
		return 2
	}
	return 0
}

// InputType returns the type of its input in a form; "": text.
func (d Descriptor[T]) InputType() string {
	if _, date := d.At(new(T)).(**Date); date {
		return "date"
	}
	return ""
}

// facet returns the filter that the field is.
func (d Descriptor[T]) facet() FacetName {
	_, id := d.At(new(T)).(*int64)
	return FacetName{Name: d.ShownName(), Label: d.Facet, Values: d.Values, Flag: d.IsFlag(), IDs: id}
}

// bodyField returns the field of a struct that describes bodies.
func (d Descriptor[T]) bodyField(slot any) reflect.StructField {
	return reflect.StructField{Name: strings.ToUpper(d.Name), Type: reflect.TypeOf(slot).Elem(),
		Tag: reflect.StructTag(`json:"` + d.Name + `"`)}
}
