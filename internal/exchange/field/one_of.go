package field

import (
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// OneOf completes the descriptor of a text that is one of some values, an enumeration of the API.
func OneOf[T any](d Descriptor[T], enumeration string, values []string, at func(*T) *string) Descriptor[T] {
	d.Values, d.At = values, func(o *T) any { return at(o) }
	d.Set = func(f *exchange.FieldErrors, slot any, o *T) {
		f.Rule(d.Name, exchange.Rule{Words: values, Name: enumeration})
		said := *slot.(*exchange.Opt[string])
		if said.Set && !slices.Contains(values, said.Value) {
			f.Add(d.Name, "must be one of %s", strings.Join(values, ", "))
			return
		}
		*at(o) = said.Or(*at(o))
	}
	return d
}
