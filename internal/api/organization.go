package api

import (
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
)

func (a *API) createOrganization(c *Call, in lab.OrganizationPatch) (OrganizationChange, error) {
	v, err := a.App.Labs.CreateOrganization(c.Context(), c.Actor, in)
	c.location(err, "/organizations/%d", v.ID)
	return showOrganizationChange(v), err
}

func (a *API) listOrganizations(c *Call, _ None) ([]Organization, error) {
	part, err := a.App.Labs.Organizations(c.Context(), c.list.page)
	return answerList(c, part, err, showOrganization)
}

func (a *API) getOrganization(c *Call, _ None) (Organization, error) {
	v, err := a.App.Labs.Organization(c.Context(), c.id("id"))
	return showOrganization(v), err
}

func (a *API) updateOrganization(c *Call, in lab.OrganizationPatch) (OrganizationChange, error) {
	v, err := a.App.Labs.UpdateOrganization(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showOrganization))
	return showOrganizationChange(v), err
}

func (a *API) listMembers(c *Call, _ None) ([]Person, error) {
	part, err := a.App.Labs.Members(c.Context(), c.id("id"), c.list.page)
	return answerList(c, part, err, showPerson)
}

func (a *API) listMaterialsOf(c *Call, _ None) ([]Material, error) {
	part, err := a.App.Labs.MaterialsOf(c.Context(), c.Actor, c.id("id"), c.list.page)
	return answerList(c, part, err, showMaterial)
}

func (a *API) listGrantsOf(c *Call, _ None) ([]LabAward, error) {
	part, err := a.App.Grants.GrantsOf(c.Context(), c.Actor, c.id("id"), c.list.page)
	return answerList(c, part, err, func(g person.Grant) LabAward { return LabAward{showAward(g), g.UserID} })
}

func (a *API) listSettings(c *Call, _ None) ([]Settings, error) {
	part, err := a.App.Labs.OwnSettings(c.Context(), c.Actor, c.list.page)
	return answerList(c, part, err, showSettings)
}

func (a *API) getSettings(c *Call, _ None) (Settings, error) {
	m, err := a.App.Labs.Settings(c.Context(), c.Actor, c.id("id"))
	return showSettings(m), err
}

func (a *API) updateSettings(c *Call, in lab.SwitchesPatch) (Settings, error) {
	m, err := a.App.Labs.UpdateSettings(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showSettings))
	return showSettings(m), err
}

func (a *API) createShipping(c *Call, in lab.ShippingPatch) (Shipping, error) {
	s, err := a.App.Documents.CreateShipping(c.Context(), c.Actor, in)
	c.location(err, "/shipping-requirements/%d", s.ID)
	return showShipping(s), err
}

// OfOrganization restricts a list to what belongs to one organization.
type OfOrganization struct {
	Organization *int64 `query:"organization"`
}

func (a *API) listShippings(c *Call, f OfOrganization) ([]Shipping, error) {
	part, err := a.App.Documents.Shippings(c.Context(), f.Organization, c.list.page)
	return answerList(c, part, err, showShipping)
}

func (a *API) getShipping(c *Call, _ None) (Shipping, error) {
	s, err := a.App.Documents.Shipping(c.Context(), c.id("id"))
	return showShipping(s), err
}

func (a *API) updateShipping(c *Call, in lab.ShippingPatch) (Shipping, error) {
	s, err := a.App.Documents.UpdateShipping(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showShipping))
	return showShipping(s), err
}
