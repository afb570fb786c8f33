package api

import "aliquot/internal/exchange"

// What only the tests of this room reach.

// DecodeObject is decodeObject.
var DecodeObject = decodeObject

// Presented is presented.
var Presented = presented

// ExposedHeaders is exposedHeaders.
const ExposedHeaders = exposedHeaders

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
