package ui

import (
	"net/url"
	"strings"

	"aliquot/internal/agreement/party"
)

// FormField is a field of a form, as the template form-fields shows it. Its Field is its name behind the prefix
// of the form, by which errors and addresses find it.
type FormField struct {
	Field, Name, Label, Hint, Type, Value string
	Values                                []string // to choose from
	Rows                                  int
	Checked                               bool
	Errors                                FieldErrors
}

// FieldsOf returns the fields of the form of an object.
func FieldsOf[T party.Described[T]](form url.Values, prefix string, wrong FieldErrors) (list []FormField) {
	var o T
	for _, d := range o.Table() {
		if d.Label == "" || d.ReadOnly {
			continue
		}
		value := form.Get(d.Name)
		list = append(list, FormField{Field: prefix + d.Name, Name: d.Name, Label: d.Label, Hint: d.Help,
			Type: d.InputType(), Value: value, Values: d.Values, Rows: d.Rows(), Checked: value != "", Errors: wrong})
	}
	return list
}

// Labelled turns the errors of fields into sentences, by the names of the fields behind a prefix.
func Labelled[T party.Described[T]](wrong map[string][]string, prefix string) FieldErrors {
	var o T
	labels := map[string]string{}
	for _, d := range o.Table() {
		if d.Label != "" {
			labels[d.Name] = "the " + strings.ToLower(d.Label)
		}
	}
	list := FieldErrors{}
	for name, texts := range SentencesOf(wrong, labels) {
		list[prefix+name] = texts
	}
	return list
}
