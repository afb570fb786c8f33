package api_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store/storetest"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestFields_HaveTheirDocumentedBounds sends each writable field values just inside of every bound that the document
// has for it, which are taken, and just outside, which are 400 on that field.
func TestFields_HaveTheirDocumentedBounds(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	s := newScene(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	fields, tried := 0, map[string]int{}
	for _, c := range visits {
		methods, path := c.methods()
		if strings.Contains(c.route, "(") {
			continue // the same route on another object
		}
		body := document.Paths.Value(path).GetOperation(methods[0]).RequestBody
		if body == nil || body.Value.Content["application/json"] == nil {
			continue
		}
		schema := body.Value.Content["application/json"].Schema.Value
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			fields++
			field := schema.Properties[name].Value
			if !bounded(field) {
				t.Errorf("%s: nothing bounds %s", c.route, name)
			}
			for _, b := range boundsOf(field, false) {
				if why := partial[name] + partial[c.route+" "+name]; b.inside && why != "" {
					continue
				}
				v := c.make(s, c.by)
				sent := obj{name: b.value}
				if base, ok := v.body.(obj); ok && methods[0] == "POST" {
					maps.Copy(sent, base)
					if other, is := field.Extensions["x-alias-of"].(string); is {
						delete(sent, other)
					}
					sent[name] = b.value
				}
				caller := s.people[c.by]
				if v.as != nil {
					caller = v.as
				}
				a := caller.call(methods[0], v.path, sent)
				named, _ := a.Body["fields"].(map[string]any)
				_, refused := named[name]
				tried[b.why]++
				if refused == b.inside || refused && a.Status != 400 {
					t.Errorf("%s: %s %s, as %.60q: %d %.300s", c.route, name, b.why, fmt.Sprint(b.value), a.Status,
						a.Raw)
				}
			}
		}
	}
	if fields < 180 || tried["too long"] < 70 {
		t.Errorf("%d fields, %v", fields, tried)
	}
	t.Logf("%d fields, %v", fields, tried)
}

// partial are fields of which the document has not every rule, so that a value within its bounds may be refused.
var partial = map[string]string{
	"invitation": "it must be a token that was sent", "token": "it must be a token that was sent",
	"expires_at": "it must be in the next 90 days",
	"until":      "it must be in the next days", "expires": "it must be within a year",
	"quiet_until": "it goes with quiet_from", "quiet_from": "it goes with quiet_until",
	"override_reason": "it goes with a status", "email": "an invitation has it or a registry_id",
	"registry_id":                      "its form is that of the registry",
	"POST /login provider":             "it must be one of the setting identity-providers",
	"POST /users provider":             "it must be one of the setting identity-providers",
	"POST /agreements/resolve choice":  "it must be a family of instruments",
	"POST /agreements/{id}/links mail": "it must be the address of one of the officials",
}

// bounded reports whether a schema says more of a text than that it is one.
func bounded(s *openapi3.Schema) bool {
	for _, one := range append(slices.Clone(s.AllOf), s.AnyOf...) {
		if bounded(one.Value) {
			return true
		}
	}
	if s.Type == nil {
		return false
	}
	return !s.Type.Includes("string") && !s.Type.Includes("integer") || s.Type.Includes("array") &&
		bounded(s.Items.Value) ||
		s.MaxLength != nil || len(s.Enum) > 0 || s.Pattern != "" || s.Format != "" && s.Format != "int64" ||
		s.Min != nil
}

// boundValue is a value on one side of a bound.
type boundValue struct {
	why    string
	value  any
	inside bool
}

// boundsOf are values on both sides of each bound of a schema; null: something else allows that.
func boundsOf(s *openapi3.Schema, null bool) (list []boundValue) {
	add := func(why string, value any, inside bool) { list = append(list, boundValue{why, value, inside}) }
	null = null || slices.ContainsFunc(s.AnyOf, func(one *openapi3.SchemaRef) bool { return one.Value.Type.Is("null") })
	for _, one := range append(slices.Clone(s.AllOf), s.AnyOf...) { // an alias, or what may be of several types
		list = append(list, boundsOf(one.Value, null)...)
	}
	switch {
	case s.Type == nil:
		return list
	case len(s.Enum) > 0:
		add("no word of the list", "NOTHING OF IT", false)
	case s.Type.Includes("string"):
		texts(s, null, add)
	case s.Type.Includes("boolean"):
		add("of another type", "yes", false)
	case s.Type.Includes("integer"):
		if s.Min != nil {
			add("too small", *s.Min-1, false)
		}
		if s.Max != nil {
			add("too great", *s.Max+1, false)
			add("greatest", *s.Max, true)
			add("smallest", *s.Min, true)
		}
		add("of another type", "seven", false)
	case s.Type.Includes("array"):
		lists(s, add)
	case s.Type.Includes("object"):
		if s.MaxProps != nil {
			many := obj{}
			for i := range *s.MaxProps + 1 {
				many[fmt.Sprint("k", i)] = 1
			}
			add("too many", many, false)
		}
		add("of another type", "seven", false)
	}
	return list
}

func texts(s *openapi3.Schema, null bool, add func(string, any, bool)) {
	free := strings.HasPrefix(s.Pattern, "^[^") || s.Pattern == "" // of whatever is written
	if s.MaxLength != nil && s.Format == "" && s.Examples == nil {
		add("longest", strings.Repeat("x", int(*s.MaxLength)), true)
		add("longest", strings.Repeat("x", 1), true)
	}
	if s.MaxLength != nil {
		add("too long", strings.Repeat("x", int(*s.MaxLength)+1), false)
	}
	for _, example := range s.Examples {
		add("example", example, true)
	}
	if s.MinLength > 0 {
		add("too short", "", false)
		add("blank", " ", false)
	}
	if s.Pattern != "" {
		add("against the pattern", "x\x01", false)
	}
	if !free {
		add("against the pattern", "%%", false)
	}
	if s.Format != "" {
		add("of another format", "%%", false)
	}
	add("of another type", []any{}, false)
	if !s.Type.Includes("null") && !null {
		add("null", nil, false)
	}
}

func lists(s *openapi3.Schema, add func(string, any, bool)) {
	item := any("x")
	if s.Items.Value.AnyOf != nil {
		item = "018f0000-0000-7000-8000-000000000000"
	}
	if s.MaxItems != nil {
		many := make([]any, *s.MaxItems+1)
		for i := range many {
			many[i] = item
			if item == "x" {
				many[i] = fmt.Sprint("x", i)
			}
		}
		add("too many", many, false)
	}
	if s.MinItems > 0 {
		add("too few", []any{}, false)
	}
	for _, b := range boundsOf(s.Items.Value, false) {
		if !b.inside {
			add("an item "+b.why, []any{b.value}, false)
		}
	}
	add("of another type", "x", false)
}
