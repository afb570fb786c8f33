package api

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/server"
)

// parameter is a query parameter of a route: what a call may have and what the document describes are one list.
type parameter struct {
	name, help string
	schema     func(description) object
	required   bool
	shared     bool // the document has it once, for all routes
}

// parameters returns the query parameters of a route.
func (r route) parameters() (list []parameter) {
	if r.methods[0] == http.MethodGet {
		list = tagged(r.in)
	}
	if r.asked != nil {
		list = append(list, tagged(r.asked)...)
	}
	if r.search != nil {
		list = append(list, r.search.parameters()...)
	}
	if r.out.Kind() != reflect.Slice {
		return list
	}
	for _, f := range r.filters() {
		list = append(list, parameter{name: f.name, help: onlyItems(f.name), schema: always(f.schema)})
	}
	var orders []string
	for _, f := range r.fields {
		orders = append(orders, f.Name, "-"+f.Name)
	}
	list = append(list, parameter{name: "ordering", schema: always(enum(orders...)),
		help: "The field to sort by, ascending; with - before it, descending. Default: newest first."})
	return append(list, tagged(reflect.TypeFor[listPage]())...)
}

// parameters returns the text, the facets to filter by and, except for a feed, the page.
func (s searched) parameters() []parameter {
	list := []parameter{{name: "search", help: "Words, \"exact phrases\", -excluded words, and identifiers. Any text " +
		"is a search; its first " + strconv.Itoa(fulltext.MaxWords) + " words count. Words and " +
		"values of filters are at most " + strconv.Itoa(exchange.MaxSearched) + " together.",
		schema: always(object{"type": "string", "maxLength": exchange.MaxSearchText})}}
	for _, f := range s.facets {
		list = append(list, parameter{name: f.Name,
			help: "Only what has this in the facet " + f.Label + ", or one of several.",
			schema: func(d description) object {
				return object{"type": "array", "items": d.facet(f), "maxItems": exchange.MaxSearched}
			}})
	}
	if s.feed {
		return list
	}
	list = append(list, parameter{name: "ordering", schema: always(enum(s.orders()...)),
		help: "By relevance, which is the default, or by a field. Archived materials always come last."})
	return append(list, tagged(reflect.TypeFor[searchPage]())...)
}

// facet returns the schema of a value of a facet.
func (d description) facet(f exchange.FacetName) object {
	switch {
	case f.Name == "category":
		return d.enum(categories)
	case f.IDs:
		return idSchema
	case f.Flag:
		return object{"type": "boolean"}
	case f.Values != nil:
		return enum(f.Values...)
	}
	return object{"type": "string", "maxLength": exchange.MaxSearchText, "pattern": controlFree}
}

// tagged returns the parameters that the tags of a struct name.
func tagged(t reflect.Type) (list []parameter) {
	for f := range t.Fields() {
		name, of := f.Tag.Get("query"), f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		list = append(list, parameter{name: name,
			help:     cmp.Or(f.Tag.Get("help"), parameterMeanings[t.Name()+"."+name], onlyItems(name)),
			schema:   func(d description) object { return limited(d.parameterSchema(name, of), f) },
			required: f.Tag.Get("required") != "", shared: f.Tag.Get("shared") != ""})
	}
	return list
}

func onlyItems(name string) string { return "Only items whose `" + name + "` is this." }

func always(schema object) func(description) object {
	return func(description) object { return schema }
}

// describe returns the description of a query parameter.
func (d description) describe(p parameter) object {
	o := object{"name": p.name, "in": "query", "description": p.help, "schema": p.schema(d)}
	if p.required {
		o["required"] = true
	}
	return o
}

// sharedParameters returns the parameters that many routes have.
func (d description) sharedParameters() object {
	list := object{}
	for _, p := range tagged(reflect.TypeFor[listPage]()) {
		list[p.name] = d.describe(p)
	}
	for _, h := range []struct {
		name, help string
		schema     object
	}{
		{"If-None-Match", "ETags of versions that the caller has; 304 if one is current.",
			object{"type": "string"}},
		{"If-Match", "The ETag of the version that the caller expects; 412 if it is not current.",
			object{"type": "string"}},
		{server.LastEventID, "The id of the last event that the caller received; the stream continues after it.",
			object{"type": "string"}},
		{idempotencyKey, "Any string. For 24 hours, a second call with it returns the response of the first and " +
			"changes  nothing.", object{"type": "string", "minLength": 1, "maxLength": longestKey}},
	} {
		list[h.name] = object{"name": h.name, "in": "header", "description": h.help, "schema": h.schema}
	}
	return list
}

// parameters describes the parameters of a route: of the path, of the query, and headers.
func (d description) parameters(r route, method string) []object {
	shared := func(name string) object { return object{"$ref": "#/components/parameters/" + name} }
	var list []object
	for part := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			list = append(list, d.pathParameter(r.path, strings.TrimSuffix(name, "}")))
		}
	}
	for _, p := range r.parameters() {
		if p.shared {
			list = append(list, shared(p.name))
		} else {
			list = append(list, d.describe(p))
		}
	}
	switch {
	case r.out.Kind() == reflect.Slice:
	case r.events:
		list = append(list, shared(server.LastEventID))
	case method == http.MethodGet && !r.file:
		list = append(list, shared("If-None-Match"), shared("If-Match"))
	case r.repeatable(method):
		list = append(list, shared(idempotencyKey))
	case method != http.MethodPost:
		list = append(list, shared("If-Match"))
	}
	return list
}

// parameterSchema returns the schema of a parameter by name and type.
func (d description) parameterSchema(name string, t reflect.Type) object {
	schema := d.schema(t)
	switch {
	case schema["type"] != "string" || schema["maxLength"] != nil || schema["pattern"] != nil ||
		schema["format"] != nil:
	case name == "category":
		return d.enum(categories)
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
		schema = d.schema(reflect.TypeFor[document.Slot]())
	case name == "filename":
		schema = object{"type": "string"}
	case name == "attachment":
		schema = object{"type": "string", "pattern": "^attachment_[0-9]+$"}
	}
	return object{"name": name, "in": "path", "required": true, "schema": schema}
}
