package api

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/server"
)

// sharedParameters are parameters that many routes have.
var sharedParameters = object{
	"limit": object{"name": "limit", "in": "query", "description": "How many items a page has at most.",
		"schema": object{"type": "integer", "minimum": 1, "maximum": maxLimit, "default": defaultLimit}},
	"cursor": object{"name": "cursor", "in": "query", "description": "Where the page begins, from Link or next of " +
		"the one before.",
		"schema": object{"type": "string", "minLength": 1, "maxLength": maxCursorLength * 4 / 3,
			"pattern": "^[A-Za-z0-9_-]+$"}},
	"If-None-Match": object{"name": "If-None-Match", "in": "header",
		"description": "ETags of versions that the caller has; 304 where one is the present one.",
		"schema":      object{"type": "string"}},
	"If-Match": object{"name": "If-Match", "in": "header", "description": "The ETag of the version that the caller " +
		"means; 412 where it is not the present one.",
		"schema": object{"type": "string"}},
	server.LastEventID: object{"name": server.LastEventID, "in": "header",
		"description": "The id of the last event that the caller got; the stream goes on behind it.",
		"schema":      object{"type": "string"}},
	idempotencyKey: object{"name": idempotencyKey, "in": "header",
		"description": "Any string. For 24 hours, a second call with it gives the first one's answer and changes " +
			"nothing.",
		"schema": object{"type": "string", "minLength": 1, "maxLength": longestKey}},
}

// parameters returns those of the path, a list's filters and page, and headers.
func (d description) parameters(r route, method string) []object {
	var list []object
	for part := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			list = append(list, d.pathParameter(r.path, strings.TrimSuffix(name, "}")))
		}
	}
	if method == http.MethodGet {
		list = append(list, d.query(r.in)...)
	}
	if r.asked != nil {
		list = append(list, d.query(r.asked)...)
	}
	if r.search != nil {
		list = append(list, d.searchParameters(*r.search)...)
	}
	shared := []string{}
	switch {
	case r.out.Kind() == reflect.Slice:
		shared = append(shared, "limit", "cursor")
		for _, f := range r.filters() {
			schema := f.schema
			if f.words != nil && namedFields[f.name].schema == nil {
				schema = enum(f.words...)
			}
			list = append(list, object{"name": f.name, "in": "query", "schema": schema,
				"description": "Only items whose `" + f.name + "` is this."})
		}
		var names []string
		for _, f := range r.fields {
			names = append(names, f.Name, "-"+f.Name)
		}
		list = append(list, object{"name": "ordering", "in": "query", "schema": object{"type": "string", "enum": names},
			"description": "The field to sort by, the smallest first; with - before it the greatest first. Without " +
				"it the newest come first."})
	case r.events:
		shared = append(shared, server.LastEventID)
	case method == http.MethodGet && !r.file:
		shared = append(shared, "If-None-Match", "If-Match")
	case r.repeatable(method):
		shared = append(shared, idempotencyKey)
	case method != http.MethodPost:
		shared = append(shared, "If-Match")
	}
	for _, name := range shared {
		list = append(list, object{"$ref": "#/components/parameters/" + name})
	}
	return list
}

// queryNames returns the names of the query parameters that the document has for a route, so that no undescribed
// parameter works.
func (r route) queryNames() []string {
	names := []string{}
	for _, p := range (description{schemas: object{}}).parameters(r, r.methods[0]) {
		if ref, ok := p["$ref"].(string); ok {
			p = sharedParameters[ref[strings.LastIndexByte(ref, '/')+1:]].(object)
		}
		if p["in"] == "query" {
			names = append(names, p["name"].(string))
		}
	}
	slices.Sort(names)
	return names
}

// searchParameters returns the text, the facets to filter by and, except for a feed, the page.
func (d description) searchParameters(s searched) []object {
	parameter := func(name, help string, schema object) object {
		return object{"name": name, "in": "query", "schema": schema, "description": help}
	}
	list := []object{parameter("search", "Words, \"words side by side\", -words that are not there, and identifiers. "+
		"Any text is a search; its first "+
		strconv.Itoa(fulltext.MaxWords)+" words count. Words and values of filters are at most "+
		strconv.Itoa(exchange.MaxSearched)+" together.",
		object{"type": "string", "maxLength": exchange.MaxSearchText})}
	for _, f := range s.facets {
		schema := object{"type": "string", "maxLength": exchange.MaxSearchText, "pattern": controlFree}
		switch {
		case f.Name == "category":
			schema = d.named(namedFields[f.Name])
		case f.IDs:
			schema = object{"type": "integer", "format": "int64", "minimum": 1}
		case f.Flag:
			schema = object{"type": "boolean"}
		case f.Values != nil:
			schema = enum(f.Values...)
		}
		list = append(list, parameter(f.Name, "Only what has this in the facet "+f.Label+", or one of several.",
			object{"type": "array", "items": schema, "maxItems": exchange.MaxSearched}))
	}
	if s.feed {
		return list
	}
	limit := maps.Clone(sharedParameters["limit"].(object)["schema"].(object))
	limit["default"] = defaultHits
	return append(list,
		parameter("ordering", "By how well it answers, which is the usual order, or by a field. Archived materials "+
			"come last in any.", enum(s.orders()...)),
		parameter("limit", "How many items a page has at most.", limit),
		parameter("offset", "How many items are before the page. next leads beyond the greatest.",
			object{"type": "integer", "minimum": 0, "maximum": maxOffset, "default": 0}),
		object{"$ref": "#/components/parameters/cursor"},
		parameter("facets", "Whether facets are counted.", object{"type": "boolean", "default": true}))
}

// query returns the parameters for the fields of a struct.
func (d description) query(t reflect.Type) (list []object) {
	for f := range t.Fields() {
		name, help := f.Tag.Get("query"), f.Tag.Get("help")
		if help == "" {
			help = "Only items whose `" + name + "` is this."
		}
		parameter := object{"name": name, "in": "query", "schema": tagged(d.parameterSchema(name, f.Type.Elem()), f),
			"description": help}
		if f.Tag.Get("required") != "" {
			parameter["required"] = true
		}
		list = append(list, parameter)
	}
	return list
}

// parameterSchema returns the schema of a parameter by name and type.
func (d description) parameterSchema(name string, t reflect.Type) object {
	schema := d.schema(t)
	switch c, named := namedFields[name]; {
	case schema["type"] != "string" || schema["maxLength"] != nil || schema["pattern"] != nil ||
		schema["format"] != nil:
	case named:
		return d.named(c)
	default:
		schema = maps.Clone(schema)
		schema["maxLength"], schema["pattern"] = exchange.MaxSearchText, controlFree
	}
	return schema
}

// controlFree is the pattern of a text without control characters.
const controlFree = `^[^\x00-\x1f\x7f-\x9f]*$`

func (d description) pathParameter(path, name string) object {
	schema := object{"type": "integer", "format": "int64", "minimum": 1}
	switch {
	case name == "id" && strings.HasPrefix(path, "/users/"):
		return object{"name": name, "in": "path", "required": true,
			"description": "The id of a user, or me for the caller.",
			"schema": object{"type": "string", "pattern": "^(" + me +
				"|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"}}
	case name == "document":
		schema = d.schema(reflect.TypeFor[exchange.Slot]())
	case name == "filename":
		schema = object{"type": "string"}
	case name == "attachment":
		schema = object{"type": "string", "pattern": "^attachment_[0-9]+$"}
	}
	return object{"name": name, "in": "path", "required": true, "schema": schema}
}
