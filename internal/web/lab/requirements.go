package lab

import (
	"net/http"
	"strconv"

	"aliquot/internal/app/labs"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/web/ui"
)

type labRequirementsPage struct {
	labPage
	labs.LabRequirements
	Form  shippingForm
	Links links
}

// shippingForm is the form of shipping requirements; ID 0: new ones.
type shippingForm struct {
	lab.Shipping
	Open bool
}

// New returns the form of new shipping requirements.
func (*labRequirementsPage) New() shippingForm {
	return shippingForm{Shipping: lab.Shipping{NeedsAddress: true}}
}

// Edit returns the form of existing ones.
func (*labRequirementsPage) Edit(s lab.Shipping) shippingForm { return shippingForm{Shipping: s} }

func (v *pageRequest) readRequirements() (*labRequirementsPage, error) {
	base, err := v.readLab("requirements", "Requirements")
	if err != nil {
		return nil, err
	}
	p := &labRequirementsPage{labPage: base}
	p.Form = p.New()
	p.LabRequirements, err = v.App.Labs.LabRequirements(v.Context(), v.Who.Actor, base.Lab.ID,
		exchange.Page{Limit: maxOfPage})
	return p, err
}

func (v *pageRequest) labRequirements() (ui.Response, error) {
	p, err := v.readRequirements()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("lab-requirements", p)
}

// saveShipping creates shipping requirements, or changes those whose id is in the path.
func (v *pageRequest) saveShipping() (ui.Response, error) {
	labID, err := v.labFor(exchange.ShippingWrite)
	if err != nil {
		return ui.Response{}, err
	}
	ticked := func(name string) exchange.Opt[bool] { return exchange.Some(v.PostFormValue(name) != "") }
	patch := lab.ShippingPatch{Organization: exchange.Some(exchange.Ref(labID)),
		NeedsAddress: ticked("needs_shipping_address"), NeedsPayment: ticked("needs_payment"),
		AcceptsShippingCode:  ticked("accepts_shipping_code"),
		AcceptsReimbursement: ticked("accepts_reimbursement"), AcceptsOther: ticked("accepts_other_payment_methods"),
		PaymentDetails: exchange.Some(v.PostFormValue("accepted_payment_details")),
		Restrictions:   exchange.Some(v.PostFormValue("restrictions"))}
	var id int64
	if v.PathValue("shipping") == "" {
		_, err = v.App.Documents.CreateShipping(v.Context(), v.Who.Actor, patch)
	} else if id, err = v.PathID("shipping"); err == nil {
		_, err = v.App.Documents.UpdateShipping(v.Context(), v.Who.Actor, id, patch, nil)
	}
	if fields, ok := ui.FieldErrorsIn(err); ok {
		p, err := v.readRequirements()
		if err != nil {
			return ui.Response{}, err
		}
		p.Errors = fields
		p.Form = shippingForm{Open: true,
			Shipping: lab.Shipping{ID: id, NeedsAddress: patch.NeedsAddress.Value,
				NeedsPayment:         patch.NeedsPayment.Value,
				AcceptsShippingCode:  patch.AcceptsShippingCode.Value,
				AcceptsReimbursement: patch.AcceptsReimbursement.Value,
				AcceptsOther:         patch.AcceptsOther.Value, PaymentDetails: patch.PaymentDetails.Value,
				Restrictions: patch.Restrictions.Value}}
		return ui.Invalid("lab-requirements", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab("/requirements#shipping")).Saying("Shipping requirements saved. They also apply to open " +
		"requests."), nil
}

// labDocumentID returns the document id in the path, if the document belongs to the lab in the path.
func (v *pageRequest) labDocumentID() (int64, error) {
	lab, err := v.PathID("id")
	if err != nil {
		return 0, err
	}
	id, err := v.PathID("document")
	if err != nil {
		return 0, err
	}
	t, err := v.App.Documents.Attachment(v.Context(), v.Who.Actor, id)
	if err == nil && (t.OwnedByOrg == nil || *t.OwnedByOrg != lab) {
		err = exchange.Errorf(exchange.NotFound, "There is no such document.")
	}
	return id, err
}

// labDocument sends the content of a document of the lab as a download.
func (v *pageRequest) labDocument() (ui.Response, error) {
	id, err := v.labDocumentID()
	if err != nil {
		return ui.Response{}, err
	}
	t, err := v.App.Documents.Attachment(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	t, file, err := v.App.Documents.Content(v.Context(), v.Who.Actor, id, t.Filename)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Response{Serve: func(w http.ResponseWriter, r *http.Request) { ui.SendFile(w, r, t, file) }}, nil
}

// documentRefused shows the page again with the error of a file, at the document in the path or at the new one.
func (v *pageRequest) documentRefused(err error) (ui.Response, error) {
	text, ok := refusal(err)
	code := exchange.CodeOf(err)
	if !ok {
		return ui.Response{}, err
	}
	p, err := v.readRequirements()
	if err != nil {
		return ui.Response{}, err
	}
	field := "file"
	if document := v.PathValue("document"); document != "" {
		field += "-" + document
	}
	p.Errors = ui.FieldErrors{field: {text}}
	answer, err := ui.Invalid("lab-requirements", p)
	if code == exchange.TooLarge || code == exchange.QuotaExceeded {
		answer.Status = http.StatusRequestEntityTooLarge
	}
	return answer, err
}

func (v *pageRequest) addDocument() (ui.Response, error) {
	lab, err := v.labFor(exchange.AttachmentUpdate)
	if err != nil {
		return ui.Response{}, err
	}
	sent, file, err := v.ReadDocument(ui.DocumentField{Label: "Document", Template: true})
	if err != nil {
		return v.documentRefused(err)
	}
	_, err = v.App.Documents.CreateAttachment(v.Context(), v.Who.Actor,
		document.AttachmentPatch{Filename: exchange.Some(file.Name),
			Description: exchange.Some(sent.Fields.Get("description")), OwnedByOrg: exchange.NullOf(exchange.Ref(lab))},
		&file.Content)
	if err != nil {
		v.App.Documents.Discard(v.Context(), file.Content, err)
		return v.documentRefused(err)
	}
	return ui.SeeOther(v.lab("/requirements#documents")).Saying(file.Name +
		" uploaded. To use it as the MTA of a material, edit that material."), nil
}

func (v *pageRequest) replaceDocument() (ui.Response, error) {
	if _, err := v.labFor(exchange.AttachmentUpdate); err != nil { // who may read it may not be allowed to replace it
		return ui.Response{}, err
	}
	id, err := v.labDocumentID()
	if err != nil {
		return ui.Response{}, err
	}
	_, file, err := v.ReadDocument(ui.DocumentField{Label: "New version", Template: true})
	if err != nil {
		return v.documentRefused(err)
	}
	if _, err := v.App.Labs.ReplaceDocument(v.Context(), v.Who.Actor, id,
		document.AttachmentPatch{Filename: exchange.Some(file.Name)}, &file.Content); err != nil {
		v.App.Documents.Discard(v.Context(), file.Content, err)
		return v.documentRefused(err)
	}
	return ui.SeeOther(v.lab("/requirements#documents")).Saying(file.Name +
		" replaced the old version. Existing requests keep the old one."), nil
}

func (v *pageRequest) deleteDocument() (ui.Response, error) {
	id, err := v.labDocumentID()
	if err != nil {
		return ui.Response{}, err
	}
	if err := v.App.Documents.DeleteAttachment(v.Context(), v.Who.Actor, id, nil); err != nil {
		return v.documentRefused(err)
	}
	return ui.SeeOther(v.lab("/requirements#documents")).Saying("The document " + strconv.FormatInt(id, 10) +
		" is deleted."), nil
}
