package openapi

import (
	"net/http"
	"reflect"
	"strings"

	"aliquot/internal/api/jsonschema"
	"aliquot/internal/api/rest"
	"aliquot/internal/exchange/document"
	"aliquot/internal/server"
)

// describe returns the description of a query parameter.
func (d description) describe(p rest.Parameter) jsonschema.Object {
	o := jsonschema.Object{"name": p.Name, "in": "query", "description": p.Help, "schema": p.Schema(d.schemas)}
	if p.Required {
		o["required"] = true
	}
	return o
}

// sharedParameters returns the parameters that many routes have.
func (d description) sharedParameters() jsonschema.Object {
	list := jsonschema.Object{}
	for _, p := range rest.Tagged(reflect.TypeFor[jsonschema.ListPage]()) {
		list[p.Name] = d.describe(p)
	}
	for _, h := range []struct {
		name, help string
		schema     jsonschema.Object
	}{
		{"If-None-Match", "ETags of versions that the caller has; 304 if one is current.",
			jsonschema.Object{"type": "string"}},
		{"If-Match", "The ETag of the version that the caller expects; 412 if it is not current.",
			jsonschema.Object{"type": "string"}},
		{server.LastEventID, "The id of the last event that the caller received; the stream continues after it.",
			jsonschema.Object{"type": "string"}},
		{rest.IdempotencyKey, "Any string. For 24 hours, a second call with it returns the response of the first and " +
			"changes  nothing.", jsonschema.Object{"type": "string", "minLength": 1, "maxLength": rest.LongestKey}},
	} {
		list[h.name] = jsonschema.Object{"name": h.name, "in": "header", "description": h.help, "schema": h.schema}
	}
	return list
}

// parameters describes the parameters of a route: of the path, of the query, and headers.
func (d description) parameters(r rest.Route, method string) []jsonschema.Object {
	shared := func(name string) jsonschema.Object {
		return jsonschema.Object{"$ref": "#/components/parameters/" + name}
	}
	var list []jsonschema.Object
	for part := range strings.SplitSeq(r.Address(), "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			list = append(list, d.pathParameter(r.Path, strings.TrimSuffix(name, "}")))
		}
	}
	for _, p := range r.Parameters() {
		if p.Shared {
			list = append(list, shared(p.Name))
		} else {
			list = append(list, d.describe(p))
		}
	}
	switch {
	case r.Out.Kind() == reflect.Slice:
	case r.Events:
		list = append(list, shared(server.LastEventID))
	case method == http.MethodGet && !r.File:
		list = append(list, shared("If-None-Match"), shared("If-Match"))
	case r.Repeatable(method):
		list = append(list, shared(rest.IdempotencyKey))
	case method != http.MethodPost:
		list = append(list, shared("If-Match"))
	}
	return list
}

func (d description) pathParameter(path, name string) jsonschema.Object {
	schema := jsonschema.Object{"type": "integer", "format": "int64", "minimum": 1}
	switch {
	case name == "id" && strings.HasPrefix(path, "/users/"):
		return jsonschema.Object{"name": name, "in": "path", "required": true,
			"description": "The id of a user, or me for the caller.",
			"schema": jsonschema.Object{"type": "string", "pattern": "^(" + rest.Me +
				"|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"}}
	case name == "document":
		schema = d.schemas.Schema(reflect.TypeFor[document.Slot]())
	case name == "filename", name == "level", name == "tile":
		schema = jsonschema.Object{"type": "string"}
	case name == "attachment":
		schema = jsonschema.Object{"type": "string", "pattern": "^attachment_[0-9]+$"}
	}
	return jsonschema.Object{"name": name, "in": "path", "required": true, "schema": schema}
}
