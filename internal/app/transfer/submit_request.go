package transfer

import (
	"context"
	"errors"
	"strconv"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/app/letters"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/files"
	"aliquot/internal/store"
)

// RequestFormView is what the form for requesting a material shows.
type RequestFormView struct {
	Material     material.Shown
	Organization lab.Organization
	Shipping     *lab.Shipping // nil if the material names none
	Terms        request.Terms
	Closed       error                // why it cannot be requested now; nil if it can
	Own          bool                 // the material belongs to a lab of the caller
	MTA          *document.Attachment // the blank MTA
	Addresses    []person.Address
	Earlier      []request.Detail // the caller's last requests, for any material
	UnderWay     *request.Detail  // the caller's open request for this material
	Items        []BasketItem     // of a form for several materials, which has no Material
	Refused      []Unavailable    // the materials of such a form that cannot be requested now
	EachMTA      bool             // the materials have different MTAs, so each request gets its own later
	Draft        *person.Draft
	Signs        string // the title of the agreement that the caller can sign with the form; "": they ask first
}

// maxEarlier is how many earlier requests are read to prefill a form.
const maxEarlier = 20

// RequestFormView reads what the form for requesting a material shows to who.
func (a Requests) RequestFormView(ctx context.Context, who exchange.Actor, material int64) (f RequestFormView,
	err error) {
	if err := a.MayRead(ctx, who, exchange.RequestCreate, who.ToUser(who.ID), "request"); err != nil {
		return f, err
	}
	c := a.DB.Read()
	if f.Material, err = c.Materials.Shown(ctx, material); err != nil {
		return f, err
	}
	if a.Hides(who, f.Material.Material, c.Now) {
		return RequestFormView{}, offered(f.Material.Material, c.Now)
	}
	if f.Organization, err = c.Organizations.Get(ctx, f.Material.OrganizationID); err != nil {
		return f, err
	}
	f.Closed, f.Own = offered(f.Material.Material, c.Now), who.MemberOf(f.Organization.ID)
	if f.Shipping, err = shippingOf(ctx, c, f.Material.Material); err != nil {
		return f, err
	}
	f.Terms = request.TermsOf(f.Material.Material, f.Shipping)
	if id := f.Material.MTAAttachmentID; id != nil {
		if f.MTA, err = blankMTA(ctx, c, *id); err != nil {
			return f, err
		}
	}
	if err := readOwn(ctx, a, c, who, &f, RequestDraftKey(material)); err != nil {
		return f, err
	}
	self := exchange.Actor{ID: who.ID} // leaves out what an admin could see besides
	same, err := c.Requests.List(ctx, exchange.Page{Limit: 1},
		request.Filter{Requester: &who.ID, Material: &material, Active: new(true)}, self)
	if err != nil {
		return f, err
	}
	if len(same.Items) > 0 {
		f.UnderWay = &same.Items[0]
	}
	return f, nil
}

// blankMTA reads the blank MTA of a material; nil if it was deleted.
func blankMTA(ctx context.Context, c store.Conn, id int64) (*document.Attachment, error) {
	t, err := c.Attachments.Get(ctx, id)
	if exchange.CodeOf(err) == exchange.NotFound {
		return nil, nil //nolint:nilnil // there is none
	}
	return &t, err
}

// readOwn reads what a form offers of the caller's own: addresses, earlier requests and the draft with a key.
func readOwn(ctx context.Context, a Requests, c store.Conn, who exchange.Actor, f *RequestFormView,
	draft string) error {
	addresses, err := c.Addresses.List(ctx, who.ID, core.Everything)
	if err != nil {
		return err
	}
	f.Addresses = addresses.Items
	earlier, err := c.Requests.List(ctx, exchange.Page{Limit: maxEarlier}, request.Filter{Requester: &who.ID},
		exchange.Actor{ID: who.ID}) // leaves out what an admin could see besides
	if err != nil {
		return err
	}
	f.Earlier = earlier.Items
	if f.Signs, err = signable(ctx, a, c, who, *f); err != nil {
		return err
	}
	d, kept, err := catalog.New(a.Core).Draft(ctx, who, draft)
	if kept {
		f.Draft = &d
	}
	return err
}

// signable returns the title of the agreement that the caller can sign with a form; "": they ask first.
func signable(ctx context.Context, a Requests, c store.Conn, who exchange.Actor, f RequestFormView) (string, error) {
	var materials []int64
	for _, item := range f.Items {
		materials = append(materials, item.ID)
	}
	if f.Material.ID != 0 && !f.Own && f.Closed == nil {
		materials = []int64{f.Material.ID}
	}
	if len(materials) == 0 {
		return "", nil
	}
	return letters.New(a.Core).Askable(ctx, c, who, f.Organization.ID, materials)
}

// RequestDraftKey returns the key of the draft of a request for a material.
func RequestDraftKey(material int64) string { return "ask " + strconv.FormatInt(material, 10) }

// shippingOf returns the shipping requirements of a material, or nil if it names none.
func shippingOf(ctx context.Context, c store.Conn, m material.Material) (*lab.Shipping, error) {
	if m.ShippingID == nil {
		return nil, nil
	}
	s, err := c.Shippings.Get(ctx, *m.ShippingID)
	return &s, err
}

// NewRequest is a request as the form submits it.
type NewRequest struct {
	Key string // of the form; submitted twice with one key, it makes one request
	request.Form
	Documents []UploadedDocument
}

// UploadedDocument is a document that is uploaded with a form.
type UploadedDocument struct {
	Slot     document.Slot
	Filename string
	Content  document.Content
}

// SubmitRequest creates a request with its address and its documents, all or nothing, and only once however often the
// form is submitted. It deletes the draft of the form, and the requester gets a receipt by mail.
func (a Requests) SubmitRequest(ctx context.Context, who exchange.Actor, n NewRequest) (request.Detail, error) {
	id, err := a.submitOnce(ctx, who, n.Key, n.Documents,
		func(ctx context.Context, tx store.Conn, who exchange.Actor) (int64, error) {
			q, err := a.submitRequest(ctx, tx, who, n)
			if err != nil {
				return 0, err
			}
			if err := tx.Drafts.Delete(ctx, who.ID, RequestDraftKey(q.MaterialID)); err != nil {
				return 0, err
			}
			return q.ID, notifier.New(a.Core).EnqueueReceipt(ctx, tx, q)
		})
	if err != nil {
		return request.Detail{}, err
	}
	return a.Request(ctx, who, id)
}

// submitOnce runs do in a transaction and returns the id that do returned: in the first call with that key, and the
// same id in all later ones. If do fails, the documents of the form are discarded.
func (a Requests) submitOnce(ctx context.Context, who exchange.Actor, key string, uploaded []UploadedDocument,
	do func(ctx context.Context, tx store.Conn, who exchange.Actor) (int64, error)) (id int64, err error) {
	sent := exchange.IdempotentCall{Caller: formCaller(who), Key: key, Status: 201}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		again := exchange.Errorf(exchange.Conflict, "This form was already sent.")
		since := tx.Now.Add(-core.RetryTime)
		if _, err := tx.IdempotentCalls.Get(ctx, sent.Caller, sent.Key, since); err == nil {
			return again
		}
		if id, err = do(ctx, tx, who); err != nil {
			return err
		}
		sent.Body = strconv.FormatInt(id, 10)
		first, err := tx.IdempotentCalls.Insert(ctx, sent, since)
		if err == nil && !first { // by a call that ran at the same time
			err = again
		}
		return err
	})
	if err == nil {
		return id, nil
	}
	for _, d := range uploaded {
		documents.New(a.Core).Discard(ctx, d.Content, err)
	}
	if exchange.CodeOf(err) == exchange.Conflict {
		if earlier := a.SentForm(ctx, who, key); earlier != 0 {
			return earlier, nil
		}
	}
	return 0, err
}

// SentForm returns the id of what the caller's form with a key made; 0 if it was not sent yet.
func (a Requests) SentForm(ctx context.Context, who exchange.Actor, key string) int64 {
	c := a.DB.Read()
	earlier, err := c.IdempotentCalls.Get(ctx, formCaller(who), key, c.Now.Add(-core.RetryTime))
	if err != nil {
		return 0
	}
	id, _ := strconv.ParseInt(earlier.Body, 10, 64) // as submitOnce wrote it
	return id
}

func formCaller(who exchange.Actor) string { return "form " + who.ID.String() }

// submitRequest is SubmitRequest inside a transaction.
func (a Requests) submitRequest(ctx context.Context, tx store.Conn, who exchange.Actor,
	n NewRequest) (q request.Detail, err error) {
	if err := a.May(ctx, tx, who, exchange.RequestCreate, who.ToUser(who.ID), "request"); err != nil {
		return q, err
	}
	m, err := tx.Materials.ForShare(ctx, int64(n.Request.Material.Value))
	if err != nil {
		return q, err
	}
	if who.MemberOf(m.OrganizationID) {
		return q, ownMaterial()
	}
	if err := offered(m, tx.Now); err != nil {
		return q, err
	}
	shipping, err := shippingOf(ctx, tx, m)
	if err != nil {
		return q, err
	}
	if n.Form, err = n.Check(request.TermsOf(m, shipping), shipping); err != nil {
		return q, err
	}
	if err := a.storeWith(ctx, tx, who, &n); err != nil {
		return q, err
	}
	r, err := n.Request.Create(who)
	if err != nil {
		return q, err
	}
	return a.createRequest(ctx, tx, who, n.Request, r)
}

// storeWith saves the new address and the documents of a form, to which its request then refers.
func (a Requests) storeWith(ctx context.Context, tx store.Conn, who exchange.Actor, n *NewRequest) error {
	if n.Address != nil {
		address, err := n.Address.Patch(person.Address{UserID: who.ID})
		if err != nil {
			return err
		}
		if err := documents.New(a.Core).AddAddress(ctx, tx, who, &address); err != nil {
			return err
		}
		n.Request.Address = exchange.NullOf(exchange.Ref(address.ID))
	}
	for _, d := range n.Documents {
		id, err := a.storeDocument(ctx, tx, who, d)
		if err != nil {
			return err
		}
		switch d.Slot {
		case document.SignedMTA:
			n.Request.SignedMTA = exchange.NullOf(id)
		case document.IRB:
			n.Request.IRB = exchange.NullOf(id)
		}
	}
	return nil
}

// storeDocument saves a document as an attachment of who.
func (a Requests) storeDocument(ctx context.Context, tx store.Conn, who exchange.Actor,
	d UploadedDocument) (exchange.Ref, error) {
	field := string(d.Slot) + "_attachment"
	t, err := document.AttachmentPatch{Filename: exchange.Some(d.Filename)}.Create(who)
	if err != nil {
		_, wrong := document.Filename(d.Filename)
		return 0, core.FieldError(field, "has a name that %v", wrong)
	}
	_, err = files.Sniff(nil, t.Filename) // some types show only in the name
	if e, refused := errors.AsType[*exchange.Error](err); refused {
		return 0, core.FieldError(field, "%s", e.Message)
	}
	t.Content = &d.Content
	err = documents.New(a.Core).AddAttachment(ctx, tx, who, &t)
	return exchange.Ref(t.ID), err
}
