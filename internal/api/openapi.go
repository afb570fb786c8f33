package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
	"aliquot/internal/exchange/request"
	"aliquot/internal/server"
)

// object is a JSON object of the OpenAPI document.
type object = map[string]any

// OpenAPI returns the contract as an OpenAPI 3.1 document under a policy. It is built from the table of routes, the
// types of their bodies and the policy, so that it cannot differ from them.
func OpenAPI(policy exchange.Policy) ([]byte, error) {
	d := description{policy: policy, schemas: object{}}
	paths, tags := object{}, []object{}
	for _, r := range routes {
		path, _ := paths[r.path].(object)
		if path == nil {
			path = object{}
			paths[r.path] = path
		}
		for _, method := range r.methods {
			path[strings.ToLower(method)] = d.operation(r, method)
		}
		tag := object{"name": tagOfPath(r.path)}
		if !slices.ContainsFunc(tags, func(t object) bool { return t["name"] == tag["name"] }) {
			tags = append(tags, tag)
		}
	}
	return json.MarshalIndent(object{
		"openapi":  "3.1.0",
		"info":     object{"title": "Aliquot", "version": "1", "description": about},
		"servers":  []object{{"url": "/v1"}, {"url": "/"}},
		"tags":     append(tags, object{"name": webhooksTag}),
		"paths":    paths,
		"webhooks": d.webhooks(),
		"components": object{
			"schemas":    d.schemas,
			"parameters": d.sharedParameters(),
			"headers":    sharedHeaders,
			"responses":  d.errors(),
			"securitySchemes": object{"token": object{"type": "apiKey", "in": "header", "name": "Authorization",
				"description": "The word Token, a space and the token: `Authorization: Token alq_...`."}},
		},
	}, "", "  ")
}

const about = `Labs list the research materials they share; researchers request them; both see every step ` +
	`until the material arrives.

Every path works at the root and under /v1, with and without a trailing slash; every path with GET also ` +
	`answers HEAD. ` +
	`Bodies are JSON in UTF-8, of at most 1 MiB. PUT and PATCH are the same: a field that is left out keeps its ` +
	`value, null clears one that may be null, ` +
	`and fields that are not named here are ignored, so that what GET gave can be sent back.

Lists are arrays, newest first. A page holds 50 items, or the number given by limit; the header Link leads ` +
	`to the next page, and X-Total-Count is the total, if that is at most 10,000 or the call has count=exact; ` +
	`else X-Total-Count-At-Least is 10000. ` +
	`Every error is an Error: one sentence that helps to fix it, a code, and, with 400, what is wrong with each field.

Version 1 only changes by addition: clients must ignore unknown fields.`

// Error is the body of every error; only some codes have the fields after the first four.
type Error struct {
	Error          string                   `json:"error"`
	Code           exchange.Code            `json:"error_code"`
	Fields         map[string][]string      `json:"fields,omitempty"`
	RequestID      string                   `json:"request_id"`
	Field          string                   `json:"field,omitempty"`
	Status         request.Status           `json:"status,omitempty"`
	Organizations  []Lab                    `json:"organizations,omitempty"`
	Requests       []OpenRequest            `json:"requests,omitempty"`
	Allowed        []request.Status         `json:"allowed,omitempty"`
	Missing        []request.Need           `json:"missing,omitempty"`
	EmbargoDate    exchange.Date            `json:"embargo_date,omitempty"`
	ActiveRequests int                      `json:"active_requests,omitempty"`
	Limit          int64                    `json:"limit,omitempty"`
	PerSecond      float64                  `json:"per_second,omitempty"`
	Source         string                   `json:"source,omitempty"`
	RetryAfter     int                      `json:"retry_after,omitempty"`
	Quota          int64                    `json:"quota,omitempty"`
	Used           int64                    `json:"used,omitempty"`
	Line           int                      `json:"line,omitempty"`
	Column         int                      `json:"column,omitempty"`
	Columns        []material.ColumnHeading `json:"columns,omitempty"`
}

// Contract is the OpenAPI document as JSON.
type Contract struct{ json.RawMessage }

func getOpenAPI(c *Call, _ None) (Contract, error) {
	document, err := c.API.Contract()
	return Contract{document}, err
}

// description collects the schemas that the routes use.
type description struct {
	policy  exchange.Policy
	schemas object
}

// tagOfPath returns the heading under which a route is listed.
func tagOfPath(path string) string {
	if path == "/openapi.json" {
		return "this-document"
	}
	return strings.Split(path, "/")[1]
}

func (d description) operation(r route, method string) object {
	title, more, _ := strings.Cut(r.text, ". ")
	name := r.name
	if method == http.MethodPut && len(r.methods) > 1 {
		name += "ByPut"
	}
	op := object{
		"operationId": name,
		"summary":     strings.TrimSuffix(title, "."),
		"description": strings.TrimSpace(more + " " + whoMay(r.action)),
		"tags":        []string{tagOfPath(r.path)},
		"security":    []object{{"token": []string{}}},
		"responses":   d.responses(r, method),
	}
	if !d.policy.NeedsToken(r.action) {
		op["security"] = []object{{}, {"token": []string{}}}
	}
	if parameters := d.parameters(r, method); len(parameters) > 0 {
		op["parameters"] = parameters
	}
	if body := d.requestBody(r, method); body != nil {
		op["requestBody"] = body
	}
	return op
}

// whoMay describes the rule of an action under both access settings.
func whoMay(action exchange.Action) string {
	words := func(relations exchange.Relation) string {
		var list []string
		for _, one := range []struct {
			relation exchange.Relation
			who      string
		}{
			{exchange.Anyone, "anyone"},
			{exchange.SignedIn, "anyone with a token"},
			{exchange.OwnerOf, "the owner"},
			{exchange.MemberOf, "members of the organization"},
			{exchange.RequesterOf, "the requester"},
			{exchange.PartyOf, "the parties of a request that it is linked to"},
			{exchange.ReaderOf, "anyone where a listed material shows it"},
		} {
			if relations&one.relation != 0 {
				list = append(list, one.who)
			}
		}
		if relations&(exchange.Anyone|exchange.SignedIn) == 0 {
			list = append(list, "admins")
		}
		last := len(list) - 1
		return strings.TrimPrefix(strings.Join(list[:last], ", ")+" and "+list[last], " and ")
	}
	open, members := exchange.PolicyFor(exchange.AccessOpen)[action], exchange.PolicyFor(exchange.AccessMembers)[action]
	if open == members {
		return "Open to " + words(open) + "."
	}
	return "Open to " + words(members) + "; under the access setting open, to " + words(open) + "."
}

func (d description) requestBody(r route, method string) object {
	hasBody := r.in != reflect.TypeFor[None]() && method != http.MethodGet
	switch {
	case r.stream && hasBody:
		form := d.input(r.in, "Form", false)
		schema := d.schemas[form].(object)
		schema["properties"].(object)["file"] = maps.Clone(octets)
		explain(form, schema)
		schema["required"], schema["additionalProperties"] = []string{"file"}, true
		return object{"required": true, "content": object{
			"application/json":    object{"schema": refTo(d.input(r.in, "New", true))},
			"multipart/form-data": object{"schema": refTo(form)},
		}}
	case r.stream:
		return object{"required": true, "content": anything}
	case hasBody && method == http.MethodPost:
		return object{"required": true, "content": jsonOf(refTo(d.input(r.in, "New", true)))}
	case hasBody:
		return object{"required": true, "content": jsonOf(refTo(d.input(r.in, "Patch", false)))}
	}
	return nil
}

// anything is the content of a file of any type.
var anything = object{"*/*": object{"schema": octets}}

var octets = object{"type": "string", "format": "binary"}

// contentOf returns the schema of a body whose media type is not our JSON.
func contentOf(kind string) object {
	switch {
	case kind == publish.CSLJSON.MediaType():
		return object{"type": "array", "items": object{"type": "object"}}
	case strings.HasSuffix(kind, "json"):
		return object{"type": "object"}
	}
	return object{"type": "string"}
}

func jsonOf(schema object) object { return object{"application/json": object{"schema": schema}} }

func refTo(schema string) object { return object{"$ref": "#/components/schemas/" + schema} }

// sharedHeaders are headers that many answers have.
var sharedHeaders = object{
	"X-Request-Id": headerOf("Names this call in the server's log.", "string"),
	"RateLimit": headerOf("What remains of the limit closest to being reached: `\"user\";r=99;t=1`.",
		"string"),
	"RateLimit-Policy": headerOf("That limit: `\"user\";q=100;w=5`.", "string"),
	"ETag":             headerOf("The version, for If-None-Match and If-Match.", "string"),
	"Link": headerOf("For a list, the next page, `<...>; rel=\"next\"`; absent on the last one. For an object, its "+
		"page for people, `<...>; rel=\"alternate\"; type=\"text/html\"`.", "string"),
	"Location": headerOf("The address of the new object.", "string"),
	"X-Total-Count": headerOf("How many items there are on all pages. Absent if there are more than 10,000, unless "+
		"the call has `count=exact`.", "integer"),
	"X-Total-Count-At-Least": headerOf("10,000 if there are more items than that and `X-Total-Count` is absent.",
		"integer"),
	"X-Unread-Count":   headerOf("How many of the user's notifications are unread.", "integer"),
	"Retry-After":      headerOf("How many seconds to wait before trying again.", "integer"),
	"WWW-Authenticate": headerOf("Always `Token`.", "string"),
	"Idempotency-Replayed": headerOf("`true` on the stored answer of an earlier call with the same Idempotency-Key.",
		"string"),
	"Content-Disposition": headerOf("Always a download, with the filename.", "string"),
}

func headerOf(description, kind string) object {
	return object{"description": description, "schema": object{"type": kind}}
}

func headers(names ...string) object {
	list := object{}
	for _, name := range append(names, "X-Request-Id", "RateLimit", "RateLimit-Policy") {
		list[name] = object{"$ref": "#/components/headers/" + name}
	}
	return list
}

// errors returns the answer for each error status, from the table of codes.
func (d description) errors() object {
	codes := map[int][]string{}
	for code, status := range statuses {
		codes[status] = append(codes[status], string(code))
	}
	list := object{}
	for status, names := range codes {
		slices.Sort(names)
		extra := map[int][]string{401: {"WWW-Authenticate"}, 412: {"ETag"}, 416: {"ETag"}, 409: {"Retry-After"},
			429: {"Retry-After"}, 503: {"Retry-After"}}[status]
		list[errorName(status)] = object{
			"description": strings.Join(names, ", "), "headers": headers(extra...),
			"content": jsonOf(d.schema(reflect.TypeFor[Error]())),
		}
	}
	return list
}

// errorName returns "NotFound" for 404.
func errorName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

func (d description) responses(r route, method string) object {
	list := object{}
	for _, status := range r.failures(method) {
		list[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + errorName(status)}
	}
	single := method == http.MethodGet && r.out.Kind() == reflect.Struct && !r.file && !r.events
	names := []string{}
	switch {
	case r.action == exchange.NotificationRead && r.out.Kind() == reflect.Slice:
		names = append(names, "X-Unread-Count", "X-Total-Count", "X-Total-Count-At-Least", "Link")
	case r.out.Kind() == reflect.Slice:
		names = append(names, "X-Total-Count", "X-Total-Count-At-Least", "Link")
	case single:
		names = append(names, "ETag")
		if r.page != "" {
			names = append(names, "Link")
		}
		list["304"] = object{"description": "It is the version that If-None-Match names.", "headers": headers(names...)}
	case r.locates(method) || r.status == http.StatusAccepted:
		names = append(names, "Location")
	}
	if r.repeatable(method) {
		names = append(names, "Idempotency-Replayed")
	}
	good := object{"description": http.StatusText(r.status), "headers": headers(names...)}
	list[strconv.Itoa(r.status)] = good
	switch r.out {
	case reflect.TypeFor[None]():
	case reflect.TypeFor[Body]():
		content := object{}
		for _, kind := range r.types {
			content[kind] = object{"schema": contentOf(kind)}
		}
		good["content"], good["headers"] = content, headers(append(names, "Content-Disposition")...)
	default:
		good["content"] = jsonOf(d.schema(r.out))
	}
	switch {
	case r.there != nil && r.status == http.StatusOK:
		good["description"] = "OK, or: " + r.there.when
		good["content"] = jsonOf(object{"anyOf": []object{d.schema(r.out), d.schema(r.there.out)}})
	case r.there != nil:
		list["200"] = object{"description": r.there.when, "headers": good["headers"],
			"content": jsonOf(d.schema(r.there.out))}
	}
	if r.file {
		good["headers"], good["content"] = headers("Content-Disposition"), anything
	}
	if r.events {
		good["content"] = object{server.EventStream: object{"schema": object{"type": "string"}}}
	}
	if r.action == exchange.AttachmentContent {
		good["headers"] = headers("ETag", "Content-Disposition")
		good["content"] = anything
		list["206"] = object{"description": "The range that was asked for.", "headers": good["headers"],
			"content": good["content"]}
		list["304"] = object{"description": "It is the version that If-None-Match names.", "headers": headers("ETag")}
		list["416"] = object{"$ref": "#/components/responses/" + errorName(416)}
	}
	return list
}

// failures returns the error statuses of a route.
func (r route) failures(method string) []int {
	list := []int{400, 401, 421, 429, 500, 503}
	get := method == http.MethodGet
	if strings.Contains(r.path, "{") || r.action == exchange.InvitationOpen {
		list = append(list, 404)
	}
	if !get || exchange.PolicyFor(exchange.AccessMembers)[r.action]&exchange.Anyone == 0 {
		list = append(list, 403)
	}
	if r.asksSource() {
		list = append(list, 502) // an error of the source
	}
	if !get || r.file {
		list = append(list, 409)
	}
	if !get && method != http.MethodPost || get && r.out.Kind() == reflect.Struct && !r.file && !r.events {
		list = append(list, 412)
	}
	if r.hasBody() {
		list = append(list, 413, 415)
	}
	if !get {
		list = append(list, 507)
	}
	return list
}

// asksSource reports whether a call waits for a public source.
func (r route) asksSource() bool {
	return r.status == http.StatusOK &&
		slices.Contains([]exchange.Action{exchange.MaterialImport, exchange.MaterialPreview, exchange.PublicationRead},
			r.action)
}

// locates reports whether a call creates an object that has an address of its own.
func (r route) locates(method string) bool {
	return r.action == exchange.MaterialImport || r.status == http.StatusAccepted || r.repeatable(method) &&
		slices.ContainsFunc(routes, func(one route) bool {
			rest, ok := strings.CutPrefix(one.path, r.path+"/{")
			return ok && !strings.Contains(rest, "/") && one.methods[0] == http.MethodGet
		})
}

// repeatable reports whether a call accepts an Idempotency-Key.
func (r route) repeatable(method string) bool {
	return method == http.MethodPost && !answersSecret(r.action)
}
