package share

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

// newGrant is the choice of a grant that is not recorded yet.
const newGrant = "new"

type importPage struct {
	ui.Page
	Form    url.Values
	Options catalog.MaterialFormOptions
	Max     int
	Preview *importPreview // of one identifier
	Failed  string
}

// importPreview shows what importing one identifier would list.
type importPreview struct {
	Identifier string
	Material   material.Material
	Facts      []material.FieldChange
	Warnings   []string
	Existing   *material.Shown
}

// Get returns the last value of a field.
func (p *importPage) Get(name string) string {
	if values := p.Form[name]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

func (v *pageRequest) importPage(form url.Values) (*importPage, error) {
	p := &importPage{Page: ui.Page{Title: "Import materials", Section: "share"}, Form: form, Max: material.MaxImports}
	var err error
	p.Options, err = v.App.Materials.MaterialFormOptions(v.Context(), v.Who.Actor, v.shareLab(p.Get("lab")), nil)
	return p, err
}

// imports shows the form for identifiers of public sources.
func (v *pageRequest) imports() (ui.Response, error) {
	p, err := v.importPage(v.URL.Query())
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("share_import", p)
}

// identifiers splits the pasted text: one a line, or separated by commas or spaces.
func identifiers(text string) []string {
	var list []string
	for name := range strings.FieldsFuncSeq(text,
		func(r rune) bool { return strings.ContainsRune(",; \t\r\n\u00a0", r) }) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// sendImports looks identifiers up, or imports them: one at once, many in a job.
func (v *pageRequest) sendImports() (ui.Response, error) {
	p, err := v.importPage(v.PostForm)
	if err != nil {
		return ui.Response{}, err
	}
	names := identifiers(p.Get("identifiers"))
	if len(names) == 0 {
		p.Errors = ui.FieldErrors{"identifiers": {"Paste at least one identifier."}}
		return ui.Invalid("share_import", p)
	}
	store := p.Get("do") == "import"
	if len(names) == 1 && !store {
		return v.previewOne(p, names[0])
	}
	body := material.BatchImportBody{Identifiers: exchange.Some(exchange.Names(names)),
		Organization: exchange.Some(exchange.Ref(p.Options.Lab.ID)), Preview: exchange.Some(!store)}
	var grant int64
	var wrong ui.FieldErrors
	if store || p.grantGiven() {
		grant, wrong, err = v.grantFor(p)
		body.Grant = exchange.Some(exchange.Ref(grant))
	}
	if wrong != nil || err != nil {
		if p.Errors = wrong; err != nil {
			return ui.Response{}, err
		}
		return ui.Invalid("share_import", p)
	}
	v.rememberLab(p.Options.Lab.ID)
	if len(names) == 1 {
		return v.importOne(p, names[0], grant)
	}
	j, err := v.App.Materials.Imports(v.Context(), v.Who.Actor, body)
	if fields, is := ui.FieldErrorsIn(err); is {
		p.Errors = importFaults(fields)
		return ui.Invalid("share_import", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(fmt.Sprintf("/share/jobs/%d", j.ID)), nil
}

// grantGiven reports whether the form names a grant, which only an import needs.
func (p *importPage) grantGiven() bool {
	if p.Get("grant") == newGrant {
		return p.Get("grant_title")+p.Get("grant_number") != ""
	}
	return p.Get("grant") != ""
}

// grantFor returns the grant in the form. One that is not recorded yet is recorded first, and then chosen.
func (v *pageRequest) grantFor(p *importPage) (id int64, wrong ui.FieldErrors, err error) {
	if p.Get("grant") != newGrant {
		if id, err = strconv.ParseInt(p.Get("grant"), 10, 64); err != nil {
			return 0, ui.FieldErrors{"grant": {"Choose the grant that paid for it."}}, nil
		}
		return id, nil, nil
	}
	g, err := v.App.Grants.CreateGrant(v.Context(), v.Who.Actor,
		person.GrantPatch{Title: exchange.Some(p.Get("grant_title")), FunderID: exchange.Some(p.Get("grant_number"))})
	if fields, is := ui.FieldErrorsIn(err); is {
		wrong = ui.FieldErrors{}
		for field, texts := range fields {
			name := map[string]string{"title": "grant_title", "funder_id": "grant_number"}[field]
			wrong[name] = []string{"The grant’s " +
				map[string]string{"title": "title ", "funder_id": "number "}[field] + texts[0] + "."}
		}
		return 0, wrong, nil
	}
	if err == nil {
		p.Form.Set("grant", fmt.Sprint(g.ID))
		p.Options.Grants = append(p.Options.Grants, g.Grant)
	}
	return g.ID, nil, err
}

// importFaults returns the errors of the use case under the names of the form.
func importFaults(fields map[string][]string) ui.FieldErrors {
	out := ui.FieldErrors{}
	for field, texts := range fields {
		name := field
		switch field {
		case "accession", "protocol_doi", "import_source":
			name = "identifiers"
		case "organization_id":
			name = "lab"
		case "grant_id":
			name = "grant"
		}
		for _, text := range texts {
			if name == "grant" || name == "lab" {
				text = "The " + name + ": " + text
			}
			out[name] = append(out[name], text)
		}
	}
	return out
}

// previewOne shows what importing an identifier would list.
func (v *pageRequest) previewOne(p *importPage, name string) (ui.Response, error) {
	defer v.Waits()()
	found, err := v.App.Materials.PreviewImport(v.Context(), v.Who.Actor, nameOf(name))
	if again, is, err := v.importRefused(p, err); is {
		return again, err
	}
	m := found.Material
	p.Preview = &importPreview{Identifier: name, Material: m, Warnings: found.Warnings, Existing: found.Existing}
	for _, change := range material.Changes(material.Material{Category: m.Category}, m) {
		if !slices.Contains(notFacts, change.Field) && change.New != "" {
			p.Preview.Facts = append(p.Preview.Facts, change)
		}
	}
	p.Title = "Preview of " + name
	return ui.Show("share_import", p)
}

// notFacts are fields that do not come from a source.
var notFacts = []string{"id", "title", "category", "organization_id", "contact_user_id", "imported", "is_archived",
	"needs_mta", "needs_irb", "needs_abstract"}

// importOne imports an identifier while the visitor waits.
func (v *pageRequest) importOne(p *importPage, name string, grant int64) (ui.Response, error) {
	n := nameOf(name)
	defer v.Waits()()
	m, existed, err := v.App.Materials.Import(v.Context(), v.Who.Actor,
		material.ImportNew{Source: n.Source, Accession: n.Accession, ProtocolDOI: n.ProtocolDOI,
			Organization: exchange.Some(exchange.Ref(p.Options.Lab.ID)), Grant: exchange.Some(exchange.Ref(grant))})
	if again, is, err := v.importRefused(p, err); is {
		return again, err
	}
	if m.ID == 0 {
		p.Failed = "Already imported by a lab that has not made it public yet."
		return ui.Invalid("share_import", p)
	}
	to := ui.SeeOther(fmt.Sprintf("/catalog/%d", m.ID))
	if existed {
		return to.Saying("Already imported; this is the listing."), nil
	}
	return to.Saying("Listing published."), nil
}

// importRefused shows the form with the error of an identifier.
func (v *pageRequest) importRefused(p *importPage, err error) (again ui.Response, is bool, failed error) {
	if err == nil {
		return ui.Response{}, false, nil
	}
	if fields, is := ui.FieldErrorsIn(err); is {
		p.Errors = importFaults(fields)
		again, failed = ui.Invalid("share_import", p)
		return again, true, failed
	}
	e, ok := errors.AsType[*exchange.Error](err)
	if !ok || e.Code == exchange.Internal || e.Code == exchange.NotAuthenticated {
		return ui.Response{}, true, err
	}
	v.NoteRefusal(err)
	p.Failed = e.Message
	again, failed = ui.Invalid("share_import", p)
	return again, true, failed
}
