package request_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"

	"github.com/google/go-cmp/cmp"
)

func TestForm_SendsAllThatTheMaterialRequires(t *testing.T) {
	t.Parallel()
	asks := request.Terms{MTA: true, IRB: true, Abstract: true, Address: true, Payment: true}
	takes := &lab.Shipping{AcceptsShippingCode: true, AcceptsReimbursement: true}
	material := exchange.Some(exchange.Ref(7))
	for name, c := range map[string]struct {
		asked  request.Form
		terms  request.Terms
		faults []string
	}{
		"nothing": {request.Form{Request: request.New{Material: material}},
			asks, []string{"address", "payment_method", "requester_abstract"}},
		"nothing, and nothing is asked for": {request.Form{Request: request.New{Material: material}},
			request.Terms{}, nil},
		"all": {request.Form{Request: request.New{Material: material, Submission: request.Submission{
			Abstract: exchange.Some("Aim."), Address: exchange.NullOf(exchange.Ref(1)),
			Payment: exchange.Some("SHIPPING_CODE")}},
			Account: &request.CourierAccount{Courier: "ups", Number: "1a-2b 3c"}}, asks, nil},
		"an account that is too short": {request.Form{Request: request.New{Material: material, Submission: request.Submission{
			Abstract: exchange.Some("Aim."), Address: exchange.NullOf(exchange.Ref(1)),
			Payment: exchange.Some("SHIPPING_CODE")}},
			Account: &request.CourierAccount{Courier: "DHL Express", Number: "96041"}}, asks, []string{"account"}},
		"no account": {request.Form{Request: request.New{Material: material, Submission: request.Submission{
			Abstract: exchange.Some("Aim."), Address: exchange.NullOf(exchange.Ref(1)),
			Payment: exchange.Some("SHIPPING_CODE")}}}, asks, []string{"account", "courier"}},
		"a way that the lab does not take": {request.Form{Request: request.New{Material: material, Submission: request.Submission{
			Abstract: exchange.Some("Aim."), Address: exchange.NullOf(exchange.Ref(1)),
			Payment: exchange.Some("OTHER"), Notes: exchange.Some("Cash")}}}, asks, []string{"payment_method"}},
		"an invoice to nobody": {request.Form{Request: request.New{Material: material, Submission: request.Submission{
			Abstract: exchange.Some("Aim."), Address: exchange.NullOf(exchange.Ref(1)),
			Payment: exchange.Some("REIMBURSEMENT")}}}, asks, []string{"payment_method_notes"}},
		"half an address": {request.Form{Request: request.New{Material: material},
			Address: &person.AddressPatch{Name: exchange.Some("N")}},
			request.Terms{Address: true}, []string{"address_line_1", "country", "locality"}},
	} {
		got, err := c.asked.Check(c.terms, takes)
		var faults []string
		if e, is := errors.AsType[*exchange.Error](err); is {
			faults = slices.Sorted(maps.Keys(e.Fields))
		}
		if diff := cmp.Diff(c.faults, faults); diff != "" {
			t.Errorf("%s (-want +got): %s", name, diff)
		}
		if name == "all" && got.Request.Notes.Value != "UPS, account 1a2b3c" {
			t.Errorf("the account is kept as %q", got.Request.Notes.Value)
		}
	}
}

func TestForm_SendsNothingThatTheMaterialDoesNotRequire(t *testing.T) {
	t.Parallel()
	got, err := request.Form{Request: request.New{Material: exchange.Some(exchange.Ref(7)), Submission: request.Submission{
		Address: exchange.NullOf(exchange.Ref(1)), Payment: exchange.Some("OTHER"),
		Notes: exchange.Some("x")}}, Address: &person.AddressPatch{},
		Account: &request.CourierAccount{}}.Check(request.Terms{}, nil)
	if err != nil || got.Address != nil || got.Account != nil || got.Request.Address.Set ||
		got.Request.Payment.Value != "" || got.Request.Notes.Value != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCourierAccount_ReadsBackAsWritten(t *testing.T) {
	t.Parallel()
	a := request.CourierAccount{Courier: "FedEx", Number: "123456789"}
	if got, ok := request.ReadCourierAccount(a.Notes()); !ok || got != a {
		t.Errorf("%+v %v", got, ok)
	}
	for _, other := range []string{"", "Send the invoice to me", "Two\nlines, account 7"} {
		if got, ok := request.ReadCourierAccount(other); ok {
			t.Errorf("%q reads as %+v", other, got)
		}
	}
}

func TestForm_AsksForPaymentIfTheLabNamesNone(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]lab.Shipping{
		"OTHER": {NeedsPayment: true},
		"SHIPPING_CODE REIMBURSEMENT OTHER": {AcceptsOther: true, AcceptsReimbursement: true,
			AcceptsShippingCode: true},
	} {
		if got := s.Payments(); cmp.Diff(got, strings.Fields(want)) != "" {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

func TestTrackingPage_IsThatOfAKnownCarrierAndANumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ carrier, tracking, want string }{
		{"UPS", "1Z 999 AA1 01 2345 6784", "https://www.ups.com/track?tracknum=1Z999AA10123456784"},
		{"dhl express", "7777-1234 56", "https://www.dhl.com/global-en/home/tracking.html?tracking-id=7777123456"},
		{"FedEx Priority", "123456789012", "https://www.fedex.com/fedextrack/?trknbr=123456789012"},
		{"Bike courier", "123456789012", ""},
		{"UPS", "ask Mario", ""},
		{"UPS", "1Z999AA10123456784, 1Z999AA10123456785", ""},
		{"UPS", `"><script>`, ""},
		{"", "123456789012", ""},
		{"UPS", "", ""},
		{"   ", "", ""},
	} {
		s := request.Shipment{Carrier: c.carrier, Tracking: c.tracking}
		if got := s.TrackingPage(); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.carrier, c.tracking, got, c.want)
		}
	}
}
