package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	api "aliquot/client"

	"github.com/google/uuid"
	"github.com/oapi-codegen/nullable"
)

// party is someone who takes part in a transfer by the generated client.
type party struct {
	*testing.T
	*api.ClientWithResponses
	id uuid.UUID
}

func (c client) party(t *testing.T) party {
	t.Helper()
	typed, err := c.typed()
	if err != nil {
		t.Fatal(err)
	}
	return party{t, typed, uuid.MustParse(c.id)}
}

// move changes a request; then it is where "APPROVED requester irb payment" says: its status, and
// whose turn it is.
func (p party) move(request int64, patch api.RequestPatch, want string) {
	p.Helper()
	got, err := p.UpdateRequestWithResponse(p.Context(), request, patch)
	if err != nil {
		p.Fatal(err)
	}
	is := string(got.JSON200.Status)
	if turn, err := got.JSON200.WaitingOn.Get(); err == nil {
		is += " " + strings.Join(append([]string{string(turn.Party)}, turn.What...), " ")
	}
	if is != want {
		p.Errorf("the request is %q, want %q", is, want)
	}
}

// hand uploads one of the files of the demo, to be submitted.
func (p party) hand(name string) nullable.Nullable[int64] {
	p.Helper()
	content, err := os.ReadFile(filepath.Join("../internal/demo/files", name))
	if err != nil {
		p.Fatal(err)
	}
	record, err := p.CreateAttachmentWithResponse(p.Context(), api.AttachmentNew{Filename: name})
	if err != nil {
		p.Fatal(err)
	}
	path := fmt.Sprintf("attachment_%d", record.JSON201.ID)
	if _, err := p.PutContentWithBodyWithResponse(p.Context(), path, name, "application/pdf",
		bytes.NewReader(content)); err != nil {
		p.Fatal(err)
	}
	kept, err := p.GetContentWithResponse(p.Context(), path, name, nil)
	if err != nil || !bytes.Equal(kept.Body, content) {
		p.Errorf("%s came back as %d bytes of %d, %v", name, len(kept.Body), len(content), err)
	}
	return nullable.NewNullableWithValue(record.JSON201.ID)
}

// TestGoClient_TakesATransferThroughAllSteps takes a transfer through all its steps by the client that is
// made of the OpenAPI document.
func TestGoClient_TakesATransferThroughAllSteps(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		server := in.serve(t, "--access", "members")
		l := server.lab(t)
		signedIn, err := signIn(server.base, josiah)
		if err != nil {
			t.Fatal(err)
		}
		ctx, josiah, mario := t.Context(), signedIn.party(t), l.manager.party(t)

		found, err := josiah.ListMaterialsWithResponse(ctx,
			&api.ListMaterialsParams{Category: new(api.MaterialCategoryCELLLINE), Limit: new(1)})
		if err != nil || len(*found.JSON200) != 1 || api.Next(found.HTTPResponse) != nil {
			t.Fatal("no material", err)
		}
		material := (*found.JSON200)[0]
		key := api.IdempotencyKey("one vial")
		made, err := josiah.CreateRequestWithResponse(ctx,
			api.RequestNew{Material: material.ID, RequesterAbstract: new("How cells polarise.")}, key)
		if err != nil {
			t.Fatal(err)
		}
		again, err := josiah.CreateRequestWithResponse(ctx,
			api.RequestNew{Material: material.ID, RequesterAbstract: new("How cells polarise.")}, key)
		if err != nil || again.JSON201.ID != made.JSON201.ID {
			t.Errorf("the same call again made another request: %v", err)
		}
		id := made.JSON201.ID

		mario.move(id, api.RequestPatch{Status: new(api.RequestStatusAPPROVED)},
			"APPROVED requester requester_signed_mta irb address payment")
		address, err := josiah.CreateAddressWithResponse(ctx, josiah.id,
			api.AddressNew{Name: "J. Carberry", AddressLine1: "1 Waterman St", Locality: "Providence", Country: "US"})
		if err != nil {
			t.Fatal(err)
		}
		josiah.move(id, api.RequestPatch{Address: nullable.NewNullableWithValue(address.JSON200.ID),
			PaymentMethod: new(api.PaymentMethodSHIPPINGCODE)},
			"APPROVED requester requester_signed_mta irb")
		josiah.move(id, api.RequestPatch{RequesterSignedMTAAttachment: josiah.hand("signed-mta.pdf"),
			IRBAttachment: josiah.hand("irb-approval.pdf")},
			"APPROVED lab executed_mta")
		mario.move(id, api.RequestPatch{ExecutedMTAAttachment: mario.hand("executed-mta.pdf")}, "APPROVED lab shipment")

		var refusal *api.Error
		_, err = josiah.UpdateRequestWithResponse(ctx, id, api.RequestPatch{Status: new(api.RequestStatusFULFILLED)})
		if !errors.As(err, &refusal) || refusal.Code != api.ErrorCodeFIELDFORBIDDEN {
			t.Errorf("a requester fulfilled their own request: %v", err)
		}
		before, err := mario.GetRequestWithResponse(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		mario.move(id, api.RequestPatch{Status: new(api.RequestStatusINFULFILLMENT)}, "IN_FULFILLMENT lab shipment")
		_, err = mario.UpdateRequestWithResponse(ctx, id, api.RequestPatch{IsActive: new(false)},
			api.IfMatch(before.HTTPResponse.Header.Get("ETag")))
		if !errors.As(err, &refusal) || refusal.Code != api.ErrorCodePRECONDITIONFAILED {
			t.Errorf("a change of another version than the present one: %v", err)
		}
		mario.move(id, api.RequestPatch{Status: new(api.RequestStatusFULFILLED)}, "FULFILLED requester receipt")
		josiah.move(id, api.RequestPatch{Status: new(api.RequestStatusVERIFIEDFULFILLED)}, "VERIFIED_FULFILLED")

		var kinds []api.EventKind
		params := &api.ListEventsParams{Limit: new(2)}
		for more := true; more; more = params.Cursor != nil {
			page, err := josiah.ListEventsWithResponse(ctx, id, params)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range *page.JSON200 {
				kinds = append(kinds, e.Kind)
			}
			params.Cursor = api.Next(page.HTTPResponse)
		}
		if len(kinds) != 10 || kinds[0] != api.EventKindStatusChanged || kinds[9] != api.EventKindRequestMade {
			t.Errorf("%d events: %v", len(kinds), kinds)
		}
	})
}

// TestGoExample_RequestsAMaterial runs examples/go beside a lab that decides.
func TestGoExample_RequestsAMaterial(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	example := filepath.Join(folder, "example")
	if out, err := exec.Command("go", "build", "-o", example, "aliquot/examples/go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := install(t, "sqlite", folder).serve(t)
	l := server.lab(t)
	signedIn, err := signIn(server.base, josiah)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	run := exec.CommandContext(ctx, example, "-title", "ht-29", "-abstract", "How cells polarise.", "-mta",
		"../internal/demo/files/signed-mta.pdf", "-every", "20ms")
	run.Env = []string{"ALIQUOT_URL=" + server.base, "ALIQUOT_TOKEN=" + signedIn.token}
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	mario := l.manager.party(t)
	material, err := strconv.ParseInt(l.material, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var request api.Request
	if err := poll(func() error {
		list, err := mario.ListRequestsWithResponse(ctx, &api.ListRequestsParams{Material: &material})
		if err == nil && (len(*list.JSON200) == 0 || (*list.JSON200)[0].RequesterSignedMTAAttachment.IsNull()) {
			return errors.New("nothing was submitted")
		}
		if err == nil {
			request = (*list.JSON200)[0]
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	mario.move(request.ID, api.RequestPatch{Status: new(api.RequestStatusAPPROVED)},
		"APPROVED requester irb address payment")
	if err := run.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	signed, err := request.RequesterSignedMTAAttachment.Get()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`found HT-29 (material %d)
made request %d
submitted ../internal/demo/files/signed-mta.pdf (attachment %d)
the request is APPROVED
now it is the turn of the requester: irb, address, payment
`, material, request.ID, signed)
	if out.String() != want {
		t.Errorf("the example says\n%s, want\n%s", out.String(), want)
	}
}
