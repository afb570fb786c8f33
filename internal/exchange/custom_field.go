package exchange

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"aliquot/internal/exchange/category"
)

// CustomField is a key of additional_metadata that the category of a material does not have, as a line of a form: its
// value now, and what it was when the form began.
type CustomField struct{ Key, Value, Was string }

// Touched reports whether somebody typed in the line.
func (l CustomField) Touched() bool { return l.Value != l.Was || l.Was == "" && l.Key != "" }

// The fields of a form that have the parts of lines, each in the order of the lines.
const (
	ownKey   = "own_key"
	ownValue = "own_value"
	ownWas   = "own_was"
)

// CustomFields are those that a form has.
func CustomFields(form url.Values) []CustomField {
	at := func(name string, i int) string {
		if i < len(form[name]) {
			return plainText(form[name][i])
		}
		return ""
	}
	var list []CustomField
	for i := range form[ownKey] {
		list = append(list, CustomField{at(ownKey, i), at(ownValue, i), at(ownWas, i)})
	}
	return list
}

// ClearCustomField has the lines of a form that are about a key say nothing.
func ClearCustomField(form url.Values, key string) {
	for i, l := range CustomFields(form) {
		if l.Key == key && i < len(form[ownValue]) {
			form[ownValue][i] = l.Was
		}
	}
}

// ShowCustomFields are values as lines of a form that begins; an empty one is none.
func ShowCustomFields(values map[string]json.RawMessage) []CustomField {
	var list []CustomField
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if text := plainText(showValue(values[key], false)); text != "" {
			list = append(list, CustomField{key, text, text})
		}
	}
	return list
}

// formCustomFields does to values what the lines of a form say, and reports whether that changes them. A line that
// nobody touched leaves its value as it is by now, an emptied one removes it.
func formCustomFields(form url.Values, c category.Category, values map[string]json.RawMessage,
	f *FieldErrors) (changed bool) {
	for _, l := range CustomFields(form) {
		was, there := values[l.Key]
		_, above := c.Field(l.Key)
		switch {
		case !l.Touched():
		case l.Key == "":
			f.Add("own", "need a name for the value “%s”", l.Value)
		case above:
			f.Add("own", "have the name “%s”, which is that of a field above: fill it in there", l.Key)
		case l.Was == "" && there && showValue(was, false) != "":
			f.Add("own", "have “%s” twice", l.Key)
		case l.Value == "" && l.Was == "":
			f.Add("own", "need a value for “%s”", l.Key)
		case l.Value == "":
			delete(values, l.Key)
			changed = true
		default:
			values[l.Key] = customValueOf(l.Value, was)
			changed = true
		}
	}
	return changed
}

// customValueOf is a text as a value that was another one: a number stays a number, a list a list.
func customValueOf(text string, was json.RawMessage) json.RawMessage {
	var old string
	if was != nil && json.Unmarshal(was, &old) != nil && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return readValue(text, nil)
}
