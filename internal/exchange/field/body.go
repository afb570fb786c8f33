package field

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"aliquot/internal/exchange"
)

// Body is a pointer to a struct that a body is decoded into: the value of a field, its slot, is in the member
// whose JSON name is the field's. The fields of a table that the struct has no member for are in Others. Functions that
// take any also take a pointer to a struct that has a member for each field.
type Body interface {
	Others() map[string]any
}

// Others returns slots for the fields of a table that a body of type B has no member for, by their names.
func Others[B, T any](table []Descriptor[T]) map[string]any {
	slots := map[string]any{}
	own := membersOf(reflect.TypeFor[B]())
	for i := range table {
		if d := &table[i]; own[d.Name] == nil {
			if slot := d.NewSlot(); slot != nil {
				slots[d.Name] = slot
			}
		}
	}
	return slots
}

var memberCache sync.Map // of membersOf, by the type

// membersOf returns the indexes of the members of a body, by their JSON names.
func membersOf(body reflect.Type) map[string][]int {
	if known, found := memberCache.Load(body); found {
		return known.(map[string][]int)
	}
	indexes := map[string][]int{}
	for f := range body.Fields() {
		if name := f.Tag.Get("json"); name != "" {
			indexes[name] = f.Index
		}
	}
	memberCache.Store(body, indexes)
	return indexes
}

// Slot returns where a body has the field: a pointer to an Opt or a Null; nil if bodies do not have it.
func (d Descriptor[T]) Slot(body any) any {
	v := reflect.ValueOf(body).Elem()
	if index := membersOf(v.Type())[d.Name]; index != nil {
		return v.FieldByIndex(index).Addr().Interface()
	}
	if b, ok := body.(Body); ok {
		return b.Others()[d.Name]
	}
	return nil
}

// Apply checks the values that a body has for the fields of a table, and sets them in o; not those that are Apart.
func Apply[T any](f *exchange.FieldErrors, table []Descriptor[T], body any, o *T) {
	for i := range table {
		if d := &table[i]; !d.ReadOnly && !d.Apart && d.At != nil {
			if slot := d.Slot(body); slot != nil {
				d.Apply(f, slot, o)
				if d.Needed {
					f.Need(d.Name, d.Text(o))
				}
			}
		}
	}
}

// BodyType returns a struct with all fields of a body of type B, for the API document.
func BodyType[B, T any](table []Descriptor[T]) reflect.Type {
	var fields []reflect.StructField
	for f := range reflect.TypeFor[B]().Fields() {
		if f.IsExported() {
			f.Index, f.Offset = nil, 0
			fields = append(fields, f)
		}
	}
	others := Others[B](table)
	for _, d := range table {
		if slot := others[d.Name]; slot != nil {
			fields = append(fields, reflect.StructField{Name: strings.ToUpper(d.Name),
				Type: reflect.TypeOf(slot).Elem(), Tag: reflect.StructTag(`json:"` + d.Name + `"`)})
		}
	}
	return reflect.StructOf(fields)
}

// ReadForm sets in a body the values of a form for the fields of a table that have a Label: a flag is set where the
// form has it, and what is no number is 0.
func ReadForm[T any](table []Descriptor[T], form url.Values, body any) error {
	for i := range table {
		d := &table[i]
		if d.Label == "" || d.ReadOnly || d.Apart {
			continue
		}
		switch text := form.Get(d.Name); slot := d.Slot(body).(type) {
		case *exchange.Opt[string]:
			*slot = exchange.Some(text)
		case *exchange.Opt[bool]:
			*slot = exchange.Some(text != "")
		case *exchange.Opt[int]:
			n, _ := strconv.Atoi(text)
			*slot = exchange.Some(n)
		case *exchange.Null[exchange.Names]:
			*slot = exchange.NullOf(exchange.Names(SplitItems(text)))
		case *exchange.Null[exchange.IDs]:
			raw, _ := json.Marshal(SplitItems(text))
			if err := slot.UnmarshalJSON(raw); err != nil {
				return exchange.FieldErrors{d.Name: {"must be numbers, separated by semicolons"}}.Err()
			}
		case json.Unmarshaler:
			raw := []byte("null")
			if text != "" {
				raw, _ = json.Marshal(text)
			}
			if err := slot.UnmarshalJSON(raw); err != nil {
				return exchange.FieldErrors{d.Name: {err.Error()}}.Err()
			}
		}
	}
	return nil
}

// Form returns the form that ReadForm reads as o has it.
func Form[T any](table []Descriptor[T], o *T) url.Values {
	form := url.Values{}
	for i := range table {
		d := &table[i]
		if text := d.Text(o); d.Label != "" && !d.ReadOnly && !d.Apart && (!d.IsFlag() || text == "true") {
			form.Set(d.Name, text)
		}
	}
	return form
}
