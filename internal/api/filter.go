package api

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// filter is a field of a list's objects by which the list can be filtered.
type filter struct {
	name   string
	schema object
	words  []string // its possible values; nil: any of its type
	read   func(*query, string) any
}

// amounts are numbers that are not ids, and copies are objects that are shown as they were at the time.
var (
	amounts = []string{"size", "version", "seq", "times", "tries", "failures", "last_status", "open_issues",
		"decide_days", "countersign_days", "ship_days"}
	copies = []string{"address", "state", "waiting_on", "shipment"}
)

// filters returns those of a list: every flag, enumeration, id and date of its objects, except those that the query of
// the route has anyway.
func (r route) filters() []filter {
	if r.fields == nil {
		return nil
	}
	taken := []string{"limit", "cursor", "count", "ordering"}
	for f := range r.in.Fields() {
		taken = append(taken, f.Tag.Get("query"))
	}
	list := filtersOf(r.out.Elem())
	if r.path == "/material-requests" { // the lab that shares the material, which a request does not show
		list = append(list, filter{name: "organization", schema: idSchema, read: (*query).reference})
	}
	list = slices.DeleteFunc(list, func(f filter) bool { return slices.Contains(taken, f.name) })
	slices.SortFunc(list, func(a, b filter) int { return strings.Compare(a.name, b.name) })
	return list
}

var idSchema = object{"type": "integer", "format": "int64", "minimum": 1}

// filtersOf returns the filters for the fields of an object.
func filtersOf(item reflect.Type) (list []filter) {
	of := shown(item)
	for f := range layoutOf(item).Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		t := f.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if f.Anonymous {
			list = append(list, filtersOf(t)...)
			continue
		}
		list = slices.DeleteFunc(list, func(embedded filter) bool { return embedded.name == name })
		if slices.Contains(amounts, name) || slices.Contains(copies, name) {
			continue
		}
		one := filter{name: name}
		id, isObject := t, t.Kind() == reflect.Struct
		if isObject {
			if field, ok := layoutOf(t).FieldByName("ID"); ok {
				id = field.Type
			}
		}
		words := wordsOf(name, t, of)
		switch {
		case words != nil:
			one.words, one.schema = words, enum(words...)
		case t.Kind() == reflect.Bool:
			one.schema, one.read = object{"type": "boolean"}, (*query).flag
		case id == reflect.TypeFor[uuid.UUID]():
			one.schema, one.read = object{"type": "string", "format": "uuid"}, (*query).person
		case t == reflect.TypeFor[exchange.Date]():
			one.schema, one.read = scalars[t], (*query).day
		case id.Kind() == reflect.Int64:
			one.schema, one.read = idSchema, (*query).reference
		default:
			continue
		}
		list = append(list, one)
	}
	return list
}

// wordsOf returns the possible values of a field; nil if they are not limited.
func wordsOf(name string, t reflect.Type, of rules) (words []string) {
	if of[name].Words != nil {
		return of[name].Words
	}
	e, _ := enumOf(name, t)
	return e.words
}

// matches reads the filters of a list.
func (q *query) matches(filters []filter) (list []exchange.FieldEquals) {
	for _, f := range filters {
		if !q.values.Has(f.name) {
			continue
		}
		var value any
		if f.words == nil {
			value = f.read(q, f.name)
		} else if text := q.text(f.name); text != nil {
			if value = *text; !slices.Contains(f.words, *text) {
				q.faults.Add(f.name, "must be one of %s", strings.Join(f.words, ", "))
			}
		}
		list = append(list, exchange.FieldEquals{Field: f.name, Value: value})
	}
	return list
}

// The parsers of filter values. They record what is wrong with a value; the result is then not used.

func (q *query) flag(name string) any {
	if b := q.boolean(name); b != nil {
		return *b
	}
	return nil
}

func (q *query) person(name string) any {
	if id := q.user(name); id != nil {
		return *id
	}
	return nil
}

func (q *query) reference(name string) any {
	n := q.integer(name)
	if n != nil && *n > 0 {
		return *n
	}
	if n != nil {
		q.faults.Add(name, "must be an id: a positive integer")
	}
	return nil
}

func (q *query) day(name string) any {
	text := q.text(name)
	if text == nil {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, *text); err != nil {
		q.faults.Add(name, "must be a date as YYYY-MM-DD, such as 2026-03-12")
	}
	return *text
}
