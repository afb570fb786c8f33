package exchange_test

import (
	"testing"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

func TestAParcelNeedsNameStreetTownAndCountry(t *testing.T) {
	t.Parallel()
	_, err := body[exchange.AddressPatch](t, `{"institution": "a\nb", "name": " "}`).Patch(exchange.Address{})
	wantFaults(t, err, "name", "address_line_1", "locality", "country", "institution")
	a, err := body[exchange.AddressPatch](t,
		`{"name": " Dr. Mora ", "address_line_1": "Ringweg 4", "locality": "Utrecht", "country": "NL"}`).Patch(exchange.Address{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the smallest address", a,
		exchange.Address{Name: "Dr. Mora", Line1: "Ringweg 4", Locality: "Utrecht", Country: "NL"})
	full := exchange.Address{
		ID: 4, UserID: requesterID, Name: "Dr. Mora", Institution: "UMC", Line1: "Ringweg 4", Line2: "b",
		Locality: "Utrecht", State: "UT",
		Country: "NL", PostalCode: "3511", SavedForUse: true,
	}
	text := `{"id": 9, "user": {"id": "x"}, "name": "Dr. Mora", "institution": "UMC", "address_line_1": "Ringweg 4", "address_line_2": "b",
		"locality": "Utrecht", "state": "UT", "country": "NL", "postal_code": "3511", "saved_for_reuse": true}`
	if a, err = body[exchange.AddressPatch](t, text).Patch(exchange.Address{ID: 4, UserID: requesterID}); err != nil {
		t.Fatal(err)
	}
	same(t, "the full address", a, full)
	if a, err = body[exchange.AddressPatch](t, `{}`).Patch(full); err != nil {
		t.Fatal(err)
	}
	same(t, "after an empty patch", a, full)
	_, err = body[exchange.AddressPatch](t, `{"country": "", "locality": "\t"}`).Patch(full)
	wantFaults(t, err, "country", "locality")
}

func TestShippingRequirementsBelongToOneOrganization(t *testing.T) {
	t.Parallel()
	_, err := body[exchange.ShippingPatch](t, `{"needs_payment": true}`).Create()
	wantFaults(t, err, "organization")
	s, err := body[exchange.ShippingPatch](t,
		`{"organization": {"id": 7}, "needs_payment": true, "accepted_payment_details": " IBAN "}`).Create()
	if err != nil {
		t.Fatal(err)
	}
	want := exchange.Shipping{OrganizationID: 7, NeedsPayment: true, PaymentDetails: "IBAN"}
	same(t, "new requirements", s, want)
	s, err = body[exchange.ShippingPatch](t,
		`{"organization": 8, "needs_shipping_address": true, "needs_payment": false, "accepts_shipping_code": true,
		"accepts_reimbursement": true, "accepts_other_payment_methods": true, "restrictions": "EU only"}`).Patch(s)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "changed requirements", s, exchange.Shipping{
		OrganizationID: 7, NeedsAddress: true, AcceptsShippingCode: true, AcceptsReimbursement: true,
		AcceptsOther: true, PaymentDetails: "IBAN", Restrictions: "EU only",
	})
	_, err = body[exchange.ShippingPatch](t,
		`{"accepted_payment_details": "\u0000", "restrictions": "\u0000"}`).Patch(want)
	wantFaults(t, err, "accepted_payment_details", "restrictions")
}

func TestANewRequestNeedsOnlyAMaterial(t *testing.T) {
	t.Parallel()
	by := exchange.Actor{ID: requesterID}
	r, err := body[exchange.RequestNew](t, `{"material": {"id": 8}}`).Create(by)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the smallest request", r,
		exchange.Request{MaterialID: 8, Requester: requesterID, Status: exchange.Open, Active: true})
	r, err = body[exchange.RequestNew](t,
		`{"material": "8", "status": "APPROVED", "is_active": false, "requester_abstract": " why ", "payment_method": "OTHER",
		"payment_method_notes": "12", "quantity": "2 vials", "note": "soon"}`).Create(by)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the full request", r, exchange.Request{
		MaterialID: 8, Requester: requesterID, Status: exchange.Open, Active: true, Abstract: "why", Payment: "OTHER",
		PaymentNotes: "12", Quantity: "2 vials", Note: "soon",
	})
	_, err = body[exchange.RequestNew](t,
		`{"requester_abstract": "\u0000", "payment_method": "CASH", "payment_method_notes": "\u0000", "quantity": "a\nb",
		"note": "\u0000"}`).Create(by)
	wantFaults(t, err, "material", "requester_abstract", "payment_method", "payment_method_notes", "quantity", "note")
}

// file returns the record of a document.
func file() exchange.Attachment {
	return exchange.Attachment{ID: 5, Filename: "mta.pdf", OwnedByUser: new(ownerID)}
}

func TestANewAttachmentIsItsMakers(t *testing.T) {
	t.Parallel()
	by := exchange.Actor{ID: requesterID}
	_, err := body[exchange.AttachmentPatch](t, `{"description": "\u0000"}`).Create(by)
	wantFaults(t, err, "filename", "description")
	a, err := body[exchange.AttachmentPatch](t, `{"filename": " Vertra\u0308g.pdf ", "owned_by_user": "`+
		ownerID.String()+`", "owned_by_org": 7,
		"sequence_map_for": {"id": 8, "title": "pUC19"}}`).Create(by)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the attachment", a, exchange.Attachment{
		Filename: "Verträg.pdf", OwnedByUser: new(ownerID), OwnedByOrg: new(int64(7)), OfLab: true,
		SequenceMapFor: new(int64(8)), Version: 1,
	})
	a, err = body[exchange.AttachmentPatch](t, `{"filename": "a.pdf", "owned_by_user": null}`).Create(by)
	if err != nil || a.OwnedByUser == nil || *a.OwnedByUser != requesterID {
		t.Errorf("it is not its maker's: %+v, %v", a, err)
	}
	for _, name := range []string{"", "..", "a/b", `a\\b`, "a\u0000b"} {
		_, err := exchange.AttachmentPatch{Filename: exchange.Some(name)}.Create(by)
		wantFaults(t, err, "filename")
	}
}

func TestAnAttachmentAlwaysHasAnOwner(t *testing.T) {
	t.Parallel()
	_, err := body[exchange.AttachmentPatch](t, `{"owned_by_user": null}`).Patch(file(), exchange.Actor{})
	wantFaults(t, err, "owned_by_user")
	a, err := body[exchange.AttachmentPatch](t, `{"owned_by_user": null, "owned_by_org": 7}`).Patch(file(),
		exchange.Actor{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the lab's attachment", a,
		exchange.Attachment{ID: 5, Filename: "mta.pdf", OwnedByOrg: new(int64(7)), OfLab: true})
	_, err = body[exchange.AttachmentPatch](t, `{"owned_by_org": null, "owned_by_user": null}`).Patch(a,
		exchange.Actor{ID: requesterID})
	wantFaults(t, err, "owned_by_user")
	taken, err := body[exchange.AttachmentPatch](t, `{"owned_by_org": null}`).Patch(a, exchange.Actor{ID: requesterID})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "taken out of the lab", taken,
		exchange.Attachment{ID: 5, Filename: "mta.pdf", OwnedByUser: new(requesterID)})
	back, err := body[exchange.AttachmentPatch](t,
		`{"id": 9, "owned_by_org": 7, "owned_by_user": null, "filename": "mta.pdf", "download_url": "x"}`).Patch(a,
		exchange.Actor{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "what was read, sent back", back, a)
}

func TestADownloadAddressHasTheSpecifiedShape(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"mta.pdf":    "/v1/uploaded-file/attachment_5/mta.pdf",
		"a b?#%.pdf": "/v1/uploaded-file/attachment_5/a%20b%3F%23%25.pdf",
		"質.gb":       "/v1/uploaded-file/attachment_5/%E8%B3%AA.gb",
	} {
		if got := (exchange.Attachment{ID: 5, Filename: name,
			OwnedByUser: new(uuid.New())}).DownloadPath(); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
