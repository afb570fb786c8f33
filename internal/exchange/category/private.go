package category

import (
	"bytes"
	"encoding/json"
	"slices"
)

// public are the keys of each category that everybody may see.
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

// PrivateKeys lists the keys that some category marks as private. No lab can publish them.
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

// IsPublic reports whether everybody may see the value of a key of a material: a field of its category
// that is not private, or a key of the lab's own that the lab published.
func IsPublic(code, key string, published []string) bool {
	shown, known := public[code][key]
	return shown || !known && slices.Contains(published, key)
}

// Public is what everybody may see of additional_metadata, an object, quickest as Encode writes it. hidden reports
// whether that is less than all of it; where it is not, Public is object itself.
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

// Private is the rest of what Public leaves out, by key.
func Private(code string, object json.RawMessage, published []string) map[string]json.RawMessage {
	rest := map[string]json.RawMessage{}
	_ = json.Unmarshal(object, &rest) // what is no object has nothing
	for key := range rest {
		if IsPublic(code, key, published) {
			delete(rest, key)
		}
	}
	return rest
}

// members calls do with each member of a compact JSON object, and reports whether it is one. Each GET of a
// material goes through its metadata, so nothing is decoded.
func members(object []byte, do func(key string, member []byte)) bool {
	if len(object) < 2 || object[0] != '{' || object[len(object)-1] != '}' {
		return false
	}
	for at := 1; at < len(object)-1; at++ { // behind each member is a comma, or the end
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

// skip gives where the JSON value that begins at a place ends; -1: nowhere.
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
