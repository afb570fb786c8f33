package request_test

import (
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/request"
)

func TestRequest_NeedsOnlyAMaterial(t *testing.T) {
	t.Parallel()
	by := exchange.Actor{ID: exchangetest.RequesterID}
	r, err := exchangetest.Body[request.New](t, `{"material": {"id": 8}}`).Create(by)
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "the smallest request", r,
		request.Request{MaterialID: 8, Requester: exchangetest.RequesterID, Status: request.Open, Active: true})
	r, err = exchangetest.Body[request.New](t,
		`{"material": "8", "status": "APPROVED", "is_active": false, "requester_abstract": " why ", "payment_method": "OTHER",
		"payment_method_notes": "12", "quantity": "2 vials", "note": "soon"}`).Create(by)
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "the full request", r, request.Request{
		MaterialID: 8, Requester: exchangetest.RequesterID, Status: request.Open, Active: true, Abstract: "why",
		Payment:      "OTHER",
		PaymentNotes: "12", Quantity: "2 vials", Note: "soon",
	})
	_, err = exchangetest.Body[request.New](t,
		`{"requester_abstract": "\u0000", "payment_method": "CASH", "payment_method_notes": "\u0000", "quantity": "a\nb",
		"note": "\u0000"}`).Create(by)
	exchangetest.WantFieldErrors(t, err, "material", "requester_abstract", "payment_method", "payment_method_notes",
		"quantity", "note")
}
