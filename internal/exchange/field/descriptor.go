// Package field describes the fields of objects, each as one row of a table, so that no other place names them all.
package field

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"

	"github.com/google/uuid"
)

// Descriptor describes one field of the objects of type T. Columns and arguments of SQL, validation, history, answers
// and their documentation, spreadsheets, forms, pages, search, filters and linked data are all made of it.
type Descriptor[T any] struct {
	Name   string       // of its column, in bodies, forms, spreadsheets and errors
	Column string       // its column; if it is left out, Name
	Shown  string       // its name in answers; if it is left out, Name
	At     func(*T) any // a pointer to its value; the type is one of those of NewSlot, or only answers have it: nil
	Doc    string       // what it means, for the documentation of the API; if it is left out, Help

	// What may be written.
	ReadOnly bool // nobody sends it
	Hidden   bool // nobody sees it either
	Stays    bool // it stays as it is when an older version is restored
	Apart    bool // Create and Patch check and set it by rules of their own
	// characters of a line; 0: a text of any number of lines, up to exchange.LongLength characters
	Max      int
	Needed   bool   // a text that may not be empty
	OrNobody bool   // the id of a user, which is null where it is uuid.Nil
	From, To int    // bounds of a number
	Unit     string // of a number, in the plural
	// checks and sets it, if its type does not say how
	Set       func(f *exchange.FieldErrors, slot any, o *T)
	Canonical func(string) (string, error)
	Format    string   // of a text with a canonical form, for the documentation
	Examples  []string // the same

	// In spreadsheets and forms.
	Label        string
	Help         string
	Example      string
	Sheet        int      // its place among the columns of a spreadsheet; 0: it has none
	Also         []string // other headers that mean it
	Values       []string // the only values, if it is not a flag
	Keeps        bool     // an empty cell keeps the value; in other columns it clears it
	Number       bool     // spreadsheets may write it as 7.0
	Read         func(cell string, slot any) error
	Section      string // of the form and of the page, which show it after the fields that they place themselves
	HistoryLabel string // what a history calls it; if it is left out, Label in lower case

	// In search and in linked data.
	Found  *fulltext.Weight // how much a match in it counts; nil: search does not look at it alone
	Facet  string           // its label as a filter; "": it is none
	Linked string           // a property of schema.org; "additionalProperty": it is among the characteristics
}

// ShownName returns the name of the field in answers.
func (d Descriptor[T]) ShownName() string { return cmp.Or(d.Shown, d.Name) }

// ColumnName returns the name of its column.
func (d Descriptor[T]) ColumnName() string { return cmp.Or(d.Column, d.Name) }

// Text returns the value of the field in o as a cell of a spreadsheet shows it.
func (d Descriptor[T]) Text(o *T) string {
	if d.At == nil {
		return ""
	}
	switch at := d.At(o).(type) {
	case *string:
		return *at
	case **string:
		if *at != nil {
			return **at
		}
	case *bool:
		return strconv.FormatBool(*at)
	case *int:
		return strconv.Itoa(*at)
	case *int64:
		return strconv.FormatInt(*at, 10)
	case **int64:
		if *at != nil {
			return strconv.FormatInt(**at, 10)
		}
	case *exchange.Date:
		return string(*at)
	case **exchange.Date:
		if *at != nil {
			return string(**at)
		}
	case *[]string:
		return JoinItems(*at)
	case *[]int64:
		var ids []string
		for _, id := range *at {
			ids = append(ids, strconv.FormatInt(id, 10))
		}
		return JoinItems(ids)
	case *uuid.UUID:
		return at.String()
	}
	return ""
}

// Amount returns the value of the field in o as a sentence has it: a number with its unit.
func (d Descriptor[T]) Amount(o *T) string {
	switch text := d.Text(o); {
	case d.Unit == "":
		return text
	case text == "1":
		return text + " " + strings.TrimSuffix(d.Unit, "s")
	default:
		return text + " " + d.Unit
	}
}

// NewSlot returns what holds the field in a body: a pointer to an Opt, or to a Null if null clears it; nil if bodies do
// not have it.
func (d Descriptor[T]) NewSlot() any {
	if d.ReadOnly || d.At == nil {
		return nil
	}
	switch d.At(new(T)).(type) {
	case *string:
		return new(exchange.Opt[string])
	case **string:
		return new(exchange.Null[string])
	case *bool:
		return new(exchange.Opt[bool])
	case *int:
		return new(exchange.Opt[int])
	case *int64:
		return new(exchange.Opt[exchange.Ref])
	case **int64:
		return new(exchange.Null[exchange.Ref])
	case *exchange.Date, **exchange.Date:
		return new(exchange.Null[exchange.Date])
	case *[]string:
		return new(exchange.Null[exchange.Names])
	case *[]int64:
		return new(exchange.Null[exchange.IDs])
	case *uuid.UUID:
		return new(exchange.Opt[exchange.UserRef])
	case *json.RawMessage:
		return new(exchange.Opt[json.RawMessage])
	}
	return nil
}

// Apply checks the value that a body has for the field, and sets it in o.
func (d Descriptor[T]) Apply(f *exchange.FieldErrors, slot any, o *T) {
	if d.Set != nil {
		d.Set(f, slot, o)
		return
	}
	switch at := d.At(o).(type) {
	case *string:
		said := *slot.(*exchange.Opt[string])
		switch {
		case d.Canonical != nil:
			f.Rule(d.Name, exchange.Rule{Format: d.Format, Examples: d.Examples})
			f.Canonical(d.Name, said, d.Canonical, at)
		case d.Max > 0:
			f.Line(d.Name, said, d.Max, at)
		default:
			f.Long(d.Name, said, at)
		}
	case **string:
		said := *slot.(*exchange.Null[string])
		switch {
		case d.Canonical != nil:
			f.Rule(d.Name, exchange.Rule{Format: d.Format, Examples: d.Examples})
			if said.Set && said.Value != nil {
				*at = new("")
				f.Canonical(d.Name, exchange.Some(*said.Value), d.Canonical, *at)
			} else {
				*at = said.Or(*at)
			}
		case d.Max > 0:
			f.NullLine(d.Name, said, d.Max, at)
		default:
			f.NullLong(d.Name, said, at)
		}
	case *bool:
		*at = slot.(*exchange.Opt[bool]).Or(*at)
	case *int:
		d.applyNumber(f, *slot.(*exchange.Opt[int]), at)
	case *int64:
		*at = int64(slot.(*exchange.Opt[exchange.Ref]).Or(exchange.Ref(*at)))
	case **int64:
		*at = exchange.RefID(*slot.(*exchange.Null[exchange.Ref]), *at)
	case *exchange.Date: // "" is null
		if said := *slot.(*exchange.Null[exchange.Date]); said.Set && said.Value == nil {
			*at = ""
		} else if said.Set {
			*at = *said.Value
		}
	case **exchange.Date:
		*at = slot.(*exchange.Null[exchange.Date]).Or(*at)
	case *[]int64:
		d.applyIDs(f, *slot.(*exchange.Null[exchange.IDs]), at)
	case *uuid.UUID:
		*at = uuid.UUID(slot.(*exchange.Opt[exchange.UserRef]).Or(exchange.UserRef(*at)))
	}
}

// maxIDs is how many ids a list of them may have.
const maxIDs = 100

// applyIDs sets a list of ids, each once.
func (d Descriptor[T]) applyIDs(f *exchange.FieldErrors, said exchange.Null[exchange.IDs], at *[]int64) {
	f.Rule(d.Name, exchange.Rule{Max: maxIDs})
	if !said.Set {
		return
	}
	*at = []int64{}
	if said.Value != nil {
		for _, id := range *said.Value {
			if !slices.Contains(*at, id) {
				*at = append(*at, id)
			}
		}
	}
	if len(*at) > maxIDs {
		f.Add(d.Name, "must be at most %d", maxIDs)
	}
}

// applyNumber sets a number from From to To.
func (d Descriptor[T]) applyNumber(f *exchange.FieldErrors, said exchange.Opt[int], at *int) {
	f.Rule(d.Name, exchange.Rule{From: d.From, To: d.To})
	if !said.Set {
		return
	}
	if said.Value < d.From || said.Value > d.To {
		f.Add(d.Name, "must be a number of %s from %d to %d", d.Unit, d.From, d.To)
		return
	}
	*at = said.Value
}

// Send makes a body say what o has.
func (d Descriptor[T]) Send(o *T, slot any) {
	switch at := d.At(o).(type) {
	case *string:
		*slot.(*exchange.Opt[string]) = exchange.Some(*at)
	case **string:
		*slot.(*exchange.Null[string]) = exchange.Null[string]{Set: true, Value: *at}
	case *bool:
		*slot.(*exchange.Opt[bool]) = exchange.Some(*at)
	case *int:
		*slot.(*exchange.Opt[int]) = exchange.Some(*at)
	case *int64:
		*slot.(*exchange.Opt[exchange.Ref]) = exchange.Some(exchange.Ref(*at))
	case **int64:
		*slot.(*exchange.Null[exchange.Ref]) = exchange.Null[exchange.Ref]{Set: true, Value: (*exchange.Ref)(*at)}
	case *exchange.Date:
		said := exchange.Cleared[exchange.Date]()
		if *at != "" {
			said.Value = at
		}
		*slot.(*exchange.Null[exchange.Date]) = said
	case **exchange.Date:
		*slot.(*exchange.Null[exchange.Date]) = exchange.Null[exchange.Date]{Set: true, Value: *at}
	case *[]string:
		if *slot.(*exchange.Null[exchange.Names]) = exchange.Cleared[exchange.Names](); *at != nil {
			*slot.(*exchange.Null[exchange.Names]) = exchange.NullOf(exchange.Names(*at))
		}
	case *[]int64:
		if *slot.(*exchange.Null[exchange.IDs]) = exchange.Cleared[exchange.IDs](); *at != nil {
			*slot.(*exchange.Null[exchange.IDs]) = exchange.NullOf(exchange.IDs(*at))
		}
	case *uuid.UUID:
		*slot.(*exchange.Opt[exchange.UserRef]) = exchange.Some(exchange.UserRef(*at))
	case *json.RawMessage:
		*slot.(*exchange.Opt[json.RawMessage]) = exchange.Some(slices.Clone(*at))
	}
}

// IsFlag reports whether the field is true or false.
func (d Descriptor[T]) IsFlag() bool {
	if d.At == nil {
		return false
	}
	_, flag := d.At(new(T)).(*bool)
	return flag
}

// Rows returns how many rows the field has in a form; 0: it is one line.
func (d Descriptor[T]) Rows() int {
	if d.Max == 0 && d.Canonical == nil {
		switch d.At(new(T)).(type) {
		case *string, **string:
			return 2
		}
	}
	return 0
}

// InputType returns the type of its input in a form; "": text.
func (d Descriptor[T]) InputType() string {
	switch d.At(new(T)).(type) {
	case *exchange.Date, **exchange.Date:
		return "date"
	}
	if d.IsNumber() {
		return "number"
	}
	if d.IsFlag() {
		return "checkbox"
	}
	return ""
}

// IsNumber reports whether the field is a number that is no id.
func (d Descriptor[T]) IsNumber() bool {
	if d.At == nil {
		return false
	}
	_, number := d.At(new(T)).(*int)
	return number
}

// In returns the fields of a table that a form shows at the end of a section.
func In[T any](table []Descriptor[T], section string) (list []Descriptor[T]) {
	for _, d := range table {
		if d.Section == section {
			list = append(list, d)
		}
	}
	return list
}

// Fact is a field as a page shows it.
type Fact struct {
	Label, Text string
	Long        bool
}

// Facts returns the fields of o that have a section and a value.
func Facts[T any](table []Descriptor[T], o *T) (list []Fact) {
	for _, d := range table {
		if d.Section == "" || d.Text(o) == "" {
			continue
		}
		text := d.Text(o)
		if d.IsFlag() {
			text = map[string]string{"true": "Yes", "false": "No"}[text]
		}
		list = append(list, Fact{d.Label, text, d.Rows() > 0})
	}
	return list
}
