package web

import (
	"io"
	"mime"
	"net/http"
	"strconv"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
)

type labRequirementsPage struct {
	labPage
	app.LabRequirements
	Form  shippingForm
	Links links
}

// shippingForm is the form of shipping requirements; ID 0: new ones.
type shippingForm struct {
	exchange.Shipping
	Open bool
}

// New returns the form of new shipping requirements.
func (*labRequirementsPage) New() shippingForm {
	return shippingForm{Shipping: exchange.Shipping{NeedsAddress: true}}
}

// Edit returns the form of existing ones.
func (*labRequirementsPage) Edit(s exchange.Shipping) shippingForm { return shippingForm{Shipping: s} }

func (v *pageRequest) readRequirements() (*labRequirementsPage, error) {
	base, err := v.readLab("requirements", "Requirements")
	if err != nil {
		return nil, err
	}
	p := &labRequirementsPage{labPage: base}
	p.Form = p.New()
	p.LabRequirements, err = v.app.LabRequirements(v.Context(), v.who.Actor, base.Lab.ID,
		exchange.Page{Limit: maxOfPage})
	return p, err
}

func (v *pageRequest) labRequirements() (response, error) {
	p, err := v.readRequirements()
	if err != nil {
		return response{}, err
	}
	return show("lab-requirements", p)
}

// saveShipping creates shipping requirements, or changes those whose id is in the path.
func (v *pageRequest) saveShipping() (response, error) {
	lab, err := v.labFor(exchange.ShippingWrite)
	if err != nil {
		return response{}, err
	}
	ticked := func(name string) exchange.Opt[bool] { return exchange.Some(v.PostFormValue(name) != "") }
	patch := exchange.ShippingPatch{Organization: exchange.Some(exchange.Ref(lab)),
		NeedsAddress: ticked("needs_shipping_address"), NeedsPayment: ticked("needs_payment"),
		AcceptsShippingCode:  ticked("accepts_shipping_code"),
		AcceptsReimbursement: ticked("accepts_reimbursement"), AcceptsOther: ticked("accepts_other_payment_methods"),
		PaymentDetails: exchange.Some(v.PostFormValue("accepted_payment_details")),
		Restrictions:   exchange.Some(v.PostFormValue("restrictions"))}
	var id int64
	if v.PathValue("shipping") == "" {
		_, err = v.app.CreateShipping(v.Context(), v.who.Actor, patch)
	} else if id, err = v.id("shipping"); err == nil {
		_, err = v.app.UpdateShipping(v.Context(), v.who.Actor, id, patch, nil)
	}
	if fields, ok := faults(err); ok {
		p, err := v.readRequirements()
		if err != nil {
			return response{}, err
		}
		p.Errors = fields
		p.Form = shippingForm{Open: true,
			Shipping: exchange.Shipping{ID: id, NeedsAddress: patch.NeedsAddress.Value,
				NeedsPayment:         patch.NeedsPayment.Value,
				AcceptsShippingCode:  patch.AcceptsShippingCode.Value,
				AcceptsReimbursement: patch.AcceptsReimbursement.Value,
				AcceptsOther:         patch.AcceptsOther.Value, PaymentDetails: patch.PaymentDetails.Value,
				Restrictions: patch.Restrictions.Value}}
		return invalid("lab-requirements", p)
	} else if err != nil {
		return response{}, err
	}
	return seeOther(v.lab("/requirements#shipping")).saying("The shipping requirements are saved. Requests under way " +
		"follow them from now on."), nil
}

// labDocumentID returns the document id in the path, if the document belongs to the lab in the path.
func (v *pageRequest) labDocumentID() (int64, error) {
	lab, err := v.id("id")
	if err != nil {
		return 0, err
	}
	id, err := v.id("document")
	if err != nil {
		return 0, err
	}
	t, err := v.app.Attachment(v.Context(), v.who.Actor, id)
	if err == nil && (t.OwnedByOrg == nil || *t.OwnedByOrg != lab) {
		err = exchange.Errorf(exchange.NotFound, "There is no such document.")
	}
	return id, err
}

// labDocument sends the content of a document of the lab as a download.
func (v *pageRequest) labDocument() (response, error) {
	id, err := v.labDocumentID()
	if err != nil {
		return response{}, err
	}
	t, err := v.app.Attachment(v.Context(), v.who.Actor, id)
	if err != nil {
		return response{}, err
	}
	t, file, err := v.app.Content(v.Context(), v.who.Actor, id, t.Filename)
	if err != nil {
		return response{}, err
	}
	return response{serve: func(w http.ResponseWriter, r *http.Request) { sendFile(w, r, t, file) }}, nil
}

// sendFile sends an uploaded file as a download.
func sendFile(w http.ResponseWriter, r *http.Request, t exchange.Attachment, file io.ReadSeekCloser) {
	defer func() { _ = file.Close() }()
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Type", t.Content.MediaType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": t.Filename}))
	http.ServeContent(w, r, "", t.UpdatedAt, file)
}

// documentRefused shows the page again with the error of a file, at the document in the path or at the new one.
func (v *pageRequest) documentRefused(err error) (response, error) {
	text, ok := refusal(err)
	code := exchange.CodeOf(err)
	if !ok {
		return response{}, err
	}
	p, err := v.readRequirements()
	if err != nil {
		return response{}, err
	}
	field := "file"
	if document := v.PathValue("document"); document != "" {
		field += "-" + document
	}
	p.Errors = FieldErrors{field: {text}}
	answer, err := invalid("lab-requirements", p)
	if code == exchange.TooLarge || code == exchange.QuotaExceeded {
		answer.status = http.StatusRequestEntityTooLarge
	}
	return answer, err
}

func (v *pageRequest) addDocument() (response, error) {
	lab, err := v.labFor(exchange.AttachmentUpdate)
	if err != nil {
		return response{}, err
	}
	sent, file, err := v.readUpload()
	if err != nil {
		return v.documentRefused(err)
	}
	_, err = v.app.CreateAttachment(v.Context(), v.who.Actor,
		exchange.AttachmentPatch{Filename: exchange.Some(file.name),
			Description: exchange.Some(sent.fields.Get("description")), OwnedByOrg: exchange.NullOf(exchange.Ref(lab))},
		&file.content)
	if err != nil {
		v.app.Discard(v.Context(), file.content, err)
		return v.documentRefused(err)
	}
	return seeOther(v.lab("/requirements#documents")).saying(file.name +
		" is kept. Choose it as the MTA of a material where you edit that."), nil
}

func (v *pageRequest) replaceDocument() (response, error) {
	if _, err := v.labFor(exchange.AttachmentUpdate); err != nil { // who may read it may not be allowed to replace it
		return response{}, err
	}
	id, err := v.labDocumentID()
	if err != nil {
		return response{}, err
	}
	_, file, err := v.readUpload()
	if err != nil {
		return v.documentRefused(err)
	}
	if _, err := v.app.ReplaceDocument(v.Context(), v.who.Actor, id,
		exchange.AttachmentPatch{Filename: exchange.Some(file.name)}, &file.content); err != nil {
		v.app.Discard(v.Context(), file.content, err)
		return v.documentRefused(err)
	}
	return seeOther(v.lab("/requirements#documents")).saying(file.name +
		" takes the place of the old version. Requests that stand on that one keep it."), nil
}

func (v *pageRequest) deleteDocument() (response, error) {
	id, err := v.labDocumentID()
	if err != nil {
		return response{}, err
	}
	if err := v.app.DeleteAttachment(v.Context(), v.who.Actor, id, nil); err != nil {
		return v.documentRefused(err)
	}
	return seeOther(v.lab("/requirements#documents")).saying("The document " + strconv.FormatInt(id, 10) +
		" is deleted."), nil
}
