package request

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/requirements"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/web/ui"
)

var permitPages = []ui.Route{
	ui.Get("/permit", (*permitRequest).permits).Private(),
	ui.Post("/permit", (*permitRequest).savePermit).TakesFiles(),
	ui.Get("/permit/{permit}/document", (*permitRequest).permitDocument).Private(),
	ui.PostID("/requests/{id}/permits", (*permitRequest).usePermit),
	ui.PostID("/requests/{id}/purpose", (*permitRequest).statePurpose),
	ui.Post("/requests/{id}/permits/{permit}/release", (*permitRequest).releasePermit),
}

// permitRequest is a request for a page about permits, or what else a transfer needs. Its methods are the handlers.
type permitRequest struct{ *ui.PageRequest }

// permitsPath is the address of the page of permits.
const permitsPath = "/permit"

// permitPage lists the permits of the visitor, their labs and their institutions, each with a form.
type permitPage struct {
	ui.Page
	requirements.PermitPage
	Request   int64 // that a new permit is used for; 0: none
	bad       int64 // the permit whose form was refused; 0: a new one, if there are errors
	form      url.Values
	UploadMax int64
}

// New is a new permit.
func (*permitPage) New() (l requirements.PermitLine) { return l }

// Fields returns the fields of the form of a permit; of a new one, or if it was refused, as typed.
func (p *permitPage) Fields(l requirements.PermitLine) []ui.FormField {
	form, wrong := p.form, p.Errors
	if l.ID != 0 && !p.Bad(l.ID) {
		form = field.Form(requirement.PermitFields, &l.Permit)
	}
	return ui.FieldsOf[requirement.Permit](form, permitPrefix(l.ID), wrong)
}

// Bad reports whether the form of a permit was refused; 0: that of a new one.
func (p *permitPage) Bad(id int64) bool { return len(p.Errors) > 0 && p.bad == id }

// permitPrefix is in front of the names of fields of a form, by which errors and addresses find them.
func permitPrefix(id int64) string {
	if id == 0 {
		return "new-"
	}
	return strconv.FormatInt(id, 10) + "-"
}

// Prefix returns it for templates.
func (*permitPage) Prefix(id int64) string { return permitPrefix(id) }

// Holder returns whose a new permit is, as typed.
func (p *permitPage) Holder() string { return p.form.Get("holder") }

func (v *permitRequest) readPermits() (*permitPage, error) {
	p := &permitPage{Page: ui.Page{Title: "Permits", Section: "requests"}, UploadMax: v.App.UploadLimit,
		form: url.Values{"regime": {v.FormValue("regime")}}}
	if id := ui.ParseID(v.FormValue("request")); id != nil {
		q, err := v.App.Requests.Request(v.Context(), v.Who.Actor, *id)
		if err != nil {
			return nil, err
		}
		p.Request = q.ID
	}
	var err error
	p.PermitPage, err = v.App.Requirements.PermitPage(v.Context(), v.Who.Actor)
	return p, err
}

// permits shows permits.
func (v *permitRequest) permits() (ui.Response, error) {
	p, err := v.readPermits()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("permits", p)
}

// savePermit adds a permit, or changes the one that the form names.
func (v *permitRequest) savePermit() (ui.Response, error) {
	sent, err := v.ReadForm(v.Store, "file")
	if err != nil {
		return ui.Response{}, err
	}
	v.OnlyDocuments(sent, map[string]ui.DocumentField{"file": {Label: "The document"}})
	v.Form, v.PostForm = sent.Fields, sent.Fields
	id := int64(0)
	if which := ui.ParseID(sent.Fields.Get("permit")); which != nil {
		id = *which
	}
	p, wrong := v.trySavePermit(id, sent)
	if wrong == nil {
		if request := ui.ParseID(sent.Fields.Get("request")); id == 0 && request != nil {
			return ui.SeeOther(requestPath(*request) + "#needs").Saying("Permit added and used for this request."), nil
		}
		said := "Permit changed."
		if id == 0 {
			said = "Permit added."
		}
		return ui.SeeOther(fmt.Sprintf("%s#permit-%d", permitsPath, p.ID)).Saying(said), nil
	}
	faults, refused := ui.FieldErrorsIn(wrong)
	if !refused && exchange.CodeOf(wrong) != exchange.Conflict && exchange.CodeOf(wrong) != exchange.RequestClosed {
		return ui.Response{}, wrong
	}
	page, err := v.readPermits()
	if err != nil {
		return ui.Response{}, err
	}
	page.bad, page.form = id, sent.Fields
	page.Errors = ui.Labelled[requirement.Permit](faults, permitPrefix(id))
	if !refused {
		page.Errors = ui.FieldErrors{permitPrefix(id) + "regime": {exchange.MessageOf(wrong)}}
	}
	return ui.Invalid("permits", page)
}

func (v *permitRequest) trySavePermit(id int64, sent ui.SentForm) (p requirement.Permit, err error) {
	form := requirements.PermitForm{}
	if request := ui.ParseID(sent.Fields.Get("request")); request != nil {
		form.Request = *request
	}
	err = field.ReadForm(requirement.PermitFields, sent.Fields, &form.Body)
	if kind, of, held := strings.Cut(sent.Fields.Get("holder"), "-"); err == nil && held {
		err = form.Body.Set(kind, of)
	}
	if e := sent.Refused["file"]; err == nil && e != nil {
		err = exchange.FieldErrors{"file": {e.Message}}.Err()
	}
	if err != nil {
		v.Discard(sent)
		return p, err
	}
	if file, has := sent.Files["file"]; has {
		form.Filename, form.Document = file.Name, &file.Content
	}
	return v.App.Requirements.SavePermit(v.Context(), v.Who.Actor, id, form)
}

// permitDocument shows the document of a permit, or sends it as a download.
func (v *permitRequest) permitDocument() (ui.Response, error) {
	id, err := v.PathID("permit")
	if err != nil {
		return ui.Response{}, err
	}
	p, err := v.App.Requirements.Permit(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	if p.Document == nil {
		return ui.Response{}, exchange.Errorf(exchange.NotFound, "This permit has no document.")
	}
	t, err := v.App.Documents.Attachment(v.Context(), v.Who.Actor, *p.Document)
	if err != nil {
		return ui.Response{}, err
	}
	t, content, err := v.App.Documents.Content(v.Context(), v.Who.Actor, t.ID, t.Filename)
	if err != nil {
		return ui.Response{}, err
	}
	return showFile(v.PageRequest, t, content), nil
}

// usePermit uses a permit for the request.
func (v *permitRequest) usePermit(id int64) (ui.Response, error) {
	var use requirement.PermitUse
	if which := ui.ParseID(v.PostFormValue("permit")); which != nil {
		use.Permit = exchange.Some(exchange.Ref(*which))
	}
	if _, _, err := v.App.Requirements.UsePermit(v.Context(), v.Who.Actor, id, use); err != nil {
		return (&pageRequest{v.PageRequest}).refused("permit-"+v.PostFormValue("regime"), err)
	}
	return ui.SeeOther(requestPath(id) + "#needs").Saying("The permit is used for this request."), nil
}

// releasePermit no longer uses a permit for the request.
func (v *permitRequest) releasePermit() (ui.Response, error) {
	id, err := v.PathID("id")
	if err != nil {
		return ui.Response{}, err
	}
	permit, err := v.PathID("permit")
	if err != nil {
		return ui.Response{}, err
	}
	if err := v.App.Requirements.ReleasePermit(v.Context(), v.Who.Actor, id, permit, nil); err != nil {
		return (&pageRequest{v.PageRequest}).refused("permit", err)
	}
	return ui.SeeOther(requestPath(id) + "#needs").Saying("The permit is no longer used for this request."), nil
}

// needsCard is the card of what the transfer of a request needs beside its documents.
type needsCard struct{ requirements.Needs }

// Lines returns what the transfer needs, without what the checklist of documents has already.
func (c needsCard) Lines() []requirements.Requirement {
	return slices.DeleteFunc(slices.Clone(c.Requirements), func(r requirements.Requirement) bool {
		return r.Kind == "MTA" || r.Kind == "ABSTRACT"
	})
}

// ChoicesOf returns the permits to choose from for a requirement.
func (c needsCard) ChoicesOf(kind string) (list []requirement.Permit) {
	for _, p := range c.Choices {
		if p.Regime == kind {
			list = append(list, p)
		}
	}
	return list
}

// UsedOf returns the permits that are used for a requirement.
func (c needsCard) UsedOf(kind string) (list []requirements.PermitLine) {
	for _, p := range c.Used {
		if p.Regime == kind {
			list = append(list, p)
		}
	}
	return list
}
