package api

import (
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
)

func createOrganization(c *Call, in lab.OrganizationPatch) (OrganizationChange, error) {
	v, err := c.App.Labs.CreateOrganization(c.Context(), c.Actor, in)
	c.location(err, "/organizations/%d", v.ID)
	return showOrganizationChange(v), err
}

func listOrganizations(c *Call, _ None) ([]Organization, error) {
	part, err := c.App.Labs.Organizations(c.Context(), c.list.page)
	return answerList(c, part, err, showOrganization)
}

func getOrganization(c *Call, _ None) (Organization, error) {
	v, err := c.App.Labs.Organization(c.Context(), c.id("id"))
	return showOrganization(v), err
}

func updateOrganization(c *Call, in lab.OrganizationPatch) (OrganizationChange, error) {
	v, err := c.App.Labs.UpdateOrganization(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showOrganization))
	return showOrganizationChange(v), err
}

func listMembers(c *Call, _ None) ([]Person, error) {
	part, err := c.App.Labs.Members(c.Context(), c.id("id"), c.list.page)
	return answerList(c, part, err, showPerson)
}

func listMaterialsOf(c *Call, _ None) ([]Material, error) {
	part, err := c.App.Labs.MaterialsOf(c.Context(), c.Actor, c.id("id"), c.list.page)
	return answerList(c, part, err, showMaterial)
}

func listGrantsOf(c *Call, _ None) ([]LabAward, error) {
	part, err := c.App.Grants.GrantsOf(c.Context(), c.Actor, c.id("id"), c.list.page)
	return answerList(c, part, err, func(g person.Grant) LabAward { return LabAward{showAward(g), g.UserID} })
}

func listSettings(c *Call, _ None) ([]Settings, error) {
	part, err := c.App.Labs.OwnSettings(c.Context(), c.Actor, c.list.page)
	return answerList(c, part, err, showSettings)
}

func getSettings(c *Call, _ None) (Settings, error) {
	m, err := c.App.Labs.Settings(c.Context(), c.Actor, c.id("id"))
	return showSettings(m), err
}

func updateSettings(c *Call, in lab.SwitchesPatch) (Settings, error) {
	m, err := c.App.Labs.UpdateSettings(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showSettings))
	return showSettings(m), err
}

func createShipping(c *Call, in lab.ShippingPatch) (Shipping, error) {
	s, err := c.App.Documents.CreateShipping(c.Context(), c.Actor, in)
	c.location(err, "/shipping-requirements/%d", s.ID)
	return showShipping(s), err
}

// OfOrganization restricts a list to what belongs to one organization.
type OfOrganization struct {
	Organization *int64 `query:"organization"`
}

func listShippings(c *Call, f OfOrganization) ([]Shipping, error) {
	part, err := c.App.Documents.Shippings(c.Context(), f.Organization, c.list.page)
	return answerList(c, part, err, showShipping)
}

func getShipping(c *Call, _ None) (Shipping, error) {
	s, err := c.App.Documents.Shipping(c.Context(), c.id("id"))
	return showShipping(s), err
}

func updateShipping(c *Call, in lab.ShippingPatch) (Shipping, error) {
	s, err := c.App.Documents.UpdateShipping(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showShipping))
	return showShipping(s), err
}
