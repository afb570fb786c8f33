package api_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"aliquot/internal/agreement/playbook"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/term"
	"aliquot/internal/api"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/datause"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
)

// long is longer than any text may be, and no address, date or id.
var long = encode(strings.Repeat("x", 70_000))

// wrongValues are JSON values by the type of a field for which they are wrong, whatever its name is.
var wrongValues = map[reflect.Type][]string{
	reflect.TypeFor[string]():          {`7`, `{}`, `[]`, `true`, `"a\u0000b"`, `"\u0007"`, long},
	reflect.TypeFor[request.Status]():  {`7`, `{}`, `[]`, `true`, `"a\u0000b"`, `"DONE"`, `"open"`, long},
	reflect.TypeFor[lab.Role]():        {`7`, `{}`, `[]`, `true`, `""`, `"owner"`, `"ADMIN"`, long},
	reflect.TypeFor[material.IDText](): {`{}`, `[]`, `true`},
	reflect.TypeFor[bool]():            {`"yes"`, `1`, `[]`, `{}`, `"true"`},
	reflect.TypeFor[int64]():           {`"7"`, `1.5`, `1e400`, `0`, `-1`, `99999999999999999999`, `[7]`},
	reflect.TypeFor[int]():             {`"7"`, `1.5`, `1e400`, `0`, `-1`, `366`, `99999999999999999999`, `[7]`},
	reflect.TypeFor[exchange.Ref](): {`0`, `-1`, `1.5`, `"x"`, `""`, `1e400`, `9223372036854775808`, `{}`,
		`{"id": {"id": 1}}`, `[1]`, `true`, unknownRef},
	reflect.TypeFor[exchange.UserRef](): {`7`, `"x"`, `{}`, `[]`, `"00000000-0000-0000-0000-000000000000"`,
		`{"id": null}`, unknownUser},
	reflect.TypeFor[[]exchange.UserRef](): {`7`, `{}`, `"x"`, `["x"]`, `[null]`, `[7]`, `[` + unknownUser + `]`},
	reflect.TypeFor[[]exchange.Ref]():     {`7`, `{}`, `"x"`, `["x"]`, `[null]`, `[0]`, `[-1]`, `[1.5]`, `[999999999]`},
	reflect.TypeFor[exchange.IDs]():       {`7`, `{}`, `"x"`, `["x"]`, `[null]`, `[-1]`, `[1.5]`, `[[1]]`, `[999999999]`},
	reflect.TypeFor[exchange.Names](): {`7`, `{}`, `"x"`, `[7]`, `[null]`, `["a\u0000"]`, `[` + long + `]`,
		manyNames},
	reflect.TypeFor[material.Filters](): {`7`, `[]`, `"x"`, `{"organisms": "x"}`, `{"organisms": [7]}`,
		`{"organisms": [null]}`, `{"organisms": [""]}`, `{"no such": ["x"]}`},
	reflect.TypeFor[exchange.Date](): {`7`, `"soon"`, `"2026-02-30"`, `"99999-01-01"`, `"2026-1-1"`,
		`"2026-01-01T00:00:00Z"`, long},
	reflect.TypeFor[exchange.Instant](): {`7`, `"soon"`, `"2026-02-30T00:00:00Z"`, `"99999-01-01T00:00:00+0000"`,
		`"2026-01-01"`, long},
	reflect.TypeFor[exchange.Until](): {`7`, `"soon"`, `"2026-02-30"`, `"99999-01-01"`, `"2026-1-1"`,
		`"2020-01-01"`, `"9999-01-01T00:00:00Z"`, long},
	reflect.TypeFor[[]mailing.Category](): {`7`, `{}`, `"x"`, `["x"]`, `[7]`, `["new_request_notif", ""]`},
	reflect.TypeFor[[]exchange.Scope]():   {`7`, `{}`, `"read"`, `[]`, `["x"]`, `[7]`, `[null]`, `["read", "READ"]`},
	reflect.TypeFor[[]requirement.Encumbrance](): {`7`, `{}`, `"x"`, `[7]`, `[{}]`,
		`[{"holder": "x", "terms": ["NO_SUCH"], "document": ""}]`, `[{"holder": ` + long + `, "terms": [], "document": ""}]`},
	reflect.TypeFor[[]string](): {`7`, `{}`, `"x"`, `[7]`, `["NO_SUCH"]`},
	reflect.TypeFor[[]playbook.Preference](): {`7`, `{}`, `"x"`, `[7]`, `[{}]`,
		`[{"categories": [], "counterparties": [], "families": ["NO_SUCH"]}]`,
		`[{"categories": [], "counterparties": [-1], "families": ["UBMTA_LETTER"]}]`},
	reflect.TypeFor[[]playbook.Clause](): {`7`, `{}`, `"x"`, `[7]`, `[{}]`,
		`[{"term": "REPORT", "provide": "ASK", "receive": "ASK", "note": ` + long + `}]`},
	reflect.TypeFor[[]term.Origin](): {`7`, `{}`, `"x"`, `[7]`, `[{}]`, `[{"relation": "NO_SUCH", "material": 1}]`,
		`[{"relation": "PROGENY"}]`, `[{"relation": "PROGENY", "material": -1}]`},
	reflect.TypeFor[[]datause.Term](): {`7`, `{}`, `"x"`, `[7]`, `[{"id": "DUO:1"}]`, `[{"id": "DUO:0000007"}]`,
		`[{"id": "DUO:0000042", "value": ` + long + `}]`},
	reflect.TypeFor[map[string]string](): {`7`, `[]`, `"x"`, `{"x": 7}`, `{"x": {}}`, `{"no such": "x"}`,
		`{"materials": "x"}`, `{"provider_name": "a\u0000b"}`, `{"provider_name": ` + long + `}`},
	reflect.TypeFor[json.RawMessage](): {`7`, `[]`, `"x"`, `true`, `{"x": ` + long + `}`},
}

const (
	unknownRef  = `9007199254740993`
	unknownUser = `"018f0000-0000-7000-8000-000000000000"`
)

var manyNames = func() string {
	names := make([]string, 101)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	return encode(names)
}()

// speaks are fields of a request that another than the visitor sets.
var speaks = map[string]string{"requester_abstract": "requester", "address": "requester", "payment_method": "requester",
	"payment_method_notes": "requester"}

// foreign are, by the field that refers to it, objects of other people and how they are refused.
func (s *scene) foreign() map[string]attempt {
	s.t.Helper()
	stranger := s.people["stranger"]
	refused := func(code string, value any) attempt { return attempt{body: fmt.Sprint(value), status: 403, code: code} }
	paper, material := s.paper(stranger), s.others()
	document := refused("FIELD_FORBIDDEN", paper)
	shipping := invalid("", "shipping_requirements_id")
	shipping.body = fmt.Sprint(stranger.want(201, "POST", "/shipping-requirements",
		obj{"organization": stranger.Lab}).id())
	home := invalid("", "address")
	home.body = fmt.Sprint(stranger.want(200, "POST", fmt.Sprintf("/users/%s/addresses", stranger.ID),
		address("x")).id())
	asked := invalid("", "inquiry")
	asked.body = fmt.Sprint(stranger.want(201, "POST", fmt.Sprintf("/materials/%d/inquiries", s.newMaterial()),
		obj{"text": "Which passage?"}).id())
	office := s.newInstitution()
	another := func(field string, id int64) attempt {
		a := invalid("", field)
		a.body = fmt.Sprint(id)
		return a
	}
	elsewhere := stranger.want(201, "POST", "/institutions", obj{"legal_name": "Elsewhere", "country": "DE"}).id()
	return map[string]attempt{
		"mta_attachment_id": document, "mta_attachment": document, "requester_signed_mta_attachment": document,
		"irb_attachment":          document,
		"executed_mta_attachment": document, "owned_by_org": refused("FIELD_FORBIDDEN", stranger.Lab),
		"sequence_map_for": refused("FIELD_FORBIDDEN", material),
		"organization_id":  refused("FORBIDDEN", stranger.Lab), "organization": refused("FORBIDDEN", stranger.Lab),
		"material_id":              refused("FORBIDDEN", material),
		"shipping_requirements_id": shipping, "address": home, "inquiry": asked,
		"grant_id": refused("FORBIDDEN",
			stranger.want(200, "POST", "/grants", obj{"title": "x", "funder_id": "x"}).id()),
		"material": {}, // anybody may ask for any
		"position": another("position", office.position), "authority": another("authority", office.authority),
		"supersedes": another("supersedes", office.authority), "counterparty": {}, "provider": {},
		"recipient":                           another("recipient", elsewhere),
		"POST /permits institution":           refused("FORBIDDEN", elsewhere),
		"PUT,PATCH /permits/{id} institution": {body: fmt.Sprint(elsewhere)},
		"document":                            another("document", paper),
		"permit": another("permit", stranger.want(201, "POST", "/permits", obj{"regime": "IRB", "number": "1",
			"authority": "Board", "country": "DE", "from": "2026-01-01"}).id()),
		"POST /agreements/resolve recipient": {}, // anybody may ask about any
	}
}

// badFields put a wrong value into each field of the input, one at a time, and all at once.
func badFields(line api.Line, method string, v visit, foreign map[string]attempt) []attempt {
	if !hasBody(line) {
		return nil
	}
	var list []attempt
	all, names := obj{}, []string{}
	for _, field := range reflect.VisibleFields(line.In) {
		if field.Anonymous {
			continue
		}
		name := field.Tag.Get("json")
		all[name], names = []any{obj{}}, append(names, name)
		wrong, nullable := field.Type, false
		if field.Type.Kind() == reflect.Struct { // Opt or Null
			value, _ := field.Type.FieldByName("Value")
			wrong = value.Type
		}
		if wrong.Kind() == reflect.Pointer {
			wrong, nullable = wrong.Elem(), true
		}
		values := wrongValues[wrong]
		if len(values) == 0 {
			panic(line.Route + ": the corpus has no wrong values of " + wrong.String())
		}
		if !nullable {
			values = append([]string{"null"}, values...)
		}
		other, known := foreign[line.Route+" "+name]
		if !known {
			other, known = foreign[name]
		}
		if wrong == reflect.TypeFor[exchange.Ref]() && !known {
			panic(line.Route + ": the corpus has nobody else's " + name)
		}
		if other.body != "" {
			values = append(values, other.body)
		}
		for _, text := range values {
			a := invalid(fmt.Sprintf("%s %.40s", name, text), name)
			if known && text == other.body {
				a = other
				a.name = "another's " + name
			}
			switch {
			case line.Route == "PUT,PATCH /shipping-requirements/{id}" && name == "organization" &&
				(text == unknownRef || text == other.body):
				continue // it is read only, so ignored
			case line.Route == "PUT,PATCH /permits/{id}" && (name == "organization" || name == "institution") &&
				(text == unknownRef || text == other.body):
				continue // whose it is stays as it is
			case line.Route == "PUT,PATCH /institutions/{id}/labs/{lab}" && name == "organization" &&
				text == other.body:
				a = invalid("another's organization", name) // it stays as it is
			case line.Route == "POST /attachments" && name == "owned_by_user" && text == unknownUser:
				continue // so is this: the maker owns what they make
			}
			body := map[string]json.RawMessage{}
			if base, ok := v.body.(obj); ok && method == "POST" {
				_ = json.Unmarshal([]byte(encode(base)), &body)
			}
			body[name] = json.RawMessage(text)
			a.body = encode(body)
			if line.Route == "PUT,PATCH /material-requests/{id}" {
				a.by = speaks[name]
			}
			list = append(list, a)
		}
	}
	slices.Sort(names)
	return append(list, attempt{name: "every field of a wrong type", body: encode(all), status: 400,
		code: "INVALID_INPUT", fields: names})
}
