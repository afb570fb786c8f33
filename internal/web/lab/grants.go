package lab

import (
	"strconv"

	"aliquot/internal/app/funding"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

type labGrantsPage struct {
	labPage
	Grants          []person.Grant      // that paid for materials of the lab
	Own             []funding.GrantView // of the visitor
	More, MoreOwn   bool                // there are more than these
	Project, Funder string              // of the form
}

func itoa(id int64) string { return strconv.FormatInt(id, 10) }

func (v *pageRequest) readGrants() (*labGrantsPage, error) {
	base, err := v.readLab("grants", "Grants")
	if err != nil {
		return nil, err
	}
	p := &labGrantsPage{labPage: base}
	list, err := v.App.Grants.GrantsOf(v.Context(), v.Who.Actor, base.Lab.ID, exchange.Page{Limit: maxOfPage})
	if err != nil {
		return nil, err
	}
	own, err := v.App.Grants.Grants(v.Context(), v.Who.Actor, exchange.Page{Limit: maxOfPage})
	p.Grants, p.Own, p.More, p.MoreOwn = list.Items, own.Items, list.Next != nil, own.Next != nil
	return p, err
}

// Mine reports whether a grant is one of the visitor's.
func (p *labGrantsPage) Mine(g person.Grant) bool { return p.Who != nil && p.Who.Is(g.UserID) }

func (v *pageRequest) labGrants() (ui.Response, error) {
	p, err := v.readGrants()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("lab-grants", p)
}

func (v *pageRequest) makeGrant() (ui.Response, error) {
	p, err := v.readGrants()
	if err != nil {
		return ui.Response{}, err
	}
	p.Project, p.Funder = v.PostFormValue("title"), v.PostFormValue("funder_id")
	g, err := v.App.Grants.CreateGrant(v.Context(), v.Who.Actor,
		person.GrantPatch{Title: exchange.Some(p.Project), FunderID: exchange.Some(p.Funder)})
	if fields, ok := ui.FieldErrorsIn(err); ok {
		p.Errors = fields
		return ui.Invalid("lab-grants", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther("/funding/" + itoa(g.ID)).Saying("Grant added. Now add the materials it paid for."), nil
}
