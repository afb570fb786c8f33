package category

import (
	"bytes"
	"encoding/json"
	"slices"
)

// public holds the keys of each category that everybody may see.
var public = func() map[string]map[string]bool {
	keys := map[string]map[string]bool{}
	for _, c := range all {
		keys[c.Code] = map[string]bool{}
		for _, f := range c.Fields {
			keys[c.Code][f.Key] = !f.Private
		}
	}
	return keys
}()

// PrivateKeys returns the keys that any category marks as private. No lab can publish them.
func PrivateKeys() []string {
	var keys []string
	for _, c := range all {
		for _, f := range c.Fields {
			if f.Private && !slices.Contains(keys, f.Key) {
				keys = append(keys, f.Key)
			}
		}
	}
	return keys
}

// IsPublic reports whether everybody may see the value of a key of a material: a field of its category that is not
// private, or a custom field that the lab published.
func IsPublic(code, key string, published []string) bool {
	shown, known := public[code][key]
	return shown || !known && slices.Contains(published, key)
}

// Public returns the part of additional_metadata, an object, that everybody may see; it is fastest for the output of
// Encode. hidden reports whether anything is left out; if not, shown is object itself.
func Public(code string, object json.RawMessage, published []string) (shown json.RawMessage, hidden bool) {
	var kept [][]byte
	keep := func(key string, member []byte) {
		if IsPublic(code, key, published) {
			kept = append(kept, member)
		} else {
			hidden = true
		}
	}
	if !members(object, keep) {
		var compact bytes.Buffer
		if kept = nil; json.Compact(&compact, object) != nil || !members(compact.Bytes(), keep) {
			return json.RawMessage("{}"), true
		}
	}
	if !hidden {
		return object, false
	}
	return slices.Concat([]byte("{"), bytes.Join(kept, []byte(",")), []byte("}")), true
}

// Private returns what Public leaves out, by key.
func Private(code string, object json.RawMessage, published []string) map[string]json.RawMessage {
	rest := map[string]json.RawMessage{}
	_ = json.Unmarshal(object, &rest) // anything but an object has no members
	for key := range rest {
		if IsPublic(code, key, published) {
			delete(rest, key)
		}
	}
	return rest
}

// members calls do with each member of a compact JSON object, and reports whether it is one. It decodes nothing,
// because every GET of a material goes through its metadata.
func members(object []byte, do func(key string, member []byte)) bool {
	if len(object) < 2 || object[0] != '{' || object[len(object)-1] != '}' {
		return false
	}
	for at := 1; at < len(object)-1; at++ { // each member is followed by a comma, or the end
		begin := at
		if at = skip(object, at); at < 0 || object[begin] != '"' || at >= len(object) || object[at] != ':' {
			return false
		}
		name := object[begin+1 : at-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			var plain string
			if json.Unmarshal(object[begin:at], &plain) != nil {
				return false
			}
			name = []byte(plain)
		}
		if at = skip(object, at+1); at < 0 || at >= len(object) || object[at] != ',' && at != len(object)-1 {
			return false
		}
		do(string(name), object[begin:at])
	}
	return true
}

// skip returns the index at which the JSON value that begins at index at ends; -1 if it does not end.
func skip(text []byte, at int) int {
	for depth := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			for at++; at < len(text) && text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			if depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',', ':':
			if depth == 0 {
				return at
			}
		}
	}
	return -1
}
