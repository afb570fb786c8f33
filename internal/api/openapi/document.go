// Package openapi makes the OpenAPI document of the routes of the API.
package openapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"aliquot/internal/api/jsonschema"
	"aliquot/internal/api/rest"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/publish"
)

// document returns the contract as an OpenAPI 3.1 document under a policy. It is built from the table of routes, the
// types of their bodies and the policy, so that it cannot differ from them.
func Document(routes []rest.Route, policy exchange.Policy) ([]byte, error) {
	d := description{policy: policy, routes: routes, schemas: jsonschema.Set{}}
	paths, tags := jsonschema.Object{}, []jsonschema.Object{}
	for _, r := range routes {
		path, _ := paths[r.Address()].(jsonschema.Object)
		if path == nil {
			path = jsonschema.Object{}
			paths[r.Address()] = path
		}
		for _, method := range r.Methods {
			path[strings.ToLower(method)] = d.operation(r, method)
		}
		tag := jsonschema.Object{"name": tagOfPath(r.Path)}
		if !slices.ContainsFunc(tags, func(t jsonschema.Object) bool { return t["name"] == tag["name"] }) {
			tags = append(tags, tag)
		}
	}
	return json.MarshalIndent(jsonschema.Object{
		"openapi":  "3.1.0",
		"info":     jsonschema.Object{"title": "Aliquot", "version": "1", "description": about},
		"servers":  []jsonschema.Object{{"url": "/v1"}, {"url": "/"}},
		"tags":     append(tags, jsonschema.Object{"name": webhooksTag}),
		"paths":    paths,
		"webhooks": d.webhooks(),
		"components": jsonschema.Object{
			"schemas":    d.schemas,
			"parameters": d.sharedParameters(),
			"headers":    sharedHeaders,
			"responses":  d.errors(),
			"securitySchemes": jsonschema.Object{"token": jsonschema.Object{"type": "apiKey", "in": "header",
				"name":        "Authorization",
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

// description collects the schemas that the routes use.
type description struct {
	policy  exchange.Policy
	routes  []rest.Route
	schemas jsonschema.Set
}

// tagOfPath returns the heading under which a route is listed.
func tagOfPath(path string) string {
	if path == "/openapi.json" {
		return "this-document"
	}
	return strings.Split(path, "/")[1]
}

func (d description) operation(r rest.Route, method string) jsonschema.Object {
	title, more, _ := strings.Cut(r.Text, ". ")
	name := r.Name
	if method == http.MethodPut && len(r.Methods) > 1 {
		name += "ByPut"
	}
	op := jsonschema.Object{
		"operationId": name,
		"summary":     strings.TrimSuffix(title, "."),
		"description": strings.TrimSpace(more + " " + whoMay(r.Action)),
		"tags":        []string{tagOfPath(r.Path)},
		"security":    []jsonschema.Object{{"token": []string{}}},
		"responses":   d.responses(r, method),
	}
	if !d.policy.NeedsToken(r.Action) {
		op["security"] = []jsonschema.Object{{}, {"token": []string{}}}
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
			{exchange.OfficerOf, "officers of the institution"},
			{exchange.StaffOf, "people at the institution"},
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

func (d description) requestBody(r rest.Route, method string) jsonschema.Object {
	hasBody := r.In != reflect.TypeFor[rest.None]() && method != http.MethodGet
	switch {
	case r.Stream && hasBody:
		form := d.schemas.Input(r.In, "Form", false)
		schema := d.schemas[form].(jsonschema.Object)
		schema["properties"].(jsonschema.Object)["file"] = maps.Clone(octets)
		jsonschema.Explain(form, schema)
		schema["required"], schema["additionalProperties"] = []string{"file"}, true
		return jsonschema.Object{"required": true, "content": jsonschema.Object{
			"application/json":    jsonschema.Object{"schema": jsonschema.RefTo(d.schemas.Input(r.In, "New", true))},
			"multipart/form-data": jsonschema.Object{"schema": jsonschema.RefTo(form)},
		}}
	case r.Stream:
		return jsonschema.Object{"required": true, "content": anything}
	case hasBody && method == http.MethodPost:
		return jsonschema.Object{"required": true, "content": jsonOf(jsonschema.RefTo(d.schemas.Input(r.In, "New",
			true)))}
	case hasBody:
		return jsonschema.Object{"required": true, "content": jsonOf(jsonschema.RefTo(d.schemas.Input(r.In, "Patch",
			false)))}
	}
	return nil
}

// anything is the content of a file of any type.
var anything = jsonschema.Object{"*/*": jsonschema.Object{"schema": octets}}

var octets = jsonschema.Object{"type": "string", "format": "binary"}

// contentOf returns the schema of a body whose media type is not our JSON.
func contentOf(kind string) jsonschema.Object {
	switch {
	case kind == publish.CSLJSON.MediaType():
		return jsonschema.Object{"type": "array", "items": jsonschema.Object{"type": "object"}}
	case strings.HasSuffix(kind, "json"):
		return jsonschema.Object{"type": "object"}
	}
	return jsonschema.Object{"type": "string"}
}

func jsonOf(schema jsonschema.Object) jsonschema.Object {
	return jsonschema.Object{"application/json": jsonschema.Object{"schema": schema}}
}
