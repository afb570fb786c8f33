package request

import (
	"crypto/rand"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

var askPages = []ui.Route{
	ui.Get("/catalog/{id}/request", (*pageRequest).askFor).Private(),
	ui.Post("/catalog/{id}/request", (*pageRequest).sendAsk).TakesFiles(),
	ui.Post("/catalog/{id}/request/checklist", (*pageRequest).askChecklist),
}

// askPage is the form of a new request.
type askPage struct {
	ui.Page
	ui.FormValues
	transfer.RequestFormView
	Inquiry *request.ShownInquiry // because of which the material is requested; nil: none
	Resumed bool                  // the form is a draft
	Again   bool                  // files were chosen, which have to be chosen again
	Limit   int64
	Ready   []checkLine // what is needed to send it
	Use     askedUse    // whether terms of data use allow it
}

// Parcel reports whether anything is shipped: a data set or a protocol needs no vials.
func (p *askPage) Parcel() bool {
	return p.Terms.Address || !p.Several() && !p.Material.Digital()
}

// Choices returns the addresses to choose from.
func (p *askPage) Choices() []person.Address {
	var list []person.Address
	for _, a := range p.Addresses {
		if a.SavedForUse || p.Val("address") == strconv.FormatInt(a.ID, 10) {
			list = append(list, a)
		}
	}
	return list
}

// Payments returns the ways to pay that the lab accepts.
func (p *askPage) Payments() []string { return p.Shipping.Payments() }

// Couriers returns the couriers to choose from.
func (p *askPage) Couriers() []request.Courier { return request.Couriers }

// Abstracts returns earlier requests whose abstract could be reused, each text once.
func (p *askPage) Abstracts() []request.Detail {
	const most = 5
	var list []request.Detail
	seen := map[string]bool{"": true}
	for _, q := range p.Earlier {
		if !seen[q.Abstract] && len(list) < most {
			seen[q.Abstract] = true
			list = append(list, q)
		}
	}
	return list
}

// Sections returns the numbered sections of the form, which depend on what the material requires.
func (p *askPage) Sections() map[string]int {
	sections, n := map[string]int{}, 0
	for _, s := range []struct {
		name  string
		asked bool
	}{{"why", true}, {"where", p.Terms.Address}, {"pay", p.Terms.Payment}, {"docs", p.Terms.MTA || p.Terms.IRB}} {
		if s.asked {
			n++
			sections[s.name] = n
		}
	}
	return sections
}

// askLabels are the names of the fields inside a sentence; one that begins with a capital is the whole sentence.
var askLabels = map[string]string{
	"requester_abstract": "the research abstract", "quantity": "the quantity", "note": "the note",
	"address": "Choose where to send it", "payment_method": "Choose how shipping is paid",
	"payment_method_notes": "how it is paid", "courier": "the courier", "account": "the account number",
	"inquiry":                         "your inquiry",
	"requester_signed_mta_attachment": "the signed MTA", "irb_attachment": "the IRB approval",
	"materials": "material", "quantities": "quantity", "diseases": "the diseases",
	"skip_unavailable": "Leave out what cannot be requested, or remove it from your basket",
}

func init() { maps.Copy(askLabels, ui.AddressLabels) }

// askPage returns the page with the form and the values typed in it.
func (v *pageRequest) askPage(f transfer.RequestFormView, form url.Values) (*askPage, error) {
	p := &askPage{Page: ui.Page{Title: askTitle(f), Section: "catalog"}, RequestFormView: f,
		FormValues: ui.FormValues{Form: form}, Limit: v.App.UploadLimit}
	if id := ui.ParseID(form.Get("inquiry")); id != nil {
		i, err := v.App.Inquiries.Inquiry(v.Context(), v.Who.Actor, *id)
		if err == nil && i.MaterialID == f.Material.ID && i.RequestID == nil && v.Who.Is(i.UserID) {
			p.Inquiry = &i
		}
	}
	_, wrong := v.asked(f, form).Check(f.Terms, f.Shipping)
	problems, _ := ui.FieldErrorsIn(wrong)
	p.Ready = checklist(f.Terms, ui.SentencesOf(problems, askLabels), form)
	var err error
	if p.Use, err = useOf(v, f, form); exchange.FieldsOf(err) != nil {
		err = nil // the form says so once it is sent
	}
	return p, err
}

// askFor shows the form, as a draft or filled in with what the visitor used last.
func (v *pageRequest) askFor() (ui.Response, error) {
	f, err := v.askForm(nil)
	if err != nil {
		return ui.Response{}, err
	}
	if several(f) {
		if back, nothing := nothingToAsk(f); nothing {
			return back, nil
		}
	}
	if f.Own || f.Closed != nil {
		p, err := v.askPage(f, url.Values{})
		if err != nil {
			return ui.Response{}, err
		}
		return ui.Show("ask-closed", p)
	}
	form := firstAsk(f, v.Who.User)
	if f.Draft != nil {
		form = f.Draft.Form
	}
	if id := v.URL.Query().Get("inquiry"); id != "" {
		form.Set("inquiry", id)
	}
	form.Set("once", rand.Text()) // so that this form is not taken for an earlier one
	p, err := v.askPage(f, form)
	if err != nil {
		return ui.Response{}, err
	}
	p.Resumed = f.Draft != nil
	return ui.Show("ask", p)
}

// askForm reads the form for the material or the lab in the path; form has what was typed, if it was submitted.
func (v *pageRequest) askForm(form url.Values) (transfer.RequestFormView, error) {
	if v.PathValue("lab") != "" {
		return groupForm(v, form)
	}
	id, err := v.PathID("id")
	if err != nil {
		return transfer.RequestFormView{}, err
	}
	return v.App.Requests.RequestFormView(v.Context(), v.Who.Actor, id)
}

// firstAsk returns a new form, filled in with what the visitor used last.
func firstAsk(f transfer.RequestFormView, user person.User) url.Values {
	form := url.Values{"name": {user.Name()}, "saved_for_reuse": {"1"}, "address": {"new"}}
	if len(f.Addresses) > 0 {
		form.Set("country", f.Addresses[0].Country)
	}
	mine := map[int64]bool{}
	for _, a := range f.Addresses {
		if mine[a.ID] = true; a.SavedForUse && form.Get("address") == "new" {
			form.Set("address", strconv.FormatInt(a.ID, 10))
		}
	}
	for _, q := range f.Earlier {
		if q.Address != nil && mine[q.Address.ID] {
			form.Set("address", strconv.FormatInt(q.Address.ID, 10))
			break
		}
	}
	if f.Shipping == nil {
		return form
	}
	ways := f.Shipping.Payments()
	if len(ways) == 1 {
		form.Set("payment_method", ways[0])
	}
	for _, q := range f.Earlier {
		if !slices.Contains(ways, q.Payment) {
			continue
		}
		form.Set("payment_method", q.Payment)
		if account, ok := request.ReadCourierAccount(q.PaymentNotes); ok && q.Payment == lab.ByCourierAccount {
			form.Set("courier", account.Courier)
			form.Set("account", account.Number)
		} else if !ok {
			form.Set("payment_method_notes", q.PaymentNotes)
		}
		break
	}
	return form
}

// asked returns the request that a form describes.
func (v *pageRequest) asked(f transfer.RequestFormView, form url.Values) request.Form {
	text := func(name string) exchange.Opt[string] { return exchange.Some(form.Get(name)) }
	n := request.Form{
		Request: request.New{Material: exchange.Some(exchange.Ref(f.Material.ID)),
			Quantity: text("quantity"), Submission: request.Submission{Abstract: text("requester_abstract"),
				Note: text("note"), Payment: text("payment_method"), Notes: text("payment_method_notes"),
				SignAgreement: exchange.Some(form.Get("sign_agreement") != "")}},
		Account: &request.CourierAccount{Courier: form.Get("courier"), Number: form.Get("account")},
	}
	if id := ui.ParseID(form.Get("inquiry")); id != nil {
		n.Request.Inquiry = exchange.NullOf(exchange.Ref(*id))
	}
	if form.Get("address") == "new" {
		a := ui.AddressOf(form)
		n.Address = &a
	} else if id, err := strconv.ParseInt(form.Get("address"), 10, 64); err == nil && id > 0 {
		n.Request.Address = exchange.NullOf(exchange.Ref(id))
	}
	return n
}

// askChecklist returns the checklist alone, for the script, while somebody types.
func (v *pageRequest) askChecklist() (ui.Response, error) {
	f, err := v.askForm(v.PostForm)
	if err != nil {
		return ui.Response{}, err
	}
	p, err := v.askPage(f, v.PostForm)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("ask", p)
}

// sendAsk sends the request, or saves it as a draft.
func (v *pageRequest) sendAsk() (ui.Response, error) {
	f, err := v.askForm(nil)
	if err != nil {
		return ui.Response{}, err
	}
	sent, err := v.ReadForm(v.Store, askFiles...)
	if err != nil {
		return ui.Response{}, err
	}
	v.OnlyDocuments(sent, askDocuments)
	if several(f) { // the form says which materials it is about
		if f, err = groupForm(v, sent.Fields); err != nil {
			v.Discard(sent)
			return ui.Response{}, err
		}
		if id := v.App.Requests.SentForm(v.Context(), v.Who.Actor, sent.Fields.Get("once")); id != 0 {
			v.Discard(sent)
			return v.forScript(ui.SeeOther(groupPath(id))), nil
		}
		if back, nothing := nothingToAsk(f); nothing {
			v.Discard(sent)
			return back, nil
		}
	}
	save := func() error {
		form := url.Values{}
		for name, values := range sent.Fields {
			if name != "once" && name != "save" && name != "reuse" && name != ui.DraftKeyField &&
				name != ui.DraftTitleField {
				form[name] = values
			}
		}
		return v.App.Materials.SaveDraft(v.Context(), v.Who.Actor,
			person.Draft{Key: askDraft(f), Title: askTitle(f), Form: form})
	}
	if sent.Fields.Has("save") {
		v.Discard(sent)
		back := "/basket"
		if !several(f) {
			back = "/catalog/" + number(f.Material.ID)
		}
		return ui.SeeOther(back).
			Saying("Request saved as a draft. Files are not saved: choose them again when you continue."), save()
	}
	if again := sent.Fields.Get("reuse"); again != "" {
		v.Discard(sent)
		for _, q := range f.Earlier {
			if strconv.FormatInt(q.ID, 10) == again {
				sent.Fields.Set("requester_abstract", q.Abstract)
			}
		}
		return ui.SeeOther(askPath(f) + "#h-why"), save()
	}
	asked := v.asked(f, sent.Fields)
	use, err := useOf(v, f, sent.Fields)
	refused := refusedUse(use, err, sent.Fields)
	if err != nil && refused == nil {
		v.Discard(sent)
		return ui.Response{}, err
	}
	stays := len(sent.Refused) > 0 || len(refused) > 0
	if stays {
		_, err = asked.Check(f.Terms, f.Shipping)
	} else {
		var answer ui.Response
		answer, err = submitAsk(v, f, transfer.NewRequest{Key: formKey(sent.Fields), Form: asked,
			Documents: uploadedDocuments(sent)}, use, sent.Fields)
		if err == nil {
			return v.forScript(answer), nil
		}
	}
	fields, wrong := ui.FieldErrorsIn(err)
	if !wrong && !stays {
		if kept := save(); kept != nil { // so that nothing typed is lost
			v.App.Log.WarnContext(v.Context(), "keep a request that could not be sent", "error", kept)
		}
		return ui.Response{}, err
	}
	if stays {
		v.Discard(sent)
	}
	p, err := v.askPage(f, sent.Fields)
	if err != nil {
		return ui.Response{}, err
	}
	p.Again = len(sent.Files) > 0
	p.Errors = ui.SentencesOf(fields, askLabels)
	maps.Copy(p.Errors, sent.FileErrors())
	maps.Copy(p.Errors, ui.SentencesOf(refused, askLabels))
	return ui.Invalid("ask", p)
}

// submitAsk sends the form of one material or of several.
func submitAsk(v *pageRequest, f transfer.RequestFormView, n transfer.NewRequest, use askedUse,
	form url.Values) (ui.Response, error) {
	if several(f) {
		return submitGroup(v, f, n, use, form)
	}
	q, err := v.App.Requests.SubmitRequest(v.Context(), v.Who.Actor, n)
	if err == nil {
		err = stateUse(v, use, q)
	}
	if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(requestPath(q.ID)).Saying("Request sent. The lab aims to answer within " +
		ui.Days(f.Organization.Targets.Decide) + "."), nil
}

// askFiles are the file fields of the form, by the slots of a request.
var askFiles = []string{string(document.SignedMTA) + slotField, string(document.IRB) + slotField}

// askDocuments are the labels of these fields.
var askDocuments = map[string]ui.DocumentField{
	string(document.SignedMTA) + slotField: {Label: "Signed MTA"},
	string(document.IRB) + slotField:       {Label: "IRB approval or exemption"},
}

// slotField is the prefix of a file field's name, before that of its slot.
const slotField = "_attachment"

// handed returns the documents that were submitted with the form.
func uploadedDocuments(f ui.SentForm) []transfer.UploadedDocument {
	var list []transfer.UploadedDocument
	for _, field := range askFiles {
		if file, sent := f.Files[field]; sent {
			list = append(list, transfer.UploadedDocument{Slot: document.Slot(strings.TrimSuffix(field, slotField)),
				Filename: file.Name, Content: file.Content})
		}
	}
	return list
}

// formKey identifies a submitted form, so that sending it twice has the effect of sending it once.
func formKey(form url.Values) string {
	const most = 64
	if key := form.Get("once"); key != "" && len(key) <= most {
		return key
	}
	return rand.Text()
}
