package ui

import (
	"net/url"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
)

// AddressFields are the fields of an address, in the order of the form.
var AddressFields = []string{"name", "institution", "address_line_1", "address_line_2", "locality", "state",
	"postal_code", "country"}

// AddressLabels are the names of the fields inside a sentence.
var AddressLabels = map[string]string{
	"name": "the name", "institution": "the institution", "address_line_1": "the street address",
	"address_line_2": "the floor, room or suite",
	"locality":       "the town or city", "state": "the state, province or region", "postal_code": "the postal code",
	"country": "the country",
}

// AddressOf returns the address in a form.
func AddressOf(form url.Values) person.AddressPatch {
	text := func(name string) exchange.Opt[string] { return exchange.Some(form.Get(name)) }
	return person.AddressPatch{Name: text("name"), Institution: text("institution"), Line1: text("address_line_1"),
		Line2:    text("address_line_2"),
		Locality: text("locality"), State: text("state"), PostalCode: text("postal_code"), Country: text("country"),
		SavedForUse: exchange.Some(form.Get("saved_for_reuse") != "")}
}
