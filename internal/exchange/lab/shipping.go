package lab

import (
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
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

// ShippingFields are the fields of shipping requirements, in the order of answers.
var ShippingFields = []field.Descriptor[Shipping]{
	{Name: "id", At: func(s *Shipping) any { return &s.ID }, ReadOnly: true},
	{Name: "needs_shipping_address", At: func(s *Shipping) any { return &s.NeedsAddress },
		Doc: "The requester provides an address."},
	{Name: "needs_payment", At: func(s *Shipping) any { return &s.NeedsPayment },
		Doc: "Requester pays shipping for shipping."},
	{Name: "accepts_shipping_code", At: func(s *Shipping) any { return &s.AcceptsShippingCode },
		Doc: "The requester gives the number of an account with a carrier."},
	{Name: "accepts_reimbursement", At: func(s *Shipping) any { return &s.AcceptsReimbursement },
		Doc: "The lab ships and is reimbursed."},
	{Name: "accepts_other_payment_methods", At: func(s *Shipping) any { return &s.AcceptsOther },
		Doc: "Other ways of paying can be agreed."},
	{Name: "accepted_payment_details", At: func(s *Shipping) any { return &s.PaymentDetails },
		Doc: "Payment instructions for requesters."},
	{Name: "restrictions", At: func(s *Shipping) any { return &s.Restrictions },
		Doc: "Where or how the lab does not ship."},
	{Name: "organization", Column: "organization_id", At: func(s *Shipping) any { return &s.OrganizationID },
		Apart: true},
	{Name: "created_at", At: func(s *Shipping) any { return &s.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(s *Shipping) any { return &s.UpdatedAt }, ReadOnly: true},
}

// ShippingPatch is the body of POST, PUT and PATCH of shipping requirements.
type ShippingPatch struct {
	Organization         exchange.Opt[exchange.Ref] `json:"organization" alias:"organization_id"`
	NeedsAddress         exchange.Opt[bool]         `json:"needs_shipping_address"`
	NeedsPayment         exchange.Opt[bool]         `json:"needs_payment"`
	AcceptsShippingCode  exchange.Opt[bool]         `json:"accepts_shipping_code"`
	AcceptsReimbursement exchange.Opt[bool]         `json:"accepts_reimbursement"`
	AcceptsOther         exchange.Opt[bool]         `json:"accepts_other_payment_methods"`
	PaymentDetails       exchange.Opt[string]       `json:"accepted_payment_details"`
	Restrictions         exchange.Opt[string]       `json:"restrictions"`
}

// Create makes new shipping requirements from p.
func (p ShippingPatch) Create() (Shipping, error) {
	var f exchange.FieldErrors
	f.Must("organization", p.Organization.Set, "is required: the id of the organization")
	s := p.apply(&f, Shipping{OrganizationID: int64(p.Organization.Value)})
	return s, f.Err()
}

// Patch applies p to s. The organization cannot change; another value is ignored.
func (p ShippingPatch) Patch(s Shipping) (Shipping, error) {
	var f exchange.FieldErrors
	s = p.apply(&f, s)
	return s, f.Err()
}

// Validate implements Body.
func (p ShippingPatch) Validate(create bool) exchange.FieldErrors {
	var err error
	if create {
		_, err = p.Create()
	} else {
		_, err = p.Patch(Shipping{})
	}
	return exchange.FieldsOf(err)
}

func (p ShippingPatch) apply(f *exchange.FieldErrors, s Shipping) Shipping {
	field.Apply(f, ShippingFields, &p, &s)
	return s
}

// The ways to pay for a shipment, as values of payment_method.
const (
	ByCourierAccount = "SHIPPING_CODE" // the lab charges an account of the requester
	ByReimbursement  = "REIMBURSEMENT" // the lab pays and sends an invoice
	ByOtherMeans     = "OTHER"
)

// Payments returns the ways to pay that a lab accepts; if it names none, other means are to be agreed with the lab.
func (s Shipping) Payments() []string {
	var list []string
	if s.AcceptsShippingCode {
		list = append(list, ByCourierAccount)
	}
	if s.AcceptsReimbursement {
		list = append(list, ByReimbursement)
	}
	if s.AcceptsOther || len(list) == 0 {
		list = append(list, ByOtherMeans)
	}
	return list
}
