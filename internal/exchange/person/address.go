package person

import (
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"

	"github.com/google/uuid"
)

// Address is a shipping address of a user. A request keeps a copy of it as it was when sent.
type Address struct {
	ID          int64     `json:"id"`
	UserID      uuid.UUID `json:"user"`
	Name        string    `json:"name"`
	Institution string    `json:"institution"`
	Line1       string    `json:"address_line_1"`
	Line2       string    `json:"address_line_2"`
	Locality    string    `json:"locality"`
	State       string    `json:"state"`
	Country     string    `json:"country"`
	PostalCode  string    `json:"postal_code"`
	SavedForUse bool      `json:"saved_for_reuse"`
	CreatedAt   time.Time `json:"-"`
	UpdatedAt   time.Time `json:"-"`
}

// AddressFields are the fields of addresses, in the order of answers. Those that are Needed a parcel cannot do without.
var AddressFields = []field.Descriptor[Address]{
	{Name: "id", At: func(a *Address) any { return &a.ID }, ReadOnly: true},
	{Name: "name", At: func(a *Address) any { return &a.Name }, Max: exchange.LineLength, Needed: true},
	{Name: "institution", At: func(a *Address) any { return &a.Institution }, Max: exchange.LineLength,
		Doc: "University or company."},
	{Name: "address_line_1", At: func(a *Address) any { return &a.Line1 }, Max: exchange.LineLength, Needed: true,
		Doc: "Street address."},
	{Name: "address_line_2", At: func(a *Address) any { return &a.Line2 }, Max: exchange.LineLength,
		Doc: "Apartment, floor or suite."},
	{Name: "locality", At: func(a *Address) any { return &a.Locality }, Max: exchange.LineLength, Needed: true,
		Doc: "Town, village or city."},
	{Name: "state", At: func(a *Address) any { return &a.State }, Max: exchange.LineLength},
	{Name: "country", At: func(a *Address) any { return &a.Country }, Max: exchange.LineLength, Needed: true},
	{Name: "postal_code", At: func(a *Address) any { return &a.PostalCode }, Max: exchange.LineLength,
		Doc: "Postal code."},
	{Name: "saved_for_reuse", At: func(a *Address) any { return &a.SavedForUse },
		Doc: "It is offered for the next request."},
	{Name: "user", Column: "user_id", At: func(a *Address) any { return &a.UserID }, ReadOnly: true},
	{Name: "created_at", At: func(a *Address) any { return &a.CreatedAt }, ReadOnly: true, Hidden: true},
	{Name: "updated_at", At: func(a *Address) any { return &a.UpdatedAt }, ReadOnly: true, Hidden: true},
}

// AddressPatch is the body of POST, PUT and PATCH of addresses.
type AddressPatch struct {
	Name        exchange.Opt[string] `json:"name"`
	Institution exchange.Opt[string] `json:"institution"`
	Line1       exchange.Opt[string] `json:"address_line_1"`
	Line2       exchange.Opt[string] `json:"address_line_2"`
	Locality    exchange.Opt[string] `json:"locality"`
	State       exchange.Opt[string] `json:"state"`
	Country     exchange.Opt[string] `json:"country"`
	PostalCode  exchange.Opt[string] `json:"postal_code"`
	SavedForUse exchange.Opt[bool]   `json:"saved_for_reuse"`
}

// Patch applies p to a.
func (p AddressPatch) Patch(a Address) (Address, error) {
	var f exchange.FieldErrors
	field.Apply(&f, AddressFields, &p, &a)
	return a, f.Err()
}

// Validate implements Body.
func (p AddressPatch) Validate(bool) exchange.FieldErrors {
	_, err := p.Patch(Address{})
	return exchange.FieldsOf(err)
}
