package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/api/rest"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// attempt is one malformed request and its documented answer.
type attempt struct {
	name       string
	path       string // "": that of the visit
	query      string
	kind, body string // Content-Type and body; "": those of the visit
	header     [2]string
	by         string // "": who visits
	status     int
	code       string
	fields     []string // all that INVALID_INPUT names
}

// invalid is an attempt that is answered with 400 and names one field.
func invalid(name, field string) attempt {
	return attempt{name: name, status: 400, code: "INVALID_INPUT", fields: []string{field}}
}

// TestMalformedRequests_GetTheirDocumentedAnswerAndChangeNothing crosses every way to be
// malformed with every route: a new route is covered as soon as it has its visit. Every answer is
// held to the shape of an error and to having no status of 500 besides (see answer.fault).
func TestMalformedRequests_GetTheirDocumentedAnswerAndChangeNothing(t *testing.T) {
	t.Parallel()
	storetest.OnStrictest(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.fill()
		s.requester().want(200, "PATCH", s.user(""), obj{"email": "a@example.org"})
		foreign, count := s.foreign(), 0
		for _, line := range api.Lines() {
			i := slices.IndexFunc(visits, func(c routeCase) bool { return c.route == line.Route })
			if i < 0 {
				t.Errorf("%s: no visit", line.Route)
				continue
			}
			methods, path := visits[i].methods()
			v := visits[i].make(s, visits[i].by)
			attempts := slices.Concat(badTokens, badCallers(line), badHeaders(line, methods[0]), badPaths(path, v.path),
				badLists(line),
				badBodies(line, v), badFields(line, methods[0], v, foreign))
			s.unchanged(line.Route, func() {
				for _, a := range attempts {
					s.try(visits[i], v, methods[0], a)
				}
				s.breakOff(line, v, methods[0])
			})
			count += len(attempts)
		}
		if count < 400 {
			t.Errorf("%d malformed requests, want at least 400", count)
		}
		t.Logf("%d malformed requests", count)
	})
}

// TestIdempotencyKey_IsNotUsedUpByAMalformedRequest: its answer is kept, so that it is the same again.
func TestIdempotencyKey_IsNotUsedUpByAMalformedRequest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		before := s.rows()
		for range 2 {
			if a := s.member.callWith(map[string]string{"Idempotency-Key": "k"}, "POST", "/materials",
				obj{"title": 7}); a.Status != 400 {
				t.Errorf("%d %s", a.Status, a.Raw)
			}
		}
		if diff := grew(before, s.rows()); diff != "idempotency_keys+1" {
			t.Errorf("changed %s", diff)
		}
	})
}

func (s *scene) try(c routeCase, v visit, method string, a attempt) {
	s.t.Helper()
	p := s.people[c.by]
	if v.as != nil {
		p = v.as
	}
	if a.by != "" {
		p = s.people[a.by]
	}
	path, kind, body := v.path, "", a.body
	if a.path != "" {
		path = a.path
	}
	if raw, ok := v.body.([]byte); ok && body == "" {
		kind, body = "application/octet-stream", string(raw)
	} else if body == "" && v.body != nil {
		body = encode(v.body)
	}
	if body != "" && kind == "" {
		kind = "application/json"
	}
	if a.kind != "" {
		kind = a.kind
	}
	headers := map[string]string{}
	if a.header[0] != "" {
		headers[a.header[0]] = a.header[1]
	}
	got := p.sendWith(headers, method, path+a.query, kind, strings.NewReader(body))
	named, _ := got.Body["fields"].(map[string]any)
	if got.Status != a.status || got.Body["error_code"] != a.code ||
		!slices.Equal(slices.Sorted(maps.Keys(named)), a.fields) {
		s.t.Errorf("%s %s: %s: %d %.400s, want %d %s %v", method, c.route, a.name, got.Status, got.Raw, a.status,
			a.code, a.fields)
	}
}

func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// badTokens are what does not say who calls.
var badTokens = []attempt{
	{name: "another scheme", header: [2]string{"Authorization", "Bearer x"}, status: 401, code: "NOT_AUTHENTICATED"},
	{name: "no token", header: [2]string{"Authorization", "Token"}, status: 401, code: "NOT_AUTHENTICATED"},
	{name: "two tokens", header: [2]string{"Authorization", "Token a b"}, status: 401, code: "NOT_AUTHENTICATED"},
	{name: "a token without end", header: [2]string{"Authorization", "Token " + strings.Repeat("x", 20_000)},
		status: 401, code: "NOT_AUTHENTICATED"},
}

// badCallers are those whom the table of access refuses.
func badCallers(line api.Line) []attempt {
	words := strings.Fields(access[line.Route])
	code := "FORBIDDEN"
	if line.Route == "POST /agreements/{id}/signatures" { // who sees a letter may sign it by the register
		code = "NO_AUTHORITY"
	}
	var list []attempt
	for i, role := range roles {
		switch words[len(words)-1][i] {
		case '1':
			list = append(list, attempt{name: "by " + role, by: role, status: 401, code: "NOT_AUTHENTICATED"})
		case '3':
			if role == "admin" && strings.Contains(line.Route, "/approvals") { // they sign none without an authority
				code = "NO_AUTHORITY"
			}
			list = append(list, attempt{name: "by " + role, by: role, status: 403, code: code})
		}
	}
	return list
}

// badHeaders are conditions that cannot hold, keys that are none, and bodies in a coding that we do not read.
func badHeaders(line api.Line, method string) []attempt {
	var list []attempt
	one := method == "GET" && line.Out.Kind() == reflect.Struct && line.Out != reflect.TypeFor[rest.None]()
	if one || method == "PUT" || method == "DELETE" {
		for name, value := range map[string]string{"a version that is none": `"none"`,
			"a version without quotes": "none", "a weak version": `W/"none"`, "an open quote": `"none`} {
			list = append(list, attempt{name: name, header: [2]string{"If-Match", value}, status: 412,
				code: "PRECONDITION_FAILED"})
		}
	}
	if strings.HasPrefix(line.Route, "GET /uploaded-file/") {
		for _, value := range []string{"bytes=999999-", "bytes=5-2", "bytes=x", "lines=1-2"} {
			list = append(list, attempt{name: "the range " + value, header: [2]string{"Range", value}, status: 416,
				code: "RANGE_NOT_SATISFIABLE"})
		}
	}
	if method == "POST" && line.Action != exchange.Login && line.Action != exchange.Register &&
		line.Action != exchange.TokenCreate {
		for name, value := range map[string]string{"an empty key": "", "a key too long": strings.Repeat("k", 256),
			"a key that is not UTF-8": "\xff"} {
			a := invalid(name, "Idempotency-Key")
			a.header = [2]string{"Idempotency-Key", value}
			list = append(list, a)
		}
	}
	if hasBody(line) || strings.HasPrefix(line.Route, "PUT /uploaded-file/") {
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, _ = z.Write(make([]byte, 1<<20)) // a bomb, of about 1 KiB
		_ = z.Close()
		for _, coding := range []string{"gzip", "x-unknown"} {
			list = append(list, attempt{name: "a body in " + coding, body: zipped.String(),
				header: [2]string{"Content-Encoding", coding}, status: 415, code: "UNSUPPORTED_MEDIA"})
		}
	}
	return list
}

// badPaths put what is no id into the path, one place at a time.
func badPaths(pattern, path string) []attempt {
	var list []attempt
	place, parts := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i, name := range place {
		wrong := []string{"0", "-1", "x", "1.0", "1e3", "+1", "9223372036854775808", "%00", "%FF", "999999999",
			strings.Repeat("9", 5_000)}
		switch {
		case !strings.HasPrefix(name, "{"):
			continue
		case name == "{attachment}":
			for j := range wrong {
				wrong[j] = "attachment_" + wrong[j]
			}
			wrong = append(wrong, "attachment_", "1")
		case name == "{level}": // the lowest is 0
			wrong = wrong[1:]
		case name == "{filename}":
			wrong = []string{"other.pdf", "%00", "%FF", strings.Repeat("x", 5_000)}
		}
		for _, value := range wrong {
			changed := slices.Clone(parts)
			changed[i] = value
			list = append(list, attempt{name: fmt.Sprintf("%.20s as %s", value, name), path: strings.Join(changed, "/"),
				status: 404, code: "NOT_FOUND"})
		}
	}
	return list
}

// badLists ask for parts that a list does not have, for an order that it has not, and by what no
// field can be.
func badLists(line api.Line) []attempt {
	if line.Out.Kind() != reflect.Slice {
		return nil
	}
	var list []attempt
	for i := range line.In.NumField() {
		if line.In.Field(i).Type == reflect.TypeFor[*exchange.SearchText]() {
			continue // any text is a search
		}
		name := line.In.Field(i).Tag.Get("query")
		wrong := []string{"%00", "%FF", "%0A", strings.Repeat("x", 5_000)}
		if line.In.Field(i).Type != reflect.TypeFor[*string]() { // text may be any
			wrong = append(wrong, "", "x", "1e3", "nobody@example.org")
		}
		for _, value := range wrong {
			a := invalid(fmt.Sprintf("?%s=%.20s", name, value), name)
			a.query = "?" + name + "=" + value
			list = append(list, a)
		}
	}
	for query, field := range map[string]string{
		"limit=0": "limit", "limit=-1": "limit", "limit=201": "limit", "limit=x": "limit", "limit=": "limit",
		"limit=1e2": "limit", "limit=%00": "limit",
		"limit=99999999999999999999": "limit", "cursor=abc": "cursor", "cursor=": "cursor", "cursor=LTE": "cursor",
		"cursor=%FF":                           "cursor",
		"cursor=" + strings.Repeat("M", 5_000): "cursor", "ordering=nothing": "ordering", "ordering=": "ordering",
		"ordering=%00": "ordering", "ordering=--id": "ordering", "limit=%zz": "query", "a=1;b=2": "query",
	} {
		a := invalid("?"+query, field)
		a.query = "?" + query
		list = append(list, a)
	}
	return list
}

// hasBody reports whether a route reads JSON.
func hasBody(line api.Line) bool {
	return line.In != reflect.TypeFor[rest.None]() && !strings.HasPrefix(line.Route, "GET ")
}

// badBodies are no JSON, no object, or not whole.
func badBodies(line api.Line, v visit) []attempt {
	if !hasBody(line) {
		return nil
	}
	good := encode(v.body)
	var list []attempt
	for name, body := range map[string]string{
		"cut off": good[:len(good)-1], "two objects": good + good, "garbage behind": good + "x", "a NUL behind": good +
			"\x00", "blanks": " \n",
		"a list": "[" + good + "]", "null": "null", "a number": "7", "a string": `"x"`, "true": "true",
		"NaN": `{"a": NaN}`, "single quotes": `{'a': 1}`,
		"a comma too many": `{"a": 1,}`, "a comment": "{/**/}", "a byte order mark": "\ufeff" + good,
		"not UTF-8": "{\"a\": \"\xff\"}", "UTF-16": "\xfe\xff\x00{\x00}",
		"101 levels":          `{"a": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}",
		"lists without end":   strings.Repeat("[", 100_000),
		"objects without end": strings.Repeat(`{"a":`, 100_000),
	} {
		list = append(list, attempt{name: name, body: body, status: 400, code: "MALFORMED_JSON"})
	}
	for name, kind := range map[string]string{"text": "text/plain", "a form": "application/x-www-form-urlencoded",
		"no type": ";;;", "XML": "application/xml"} {
		list = append(list, attempt{name: name, kind: kind, body: good, status: 415, code: "UNSUPPORTED_MEDIA"})
	}
	list = append(list, attempt{name: "more than 1 MiB", body: `{"a": "` + strings.Repeat("x", 1<<20) + `"}`,
		status: 413, code: "TOO_LARGE"})
	for name, twice := range map[string]string{"a key twice": `{"a": 1, "a": 2`,
		"a key twice inside": `{"a": [{"b": 1, "b": 1}]`, "a key twice, written in two ways": `{"a": 1, "\u0061": 2`} {
		if good != "{}" {
			twice += ", "
		}
		a := invalid(name, "a")
		a.body = twice + good[1:]
		list = append(list, a)
	}
	return list
}

// breakOff sends bodies that end early.
func (s *scene) breakOff(line api.Line, v visit, method string) {
	s.t.Helper()
	if !hasBody(line) {
		return
	}
	token := ""
	for _, c := range visits {
		if p := s.people[c.by]; c.route == line.Route && p.Token != "" {
			token = "Authorization: Token " + p.Token + "\r\n"
		}
	}
	for headers, body := range map[string]string{"Content-Length: 1000": encode(v.body),
		"Transfer-Encoding: chunked": "2\r\n{}\r\nzz\r\n"} {
		status, code := raw(s.t, s.url, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: "+
			"application/json\r\n%s\r\n\r\n%s", method, v.path, token, headers, body), true)
		if status != 400 || code != "MALFORMED_JSON" {
			s.t.Errorf("%s %s, %s: %d %v, want 400 MALFORMED_JSON", method, line.Route, headers, status, code)
		}
	}
}
