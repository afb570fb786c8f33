package document_test

import (
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/exchangetest"

	"github.com/google/uuid"
)

func TestAttachment_NewBelongsToItsCreator(t *testing.T) {
	t.Parallel()
	by := exchange.Actor{ID: exchangetest.RequesterID}
	_, err := exchangetest.Body[document.AttachmentPatch](t, `{"description": "\u0000"}`).Create(by)
	exchangetest.WantFieldErrors(t, err, "filename", "description")
	a, err := exchangetest.Body[document.AttachmentPatch](t, `{"filename": " Vertra\u0308g.pdf ", "owned_by_user": "`+
		exchangetest.OwnerID.String()+`", "owned_by_org": 7,
		"sequence_map_for": {"id": 8, "title": "pUC19"}}`).Create(by)
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "the attachment", a, document.Attachment{
		Filename: "Verträg.pdf", OwnedByUser: new(exchangetest.OwnerID), OwnedByOrg: new(int64(7)), OfLab: true,
		SequenceMapFor: new(int64(8)), Version: 1,
	})
	a, err = exchangetest.Body[document.AttachmentPatch](t, `{"filename": "a.pdf", "owned_by_user": null}`).Create(by)
	if err != nil || a.OwnedByUser == nil || *a.OwnedByUser != exchangetest.RequesterID {
		t.Errorf("it is not its maker's: %+v, %v", a, err)
	}
	for _, name := range []string{"", "..", "a/b", `a\\b`, "a\u0000b"} {
		_, err := document.AttachmentPatch{Filename: exchange.Some(name)}.Create(by)
		exchangetest.WantFieldErrors(t, err, "filename")
	}
}

func TestAttachment_AlwaysHasAnOwner(t *testing.T) {
	t.Parallel()
	_, err := exchangetest.Body[document.AttachmentPatch](t, `{"owned_by_user": null}`).Patch(exchangetest.File(),
		exchange.Actor{})
	exchangetest.WantFieldErrors(t, err, "owned_by_user")
	a, err := exchangetest.Body[document.AttachmentPatch](t,
		`{"owned_by_user": null, "owned_by_org": 7}`).Patch(exchangetest.File(),
		exchange.Actor{})
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "the lab's attachment", a,
		document.Attachment{ID: 5, Filename: "mta.pdf", OwnedByOrg: new(int64(7)), OfLab: true})
	_, err = exchangetest.Body[document.AttachmentPatch](t, `{"owned_by_org": null, "owned_by_user": null}`).Patch(a,
		exchange.Actor{ID: exchangetest.RequesterID})
	exchangetest.WantFieldErrors(t, err, "owned_by_user")
	taken, err := exchangetest.Body[document.AttachmentPatch](t, `{"owned_by_org": null}`).Patch(a,
		exchange.Actor{ID: exchangetest.RequesterID})
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "taken out of the lab", taken,
		document.Attachment{ID: 5, Filename: "mta.pdf", OwnedByUser: new(exchangetest.RequesterID)})
	back, err := exchangetest.Body[document.AttachmentPatch](t,
		`{"id": 9, "owned_by_org": 7, "owned_by_user": null, "filename": "mta.pdf", "download_url": "x"}`).Patch(a,
		exchange.Actor{})
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.Same(t, "what was read, sent back", back, a)
}

func TestAttachment_DownloadAddressHasTheSpecifiedShape(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"mta.pdf":    "/v1/uploaded-file/attachment_5/mta.pdf",
		"a b?#%.pdf": "/v1/uploaded-file/attachment_5/a%20b%3F%23%25.pdf",
		"質.gb":       "/v1/uploaded-file/attachment_5/%E8%B3%AA.gb",
	} {
		if got := (document.Attachment{ID: 5, Filename: name,
			OwnedByUser: new(uuid.New())}).DownloadPath(); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
