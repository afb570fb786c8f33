package share

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

// tagOf returns a hash of a material, to tell its versions apart.
func tagOf(m material.Material) string {
	text, _ := json.Marshal(m) // a material always marshals
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// editListing shows the form of a material, or the draft of its changes.
func (v *pageRequest) editListing() (ui.Response, error) {
	p, err := v.listing()
	if err != nil {
		return ui.Response{}, err
	}
	p.Form, p.Base = p.Material.Form(), tagOf(p.Material.Material)
	for _, id := range p.Material.Grants {
		p.Form.Add("grant", fmt.Sprint(id))
	}
	d, there, err := v.App.Materials.Draft(v.Context(), v.Who.Actor, p.Draft)
	if err != nil {
		return ui.Response{}, err
	}
	if there {
		when := v.page().At(d.UpdatedAt)
		p.Form, p.Drafted = d.Form, &when
		if base := d.Form.Get("base"); base != "" {
			p.Base = base
		}
	}
	if err := v.settle(p); err != nil {
		return ui.Response{}, err
	}
	p.Doubts = p.Material.Warnings()
	p.build()
	return ui.Show("share_edit", p)
}

// listing reads the page of the material whose id is in the path, for those who may change it.
func (v *pageRequest) listing() (*listingPage, error) {
	id, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	m, err := v.App.Materials.MaterialToEdit(v.Context(), v.Who.Actor, id)
	if err != nil {
		return nil, err
	}
	p := &listingPage{Page: ui.Page{Title: "Edit " + m.Title, Section: "lab"}, Material: &m,
		Draft: fmt.Sprintf("material %d", id)}
	p.Options, err = v.App.Materials.MaterialFormOptions(v.Context(), v.Who.Actor, m.OrganizationID, &m)
	return p, err
}

// sendListing handles the form of an existing material.
func (v *pageRequest) sendListing() (ui.Response, error) {
	p, err := v.listing()
	if err != nil {
		return ui.Response{}, err
	}
	if err := v.takeListing(p); err != nil {
		return ui.Response{}, err
	}
	if p.Base = p.Get("base"); p.Base == "" {
		p.Base = tagOf(p.Material.Material)
	}
	if p.Options.More {
		if err := v.settle(p); err != nil {
			return ui.Response{}, err
		}
	}
	now := p.Material.Form()
	for _, field := range p.Form["theirs"] { // of a conflict: keep what the other person saved
		p.Form[field] = now[field]
		material.ClearCustomField(p.Form, strings.TrimPrefix(field, metadataName))
	}
	return v.dispatch(p, v.saveListing)
}

// sendNewListing handles the form of a new material.
func (v *pageRequest) sendNewListing() (ui.Response, error) {
	p := &listingPage{}
	if err := v.takeListing(p); err != nil {
		return ui.Response{}, err
	}
	lab := v.shareLab(p.Get("organization_id"))
	var err error
	if p.Options, err = v.App.Materials.MaterialFormOptions(v.Context(), v.Who.Actor, lab, nil); err != nil {
		return ui.Response{}, err
	}
	if err := v.begin(p); err != nil {
		return ui.Response{}, err
	}
	if p.Category.Code == "" {
		return ui.Response{}, exchange.Errorf(exchange.InvalidInput, "First choose what to list.")
	}
	return v.dispatch(p, v.createListing)
}

// dispatch does what the form's button asks for.
func (v *pageRequest) dispatch(p *listingPage, save func(*listingPage) (ui.Response, error)) (ui.Response, error) {
	switch p.Get("do") {
	case "draft":
		form := p.Form
		form.Set("base", p.Base)
		form.Del("do")
		p.build()
		title := p.Preview.Title
		if title == "" {
			title = "New " + lowerFirst(p.Category.Label)
		}
		if err := v.App.Materials.SaveDraft(v.Context(), v.Who.Actor,
			person.Draft{Key: p.Draft, Title: title, Form: form}); err != nil {
			return ui.Response{}, err
		}
		return ui.SeeOther("/drafts").Saying("Draft saved. No one else sees it."), nil
	case "preview", "category", "lab", "own":
		if v.Header.Get("HX-Request-Type") == "partial" { // the list of sections shows the present errors
			p.Errors = p.mistakes()
		}
		p.build()
		if p.Get("do") == "preview" {
			if err := v.warnAlike(p); err != nil {
				return ui.Response{}, err
			}
		}
		return ui.Show("share_edit", p)
	case "lookup":
		v.lookUp(p)
		p.build()
		return ui.Show("share_edit", p)
	}
	return save(p)
}

// warnAlike shows materials that may be the same, for a form that may still have errors.
func (v *pageRequest) warnAlike(p *listingPage) error {
	_, err := v.alike(p, p.guess())
	return err
}

// guess returns the material described so far, for comparison; invalid fields are left out.
func (p *listingPage) guess() material.Material {
	var old *material.Material
	m := material.Material{Category: p.Category.Code, Metadata: json.RawMessage("{}")}
	if p.Material != nil {
		m, old = p.Material.Material, &p.Material.Material
	}
	patch, _ := material.FormPatch(p.typed(), p.Category.Code, old)
	if old == nil {
		if made, err := patch.Create(); err == nil {
			return made
		}
		m.Title, m.OrganizationID = patch.Title.Value, int64(patch.Organization.Value)
		return m
	}
	if now, err := patch.Patch(m); err == nil {
		return now
	}
	return m
}

// mistakes returns the errors in what was typed so far; empty fields have none.
func (p *listingPage) mistakes() ui.FieldErrors {
	var err error
	var patch material.Patch
	var found exchange.FieldErrors
	if p.Material != nil {
		patch, found = material.FormPatch(p.typed(), "", &p.Material.Material)
		_, err = patch.Patch(p.Material.Material)
	} else {
		patch, found = material.FormPatch(p.typed(), p.Category.Code, nil)
		_, err = patch.Create()
	}
	list := ui.FieldErrors{}
	more, _ := ui.FieldErrorsIn(err)
	for _, fields := range []map[string][]string{found, more} {
		for field, texts := range fields {
			if strings.TrimSpace(strings.Join(p.Form[field], "")) != "" {
				list[field] = texts
			}
		}
	}
	return list
}

// lookUp fills in the publication by its PubMed ID or DOI.
func (v *pageRequest) lookUp(p *listingPage) {
	pmid, doi := strings.TrimSpace(p.Get("pubmed_id")), strings.TrimSpace(p.Get("pre_print_doi"))
	if pmid == "" && doi == "" {
		p.Errors = ui.FieldErrors{"pubmed_id": {"Enter a PubMed ID or a DOI, then look it up."}}
		return
	}
	byID, byDOI := &pmid, (*string)(nil)
	if pmid == "" {
		byID, byDOI = nil, &doi
	}
	defer v.Waits()()
	found, err := v.App.Materials.Publication(v.Context(), v.Who.Actor, byID, byDOI)
	if e, ok := errors.AsType[*exchange.Error](err); ok {
		p.LookupResult = e.Message
		for field, texts := range e.Fields {
			if field == "doi" {
				field = "pre_print_doi"
			}
			p.Errors = ui.FieldErrors{field: texts}
			p.LookupResult = ""
		}
		return
	} else if err != nil {
		p.LookupResult = "The publication could not be looked up. What you typed is unchanged."
		return
	}
	var m material.Material
	found.AddTo(&m)
	for name, texts := range m.Form() {
		if text := texts[0]; text != "" && slices.Contains(publicationFields, name) {
			p.Form.Set(name, text)
		}
	}
	p.LookupResult = "Found “" + found.Title + "”. Check that it is the right one."
}

// createListing lists a new material.
func (v *pageRequest) createListing(p *listingPage) (ui.Response, error) {
	m, existed, err := v.createMaterial(p)
	if err != nil {
		return v.listingAgain(p, err)
	}
	v.rememberLab(m.OrganizationID)
	if existed {
		return ui.SeeOther(fmt.Sprintf("/catalog/%d", m.ID)).Saying("Already imported; this is the listing."), nil
	}
	return v.saved(p, m, "Listing published.")
}

// createMaterial creates the material that the form describes. existed reports whether it was imported before.
func (v *pageRequest) createMaterial(p *listingPage) (m material.Shown, existed bool, err error) {
	patch, wrong := material.FormPatch(p.typed(), p.Category.Code, nil)
	made, err := patch.Create()
	if err = p.check(wrong, err, made.MissingForListing()); err != nil {
		return m, false, err
	}
	if err = v.confirm(p, made); err != nil {
		return m, false, err
	}
	if patch, err = v.addShipping(p, patch); err != nil {
		return m, false, err
	}
	return v.App.Materials.CreateMaterial(v.Context(), v.Who.Actor, patch)
}

// saveListing changes a material, unless somebody else has changed it meanwhile.
func (v *pageRequest) saveListing(p *listingPage) (ui.Response, error) {
	m, err := v.changeMaterial(p)
	if by, ok := errors.AsType[changedMeanwhile](err); ok {
		return v.conflict(p, by.now)
	}
	if err != nil {
		return v.listingAgain(p, err)
	}
	return v.saved(p, m, "Changes saved.")
}

// changeMaterial changes the material as the form says.
func (v *pageRequest) changeMaterial(p *listingPage) (m material.Shown, err error) {
	old := p.Material.Material
	patch, wrong := material.FormPatch(p.typed(), "", &old)
	now, err := patch.Patch(old)
	missing := now.MissingForListing()
	for field := range old.MissingForListing() { // it was listed without them
		delete(missing, field)
	}
	err = p.check(wrong, err, missing)
	if p.Base != tagOf(old) {
		if fields, is := ui.FieldErrorsIn(err); is {
			p.mark(fields)
		}
		return m, changedMeanwhile{*p.Material}
	}
	if err == nil && now.Title != old.Title {
		err = v.confirm(p, now)
	}
	if err != nil {
		return m, err
	}
	if patch, err = v.addShipping(p, patch); err != nil {
		return m, err
	}
	asSeen := func(m material.Shown) error {
		if tagOf(m.Material) != p.Base {
			return changedMeanwhile{m}
		}
		return nil
	}
	return v.App.Materials.UpdateMaterial(v.Context(), v.Who.Actor, old.ID, patch, asSeen)
}

// saved saves what belongs to a material, and redirects to it, or back to the form if some values may be mistakes.
func (v *pageRequest) saved(p *listingPage, m material.Shown, text string) (ui.Response, error) {
	trouble, err := v.attend(p, m)
	if err != nil {
		return ui.Response{}, err
	}
	if err := v.App.Materials.DeleteDraft(v.Context(), v.Who.Actor, p.Draft); err != nil {
		return ui.Response{}, err
	}
	if trouble != "" {
		return ui.SeeOther(fmt.Sprintf("/catalog/%d/edit", m.ID)).Saying(text + " But: " + trouble), nil
	}
	if doubts := m.Warnings(); len(doubts) > 0 {
		return ui.SeeOther(fmt.Sprintf("/catalog/%d/edit", m.ID)).Saying(text + " " + ui.Plural(len(doubts), "value") +
			" may be a mistake; see below."), nil
	}
	return ui.SeeOther(fmt.Sprintf("/catalog/%d", m.ID)).Saying(text), nil
}
