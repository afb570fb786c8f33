package shape

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"

	"github.com/google/uuid"
)

// The JSON of the objects below is made of tables of fields. A field may show something instead of its value, such as
// a person instead of their id; a function returns it, or nil.

// LayoutOf returns a struct with the fields that the JSON of t has: t itself, unless its JSON is made of a table.
func LayoutOf(t reflect.Type) reflect.Type {
	if layout := layouts[t]; layout != nil {
		return layout
	}
	return t
}

var layouts = map[reflect.Type]reflect.Type{
	reflect.TypeFor[Material](): layoutOfTable(material.Descriptors, map[string]reflect.Type{
		"contact_user": reflect.TypeFor[Person](), "grants": reflect.TypeFor[[]int64]()},
		reflect.StructField{Name: "Warnings", Type: reflect.TypeFor[map[string][]string](),
			Tag: `json:"warnings,omitempty"`}),
	reflect.TypeFor[Organization](): layoutOfTable(lab.Fields, map[string]reflect.Type{
		"owner": reflect.TypeFor[Person](), "members": reflect.TypeFor[[]Person]()}),
	reflect.TypeFor[lab.OrganizationPatch](): field.BodyType[lab.OrganizationPatch](lab.Fields),
	reflect.TypeFor[Shipping]():              layoutOfTable(lab.ShippingFields, nil),
	reflect.TypeFor[Address]():               layoutOfTable(person.AddressFields, nil),
	reflect.TypeFor[OwnAddress](): layoutOfTable(person.AddressFields, map[string]reflect.Type{
		"user": reflect.TypeFor[Person]()}),
	reflect.TypeFor[Institution]():                    layoutOfTable(party.InstitutionFields, nil),
	reflect.TypeFor[party.Patch[party.Institution]](): bodyOf[party.Institution](),
	reflect.TypeFor[InstitutionLab](): layoutOfTable(party.LabFields, map[string]reflect.Type{
		"confirmed_by": reflect.TypeFor[*uuid.UUID]()}),
	reflect.TypeFor[party.Patch[party.Lab]]():         bodyOf[party.Lab](),
	reflect.TypeFor[Affiliation]():                    layoutOfTable(party.AffiliationFields, nil),
	reflect.TypeFor[party.Patch[party.Affiliation]](): bodyOf[party.Affiliation](),
	reflect.TypeFor[Position]():                       layoutOfTable(party.PositionFields, nil),
	reflect.TypeFor[party.Patch[party.Position]]():    bodyOf[party.Position](),
	reflect.TypeFor[Authority](): layoutOfTable(party.AuthorityFields, map[string]reflect.Type{
		"holder": reflect.TypeFor[*uuid.UUID]()}),
	reflect.TypeFor[party.Patch[party.Authority]](): bodyOf[party.Authority](),
	reflect.TypeFor[StandIn](): layoutOfTable(party.StandInFields, map[string]reflect.Type{
		"person": reflect.TypeFor[*uuid.UUID]()}),
	reflect.TypeFor[party.Patch[party.StandIn]]():     bodyOf[party.StandIn](),
	reflect.TypeFor[Master]():                         layoutOfTable(party.MasterFields, nil),
	reflect.TypeFor[party.Patch[party.Master]]():      bodyOf[party.Master](),
	reflect.TypeFor[Approval]():                       layoutOfTable(approval.Fields, nil),
	reflect.TypeFor[party.Patch[approval.Approval]](): bodyOf[approval.Approval](),
	reflect.TypeFor[Permit]():                         layoutOfTable(requirement.PermitFields, nil),
	reflect.TypeFor[requirement.PermitPatch]():        bodyOf[requirement.Permit](),
	reflect.TypeFor[TransferFacts](): layoutOfTable(requirement.FactFields, nil,
		slices.Collect(reflect.TypeFor[factLists]().Fields())...),
	reflect.TypeFor[Purpose]():                  layoutOfTable(requirement.PurposeFields, nil),
	reflect.TypeFor[requirement.PurposePatch](): bodyOf[requirement.Purpose](),
	reflect.TypeFor[requirement.Stating]():      field.BodyType[requirement.Stating](requirement.FactFields),
	reflect.TypeFor[material.Patch]():           field.BodyType[material.Patch](material.Descriptors),
}

// bodyOf returns a struct with the fields of the body of a party of agreements.
func bodyOf[T party.Described[T]]() reflect.Type {
	var o T
	return field.BodyType[party.Patch[T]](o.Table())
}

// layoutOfTable returns the layout of a table; instead holds the types of what fields show in place of their values.
func layoutOfTable[T any](table []field.Descriptor[T], instead map[string]reflect.Type,
	more ...reflect.StructField) reflect.Type {
	fields := more
	for _, d := range table {
		if d.Hidden {
			continue
		}
		shown := instead[d.ShownName()]
		if shown == nil {
			switch shown = reflect.TypeOf(d.At(new(T))).Elem(); shown {
			case reflect.TypeFor[time.Time]():
				shown = reflect.TypeFor[Time]()
			case reflect.TypeFor[exchange.Date](): // "" is null
				shown = reflect.TypeFor[*exchange.Date]()
			}
		}
		name := strings.ToUpper(d.Name)
		fields = append(fields, reflect.StructField{Name: name, Type: shown,
			Tag: reflect.StructTag(`json:"` + d.ShownName() + `"`)})
	}
	return reflect.StructOf(fields)
}

// appendTable adds the members of the object of o, but for one.
func appendTable[T any](b []byte, table []field.Descriptor[T], o *T, but string,
	instead func(field string) any) ([]byte, error) {
	var err error
	begin := len(b)
	for i := range table { // they are too large to copy
		d := &table[i]
		if name := d.ShownName(); !d.Hidden && name != but {
			if len(b) > begin {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), name...), `":`...)
			if b, err = appendField(b, d, o, instead); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// asItIs is for objects whose fields show their values.
func asItIs(string) any { return nil }

// appendObject returns the object of o, whose last member is another one or in place of one; last nil: there is none.
func appendObject[T any](table []field.Descriptor[T], o *T, instead func(field string) any, name string,
	last any) ([]byte, error) {
	b, err := appendTable([]byte("{"), table, o, name, instead)
	if err == nil && last != nil {
		b, err = appendEncoded(append(b, `,"`+name+`":`...), last)
	}
	return append(b, '}'), err
}

func appendField[T any](b []byte, d *field.Descriptor[T], o *T, instead func(field string) any) ([]byte, error) {
	if shown := instead(d.ShownName()); shown != nil {
		return appendEncoded(b, shown)
	}
	switch at := d.At(o).(type) {
	case *string:
		return appendString(b, *at), nil
	case **string:
		if *at != nil {
			return appendString(b, **at), nil
		}
	case *bool:
		return strconv.AppendBool(b, *at), nil
	case *int64:
		return strconv.AppendInt(b, *at, 10), nil
	case **int64:
		if *at != nil {
			return strconv.AppendInt(b, **at, 10), nil
		}
	case *exchange.Date:
		if *at != "" {
			return appendString(b, string(*at)), nil
		}
	case **exchange.Date:
		if *at != nil {
			return appendString(b, string(**at)), nil
		}
	case *uuid.UUID:
		if *at != uuid.Nil {
			return appendString(b, at.String()), nil
		}
	case *[]string:
		if *at != nil {
			return appendStrings(b, *at), nil
		}
	case *time.Time:
		b = at.UTC().AppendFormat(append(b, '"'), exchange.TimeLayout)
		return append(b, '"'), nil
	case *json.RawMessage:
		if *at != nil {
			return append(b, *at...), nil // stored compact
		}
	default:
		return appendEncoded(b, at)
	}
	return append(b, "null"...), nil
}

// membersOfTable returns the fields of the object of o, as literal writes them.
func membersOfTable[T any](table []field.Descriptor[T], o *T, instead func(field string) any) (list []member) {
	for i := range table {
		if d := &table[i]; !d.Hidden {
			var value bytes.Buffer
			raw, _ := appendField(nil, d, o, instead) // cannot fail: the value was read from JSON
			json.HTMLEscape(&value, raw)
			list = append(list, member{d.ShownName(), value.Bytes()})
		}
	}
	return list
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

// appendString adds a text as encoding/json writes it without HTML escapes.
func appendString(b []byte, s string) []byte {
	ascii := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			return appendEscaped(b, s)
		} else if c >= utf8.RuneSelf {
			ascii = false
		}
	}
	if !ascii && (!utf8.ValidString(s) || strings.ContainsAny(s, "\u2028\u2029")) {
		return appendEscaped(b, s)
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendEscaped(b []byte, s string) []byte {
	b, _ = appendEncoded(b, s) // a string has JSON
	return b
}

func appendEncoded(b []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(b)
	encoder := json.NewEncoder(buf)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}
