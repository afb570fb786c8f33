package exchange

import "slices"

// RequestForm is the form of a new request: it holds what the material requires from the start. Documents may be added
// later.
type RequestForm struct {
	Request RequestNew
	Address *AddressPatch   // a new address, to save and to ship to; nil: Request names one
	Account *CourierAccount // courier account that the shipment is charged to
}

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

// TermsOf returns what a material asks for, with the shipping requirements that it names; nil: none.
func TermsOf(m Material, s *Shipping) Terms {
	t := Terms{MTA: m.NeedsMTA, IRB: m.NeedsIRB, Abstract: m.NeedsAbstract}
	if s != nil {
		t.Address, t.Payment = s.NeedsAddress, s.NeedsPayment
	}
	return t
}

// Check reports what is wrong with a, or missing of what the material requires before a request is sent. It drops what
// the material does not require.
func (a RequestForm) Check(t Terms, s *Shipping) (RequestForm, error) {
	var f FieldErrors
	if !t.Payment {
		a.Request.Payment, a.Request.Notes, a.Account = Some(""), Some(""), nil
	} else {
		a = a.paid(&f, *s)
	}
	a.located(&f, t)
	if !t.Address {
		a.Request.Address, a.Address = Null[Ref]{}, nil
	}
	r, err := a.Request.Create(Actor{})
	f.merge(err)
	if t.Abstract && len(f["requester_abstract"]) == 0 {
		f.need("requester_abstract", r.Abstract)
	}
	return a, f.Err()
}

// paid checks how the shipment is paid for.
func (a RequestForm) paid(f *FieldErrors, s Shipping) RequestForm {
	ways := s.Payments()
	if len(ways) == 1 && a.Request.Payment.Value == "" {
		a.Request.Payment = Some(ways[0])
	}
	switch way := a.Request.Payment.Value; {
	case way == "":
		f.Add("payment_method", "is required")
	case !slices.Contains(ways, way):
		f.Add("payment_method", "must be a payment method that this lab accepts")
	case way == ByCourierAccount:
		if a.Account == nil {
			a.Account = &CourierAccount{}
		}
		a.Request.Notes = Some(a.Account.check(f).Notes())
	default:
		if tidy(a.Request.Notes.Value) == "" {
			f.Add("payment_method_notes", "is required")
		}
	}
	return a
}

// located checks the shipping address.
func (a RequestForm) located(f *FieldErrors, t Terms) {
	switch {
	case !t.Address:
	case a.Address != nil:
		_, err := a.Address.Patch(Address{})
		f.merge(err)
	case a.Request.Address.Value == nil:
		f.Add("address", "is required")
	}
}
