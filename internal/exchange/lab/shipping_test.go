package lab_test

import (
	"testing"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/lab"
)

func TestShippingRequirements_BelongToOneOrganization(t *testing.T) {
	t.Parallel()
	_, err := exchangetest.Body[lab.ShippingPatch](t, `{"needs_payment": true}`).Create()
	exchangetest.WantFieldErrors(t, err, "organization")
	s, err := exchangetest.Body[lab.ShippingPatch](t,
		`{"organization": {"id": 7}, "needs_payment": true, "accepted_payment_details": " IBAN "}`).Create()
	if err != nil {
		t.Fatal(err)
	}
	want := lab.Shipping{OrganizationID: 7, NeedsPayment: true, PaymentDetails: "IBAN"}
	exchangetest.Same(t, "new requirements", s, want)
	s, err = exchangetest.Body[lab.ShippingPatch](t,
		`{"organization": 8, "needs_shipping_address": true, "needs_payment": false, "accepts_shipping_code": true,
		"accepts_reimbursement": true, "accepts_other_payment_methods": true, "restrictions": "EU only"}`).Patch(s)
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "changed requirements", s, lab.Shipping{
		OrganizationID: 7, NeedsAddress: true, AcceptsShippingCode: true, AcceptsReimbursement: true,
		AcceptsOther: true, PaymentDetails: "IBAN", Restrictions: "EU only",
	})
	_, err = exchangetest.Body[lab.ShippingPatch](t,
		`{"accepted_payment_details": "\u0000", "restrictions": "\u0000"}`).Patch(want)
	exchangetest.WantFieldErrors(t, err, "accepted_payment_details", "restrictions")
}
