package request

import (
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
)

// Form is the form of a new request: it holds what the material requires from the start. Documents may be added
// later.
type Form struct {
	Request New
	Address *person.AddressPatch // a new address, to save and to ship to; nil: Request names one
	Account *CourierAccount      // courier account that the shipment is charged to
}

// TermsOf returns what a material asks for, with the shipping requirements that it names; nil: none. Without them, a
// material that can be shipped asks for an address.
func TermsOf(m material.Material, s *lab.Shipping) Terms {
	t := Terms{MTA: m.NeedsMTA, IRB: m.NeedsIRB, Abstract: m.NeedsAbstract}
	if s != nil {
		t.Address, t.Payment = s.NeedsAddress, s.NeedsPayment
	} else {
		t.Address = !m.Digital()
	}
	return t
}

// Check reports what is wrong with a, or missing of what the material requires before a request is sent. It drops what
// the material does not require.
func (a Form) Check(t Terms, s *lab.Shipping) (Form, error) {
	var f exchange.FieldErrors
	if !t.Payment {
		a.Request.Payment, a.Request.Notes, a.Account = exchange.Some(""), exchange.Some(""), nil
	} else {
		a = a.paid(&f, *s)
	}
	a.located(&f, t)
	if !t.Address {
		a.Request.Address, a.Address = exchange.Null[exchange.Ref]{}, nil
	}
	r, err := a.Request.Create(exchange.Actor{})
	f.Merge(err)
	if t.Abstract && len(f["requester_abstract"]) == 0 {
		f.Need("requester_abstract", r.Abstract)
	}
	return a, f.Err()
}

// paid checks how the shipment is paid for.
func (a Form) paid(f *exchange.FieldErrors, s lab.Shipping) Form {
	ways := s.Payments()
	if len(ways) == 1 && a.Request.Payment.Value == "" {
		a.Request.Payment = exchange.Some(ways[0])
	}
	switch way := a.Request.Payment.Value; {
	case way == "":
		f.Add("payment_method", "is required")
	case !slices.Contains(ways, way):
		f.Add("payment_method", "must be a payment method that this lab accepts")
	case way == lab.ByCourierAccount:
		if a.Account == nil {
			a.Account = &CourierAccount{}
		}
		a.Request.Notes = exchange.Some(a.Account.check(f).Notes())
	default:
		if exchange.Tidy(a.Request.Notes.Value) == "" {
			f.Add("payment_method_notes", "is required")
		}
	}
	return a
}

// located checks the shipping address.
func (a Form) located(f *exchange.FieldErrors, t Terms) {
	switch {
	case !t.Address:
	case a.Address != nil:
		_, err := a.Address.Patch(person.Address{})
		f.Merge(err)
	case a.Request.Address.Value == nil:
		f.Add("address", "is required")
	}
}
