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
