package lab

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"aliquot/internal/app/funding"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// grantRequest is a request for a page of a grant.
type grantRequest struct{ *ui.PageRequest }

var fundingPages = []ui.Route{
	ui.Get("/funding/{id}", (*grantRequest).grant).Private(),
	ui.Get("/funding/{id}/report.csv", (*grantRequest).reportCSV),
	ui.Get("/funding/{id}/report", (*grantRequest).report),
	ui.Post("/funding/{id}", (*grantRequest).saveGrant),
	ui.Post("/funding/{id}/materials", (*grantRequest).fund),
	ui.PostID("/funding/{id}/materials/remove", (*grantRequest).unfund),
	ui.Post("/funding/{id}/links", (*grantRequest).makeGrantLink),
	ui.PostID("/funding/{id}/links/{link}/revoke", (*grantRequest).revokeGrantLink),
}

// grantPage shows a grant and what it made available.
type grantPage struct {
	ui.Page
	Grant           funding.GrantPage
	Report          funding.GrantReport
	Bars            barChart
	ID              string
	Project, Funder string // of the form of the grant
	LinkNote, Days  string // of the form of a link
	Link            string // the new link, shown this once
	LinkEnds        person.GrantLink
	Open            string // which form is open
	CSV             string // the address of the figures as a table
}

// linkDays is how long a link opens a report by default.
const linkDays = "365"

// CategoryLabel returns the label of the material's category.
func (p *grantPage) CategoryLabel(code string) string {
	c, _ := category.Get(code)
	return c.Label
}

func (v *grantRequest) readGrant() (*grantPage, error) {
	id, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	g, err := v.App.Grants.GrantPage(v.Context(), v.Who.Actor, id)
	if err != nil {
		return nil, err
	}
	p := &grantPage{Page: ui.Page{Title: g.Title, Section: "lab"}, Grant: g, ID: itoa(id), Project: g.Title,
		Funder: g.FunderID, Days: linkDays}
	p.fill(g.GrantReport)
	p.CSV = "/funding/" + p.ID + "/report.csv"
	return p, nil
}

func (p *grantPage) fill(r funding.GrantReport) {
	p.Report = r
	counts := map[int64]int64{}
	titles := map[int64]material.Funded{}
	for _, m := range r.Materials {
		if m.Requests > 0 {
			counts[m.Material.ID] = m.Requests
			titles[m.Material.ID] = m
		}
	}
	var bars []bar
	for _, m := range request.TopCounts(counts, 10) {
		bars = append(bars, bar{Name: titles[m.Key].Material.Title,
			Kind: p.CategoryLabel(titles[m.Key].Material.Category), N: m.N, ID: m.Key})
	}
	p.Bars = chartOfBars(bars)
}

// grant shows what a grant made available.
func (v *grantRequest) grant() (ui.Response, error) {
	p, err := v.readGrant()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("funding", p)
}

func (v *grantRequest) saveGrant() (ui.Response, error) {
	p, err := v.readGrant()
	if err != nil {
		return ui.Response{}, err
	}
	p.Project, p.Funder = v.PostFormValue("title"), v.PostFormValue("funder_id")
	_, err = v.App.Grants.UpdateGrant(v.Context(), v.Who.Actor, p.Grant.ID,
		person.GrantPatch{Title: exchange.Some(p.Project), FunderID: exchange.Some(p.Funder)}, nil)
	if fields, ok := ui.FieldErrorsIn(err); ok {
		p.Errors, p.Open = fields, "edit"
		return ui.Invalid("funding", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther("/funding/" + p.ID).Saying("Grant saved."), nil
}

// fund adds a material to the grant, by its number or its address.
func (v *grantRequest) fund() (ui.Response, error) {
	p, err := v.readGrant()
	if err != nil {
		return ui.Response{}, err
	}
	typed := strings.TrimSpace(v.PostFormValue("material"))
	id, err := strconv.ParseInt(typed[strings.LastIndex(typed, "/")+1:], 10, 64)
	if err != nil || id < 1 {
		p.Errors = ui.FieldErrors{"material": {"Choose a material."}}
		return ui.Invalid("funding", p)
	}
	m, _, err := v.App.Grants.Fund(v.Context(), v.Who.Actor, p.Grant.ID,
		material.FundingBody{Material: exchange.Some(exchange.Ref(id))})
	if text, ok := refusal(err); ok {
		p.Errors = ui.FieldErrors{"material": {text}}
		return ui.Invalid("funding", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther("/funding/" + p.ID + "#materials").Saying("Added to the grant: " + m.Title + "."), nil
}

func (v *grantRequest) unfund(id int64) (ui.Response, error) {
	material, err := strconv.ParseInt(v.PostFormValue("material"), 10, 64)
	if err != nil {
		return v.Missing()
	}
	if err := v.App.Grants.Unfund(v.Context(), v.Who.Actor, id, material, nil); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther("/funding/" + itoa(id) + "#materials").Saying("Material removed from the grant."),
		nil
}

// makeGrantLink creates a link for the funder, and shows it, which no other page does.
func (v *grantRequest) makeGrantLink() (ui.Response, error) {
	p, err := v.readGrant()
	if err != nil {
		return ui.Response{}, err
	}
	p.LinkNote, p.Days, p.Open = v.PostFormValue("note"), v.PostFormValue("days"), "links"
	n, _ := strconv.Atoi(strings.TrimSpace(p.Days)) // an invalid number becomes 0, which is refused
	p.Link, p.LinkEnds, err = v.App.Grants.ShareGrant(v.Context(), v.Who.Actor, p.Grant.ID,
		person.GrantLinkNew{Note: exchange.Some(p.LinkNote), Days: exchange.Some(n)})
	if fields, ok := ui.FieldErrorsIn(err); ok {
		p.Errors = fields
		return ui.Invalid("funding", p)
	} else if text, ok := refusal(err); ok {
		p.Errors = ui.FieldErrors{"note": {text}}
		return ui.Invalid("funding", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	made := p.Link
	ends := p.LinkEnds
	if p, err = v.readGrant(); err != nil { // with the link in its list
		return ui.Response{}, err
	}
	p.Link, p.LinkEnds = made, ends
	return secretly(ui.Show("funding", p))
}

func (v *grantRequest) revokeGrantLink(id int64) (ui.Response, error) {
	link, err := v.PathID("link")
	if err != nil {
		return ui.Response{}, err
	}
	if err := v.App.Grants.RevokeGrantLink(v.Context(), v.Who.Actor, id, link); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther("/funding/" + itoa(id) + "#links").Saying("Link revoked."), nil
}

// readReport reads the report of a link.
func (v *grantRequest) readReport() (*grantPage, error) {
	id, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	key := v.URL.Query().Get("key")
	r, l, err := v.App.Grants.SharedReport(v.Context(), v.Who.Actor, id, key)
	if err != nil {
		return nil, err
	}
	p := &grantPage{Page: ui.Page{Title: "Report: " + r.Title}, ID: itoa(id), LinkEnds: l}
	p.fill(r)
	p.CSV = "/funding/" + p.ID + "/report.csv?" + v.URL.RawQuery
	return p, nil
}

func (v *grantRequest) report() (ui.Response, error) {
	p, err := v.readReport()
	if err != nil {
		return ui.Response{Private: true}, err
	}
	return ui.Response{Status: http.StatusOK, Template: "report", Page: p, Private: true}, nil
}

// reportCSV sends the report as a table, to holders of a link and those who may read the grant.
func (v *grantRequest) reportCSV() (ui.Response, error) {
	var p *grantPage
	var err error
	if v.URL.Query().Has("key") {
		p, err = v.readReport()
	} else if v.SignedIn() {
		p, err = v.readGrant()
	} else {
		return v.ToSignIn(), nil
	}
	if err != nil {
		return ui.Response{Private: true}, err
	}
	labs := map[int64]string{}
	for _, l := range p.Report.Labs {
		labs[l.ID] = l.Name
	}
	rows := [][]string{{"material", "title", "category", "lab", "requests", "completed", "publication"}}
	for _, m := range p.Report.Materials {
		rows = append(rows, []string{itoa(m.Material.ID), m.Material.Title, p.CategoryLabel(m.Material.Category),
			labs[m.Material.OrganizationID],
			itoa(m.Requests), itoa(m.Completed), m.Publication()})
	}
	r := sendCSV(fmt.Sprintf("grant-%s.csv", p.ID), rows)
	r.Private = true
	return r, nil
}
