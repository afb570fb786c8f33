package person_test

import (
	"testing"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/person"
)

func TestAddress_NeedsNameStreetTownAndCountry(t *testing.T) {
	t.Parallel()
	_, err := exchangetest.Body[person.AddressPatch](t, `{"institution": "a\nb", "name": " "}`).Patch(person.Address{})
	exchangetest.WantFieldErrors(t, err, "name", "address_line_1", "locality", "country", "institution")
	a, err := exchangetest.Body[person.AddressPatch](t,
		`{"name": " Dr. Mora ", "address_line_1": "Ringweg 4", "locality": "Utrecht", "country": "NL"}`).Patch(person.Address{})
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "the smallest address", a,
		person.Address{Name: "Dr. Mora", Line1: "Ringweg 4", Locality: "Utrecht", Country: "NL"})
	full := person.Address{
		ID: 4, UserID: exchangetest.RequesterID, Name: "Dr. Mora", Institution: "UMC", Line1: "Ringweg 4", Line2: "b",
		Locality: "Utrecht", State: "UT",
		Country: "NL", PostalCode: "3511", SavedForUse: true,
	}
	text := `{"id": 9, "user": {"id": "x"}, "name": "Dr. Mora", "institution": "UMC", "address_line_1": "Ringweg 4", "address_line_2": "b",
		"locality": "Utrecht", "state": "UT", "country": "NL", "postal_code": "3511", "saved_for_reuse": true}`
	if a, err = exchangetest.Body[person.AddressPatch](t,
		text).Patch(person.Address{ID: 4, UserID: exchangetest.RequesterID}); err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "the full address", a, full)
	if a, err = exchangetest.Body[person.AddressPatch](t, `{}`).Patch(full); err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "after an empty patch", a, full)
	_, err = exchangetest.Body[person.AddressPatch](t, `{"country": "", "locality": "\t"}`).Patch(full)
	exchangetest.WantFieldErrors(t, err, "country", "locality")
}
