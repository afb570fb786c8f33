// Package letter has letters: the agreements of one pair of institutions, by one instrument, for many requests.
package letter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
)

// maxExact is the largest integer that every reader of JSON keeps exactly.
const maxExact = 1<<53 - 1

// Canonical returns the JSON of a value in the one form of RFC 8785. It refuses numbers that are not integers, or not
// exact in every reader: letters have none.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var decoded any
	if err := d.Decode(&decoded); err != nil {
		return nil, err
	}
	return appendCanonical(nil, decoded)
}

func appendCanonical(b []byte, v any) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendString(b, v), nil
	case json.Number:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		if err != nil || n > maxExact || n < -maxExact {
			return nil, fmt.Errorf("%s is not an integer that every reader keeps exactly", v)
		}
		return strconv.AppendInt(b, n, 10), nil
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendCanonical(b, e); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.SortedFunc(maps.Keys(v), func(one, other string) int {
			return slices.Compare(utf16.Encode([]rune(one)), utf16.Encode([]rune(other)))
		}) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, key), ':')
			if b, err = appendCanonical(b, v[key]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
	return nil, fmt.Errorf("%T is no JSON", v)
}

// appendString escapes what RFC 8785 escapes, and nothing else.
func appendString(b []byte, s string) []byte {
	short := map[rune]byte{'"': '"', '\\': '\\', '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}
	b = append(b, '"')
	for _, r := range s {
		if c, ok := short[r]; ok {
			b = append(b, '\\', c)
		} else if r < ' ' {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}
