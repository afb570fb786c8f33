package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/material"

	"github.com/google/uuid"
)

// Material is a material as GET shows it. Its JSON has the fields of material.Descriptors.
type Material struct {
	shown material.Shown

	// warnings are doubtful values that were stored nevertheless, by field, in the answer to a change.
	warnings map[string][]string
}

func showMaterial(m material.Shown) Material { return Material{shown: m} }

// showChanged returns the answer to a change of a material, with warnings.
func showChanged(m material.Shown) Material { return Material{m, m.Warnings()} }

// layoutOf returns a struct with the fields that the JSON of t has: t itself, unless its JSON is made of a table.
func layoutOf(t reflect.Type) reflect.Type {
	if layout := layouts[t]; layout != nil {
		return layout
	}
	return t
}

var layouts = map[reflect.Type]reflect.Type{
	reflect.TypeFor[Material](): func() reflect.Type {
		fields := []reflect.StructField{{Name: "Warnings", Type: reflect.TypeFor[map[string][]string](),
			Tag: `json:"warnings,omitempty"`}}
		for _, d := range material.Descriptors {
			var shown reflect.Type
			switch name := d.ShownName(); {
			case d.Hidden:
				continue
			case name == "contact_user":
				shown = reflect.TypeFor[Person]()
			case name == "grants":
				shown = reflect.TypeFor[[]int64]()
			default:
				if shown = reflect.TypeOf(d.At(new(material.Material))).Elem(); shown == reflect.TypeFor[time.Time]() {
					shown = reflect.TypeFor[Time]()
				}
			}
			fields = append(fields, reflect.StructField{Name: strings.ToUpper(d.Name), Type: shown,
				Tag: reflect.StructTag(`json:"` + d.ShownName() + `"`)})
		}
		return reflect.StructOf(fields)
	}(),
	reflect.TypeFor[material.Patch](): field.BodyType[material.Patch](material.Descriptors),
}

// appendMaterials adds the JSON of a body of materials to b, since encoding/json would check it once more; nil: it is
// another body.
func appendMaterials(b []byte, body any) ([]byte, error) {
	list, several := body.([]Material)
	if one, ok := body.(Material); ok {
		list = []Material{one}
	} else if !several {
		return nil, nil
	}
	var err error
	if several {
		b = append(b, '[')
	}
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = list[i].appendJSON(b); err != nil {
			return nil, err
		}
	}
	if several {
		b = append(b, ']')
	}
	return append(b, '\n'), nil
}

// MarshalJSON writes the object of m.
func (m Material) MarshalJSON() ([]byte, error) { return m.appendJSON(nil) }

func (m Material) appendJSON(b []byte) ([]byte, error) {
	b, err := m.appendFields(append(b, '{'), "")
	return append(b, '}'), err
}

// appendFields adds the members of the object of m, but for one.
func (m *Material) appendFields(b []byte, but string) ([]byte, error) {
	var err error
	begin := len(b)
	for i := range material.Descriptors { // they are too large to copy
		d := &material.Descriptors[i]
		if name := d.ShownName(); !d.Hidden && name != but {
			if len(b) > begin {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), name...), `":`...)
			if b, err = m.appendField(b, d); err != nil {
				return nil, err
			}
		}
	}
	if len(m.warnings) > 0 {
		return appendEncoded(append(b, `,"warnings":`...), m.warnings)
	}
	return b, nil
}

func (m *Material) appendField(b []byte, d *material.Descriptor) ([]byte, error) {
	switch d.ShownName() {
	case "contact_user":
		return appendEncoded(b, showPerson(m.shown.Contact))
	case "grants":
		return appendEncoded(b, m.shown.Grants)
	}
	switch at := d.At(&m.shown.Material).(type) {
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
	case **exchange.Date:
		if *at != nil {
			return appendString(b, string(**at)), nil
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

// GrantMaterial is a material inside a grant, where its contact is a UUID.
type GrantMaterial struct {
	Material
	ContactUser uuid.UUID `json:"contact_user"`
}

// MarshalJSON writes the material with its other contact.
func (m GrantMaterial) MarshalJSON() ([]byte, error) {
	b, err := m.appendFields([]byte("{"), "contact_user")
	return append(b, `,"contact_user":"`+m.ContactUser.String()+`"}`...), err
}

// ImportedMaterial is a material in an import response, where its contact is a UUID; a dataset also has its organisms
// under the name organism.
type ImportedMaterial struct {
	Material
	ContactUser uuid.UUID `json:"contact_user"`
	Organism    []string  `json:"organism,omitzero"`
}

// MarshalJSON writes the material with its other contact and, of a dataset, its organisms twice.
func (m ImportedMaterial) MarshalJSON() ([]byte, error) {
	b, err := m.appendFields([]byte("{"), "contact_user")
	b = append(b, `,"contact_user":"`+m.ContactUser.String()+`"`...)
	if m.Organism != nil {
		b = appendStrings(append(b, `,"organism":`...), m.Organism)
	}
	return append(b, '}'), err
}
