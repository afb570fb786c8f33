package api

import (
	"reflect"
	"strings"

	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
)

// What only the tests of this package reach.

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
		list = append(list, Line{strings.Join(r.Methods, ",") + " " + r.Address(), r.Action, shape.LayoutOf(r.In), r.Out})
	}
	return list
}

// ListFields are the fields that lists can be sorted by, by the route as "GET /path".
func ListFields() map[string][]exchange.Field {
	lists := map[string][]exchange.Field{}
	for _, r := range routes {
		if r.Fields != nil {
			lists["GET "+r.Path] = r.Fields
		}
	}
	return lists
}

// ListFilters are the parameters that narrow lists, by the route as "GET /path".
func ListFilters() map[string][]string {
	lists := map[string][]string{}
	for _, r := range routes {
		if r.Fields == nil {
			continue
		}
		for _, p := range r.Parameters() {
			if !p.Shared && p.Name != "ordering" {
				lists["GET "+r.Path] = append(lists["GET "+r.Path], p.Name)
			}
		}
	}
	return lists
}
