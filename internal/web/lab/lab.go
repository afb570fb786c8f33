package lab

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/app/labs"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/web/ui"
)

var labPages = []ui.Route{
	ui.Get("/labs", (*pageRequest).labs).Expensive(),
	ui.Get("/labs/new", (*pageRequest).newLab).Private(),
	ui.Post("/labs/new", (*pageRequest).makeLab),
	ui.Get("/labs/{id}", (*pageRequest).labMaterials),
	ui.Post("/labs/{id}/materials", (*pageRequest).changeMaterials),
	ui.Get("/labs/{id}/people", (*pageRequest).labPeople),
	ui.GetID("/labs/{id}/people/remove", (*pageRequest).askRemoval).Private(),
	ui.PostID("/labs/{id}/people/remove", (*pageRequest).removeMember),
	ui.Post("/labs/{id}/people/owner", (*pageRequest).handLabOver),
	ui.GetID("/labs/{id}/people/leave", (*pageRequest).askLeaving).Private(),
	ui.PostID("/labs/{id}/people/leave", (*pageRequest).leaveLab),
	ui.Post("/labs/{id}/invitations", (*pageRequest).invite),
	ui.Post("/labs/{id}/invitations/{invitation}/resend", (*pageRequest).resendInvitation),
	ui.Post("/labs/{id}/invitations/{invitation}/revoke", (*pageRequest).revokeInvitation),
	ui.PostID("/labs/{id}/joins", (*pageRequest).askToJoin),
	ui.Post("/labs/{id}/joins/{join}/accept", (*pageRequest).acceptJoin),
	ui.Post("/labs/{id}/joins/{join}/decline", (*pageRequest).declineJoin),
	ui.Post("/labs/{id}/joins/{join}/withdraw", (*pageRequest).withdrawJoin),
	ui.Get("/labs/{id}/grants", (*pageRequest).labGrants).Private(),
	ui.Post("/labs/{id}/grants", (*pageRequest).makeGrant),
	ui.Get("/labs/{id}/requirements", (*pageRequest).labRequirements),
	ui.Post("/labs/{id}/shipping", (*pageRequest).saveShipping),
	ui.Post("/labs/{id}/shipping/{shipping}", (*pageRequest).saveShipping),
	ui.Get("/labs/{id}/documents/{document}", (*pageRequest).labDocument),
	ui.Post("/labs/{id}/documents", (*pageRequest).addDocument).TakesFiles(),
	ui.Post("/labs/{id}/documents/{document}/replace", (*pageRequest).replaceDocument).TakesFiles(),
	ui.Post("/labs/{id}/documents/{document}/delete", (*pageRequest).deleteDocument),
	ui.Get("/labs/{id}/storage", (*pageRequest).labStorage).Private(),
	ui.Post("/labs/{id}/storage/{document}/delete", (*pageRequest).deleteLabFile),
	ui.Get("/labs/{id}/replies", replies).Private(),
	ui.Post("/labs/{id}/replies", saveReply),
	ui.Post("/labs/{id}/replies/{reply}", saveReply),
	ui.Get("/labs/{id}/settings", (*pageRequest).labSettings).Private(),
	ui.Post("/labs/{id}/settings", (*pageRequest).saveLab),
	ui.Get("/labs/{id}/webhooks", (*pageRequest).labWebhooks).Private(),
	ui.Post("/labs/{id}/webhooks", (*pageRequest).makeWebhook),
	ui.Get("/labs/{id}/webhooks/{webhook}", (*pageRequest).labWebhook).Private(),
	ui.Post("/labs/{id}/webhooks/{webhook}", (*pageRequest).saveWebhook),
	ui.Post("/labs/{id}/webhooks/{webhook}/{act}", (*pageRequest).actOnWebhook),
	ui.Post("/labs/{id}/webhooks/{webhook}/deliveries/{delivery}", (*pageRequest).redeliver),
	ui.Get("/labs/{id}/activity", (*pageRequest).labActivity).Private(),
	ui.Get("/labs/{id}/history", (*pageRequest).labHistory).Private(),
}

// labPage is what every page of a lab has.
type labPage struct {
	ui.Page
	Lab labs.Lab
	Tab string
	ID  string // of the lab, in addresses
}

// Facts returns the fields of the lab that the template does not place itself.
func (p *labPage) Facts() []field.Fact { return field.Facts(lab.Fields, &p.Lab.Organization) }

// readLab reads the head of the page of the lab whose id is in the path.
func (v *pageRequest) readLab(tab, title string) (labPage, error) {
	id, err := v.PathID("id")
	if err != nil {
		return labPage{}, err
	}
	l, err := v.App.Labs.Lab(v.Context(), v.Who.Actor, id)
	if err != nil {
		return labPage{}, err
	}
	p := labPage{Page: ui.Page{Title: l.Name, Section: "lab"}, Lab: l, Tab: tab, ID: strconv.FormatInt(id, 10)}
	if title != "" {
		p.Title = title + ", " + l.Name
	}
	return p, nil
}

// labFor returns the lab whose id is in the path, if the visitor may do the action. This is checked before their form.
func (v *pageRequest) labFor(action exchange.Action) (int64, error) {
	id, err := v.PathID("id")
	if err == nil {
		err = v.App.Labs.MayToLab(v.Context(), v.Who.Actor, action, id)
	}
	return id, err
}

// lab returns the address of a page of the lab whose id is in the path.
func (v *pageRequest) lab(rest string) string { return "/labs/" + v.PathValue("id") + rest }

// The lengths of lists on pages.
const (
	rowsOfPage = 50
	maxOfPage  = 200 // of lists without pages
)

// pageOf returns the page of a list that the query asks for.
func (v *pageRequest) pageOf() exchange.Page {
	p := exchange.Page{Limit: rowsOfPage}
	if id, err := strconv.ParseInt(v.URL.Query().Get("after"), 10, 64); err == nil && id > 0 {
		p.After = &exchange.Position{ID: id}
	}
	return p
}

// links returns the addresses of the previous and next page of a list, "" if there is none.
type links struct{ Next, Back string }

func (v *pageRequest) linksOf(next *exchange.Position) (l links) {
	query := v.URL.Query()
	if query.Has("after") {
		query.Del("after")
		l.Back = v.URL.Path + "?" + query.Encode()
	}
	if next != nil {
		query.Set("after", strconv.FormatInt(next.ID, 10))
		l.Next = v.URL.Path + "?" + query.Encode()
	}
	return l
}

type labsPage struct {
	ui.Page
	Own    labs.OwnLabs
	Query  string
	Found  []core.OrganizationView
	Count  exchange.Count
	More   string
	Search bool
}

// labs lists the visitor's labs, and those that a search finds.
func (v *pageRequest) labs() (ui.Response, error) {
	p := &labsPage{Page: ui.Page{Title: "Labs", Section: "lab"}, Query: v.FormValue("q")}
	err := ui.SearchSize("q", p.Query)
	if err != nil {
		return ui.Response{}, err
	}
	if v.SignedIn() {
		if p.Own, err = v.App.Labs.OwnLabs(v.Context(), v.Who.Actor); err != nil {
			return ui.Response{}, err
		}
	}
	offset, err := strconv.Atoi(v.FormValue("offset"))
	if err != nil || offset < 0 || offset > 1000 {
		offset = 0
	}
	if p.Search = p.Query != "" || !v.SignedIn() || v.URL.Query().Has("q"); p.Search {
		s := exchange.Search{Query: fulltext.Parse(p.Query), Page: exchange.SearchPage{Limit: 20, Offset: offset},
			Viewer: v.Who.ID, Sharing: true}
		found, err := v.App.Materials.SearchOrganizations(v.Context(), s)
		if err != nil {
			return ui.Response{}, err
		}
		p.Found, p.Count = found.Items, found.Count
		if found.Next != nil {
			p.More = "/labs?" + url.Values{"q": {p.Query}, "offset": {strconv.Itoa(offset + len(found.Items))}}.Encode()
		}
	}
	return ui.Show("labs", p)
}

type labForm struct {
	labPage
	New  bool
	Form url.Values
}

// patchOf returns the changes that the form of a lab describes.
func (f *labForm) patchOf() (p lab.OrganizationPatch, err error) {
	if text := f.Form.Get("public_metadata_keys"); f.Form.Has("public_metadata_keys") {
		p.PublicKeys = exchange.Some(exchange.Names(strings.Split(text, "\n")))
	}
	return p, field.ReadForm(lab.Fields, f.Form, &p)
}

func (f *labForm) read(v *pageRequest) { f.show(v.PostForm) }

func (f *labForm) fill(o lab.Organization) {
	form := field.Form(lab.Fields, &o)
	form.Set("public_metadata_keys", strings.Join(o.PublicKeys, "\n"))
	f.show(form)
}

func (f *labForm) show(form url.Values) { f.Form, f.Description = form, form.Get("description") }

// labField is a field of the form of a lab.
type labField struct {
	Field, Label, Value, Hint, Type string
	Rows                            int
	Errors                          ui.FieldErrors
}

// Field returns a field of the form.
func (f *labForm) Field(name string) labField {
	i := slices.IndexFunc(lab.Fields, func(d field.Descriptor[lab.Organization]) bool { return d.Name == name })
	return f.field(lab.Fields[i])
}

// Further returns the fields that the template does not place itself.
func (f *labForm) Further() (list []labField) {
	for _, d := range field.In(lab.Fields, "about") {
		list = append(list, f.field(d))
	}
	return list
}

func (f *labForm) field(d field.Descriptor[lab.Organization]) labField {
	one := labField{d.Name, d.Label, f.Form.Get(d.Name), d.Help, d.InputType(), d.Rows(), f.Errors}
	if f.New && d.Name == "name" {
		one.Hint = "If empty, your name followed by “lab”."
	}
	return one
}

func (v *pageRequest) newLab() (ui.Response, error) {
	p := &labForm{labPage: labPage{Page: ui.Page{Title: "Create a lab", Section: "lab", Narrow: true}}, New: true}
	p.fill(lab.Organization{Targets: lab.DefaultTargets})
	return ui.Show("lab-new", p)
}

func (v *pageRequest) makeLab() (ui.Response, error) {
	p := &labForm{labPage: labPage{Page: ui.Page{Title: "Create a lab", Section: "lab", Narrow: true}}, New: true}
	p.read(v)
	patch, err := p.patchOf()
	patch.Owner, patch.Members = exchange.Some(exchange.UserRef(v.Who.ID)), exchange.Some([]exchange.UserRef{})
	var made labs.OrganizationChange
	if err == nil {
		made, err = v.App.Labs.CreateOrganization(v.Context(), v.Who.Actor, patch)
	}
	if fields, ok := ui.FieldErrorsIn(err); ok {
		p.Errors = fields
		return ui.Invalid("lab-new", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(fmt.Sprintf("/labs/%d/people", made.ID)).Saying(made.Name +
		" created. Invite the people who work there."), nil
}

func (v *pageRequest) labSettings() (ui.Response, error) {
	base, err := v.readLab("settings", "Settings")
	if err != nil {
		return ui.Response{}, err
	}
	if !base.Lab.May(exchange.OrganizationUpdate) {
		return ui.Response{}, exchange.Errorf(exchange.Forbidden, "Only the owner of %s can change its settings.",
			base.Lab.Name)
	}
	p := &labForm{labPage: base}
	p.fill(base.Lab.Organization)
	return ui.Show("lab-settings", p)
}

func (v *pageRequest) saveLab() (ui.Response, error) {
	if _, err := v.labFor(exchange.OrganizationUpdate); err != nil {
		return ui.Response{}, err
	}
	base, err := v.readLab("settings", "Settings")
	if err != nil {
		return ui.Response{}, err
	}
	p := &labForm{labPage: base}
	p.read(v)
	patch, err := p.patchOf()
	if err == nil {
		_, err = v.App.Labs.UpdateOrganization(v.Context(), v.Who.Actor, base.Lab.ID, patch, nil)
	}
	if fields, ok := ui.FieldErrorsIn(err); ok {
		p.Errors = fields
		return ui.Invalid("lab-settings", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab("/settings")).Saying("Lab settings saved."), nil
}
