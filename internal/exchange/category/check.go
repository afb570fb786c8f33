package category

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"aliquot/internal/exchange/identifier"

	"golang.org/x/text/unicode/norm"
)

// The limits of texts (contract.md section 4) and of lists.
const (
	textLength = 255    // characters
	longLength = 20_000 // characters
	maxItems   = 200    // of a list
)

// Check checks the metadata of a material, key by key. clean is a copy in which identifiers are in canonical form,
// texts are NFC and trimmed, and arrays have no empty items; every other value is returned as it was sent, so that
// clients get back what they sent. Keys that the category does not define are kept unchanged. An error states what is
// wrong and what is allowed; a warning is about a value that is kept although it is probably a mistake. Missing
// required values are not an error: see Missing.
func (c Category) Check(meta map[string]json.RawMessage) (clean map[string]json.RawMessage, faults,
	warnings map[string][]string) {
	clean, faults, warnings = maps.Clone(meta), map[string][]string{}, map[string][]string{}
	if clean == nil {
		clean = map[string]json.RawMessage{}
	}
	for _, f := range c.Fields {
		raw, sent := meta[f.Key]
		if !sent {
			continue
		}
		value, warning, err := f.check(raw)
		if err != nil {
			faults[f.Key] = []string{err.Error()}
			continue
		}
		if warning != "" {
			warnings[f.Key] = []string{warning}
		}
		clean[f.Key] = value
	}
	return clean, faults, warnings
}

// Missing returns the keys without a value that are required before the material is published, in the order of the
// form.
func (c Category) Missing(meta map[string]json.RawMessage) []string {
	var keys []string
	for _, f := range c.Fields {
		if f.Required && len(Items(meta[f.Key])) == 0 {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// Items returns the values in a JSON value as texts: each item of an array, or the one string, number or boolean
// itself. An unknown value (null, "", an object) has none.
func Items(raw json.RawMessage) []string {
	var items []string
	var array []json.RawMessage
	if json.Unmarshal(raw, &array) == nil {
		for _, item := range array {
			if s, ok := scalar(item); ok && s != "" {
				items = append(items, s)
			}
		}
	} else if s, ok := scalar(raw); ok && s != "" {
		items = []string{s}
	}
	return items
}

// Terms returns the values that search filters and counts by: Items, with every spelling of an option replaced by the
// value of the option.
func (f Field) Terms(raw json.RawMessage) []string {
	terms := Items(raw)
	for i, term := range terms {
		if o, ok := f.Option(term); ok {
			terms[i] = o.Value
		}
	}
	return terms
}

// scalar returns a JSON string, number or boolean as tidy text; null is "".
func scalar(raw json.RawMessage) (text string, ok bool) {
	if n := len(raw); n >= 2 && raw[0] == '"' && raw[n-1] == '"' && plain(raw[1:n-1]) {
		return strings.TrimSpace(string(raw[1 : n-1])), true
	}
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return "", false
	}
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return strings.TrimSpace(norm.NFC.String(v)), true
	case float64, bool:
		return strings.TrimSpace(string(raw)), true // a number as written, with all its digits
	}
	return "", false
}

func (f Field) check(raw json.RawMessage) (clean json.RawMessage, warning string, err error) {
	if f.Type == List && strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		return f.checkList(raw)
	}
	text, ok := scalar(raw)
	if !ok {
		return nil, "", fmt.Errorf("must be %s", f.expected())
	}
	if text == "" {
		return raw, "", nil
	}
	canonical, warning, err := f.checkText(text)
	if number := !strings.HasPrefix(strings.TrimSpace(string(raw)), `"`); number && f.Vocabulary == "" {
		return raw, warning, err // a number or boolean keeps its type, unless it is an identifier
	}
	return Quote(canonical), warning, err
}

func (f Field) checkList(raw json.RawMessage) (clean json.RawMessage, warning string, err error) {
	var array []json.RawMessage
	if err := json.Unmarshal(raw, &array); err != nil {
		return nil, "", fmt.Errorf("must be %s", f.expected())
	}
	if len(array) > maxItems {
		return nil, "", fmt.Errorf("must have at most %d items; it has %d", maxItems, len(array))
	}
	items := []string{}
	var warnings []string
	for _, item := range array {
		text, ok := scalar(item)
		if !ok {
			return nil, "", fmt.Errorf("must be %s", f.expected())
		}
		if text == "" {
			continue
		}
		canonical, warning, err := f.checkText(text)
		if err != nil {
			return nil, "", fmt.Errorf("%q: %w", text, err)
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
		items = append(items, canonical)
	}
	return Quote(items), strings.Join(warnings, "; "), nil
}

// checkText checks one known value, written as text.
func (f Field) checkText(text string) (canonical, warning string, err error) {
	if strings.ContainsFunc(text,
		func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) }) {
		return "", "", errors.New("must not contain control characters")
	}
	most := textLength
	if f.Type == Long {
		most = longLength
	}
	if n := utf8.RuneCountInString(text); n > most {
		return "", "", fmt.Errorf("must have at most %d characters; it has %d", most, n)
	}
	right := true
	switch f.Type {
	case Number, Integer:
		n, err := strconv.ParseFloat(text, 64)
		right = err == nil && json.Valid([]byte(text)) // written as in JSON: no hex, infinity or NaN
		if f.Type == Integer {
			right = right && n >= 0 && n == math.Trunc(n)
		}
	case Date:
		_, err := time.Parse(time.DateOnly, text)
		right = err == nil
	case Boolean:
		right = slices.Contains([]string{"true", "false", "yes", "no"}, strings.ToLower(text))
	}
	if !right {
		return "", "", fmt.Errorf("must be %s", f.expected())
	}
	if f.Vocabulary != "" {
		return identifier.Parse(f.Vocabulary, text)
	}
	if _, ok := f.Option(text); !ok && len(f.Options) > 0 {
		if f.Closed {
			return "", "", fmt.Errorf("must be %s", f.expected())
		}
		return text, fmt.Sprintf("%q is not one of %s", text, f.values()), nil
	}
	return text, "", nil
}

// expected describes in words what a field accepts.
func (f Field) expected() string {
	switch f.Type {
	case Number:
		return "a number, such as 37.5"
	case Integer:
		return "a whole number of 0 or more, such as 12"
	case Date:
		return "a date as year-month-day, such as 2026-02-18"
	case Boolean:
		return "true or false"
	case List:
		if f.Closed {
			return "a list of " + f.values()
		}
		return "a list of strings"
	case Choice:
		return "one of " + f.values()
	case Identifier:
		return "a text: " + f.Vocabulary.Label() + ", such as " + f.Vocabulary.Example()
	}
	return "a text"
}

func (f Field) values() string {
	values := make([]string, len(f.Options))
	for i, o := range f.Options {
		values[i] = o.Value
	}
	return strings.Join(values, ", ")
}

// plain reports whether a text is the same in JSON and in NFC, as most values are: ASCII without characters that JSON
// escapes. It avoids encoding/json, which would take most of the time of a check.
func plain[T string | []byte | json.RawMessage](text T) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Quote returns a text, or a list of texts, as JSON.
func Quote(value any) json.RawMessage {
	if text, ok := value.(string); ok && plain(text) {
		return json.RawMessage(`"` + text + `"`)
	}
	raw, err := Encode(value)
	if err != nil {
		panic(err) // strings always marshal
	}
	return raw
}

// Encode is json.Marshal without escaping < > &: strain names such as Il2rg<tm1Wjl> are stored and shown exactly.
func Encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
