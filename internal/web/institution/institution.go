// Package institution has the pages of institutions: who they are, who is at them, and who may sign for them.
package institution

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"aliquot/internal/agreement/party"
	"aliquot/internal/app/institutions"
	"aliquot/internal/app/labs"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/web/ui"
)

// pageRequest is a request for a page of this area. Its methods are the handlers.
type pageRequest struct{ *ui.PageRequest }

// Routes returns the pages of the area.
func Routes() []ui.Route {
	return []ui.Route{
		ui.Get("/offices", (*pageRequest).list),
		ui.Get("/offices/new", (*pageRequest).add).Private(),
		ui.Post("/offices/new", (*pageRequest).create),
		ui.Get("/offices/signatories", (*pageRequest).signatories).Private(),
		ui.Post("/offices/signatories", (*pageRequest).importSignatories).TakesFiles(),
		ui.Get("/offices/signatories.csv", (*pageRequest).signatorySheet),
		ui.GetID("/offices/{id}", (*pageRequest).show),
		ui.PostID("/offices/{id}", (*pageRequest).save),
		ui.GetID("/offices/{id}/authority", (*pageRequest).office).Private(),
		ui.GetID("/offices/{id}/approvals", (*pageRequest).approvals).Private(),
		ui.PostID("/offices/{id}/approvals", (*pageRequest).draftApproval),
		ui.PostID("/offices/{id}/approvals/{approval}", (*pageRequest).decideApproval),
		ui.GetID("/offices/{id}/playbook", (*pageRequest).playbook).Private(),
		ui.PostID("/offices/{id}/playbook", (*pageRequest).savePlaybook),
		ui.GetID("/offices/{id}/letters", (*pageRequest).desk).Private(),
		ui.PostID("/offices/{id}/letters", (*pageRequest).signMany),
		ui.GetID("/offices/{id}/requests", (*pageRequest).needs).Private(),
		ui.PostID("/offices/{id}/requests", (*pageRequest).draftNeeded),
		ui.GetID("/offices/{id}/report", (*pageRequest).report).Private().Expensive(),
		ui.GetID("/offices/{id}/report.csv", (*pageRequest).reportSheet).Private().Expensive(),
		ui.PostID("/offices/{id}/{kind}", (*pageRequest).register),
		ui.PostID("/offices/{id}/{kind}/{entry}", (*pageRequest).register),
	}
}

// section is the part of the navigation that the pages belong to.
const section = "lab"

type listPage struct {
	ui.Page
	Name  string
	Found []party.Institution
	Count exchange.Count
	Next  string
	First string
}

// rowsOfPage is how many institutions a page lists.
const rowsOfPage = 50

func (v *pageRequest) list() (ui.Response, error) {
	p := &listPage{Page: ui.Page{Title: "Institutions", Section: section,
		Description: "Universities, institutes and companies that sign agreements for their labs."},
		Name: v.FormValue("q")}
	if err := ui.SearchSize("q", p.Name); err != nil {
		return ui.Response{}, err
	}
	page := exchange.Page{Limit: rowsOfPage}
	if id, err := strconv.ParseInt(v.FormValue("after"), 10, 64); err == nil && id > 0 {
		page.After, p.First = &exchange.Position{ID: id}, "/offices?"+url.Values{"q": {p.Name}}.Encode()
	}
	found, err := v.App.Institutions.List(v.Context(), p.Name, page)
	if err != nil {
		return ui.Response{}, err
	}
	p.Found, p.Count = found.Items, found.Total
	if found.Next != nil {
		p.Next = "/offices?" + url.Values{"q": {p.Name}, "after": {strconv.FormatInt(found.Next.ID, 10)}}.Encode()
	}
	return ui.Show("institutions", p)
}

// editPage has the form of an institution.
type editPage struct {
	ui.Page
	Fields []ui.FormField
}

func (v *pageRequest) add() (ui.Response, error) {
	i := party.NewInstitution(v.Who.ID)
	return ui.Show("institution-new", newPage(field.Form(party.InstitutionFields, &i), nil))
}

func newPage(form url.Values, wrong ui.FieldErrors) *editPage {
	p := &editPage{Page: ui.Page{Title: "Add an institution", Section: section, Narrow: true, Errors: wrong}}
	p.Fields = ui.FieldsOf[party.Institution](form, "", wrong)
	return p
}

func (v *pageRequest) create() (ui.Response, error) {
	patch, err := patchOf[party.Institution](v)
	var made party.Institution
	if err == nil {
		made, err = v.App.Institutions.Create(v.Context(), v.Who.Actor, patch)
	}
	if wrong, refused := ui.FieldErrorsIn(err); refused {
		return ui.Invalid("institution-new", newPage(v.PostForm, ui.Labelled[party.Institution](wrong, "")))
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(fmt.Sprintf("/offices/%d", made.ID)).Saying("Institution added. An admin or one of its " +
		"officers confirms it."), nil
}

// page is the page of an institution.
type page struct {
	ui.Page
	institutions.Office
	ID     string // in addresses
	Tab    string
	Owned  []lab.Organization // labs of the visitor
	Bad    string             // the prefix of the form that was refused
	Form   url.Values         // what was typed in it
	People map[string]string  // the names of those who hold an authority or stand in, by their ids

	Act     party.Act // whose signers are looked for
	Day     exchange.Date
	Signers []institutions.Signer
}

// Today is the day in UTC.
func (p *page) Today() exchange.Date { return exchange.Date(p.Now.UTC().Format(time.DateOnly)) }

// Executes reports whether agreements of the institution may become executed today.
func (p *page) Executes() bool { return p.MayExecute(p.Today()) }

// Over reports whether a day is today or earlier.
func (p *page) Over(until exchange.Date) bool { return until != "" && until <= p.Today() }

// Name is the name of a person of the register.
func (p *page) Name(who party.Person) string {
	if name := p.People[who.User.String()]; name != "" {
		return name
	}
	return who.Name
}

// Holder is the name of an authority's holder.
func (p *page) Holder(authority int64) string {
	i := slices.IndexFunc(p.Register.Authorities, func(a party.Authority) bool { return a.ID == authority })
	if i < 0 {
		return ""
	}
	return p.Name(p.Register.Authorities[i].Holder)
}

// Position is the title of a position.
func (p *page) Position(id int64) string {
	i := slices.IndexFunc(p.Register.Positions, func(o party.Position) bool { return o.ID == id })
	if i < 0 {
		return ""
	}
	return p.Register.Positions[i].Title
}

func (v *pageRequest) read(id int64, tab, title string) (*page, error) {
	o, err := v.App.Institutions.Office(v.Context(), v.Who.Actor, id)
	if err != nil {
		return nil, err
	}
	p := &page{Page: ui.Page{Title: o.LegalName, Section: section}, Office: o, ID: strconv.FormatInt(id, 10), Tab: tab}
	if title != "" {
		p.Title = title + ", " + o.LegalName
	}
	if v.SignedIn() {
		var own labs.OwnLabs
		if own, err = v.App.Labs.OwnLabs(v.Context(), v.Who.Actor); err != nil {
			return nil, err
		}
		for _, l := range own.Labs {
			if v.Who.Is(l.Owner) {
				p.Owned = append(p.Owned, l)
			}
		}
	}
	return p, nil
}

func (v *pageRequest) show(id int64) (ui.Response, error) {
	p, err := v.read(id, "about", "")
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("institution", p)
}

// save changes an institution, or confirms it.
func (v *pageRequest) save(id int64) (ui.Response, error) {
	p, err := v.read(id, "about", "")
	if err == nil && !p.May(exchange.InstitutionUpdate) {
		err = exchange.Errorf(exchange.Forbidden, "Only its officers change an institution.")
	}
	if err != nil {
		return ui.Response{}, err
	}
	patch, err := patchOf[party.Institution](v)
	said := "Institution saved."
	if v.PostFormValue("do") == "confirm" {
		said, patch, err = "Institution confirmed.", confirmation[party.Institution](), nil
	}
	if err == nil {
		_, err = v.App.Institutions.Update(v.Context(), v.Who.Actor, id, patch, nil)
	}
	if wrong, refused := ui.FieldErrorsIn(err); refused {
		p.refuse("about-", v.PostForm, ui.Labelled[party.Institution](wrong, "about-"))
		return ui.Invalid("institution", p)
	}
	return ui.SeeOther("/offices/" + v.PathValue("id")).Saying(said), err
}

// refuse shows a form again with what was typed and what is wrong.
func (p *page) refuse(prefix string, form url.Values, wrong ui.FieldErrors) {
	p.Bad, p.Form, p.Errors = prefix, form, wrong
}

// office shows who may sign for an institution, to its officers.
func (v *pageRequest) office(id int64) (ui.Response, error) {
	p, err := v.readOffice(id)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("institution-office", p)
}

func (v *pageRequest) readOffice(id int64) (*page, error) {
	p, err := v.read(id, "office", "Office")
	if err == nil && !p.May(exchange.AuthorityRead) {
		err = exchange.Errorf(exchange.Forbidden, "Only the officers of %s and admins see who may sign for it.",
			p.LegalName)
	}
	if err != nil {
		return nil, err
	}
	holders, err := v.App.Institutions.Holders(v.Context(), p.Office)
	p.People = map[string]string{}
	for id, u := range holders {
		p.People[id.String()] = u.Name()
	}
	if err != nil {
		return nil, err
	}
	return p, v.findSigners(p)
}

// findSigners looks for who may sign what the query describes.
func (v *pageRequest) findSigners(p *page) (err error) {
	q := v.URL.Query()
	bsl, _ := strconv.Atoi(q.Get("bsl"))
	p.Act = party.Act{Direction: party.Provide, Family: q.Get("family"), Category: q.Get("category"),
		Human: q.Get("human") != "", BSL: bsl}
	if q.Get("direction") == string(party.Receive) {
		p.Act.Direction = party.Receive
	}
	p.Day = exchange.Date(time.Now().UTC().Format(time.DateOnly))
	if _, err := time.Parse(time.DateOnly, q.Get("day")); err == nil {
		p.Day = exchange.Date(q.Get("day"))
	}
	p.Signers, err = v.App.Institutions.Signers(v.Context(), p.Office, p.Act, p.Day)
	return err
}

// register adds an entry to the register of an institution, or changes one.
func (v *pageRequest) register(id int64) (ui.Response, error) {
	kind, known := kinds[v.PathValue("kind")]
	if !known {
		return v.Missing()
	}
	entry, prefix := int64(0), v.PathValue("kind")+"-"
	if v.PathValue("entry") != "" {
		var err error
		if entry, err = v.PathID("entry"); err != nil {
			return ui.Response{}, err
		}
		prefix += v.PathValue("entry") + "-"
	}
	back := "/offices/" + v.PathValue("id")
	if kind.office {
		back += "/authority"
	}
	if err := kind.may(v, id, entry); err != nil {
		return ui.Response{}, err
	}
	err := kind.save(v, id, entry)
	e, _ := errors.AsType[*exchange.Error](err)
	switch {
	case err == nil:
		return ui.SeeOther(back).Saying("Saved."), nil
	case e == nil || e.Code != exchange.InvalidInput && e.Code != exchange.Conflict && e.Code != exchange.NoAuthority:
		return ui.Response{}, err
	case e.Code == exchange.NoAuthority:
		v.NoteRefusal(err)
	}
	wrong := ui.FieldErrors{"form": {e.Message}}
	if len(e.Fields) > 0 {
		wrong = kind.labelled(e.Fields, prefix)
	}
	template, read := "institution", func(id int64) (*page, error) { return v.read(id, "about", "") }
	if kind.office {
		template, read = "institution-office", v.readOffice
	}
	p, err := read(id)
	if err != nil {
		return ui.Response{}, err
	}
	p.refuse(prefix, v.PostForm, wrong)
	return ui.Invalid(template, p)
}
