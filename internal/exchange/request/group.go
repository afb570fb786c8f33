package request

import (
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
)

// MaxGroup is the maximum number of materials in a basket, and of requests in a group.
const MaxGroup = 50

// NewGroup is the body of POST /request-groups/: what one lab's materials require, asked once for all of them.
type NewGroup struct {
	Materials  exchange.Opt[[]exchange.Ref] `json:"materials"`
	Quantities exchange.Opt[exchange.Names] `json:"quantities"`
	Submission
	Skip exchange.Opt[bool] `json:"skip_unavailable"`
}

// Each returns the requests that the body describes, in the order of its materials.
func (n NewGroup) Each() ([]New, error) {
	var f exchange.FieldErrors
	f.Rule("materials", exchange.Rule{Min: 1, Max: MaxGroup})
	f.Rule("quantities", exchange.Rule{Max: MaxGroup, Each: &exchange.Rule{Max: exchange.LineLength}})
	ids, quantities := n.Materials.Value, n.Quantities.Value
	f.Must("materials", len(ids) > 0, "is required: the ids of materials of one lab")
	if len(ids) > MaxGroup {
		f.Add("materials", "must be at most %d; there are %d", MaxGroup, len(ids))
	}
	if len(quantities) > 0 && len(quantities) != len(ids) {
		f.Add("quantities", "must be as many as materials: %d, not %d", len(ids), len(quantities))
	}
	shared := New{Material: exchange.Some(exchange.Ref(1)), Submission: n.Submission}
	_, err := shared.Create(exchange.Actor{})
	f.Merge(err)
	var list []New
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			f.Add("materials", "[%d] %d is there twice", i, id)
		}
		one := shared
		one.Material = exchange.Some(id)
		if i < len(quantities) {
			one.Quantity = exchange.Some(quantities[i])
			_, err := New{Material: one.Material, Quantity: one.Quantity}.Create(exchange.Actor{})
			for _, wrong := range exchange.FieldsOf(err)["quantity"] {
				f.Add("quantities", "[%d] %s", i, wrong)
			}
		}
		list = append(list, one)
	}
	return list, f.Err()
}

// Validate implements Body.
func (n NewGroup) Validate(bool) exchange.FieldErrors {
	_, err := n.Each()
	return exchange.FieldsOf(err)
}

// Only returns n without the address, the payment and the documents that its material, with the terms t, does not ask
// for, but others of its group do. What none of them asks for stays, as in a request of its own.
func (n New) Only(t, others Terms) New {
	if !t.Address && others.Address {
		n.Address = exchange.Null[exchange.Ref]{}
	}
	if !t.Payment && others.Payment {
		n.Payment, n.Notes = exchange.Opt[string]{}, exchange.Opt[string]{}
	}
	if !t.MTA && others.MTA {
		n.SignedMTA = exchange.Null[exchange.Ref]{}
	}
	if !t.IRB && others.IRB {
		n.IRB = exchange.Null[exchange.Ref]{}
	}
	return n
}

// Asked is a material that is requested, with the shipping requirements that it names; nil: none.
type Asked struct {
	material.Material
	Shipping *lab.Shipping
}

// Terms returns what the material asks for.
func (a Asked) Terms() Terms { return TermsOf(a.Material, a.Shipping) }

// TermsOfAny returns what at least one of the materials asks for.
func TermsOfAny(list []Asked) (t Terms) {
	for _, m := range list {
		of := m.Terms()
		t = Terms{MTA: t.MTA || of.MTA, IRB: t.IRB || of.IRB, Abstract: t.Abstract || of.Abstract,
			Address: t.Address || of.Address, Payment: t.Payment || of.Payment}
	}
	return t
}

// TermsOfAll returns what materials of one lab ask for together, and shipping requirements that hold for all of them:
// every restriction, and the payments that all accept which need one. Conflict if they have none in common.
func TermsOfAll(list []Asked) (t Terms, s *lab.Shipping, err error) {
	var ways []string // nil: no material asked so far
	var paid []string // titles of those that need a payment
	t = TermsOfAny(list)
	for _, m := range list {
		if m.Shipping == nil {
			continue
		}
		if s == nil {
			s = &lab.Shipping{OrganizationID: m.OrganizationID}
		}
		s.Restrictions = withText(s.Restrictions, m.Shipping.Restrictions)
		if !m.Terms().Payment {
			continue
		}
		s.PaymentDetails = withText(s.PaymentDetails, m.Shipping.PaymentDetails)
		accepted := m.Shipping.Payments()
		if paid = append(paid, m.Title); len(paid) == 1 {
			ways = accepted
		}
		ways = slices.DeleteFunc(slices.Clone(ways), func(way string) bool { return !slices.Contains(accepted, way) })
	}
	if s == nil {
		return t, nil, nil
	}
	if len(paid) > 0 && len(ways) == 0 {
		return t, s, exchange.Errorf(exchange.Conflict, "%s have no way to pay for shipping in common. Request them "+
			"one by one.", strings.Join(paid[:len(paid)-1], ", ")+" and "+paid[len(paid)-1])
	}
	s.NeedsAddress, s.NeedsPayment = t.Address, t.Payment
	s.AcceptsShippingCode = slices.Contains(ways, lab.ByCourierAccount)
	s.AcceptsReimbursement = slices.Contains(ways, lab.ByReimbursement)
	s.AcceptsOther = slices.Contains(ways, lab.ByOtherMeans)
	return t, s, nil
}

// withText returns a text with another below it, unless it has that already.
func withText(text, more string) string {
	if more == "" || slices.Contains(strings.Split(text, "\n\n"), more) {
		return text
	}
	return strings.TrimPrefix(text+"\n\n"+more, "\n\n")
}

// BlankMTAs returns the ids of the blank agreements that materials name which need an MTA, each once.
func BlankMTAs(list []Asked) (ids []int64) {
	for _, m := range list {
		id := m.MTAAttachmentID
		if m.NeedsMTA && id != nil && !slices.Contains(ids, *id) {
			ids = append(ids, *id)
		}
	}
	return ids
}
