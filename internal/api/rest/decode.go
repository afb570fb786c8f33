package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
)

// BodyLimit is the size of a JSON body in bytes (contract.md section 9).
const BodyLimit = 1 << 20

// Decode reads the JSON object in the body of c into the struct that in points to. The error names every wrong field at
// once; unknown fields are ignored, so that the answer of a GET can be sent back. An empty body counts as an empty
// object.
func (c *Call) Decode(in any) error {
	r := c.Request
	if r.ContentLength > BodyLimit {
		return tooLarge()
	}
	raw, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, BodyLimit))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return tooLarge()
	}
	if err != nil {
		return &exchange.Error{Code: exchange.MalformedJSON, Message: "The body ended before it was complete.",
			Cause: err}
	}
	if len(raw) == 0 {
		return nil
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return exchange.Errorf(exchange.UnsupportedMedia, "The body must be JSON: send Content-Type: application/json.")
	}
	if !utf8.Valid(raw) {
		return exchange.Errorf(exchange.MalformedJSON, "The body must be UTF-8.")
	}
	c.body = raw
	return DecodeObject(raw, in, r.Method == http.MethodPost)
}

func tooLarge() error {
	return exchange.Errorf(exchange.TooLarge, "A JSON body may be at most 1 MiB (%d bytes).", BodyLimit).With("limit",
		BodyLimit)
}

// DecodeObject decodes a body that is already read; create: the body is to create an object.
func DecodeObject(raw []byte, in any, create bool) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return malformed(raw, err)
	}
	if members == nil {
		return exchange.Errorf(exchange.MalformedJSON, "The body must be a JSON object, such as {\"title\": \"...\"}.")
	}
	if halfCharacter(raw) {
		return exchange.Errorf(exchange.MalformedJSON, "The body has half of a character: \\ud800 to \\udbff must be "+
			"followed by \\udc00 to \\udfff, which must not stand alone.")
	}
	deep, twice := inspect(raw)
	if deep {
		return exchange.Errorf(exchange.MalformedJSON, "The body nests deeper than %d levels.", maxDepth)
	}
	var f exchange.FieldErrors
	for member, name := range twice {
		f.Add(member, "contains %q twice; only one value is allowed", name)
	}
	v := reflect.ValueOf(in).Elem()
	for _, field := range fieldsOf(v.Type()) {
		value, sent := members[field.name]
		if !sent && field.alias != "" {
			value, sent = members[field.alias]
		}
		if !sent {
			continue
		}
		if err := json.Unmarshal(value, v.FieldByIndex(field.index).Addr().Interface()); err != nil {
			f.Add(field.name, "%s", meaning(err))
		}
	}
	if patch, ok := in.(field.Body); ok {
		for name, slot := range patch.Others() {
			if value, sent := members[name]; sent {
				if err := json.Unmarshal(value, slot); err != nil {
					f.Add(name, "%s", meaning(err))
				}
			}
		}
	}
	if len(f) == 0 {
		return nil
	}
	if body, ok := in.(exchange.Body); ok { // so that one answer names all that is wrong
		for name, faults := range body.Validate(create) {
			field, _, _ := strings.Cut(name, ".")
			_, sent := members[field]
			if _, wrong := f[field]; !wrong && (sent || create) {
				f[name] = faults
			}
		}
	}
	return f.Err()
}

// maxDepth is how deep a body may nest. encoding/json reads 10,000 levels and writes no more, so that an object read
// just below that limit could be shown alone and not in a list.
const maxDepth = 100

// inspect checks a valid JSON object for what encoding/json accepts: deep nesting, and a name that occurs twice in one
// object, of which one value would be lost silently. twice maps the member of the body to the repeated name inside it.
func inspect(raw []byte) (deep bool, twice map[string]string) {
	type level struct {
		names map[string]bool // names of an object; nil in a list
		value bool            // the next token of the object is a value
	}
	var levels []level
	member := ""
	for decoder := json.NewDecoder(bytes.NewReader(raw)); ; {
		token, err := decoder.Token()
		if err != nil { // the end of the document
			return false, twice
		}
		delim, _ := token.(json.Delim)
		if delim == '}' || delim == ']' {
			levels = levels[:len(levels)-1]
			continue
		}
		if n := len(levels); n > 0 && levels[n-1].names != nil {
			top := &levels[n-1]
			if top.value = !top.value; top.value {
				name := token.(string)
				if n == 1 {
					member = name
				}
				if top.names[name] {
					if twice == nil {
						twice = map[string]string{}
					}
					twice[member] = name
				}
				top.names[name] = true
				continue
			}
		}
		switch delim {
		case '{':
			levels = append(levels, level{names: map[string]bool{}})
		case '[':
			levels = append(levels, level{})
		}
		if len(levels) > maxDepth {
			return true, nil
		}
	}
}

// halfCharacter reports whether valid JSON has half of a surrogate pair, which encoding/json would silently replace.
func halfCharacter(raw []byte) bool {
	const size = len(`\u0000`)
	half := func(at int) rune {
		n, err := strconv.ParseUint(string(raw[at+2:at+size]), 16, 16)
		if err != nil { // cannot be in valid JSON
			return utf8.RuneError
		}
		return rune(n)
	}
	for i := 0; i < len(raw)-1; i++ {
		switch {
		case raw[i] != '\\':
			continue
		case raw[i+1] != 'u':
			i++
			continue
		}
		r := half(i)
		i += size - 1
		if !utf16.IsSurrogate(r) {
			continue
		}
		if !bytes.HasPrefix(raw[i+1:], []byte(`\u`)) || utf16.DecodeRune(r, half(i+1)) == utf8.RuneError {
			return true
		}
		i += size
	}
	return false
}

// malformed returns an error that says where the JSON of a body is wrong.
func malformed(raw []byte, err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := raw[:min(int(syntax.Offset), len(raw))]
		line := bytes.Count(before, []byte("\n")) + 1
		column := len(before) - bytes.LastIndexByte(before, '\n') - 1
		return exchange.Errorf(exchange.MalformedJSON, "The body is not JSON: %s at line %d, column %d.",
			syntax.Error(), line, column).
			With("line", line).With("column", column)
	}
	return exchange.Errorf(exchange.MalformedJSON, "The body must be a JSON object, such as {\"title\": \"...\"}.")
}

// meaning describes what is wrong with a value in the terms of JSON instead of Go.
func meaning(err error) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err.Error()
	}
	want := "another type"
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Int, reflect.Int64:
		want = "an integer"
	case reflect.Slice:
		want = "a list"
	case reflect.Map, reflect.Struct:
		want = "an object"
	}
	got, _, _ := strings.Cut(wrong.Value, " ")
	if want == "an integer" && got == "number" {
		return "must be a whole number of at most 64 bits"
	}
	return "must be " + want + ", not " + got
}

// bodyField is one field of an input: its name in JSON and its alias.
type bodyField struct {
	index       []int // fields of an embedded struct are fields of the input
	name, alias string
	same        string // another field that it is an alias of
}

var fieldCache sync.Map

func fieldsOf(t reflect.Type) []bodyField {
	if list, ok := fieldCache.Load(t); ok {
		return list.([]bodyField)
	}
	var list []bodyField
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous {
			list = append(list, bodyField{f.Index, f.Tag.Get("json"), f.Tag.Get("alias"), f.Tag.Get("same")})
		}
	}
	fieldCache.Store(t, list)
	return list
}
