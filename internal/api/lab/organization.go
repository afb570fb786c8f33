// Package lab has the handlers of organizations: their members, settings, shipping requirements and webhooks.
package lab

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange/lab"
)

// ListOrganizationHistory serves GET /organizations/{id}/history.
func ListOrganizationHistory(c *rest.Call, _ rest.None) ([]shape.Version[shape.Organization], error) {
	part, err := c.App.OrganizationHistory(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, func(v core.Version[core.OrganizationView]) shape.Version[shape.Organization] {
		return shape.ShowVersion(v, shape.ShowOrganization, shape.OrganizationFacts)
	})
}

// CreateOrganization serves POST /organizations.
func CreateOrganization(c *rest.Call, in lab.OrganizationPatch) (shape.OrganizationChange, error) {
	v, err := c.App.Labs.CreateOrganization(c.Context(), c.Actor, in)
	c.Location(err, "/organizations/%d", v.ID)
	return shape.ShowOrganizationChange(v), err
}

// ListOrganizations serves GET /organizations.
func ListOrganizations(c *rest.Call, _ rest.None) ([]shape.Organization, error) {
	part, err := c.App.Labs.Organizations(c.Context(), c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowOrganization)
}

// GetOrganization serves GET /organizations/{id}.
func GetOrganization(c *rest.Call, _ rest.None) (shape.Organization, error) {
	v, err := c.App.Labs.Organization(c.Context(), c.ID("id"))
	return shape.ShowOrganization(v), err
}

// UpdateOrganization serves PUT and PATCH /organizations/{id}.
func UpdateOrganization(c *rest.Call, in lab.OrganizationPatch) (shape.OrganizationChange, error) {
	v, err := c.App.Labs.UpdateOrganization(c.Context(), c.Actor, c.ID("id"), in,
		rest.IfMatch(c, shape.ShowOrganization))
	return shape.ShowOrganizationChange(v), err
}

// ListMembers serves GET /organizations/{id}/members.
func ListMembers(c *rest.Call, _ rest.None) ([]shape.Person, error) {
	part, err := c.App.Labs.Members(c.Context(), c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowPerson)
}

// ListMaterialsOf serves GET /organizations/{id}/materials.
func ListMaterialsOf(c *rest.Call, _ rest.None) ([]shape.Material, error) {
	part, err := c.App.Labs.MaterialsOf(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowMaterial)
}

// ListGrantsOf serves GET /organizations/{id}/grants.
func ListGrantsOf(c *rest.Call, _ rest.None) ([]shape.LabAward, error) {
	part, err := c.App.Grants.GrantsOf(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowLabAward)
}

// ListSettings serves GET /organization-user-settings.
func ListSettings(c *rest.Call, _ rest.None) ([]shape.Settings, error) {
	part, err := c.App.Labs.OwnSettings(c.Context(), c.Actor, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowSettings)
}

// GetSettings serves GET /organization-user-settings/{id}.
func GetSettings(c *rest.Call, _ rest.None) (shape.Settings, error) {
	m, err := c.App.Labs.Settings(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowSettings(m), err
}

// UpdateSettings serves PUT and PATCH /organization-user-settings/{id}.
func UpdateSettings(c *rest.Call, in lab.SwitchesPatch) (shape.Settings, error) {
	m, err := c.App.Labs.UpdateSettings(c.Context(), c.Actor, c.ID("id"), in, rest.IfMatch(c, shape.ShowSettings))
	return shape.ShowSettings(m), err
}

// CreateShipping serves POST /shipping-requirements.
func CreateShipping(c *rest.Call, in lab.ShippingPatch) (shape.Shipping, error) {
	s, err := c.App.Documents.CreateShipping(c.Context(), c.Actor, in)
	c.Location(err, "/shipping-requirements/%d", s.ID)
	return shape.ShowShipping(s), err
}

// OfOrganization restricts a list to what belongs to one organization.
type OfOrganization struct {
	Organization *int64 `query:"organization"`
}

// ListShippings serves GET /shipping-requirements.
func ListShippings(c *rest.Call, f OfOrganization) ([]shape.Shipping, error) {
	part, err := c.App.Documents.Shippings(c.Context(), f.Organization, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowShipping)
}

// GetShipping serves GET /shipping-requirements/{id}.
func GetShipping(c *rest.Call, _ rest.None) (shape.Shipping, error) {
	s, err := c.App.Documents.Shipping(c.Context(), c.ID("id"))
	return shape.ShowShipping(s), err
}

// UpdateShipping serves PUT and PATCH /shipping-requirements/{id}.
func UpdateShipping(c *rest.Call, in lab.ShippingPatch) (shape.Shipping, error) {
	s, err := c.App.Documents.UpdateShipping(c.Context(), c.Actor, c.ID("id"), in, rest.IfMatch(c, shape.ShowShipping))
	return shape.ShowShipping(s), err
}

// StorageOfLab serves GET /organizations/{id}/storage.
func StorageOfLab(c *rest.Call, _ rest.None) (shape.Storage, error) {
	v, err := c.App.StorageOfLab(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowStorage(v), err
}
