package ui

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
)

// SearchSize refuses a text that is too long to search for.
func SearchSize(field, text string) error {
	var f exchange.FieldErrors
	f.SearchSize(field, text, nil)
	return f.Err()
}

// FormValues are the values of a form's fields.
type FormValues struct{ Form url.Values }

// Val returns the value of a field.
func (t FormValues) Val(name string) string { return t.Form.Get(name) }

// Country returns how addresses are written in the country that the form names.
func (t FormValues) Country() person.Country { return person.CountryOf(t.Form.Get("country")) }

// Countries returns the countries to choose from.
func (t FormValues) Countries() []person.Country { return person.Countries }

// SentencesOf turns field errors into sentences for people. labels are the names of the fields inside a sentence;
// one that begins with a capital is the whole sentence.
func SentencesOf(fields map[string][]string, labels map[string]string) FieldErrors {
	list := FieldErrors{}
	for field, texts := range fields {
		label := labels[field]
		if label == "" {
			label = "the " + strings.ReplaceAll(field, "_", " ")
		}
		for _, text := range texts {
			switch {
			case isCapital(label):
				text = label
			case isCapital(text): // it is a sentence
			case text == "is required":
				text = "Enter " + label
			default:
				text = Capital(label) + " " + text
			}
			if !slices.Contains(list[field], text) {
				list[field] = append(list[field], text)
			}
		}
	}
	return list
}

func isCapital(text string) bool { return text != "" && text == Capital(text) }

// Capital returns a text with its first letter in upper case.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// AsSentences returns the errors of a field as sentences.
func AsSentences(texts []string) []string {
	list := make([]string, len(texts))
	for i, t := range texts {
		list[i] = strings.ToUpper(t[:1]) + t[1:] + "."
		if strings.HasSuffix(t, ".") {
			list[i] = list[i][:len(list[i])-1]
		}
	}
	return list
}
