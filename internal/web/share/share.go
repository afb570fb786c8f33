package share

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

var sharePages = []ui.Route{
	ui.Get("/share", (*pageRequest).share).Private(),
	ui.Get("/share/new", (*pageRequest).newListing).Private(),
	ui.Post("/share/new", (*pageRequest).sendNewListing).TakesFiles(),
	ui.Get("/share/organisms", (*pageRequest).suggestOrganisms).Private(),
	ui.Get("/share/number", (*pageRequest).listByNumber).Private().Expensive(),
	ui.Post("/share/fresh", (*pageRequest).freshListing),
	ui.Get("/catalog/{id}/edit", (*pageRequest).editListing).Private(),
	ui.Post("/catalog/{id}/edit", (*pageRequest).sendListing).TakesFiles(),
	ui.GetID("/catalog/{id}/lab", (*pageRequest).askRelocation).Private(),
	ui.PostID("/catalog/{id}/lab", (*pageRequest).relocate),
	ui.GetID("/catalog/{id}/history", (*pageRequest).listingHistory).Private(),
	ui.PostID("/catalog/{id}/restore", (*pageRequest).restoreListing),
	ui.Get("/share/import", (*pageRequest).imports).Private(),
	ui.Post("/share/import", (*pageRequest).sendImports),
	ui.Get("/share/spreadsheet", (*pageRequest).spreadsheet).Private(),
	ui.Post("/share/spreadsheet", (*pageRequest).sendSpreadsheet).TakesFiles(),
	ui.Post("/share/spreadsheet/columns", (*pageRequest).sendColumns),
	ui.Get("/share/spreadsheet/template", (*pageRequest).sheetTemplate).Private(),
	ui.Get("/share/spreadsheet/export", (*pageRequest).sheetExport).Private(),
	ui.GetID("/share/jobs/{id}", (*pageRequest).shareJob).Private(),
	ui.GetID("/share/jobs/{id}/report", (*pageRequest).shareReport).Private(),
	ui.PostID("/share/jobs/{id}/store", (*pageRequest).storeJob),
	ui.PostID("/share/jobs/{id}/values", (*pageRequest).correctJob),
	ui.PostID("/share/jobs/{id}/cancel", (*pageRequest).cancelShareJob),
	ui.PostID("/share/jobs/{id}/undo", (*pageRequest).undoJob),
}

// labCookie is the cookie with the lab that the visitor last listed a material for.
const (
	labCookie = "__Host-lab"
	labLives  = 365 * 24 * time.Hour
)

// shareLab returns the lab in the query, the form or the cookie; 0: none.
func (v *pageRequest) shareLab(named string) int64 {
	for _, text := range []string{named, v.CookieValue(labCookie)} {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil &&
			(v.Who.MemberOf(id) || v.Who.Admin && text == named) {
			return id
		}
	}
	return 0
}

func (v *pageRequest) rememberLab(id int64) {
	if text := strconv.FormatInt(id, 10); v.CookieValue(labCookie) != text {
		v.SetCookie(labCookie, text, labLives)
	}
}

type sharePage struct {
	ui.Page
	Options    catalog.MaterialFormOptions
	Categories []category.Category
	Drafts     []ui.DraftLine
	Number     string // that was pasted, and does not say what it names
}

// share is the page on which people choose what to list, how, and for which lab.
func (v *pageRequest) share() (ui.Response, error) {
	p, err := v.sharePage()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("share", p)
}

func (v *pageRequest) sharePage() (*sharePage, error) {
	p := &sharePage{Page: ui.Page{Title: "List a material", Section: "share"}, Categories: category.All()}
	asked := v.shareLab(v.URL.Query().Get("lab"))
	var err error
	if p.Options, err = v.App.Materials.MaterialFormOptions(v.Context(), v.Who.Actor, asked, nil); err != nil {
		return nil, err
	}
	if asked != 0 {
		v.rememberLab(asked)
	}
	drafts, err := v.App.Materials.Drafts(v.Context(), v.Who.Actor)
	if err != nil {
		return nil, err
	}
	for _, d := range drafts {
		if strings.HasPrefix(d.Key, "new ") {
			p.Drafts = append(p.Drafts, ui.DraftLine{Draft: d, Address: ui.DraftAddress(d.Key)})
		}
	}
	return p, nil
}

// newKey returns the key of the draft of a new material of a category.
func newKey(code string) string { return "new " + code }

// newListing shows an empty form, or one filled in from a draft, another material or a public source.
func (v *pageRequest) newListing() (ui.Response, error) {
	asked := v.URL.Query()
	c, known := category.Get(asked.Get("category"))
	if !known && asked.Get("import") == "" {
		return ui.SeeOther("/share"), nil
	}
	p := &listingPage{Form: url.Values{"category": {c.Code}}}
	var err error
	if p.Options, err = v.App.Materials.MaterialFormOptions(v.Context(), v.Who.Actor, v.shareLab(asked.Get("lab")),
		nil); err != nil {
		return ui.Response{}, err
	}
	if p.Options.Lab.ID == 0 {
		return ui.SeeOther("/share"), nil
	}
	draft := person.Draft{}
	switch {
	case asked.Get("import") != "":
		if err := v.fromSource(p, asked.Get("import")); err != nil {
			return ui.Response{}, err
		}
	case asked.Get("from") != "":
		if err := v.fromOther(p, asked.Get("from")); err != nil {
			return ui.Response{}, err
		}
	default:
		var there bool
		if draft, there, err = v.App.Materials.Draft(v.Context(), v.Who.Actor, newKey(c.Code)); err != nil {
			return ui.Response{}, err
		}
		if there {
			p.Form = draft.Form
			p.Form.Set("category", c.Code)
			v.takeToLab(p)
		}
	}
	if err := v.begin(p); err != nil {
		return ui.Response{}, err
	}
	if !draft.UpdatedAt.IsZero() {
		when := v.page().At(draft.UpdatedAt)
		p.Drafted = &when
	}
	return ui.Show("share_edit", p)
}

// takeToLab puts the form of a draft that was kept for another lab into the lab that the address names. What belongs to
// the other lab is left out.
func (v *pageRequest) takeToLab(p *listingPage) {
	kept, now := p.Form.Get("organization_id"), strconv.FormatInt(p.Options.Lab.ID, 10)
	if v.URL.Query().Get("lab") != now || kept == now || kept == "" {
		return
	}
	for _, name := range []string{"organization_id", "contact_user_id", "shipping_requirements_id", "mta_attachment_id",
		"mta_name"} {
		p.Form.Del(name)
	}
	p.Notes = append(p.Notes, "Your draft was for another lab. It is now for "+p.Options.Lab.Name+
		": check the contact, the MTA and shipping.")
}

// begin sets the defaults of a new form, and builds it. A draft for another lab keeps that lab, unless the address
// names one.
func (v *pageRequest) begin(p *listingPage) error {
	if lab := v.shareLab(p.Form.Get("organization_id")); lab != 0 && lab != p.Options.Lab.ID &&
		p.Form.Get("organization_id") != "" {
		var err error
		if p.Options, err = v.App.Materials.MaterialFormOptions(v.Context(), v.Who.Actor, lab, nil); err != nil {
			return err
		}
	}
	p.Form.Set("organization_id", strconv.FormatInt(p.Options.Lab.ID, 10))
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
func (v *pageRequest) page() *ui.Page { return &ui.Page{Now: v.App.DB.Read().Now, Zone: v.Who.Zone} }

// own are the fields that a similar material does not share.
var own = []string{"reference", "imported", "import_source", "embargo_date", "organization_id", "contact_user_id", "id"}

// fromOther fills in the form from another material of the visitor's labs.
func (v *pageRequest) fromOther(p *listingPage, id string) error {
	n, _ := strconv.ParseInt(id, 10, 64) // an invalid number is not found
	m, err := v.App.Materials.MaterialToEdit(v.Context(), v.Who.Actor, n)
	if err != nil {
		return err
	}
	code := p.Form.Get("category")
	p.Form = m.Form()
	for _, name := range own {
		p.Form.Del(name)
	}
	if p.Form.Set("category", code); m.OrganizationID != p.Options.Lab.ID {
		p.Form.Del("shipping_requirements_id")
	}
	return nil
}

// fromSource fills in the form from the record of an identifier at a public source.
func (v *pageRequest) fromSource(p *listingPage, identifier string) error {
	defer v.Waits()()
	found, err := v.App.Materials.PreviewImport(v.Context(), v.Who.Actor, nameOf(identifier))
	if err != nil {
		return err
	}
	p.fillIn(found.Material)
	p.Notes = found.Warnings
	if found.Existing != nil {
		p.Notes = append(slices.Clone(p.Notes), "Already listed as “"+found.Existing.Title+
			"”; not listed again.")
	}
	return nil
}

// fillIn fills in the form of a new material with what is known of it.
func (p *listingPage) fillIn(m material.Material) {
	p.Form = m.Form()
	p.Form.Set("category", m.Category)
	for _, name := range []string{"organization_id", "contact_user_id"} {
		p.Form.Del(name)
	}
	if own, err := category.Encode(m.CustomValues()); err == nil && len(m.CustomValues()) > 0 {
		p.Form.Set("additional_metadata", string(own))
	}
}

// nameOf returns the identifier to import, in whatever form it was pasted.
func nameOf(identifier string) material.ImportName {
	o, err := material.ParseImportIdentifier(identifier)
	if err != nil { // the use case reports the error
		return material.ImportName{Source: exchange.Some(material.SourceGEO),
			Accession: exchange.Some(material.IDText(identifier))}
	}
	n := material.ImportName{Source: exchange.Some(o.Source), Accession: exchange.Some(material.IDText(identifier))}
	if o.Field() != "accession" {
		n.ProtocolDOI, n.Accession = n.Accession, exchange.Opt[material.IDText]{}
	}
	return n
}

// freshListing discards a draft and starts again.
func (v *pageRequest) freshListing() (ui.Response, error) {
	key := v.PostFormValue(ui.DraftKeyField)
	if !slices.ContainsFunc([]string{"new ", "material "},
		func(kind string) bool { return strings.HasPrefix(key, kind) }) {
		return v.Missing()
	}
	if err := v.App.Materials.DeleteDraft(v.Context(), v.Who.Actor, key); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(ui.DraftAddress(key)).Saying("Draft deleted."), nil
}
