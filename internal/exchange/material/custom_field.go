package material

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
)

// CustomField is one row of a form for a key of additional_metadata that the material's category does not define: its
// current value, and the value when the form was opened.
type CustomField struct{ Key, Value, Was string }

// Touched reports whether the person changed the row.
func (l CustomField) Touched() bool { return l.Value != l.Was || l.Was == "" && l.Key != "" }

// The names of the form fields that hold the parts of the rows, each in the order of the rows.
const (
	ownKey   = "own_key"
	ownValue = "own_value"
	ownWas   = "own_was"
)

// CustomFields returns the rows of a form.
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

// ClearCustomField empties the rows of a form that have a key.
func ClearCustomField(form url.Values, key string) {
	for i, l := range CustomFields(form) {
		if l.Key == key && i < len(form[ownValue]) {
			form[ownValue][i] = l.Was
		}
	}
}

// ShowCustomFields returns the rows of a newly opened form, with an empty row at the end.
func ShowCustomFields(values map[string]json.RawMessage) []CustomField {
	var list []CustomField
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if text := plainText(showValue(values[key], false)); text != "" {
			list = append(list, CustomField{key, text, text})
		}
	}
	return list
}

// formCustomFields applies the rows of a form to values and reports whether that changes them. An untouched row keeps
// the value stored by now; an emptied row removes it.
func formCustomFields(form url.Values, c category.Category, values map[string]json.RawMessage,
	f *exchange.FieldErrors) (changed bool) {
	for _, l := range CustomFields(form) {
		was, there := values[l.Key]
		_, above := c.Field(l.Key)
		switch {
		case !l.Touched():
		case l.Key == "":
			f.Add("own", "need a name for the value “%s”", l.Value)
		case above:
			f.Add("own", "have the name “%s”, which is already a field above: fill it in there", l.Key)
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

// customValueOf converts a text to a value of the type that it had before: a number stays a number, a list a list.
func customValueOf(text string, was json.RawMessage) json.RawMessage {
	var old string
	if was != nil && json.Unmarshal(was, &old) != nil && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return readValue(text, nil)
}
