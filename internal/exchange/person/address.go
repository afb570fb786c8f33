package person

import (
	"time"

	"aliquot/internal/exchange"

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

// Patch applies p to a; a parcel needs name, address_line_1, locality and country.
func (p AddressPatch) Patch(a Address) (Address, error) {
	var f exchange.FieldErrors
	f.Line("name", p.Name, exchange.LineLength, &a.Name)
	f.Line("institution", p.Institution, exchange.LineLength, &a.Institution)
	f.Line("address_line_1", p.Line1, exchange.LineLength, &a.Line1)
	f.Line("address_line_2", p.Line2, exchange.LineLength, &a.Line2)
	f.Line("locality", p.Locality, exchange.LineLength, &a.Locality)
	f.Line("state", p.State, exchange.LineLength, &a.State)
	f.Line("country", p.Country, exchange.LineLength, &a.Country)
	f.Line("postal_code", p.PostalCode, exchange.LineLength, &a.PostalCode)
	a.SavedForUse = p.SavedForUse.Or(a.SavedForUse)
	f.Need("name", a.Name)
	f.Need("address_line_1", a.Line1)
	f.Need("locality", a.Locality)
	f.Need("country", a.Country)
	return a, f.Err()
}

// Validate implements Body.
func (p AddressPatch) Validate(bool) exchange.FieldErrors {
	_, err := p.Patch(Address{})
	return exchange.FieldsOf(err)
}
