package rest

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"aliquot/internal/api/jsonschema"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// filter is a field of a list's objects by which the list can be filtered.
type filter struct {
	name   string
	schema jsonschema.Object
	words  []string // its possible values; nil: any of its type
	read   func(*query, string) any
}

// amounts are numbers that are not ids, and copies are objects that are shown as they were at the time.
var (
	amounts = []string{"size", "version", "seq", "times", "tries", "failures", "last_status", "open_issues",
		"decide_days", "countersign_days", "ship_days", "recheck_days", "largest_bsl"}
	copies = []string{"address", "state", "waiting_on", "shipment"}
)

// filters returns those of a list: every flag, enumeration, id and date of its objects, except those that the query of
// the route has anyway.
func (r Route) filters() []filter {
	if r.Fields == nil {
		return nil
	}
	taken := []string{"limit", "cursor", "count", "ordering"}
	for f := range r.In.Fields() {
		taken = append(taken, f.Tag.Get("query"))
	}
	list := filtersOf(r.Out.Elem())
	if r.Path == "/material-requests" { // the lab that shares the material, which a request does not show
		list = append(list, filter{name: "organization", schema: jsonschema.IDSchema, read: (*query).reference})
	}
	list = slices.DeleteFunc(list, func(f filter) bool { return slices.Contains(taken, f.name) })
	slices.SortFunc(list, func(a, b filter) int { return strings.Compare(a.name, b.name) })
	return list
}

// filtersOf returns the filters for the fields of an object.
func filtersOf(item reflect.Type) (list []filter) {
	of := jsonschema.Shown(item)
	for f := range shape.LayoutOf(item).Fields() {
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
			if field, ok := shape.LayoutOf(t).FieldByName("ID"); ok {
				id = field.Type
			}
		}
		words := jsonschema.WordsOf(name, t, of)
		switch {
		case words != nil:
			one.words, one.schema = words, jsonschema.Enum(words...)
		case t.Kind() == reflect.Bool:
			one.schema, one.read = jsonschema.Object{"type": "boolean"}, (*query).flag
		case id == reflect.TypeFor[uuid.UUID]():
			one.schema, one.read = jsonschema.Object{"type": "string", "format": "uuid"}, (*query).person
		case t == reflect.TypeFor[exchange.Date]():
			one.schema, one.read = jsonschema.Scalars[t], (*query).day
		case id.Kind() == reflect.Int64:
			one.schema, one.read = jsonschema.IDSchema, (*query).reference
		default:
			continue
		}
		list = append(list, one)
	}
	return list
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
