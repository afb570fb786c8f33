package api

import "aliquot/internal/exchange"

// What only the tests of this room reach.

// DecodeObject is decodeObject.
var DecodeObject = decodeObject

// Presented is presented.
var Presented = presented

// ListFields are the fields that lists can be sorted by, by the route as "GET /path".
func ListFields() map[string][]exchange.Field {
	lists := map[string][]exchange.Field{}
	for _, r := range routes {
		if r.filter != nil {
			lists["GET "+r.path] = r.fields
		}
	}
	return lists
}

// ListFilters are the parameters that narrow lists, by the route as "GET /path".
func ListFilters() map[string][]string {
	lists := map[string][]string{}
	for _, r := range routes {
		if r.filter == nil {
			continue
		}
		for i := range r.filter.NumField() {
			lists["GET "+r.path] = append(lists["GET "+r.path], r.filter.Field(i).Tag.Get("query"))
		}
	}
	return lists
}
