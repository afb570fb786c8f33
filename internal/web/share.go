package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
)

var sharePages = []page{
	get("/share", (*pageRequest).share).private(),
	get("/share/new", (*pageRequest).newListing).private(),
	post("/share/new", (*pageRequest).sendNewListing).takesFiles(),
	post("/share/fresh", (*pageRequest).freshListing),
	get("/catalog/{id}/edit", (*pageRequest).editListing).private(),
	post("/catalog/{id}/edit", (*pageRequest).sendListing).takesFiles(),
	get("/catalog/{id}/history", (*pageRequest).listingHistory).private(),
	post("/catalog/{id}/restore", (*pageRequest).restoreListing),
	get("/share/import", (*pageRequest).imports).private(),
	post("/share/import", (*pageRequest).sendImports),
	get("/share/spreadsheet", (*pageRequest).spreadsheet).private(),
	post("/share/spreadsheet", (*pageRequest).sendSpreadsheet).takesFiles(),
	post("/share/spreadsheet/columns", (*pageRequest).sendColumns),
	get("/share/spreadsheet/template", (*pageRequest).sheetTemplate).private(),
	get("/share/spreadsheet/export", (*pageRequest).sheetExport).private(),
	get("/share/jobs/{id}", (*pageRequest).shareJob).private(),
	get("/share/jobs/{id}/report", (*pageRequest).shareReport).private(),
	post("/share/jobs/{id}/store", (*pageRequest).storeJob),
	post("/share/jobs/{id}/values", (*pageRequest).mendJob),
	post("/share/jobs/{id}/cancel", (*pageRequest).cancelShareJob),
}

// labCookie is the cookie with the lab that the visitor last listed a material for.
const (
	labCookie = "__Host-lab"
	labLives  = 365 * 24 * time.Hour
)

// shareLab returns the lab in the query, the form or the cookie; 0: none.
func (v *pageRequest) shareLab(named string) int64 {
	for _, text := range []string{named, v.cookie(labCookie)} {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil &&
			(v.who.MemberOf(id) || v.who.Admin && text == named) {
			return id
		}
	}
	return 0
}

func (v *pageRequest) rememberLab(id int64) {
	if text := strconv.FormatInt(id, 10); v.cookie(labCookie) != text {
		v.setCookie(labCookie, text, labLives)
	}
}

type sharePage struct {
	Page
	Desk       app.MaterialFormOptions
	Categories []category.Category
	Drafts     []draftLine
}

// share is the page on which people choose what to list, how, and for which lab.
func (v *pageRequest) share() (response, error) {
	p := &sharePage{Page: Page{Title: "List a material", Section: "share"}, Categories: category.All()}
	asked := v.shareLab(v.URL.Query().Get("lab"))
	var err error
	if p.Desk, err = v.app.MaterialFormOptions(v.Context(), v.who.Actor, asked, nil); err != nil {
		return response{}, err
	}
	if asked != 0 {
		v.rememberLab(asked)
	}
	drafts, err := v.app.Drafts(v.Context(), v.who.Actor)
	if err != nil {
		return response{}, err
	}
	for _, d := range drafts {
		if strings.HasPrefix(d.Key, "new ") {
			p.Drafts = append(p.Drafts, draftLine{d, draftForm(d.Key)})
		}
	}
	return show("share", p)
}

// newKey returns the key of the draft of a new material of a category.
func newKey(code string) string { return "new " + code }

// newListing shows an empty form, or one filled in from a draft, another material or a public source.
func (v *pageRequest) newListing() (response, error) {
	asked := v.URL.Query()
	c, known := category.Get(asked.Get("category"))
	if !known && asked.Get("import") == "" {
		return seeOther("/share"), nil
	}
	p := &listingPage{Form: url.Values{"category": {c.Code}}}
	var err error
	if p.Desk, err = v.app.MaterialFormOptions(v.Context(), v.who.Actor, v.shareLab(asked.Get("lab")),
		nil); err != nil {
		return response{}, err
	}
	if p.Desk.Lab.ID == 0 {
		return seeOther("/share"), nil
	}
	draft := exchange.Draft{}
	switch {
	case asked.Get("import") != "":
		if err := v.fromSource(p, asked.Get("import")); err != nil {
			return response{}, err
		}
	case asked.Get("from") != "":
		if err := v.fromOther(p, asked.Get("from")); err != nil {
			return response{}, err
		}
	default:
		var there bool
		if draft, there, err = v.app.Draft(v.Context(), v.who.Actor, newKey(c.Code)); err != nil {
			return response{}, err
		}
		if there {
			p.Form = draft.Form
			p.Form.Set("category", c.Code)
		}
	}
	if err := v.begin(p); err != nil {
		return response{}, err
	}
	if !draft.UpdatedAt.IsZero() {
		when := v.page().At(draft.UpdatedAt)
		p.Drafted = &when
	}
	return show("share_edit", p)
}

// begin sets the defaults of a new form, and builds it. A draft for another lab keeps that lab.
func (v *pageRequest) begin(p *listingPage) error {
	if lab := v.shareLab(p.Form.Get("organization_id")); lab != 0 && lab != p.Desk.Lab.ID &&
		p.Form.Get("organization_id") != "" {
		var err error
		if p.Desk, err = v.app.MaterialFormOptions(v.Context(), v.who.Actor, lab, nil); err != nil {
			return err
		}
	}
	p.Form.Set("organization_id", strconv.FormatInt(p.Desk.Lab.ID, 10))
	if err := v.settle(p); err != nil {
		return err
	}
	p.build()
	p.Title, p.Section = "List a "+lowerFirst(p.Category.Label), "share"
	p.Draft = newKey(p.Category.Code)
	return nil
}

// lowerFirst returns a name for the middle of a sentence; acronyms such as PDX stay.
func lowerFirst(name string) string {
	if len(name) > 1 && name[1] >= 'A' && name[1] <= 'Z' {
		return name
	}
	return strings.ToLower(name[:min(1, len(name))]) + name[min(1, len(name)):]
}

// page returns a page with the visitor's clock and zone, for use before it is rendered.
func (v *pageRequest) page() *Page { return &Page{Now: v.app.DB.Read().Now, Zone: v.who.Zone} }

// own are the fields that a similar material does not share.
var own = []string{"reference", "imported", "import_source", "embargo_date", "organization_id", "contact_user_id", "id"}

// fromOther fills in the form from another material of the visitor's labs.
func (v *pageRequest) fromOther(p *listingPage, id string) error {
	n, _ := strconv.ParseInt(id, 10, 64) // an invalid number is not found
	m, _, err := v.app.MaterialToEdit(v.Context(), v.who.Actor, n)
	if err != nil {
		return err
	}
	code := p.Form.Get("category")
	p.Form = m.Form()
	for _, name := range own {
		p.Form.Del(name)
	}
	if p.Form.Set("category", code); m.OrganizationID != p.Desk.Lab.ID {
		p.Form.Del("shipping_requirements_id")
	}
	return nil
}

// fromSource fills in the form from the record of an identifier at a public source.
func (v *pageRequest) fromSource(p *listingPage, identifier string) error {
	found, err := v.app.PreviewImport(v.Context(), v.who.Actor, nameOf(identifier))
	if err != nil {
		return err
	}
	m := found.Material
	p.Form = m.Form()
	p.Form.Set("category", m.Category)
	for _, name := range []string{"organization_id", "contact_user_id"} {
		p.Form.Del(name)
	}
	if own, err := category.Encode(m.CustomValues()); err == nil && len(m.CustomValues()) > 0 {
		p.Form.Set("additional_metadata", string(own))
	}
	p.Notes = found.Warnings
	if found.Existing != nil {
		p.Notes = append(slices.Clone(p.Notes), "It is listed already, as “"+found.Existing.Title+
			"”, and is not listed once more.")
	}
	return nil
}

// nameOf returns the identifier to import, in whatever form it was pasted.
func nameOf(identifier string) exchange.ImportName {
	o, err := exchange.ParseImportIdentifier(identifier)
	if err != nil { // the use case reports the error
		return exchange.ImportName{Source: exchange.Some(exchange.SourceGEO),
			Accession: exchange.Some(exchange.IDText(identifier))}
	}
	n := exchange.ImportName{Source: exchange.Some(o.Source), Accession: exchange.Some(exchange.IDText(identifier))}
	if o.Field() != "accession" {
		n.ProtocolDOI, n.Accession = n.Accession, exchange.Opt[exchange.IDText]{}
	}
	return n
}

// freshListing discards a draft and starts again.
func (v *pageRequest) freshListing() (response, error) {
	key := v.PostFormValue(draftKeyField)
	if !slices.ContainsFunc([]string{"new ", "material "},
		func(kind string) bool { return strings.HasPrefix(key, kind) }) {
		return v.missing()
	}
	if err := v.app.DeleteDraft(v.Context(), v.who.Actor, key); err != nil {
		return response{}, err
	}
	return seeOther(draftForm(key)).saying("The draft is deleted."), nil
}
