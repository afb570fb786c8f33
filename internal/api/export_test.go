package api

import (
	"reflect"
	"strings"

	"aliquot/internal/exchange"
)

// What only the tests of this room reach.

// DecodeObject is decodeObject.
var DecodeObject = decodeObject

// Presented is presented.
var Presented = bearerToken

// Line is what tests know of one line of the table of routes.
type Line struct {
	Route   string // as "PUT,PATCH /path"
	Action  exchange.Action
	In, Out reflect.Type
}

// Lines are the table of routes.
func Lines() []Line {
	var list []Line
	for _, r := range routes {
		list = append(list, Line{strings.Join(r.methods, ",") + " " + r.path, r.action, layoutOf(r.in), r.out})
	}
	return list
}

// ExposedHeaders is exposedHeaders.
const ExposedHeaders = exposedHeaders

// Meanings is meanings.
var Meanings = meanings

// ListFields are the fields that lists can be sorted by, by the route as "GET /path".
func ListFields() map[string][]exchange.Field {
	lists := map[string][]exchange.Field{}
	for _, r := range routes {
		if r.fields != nil {
			lists["GET "+r.path] = r.fields
		}
	}
	return lists
}

// ListFilters are the parameters that narrow lists, by the route as "GET /path".
func ListFilters() map[string][]string {
	lists := map[string][]string{}
	for _, r := range routes {
		if r.fields == nil {
			continue
		}
		for i := range r.in.NumField() {
			lists["GET "+r.path] = append(lists["GET "+r.path], r.in.Field(i).Tag.Get("query"))
		}
		for _, f := range r.filters() {
			lists["GET "+r.path] = append(lists["GET "+r.path], f.name)
		}
	}
	return lists
}
