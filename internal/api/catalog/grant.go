package catalog

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
)

// CreateGrant serves POST /grants.
func CreateGrant(c *rest.Call, in person.GrantPatch) (shape.Grant, error) {
	v, err := c.App.Grants.CreateGrant(c.Context(), c.Actor, in)
	c.Location(err, "/grants/%d", v.ID)
	return shape.ShowGrant(v), err
}

// ListGrants serves GET /grants.
func ListGrants(c *rest.Call, _ rest.None) ([]shape.Grant, error) {
	part, err := c.App.Grants.Grants(c.Context(), c.Actor, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowGrant)
}

// GetGrant serves GET /grants/{id}.
func GetGrant(c *rest.Call, _ rest.None) (shape.Grant, error) {
	v, err := c.App.Grants.Grant(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowGrant(v), err
}

// UpdateGrant serves PUT and PATCH /grants/{id}.
func UpdateGrant(c *rest.Call, in person.GrantPatch) (shape.Grant, error) {
	v, err := c.App.Grants.UpdateGrant(c.Context(), c.Actor, c.ID("id"), in, rest.IfMatch(c, shape.ShowGrant))
	return shape.ShowGrant(v), err
}

// ListFundedMaterials serves GET /grants/{id}/materials.
func ListFundedMaterials(c *rest.Call, _ rest.None) ([]shape.GrantMaterial, error) {
	part, err := c.App.Grants.FundedBy(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowGrantMaterial)
}

// FundMaterial answers 201 with the material, or 200 if the grant named it before.
func FundMaterial(c *rest.Call, in material.FundingBody) (shape.GrantMaterial, error) {
	m, existed, err := c.App.Grants.Fund(c.Context(), c.Actor, c.ID("id"), in)
	if existed {
		c.Status = 200
	}
	return shape.ShowGrantMaterial(m), err
}

// UnfundMaterial serves DELETE /grants/{id}/materials/{material}.
func UnfundMaterial(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Grants.Unfund(c.Context(), c.Actor, c.ID("id"), c.ID("material"), rest.IfNoTag(c))
}
