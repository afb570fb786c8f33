package exchange

import (
	"time"

	"github.com/google/uuid"
)

// Shipping is an organization's shipping requirements, which its materials name.
type Shipping struct {
	ID                   int64
	OrganizationID       int64
	NeedsAddress         bool
	NeedsPayment         bool
	AcceptsShippingCode  bool
	AcceptsReimbursement bool
	AcceptsOther         bool
	PaymentDetails       string
	Restrictions         string
	CreatedAt            time.Time
	UpdatedAt            time.Time
}

// ShippingPatch is the body of POST, PUT and PATCH of shipping requirements.
type ShippingPatch struct {
	Organization         Opt[Ref]    `json:"organization" alias:"organization_id"`
	NeedsAddress         Opt[bool]   `json:"needs_shipping_address"`
	NeedsPayment         Opt[bool]   `json:"needs_payment"`
	AcceptsShippingCode  Opt[bool]   `json:"accepts_shipping_code"`
	AcceptsReimbursement Opt[bool]   `json:"accepts_reimbursement"`
	AcceptsOther         Opt[bool]   `json:"accepts_other_payment_methods"`
	PaymentDetails       Opt[string] `json:"accepted_payment_details"`
	Restrictions         Opt[string] `json:"restrictions"`
}

// Create makes new shipping requirements from p.
func (p ShippingPatch) Create() (Shipping, error) {
	var f FieldErrors
	f.must("organization", p.Organization.Set, "is required: the id of the organization")
	s := p.apply(&f, Shipping{OrganizationID: int64(p.Organization.Value)})
	return s, f.Err()
}

// Patch applies p to s. The organization cannot change; another value is ignored.
func (p ShippingPatch) Patch(s Shipping) (Shipping, error) {
	var f FieldErrors
	s = p.apply(&f, s)
	return s, f.Err()
}

// Validate implements Body.
func (p ShippingPatch) Validate(create bool) FieldErrors {
	var err error
	if create {
		_, err = p.Create()
	} else {
		_, err = p.Patch(Shipping{})
	}
	return fieldsOf(err)
}

func (p ShippingPatch) apply(f *FieldErrors, s Shipping) Shipping {
	s.NeedsAddress = p.NeedsAddress.Or(s.NeedsAddress)
	s.NeedsPayment = p.NeedsPayment.Or(s.NeedsPayment)
	s.AcceptsShippingCode = p.AcceptsShippingCode.Or(s.AcceptsShippingCode)
	s.AcceptsReimbursement = p.AcceptsReimbursement.Or(s.AcceptsReimbursement)
	s.AcceptsOther = p.AcceptsOther.Or(s.AcceptsOther)
	f.long("accepted_payment_details", p.PaymentDetails, &s.PaymentDetails)
	f.long("restrictions", p.Restrictions, &s.Restrictions)
	return s
}

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
	Name        Opt[string] `json:"name"`
	Institution Opt[string] `json:"institution"`
	Line1       Opt[string] `json:"address_line_1"`
	Line2       Opt[string] `json:"address_line_2"`
	Locality    Opt[string] `json:"locality"`
	State       Opt[string] `json:"state"`
	Country     Opt[string] `json:"country"`
	PostalCode  Opt[string] `json:"postal_code"`
	SavedForUse Opt[bool]   `json:"saved_for_reuse"`
}

// Patch applies p to a; a parcel needs name, address_line_1, locality and country.
func (p AddressPatch) Patch(a Address) (Address, error) {
	var f FieldErrors
	f.line("name", p.Name, lineLength, &a.Name)
	f.line("institution", p.Institution, lineLength, &a.Institution)
	f.line("address_line_1", p.Line1, lineLength, &a.Line1)
	f.line("address_line_2", p.Line2, lineLength, &a.Line2)
	f.line("locality", p.Locality, lineLength, &a.Locality)
	f.line("state", p.State, lineLength, &a.State)
	f.line("country", p.Country, lineLength, &a.Country)
	f.line("postal_code", p.PostalCode, lineLength, &a.PostalCode)
	a.SavedForUse = p.SavedForUse.Or(a.SavedForUse)
	f.need("name", a.Name)
	f.need("address_line_1", a.Line1)
	f.need("locality", a.Locality)
	f.need("country", a.Country)
	return a, f.Err()
}

// Validate implements Body.
func (p AddressPatch) Validate(bool) FieldErrors {
	_, err := p.Patch(Address{})
	return fieldsOf(err)
}
