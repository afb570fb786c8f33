package api

import (
	"aliquot/internal/app/core"
	"aliquot/internal/app/funding"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"

	"github.com/google/uuid"
)

// Grant is a grant with everything that is linked to it.
type Grant struct {
	ID            int64               `json:"id"`
	Title         string              `json:"title"`
	FunderID      string              `json:"funder_id"`
	User          Person              `json:"user"`
	Organizations []GrantOrganization `json:"organizations"`
	Materials     []GrantMaterial     `json:"materials"`
	CreatedAt     Time                `json:"created_at"`
	UpdatedAt     Time                `json:"updated_at"`
}

// GrantOrganization is an organization inside a grant, where its owner is a UUID.
type GrantOrganization struct {
	Organization
	Owner uuid.UUID `json:"owner"`
}

// MarshalJSON writes the organization with its other owner.
func (o GrantOrganization) MarshalJSON() ([]byte, error) { return o.with("owner", o.Owner) }

func showGrant(v funding.GrantView) Grant {
	organization := func(o core.OrganizationView) GrantOrganization {
		return GrantOrganization{showOrganization(o), o.Organization.Owner}
	}
	return Grant{v.ID, v.Title, v.FunderID, showPerson(v.Owner), list(v.Organizations, organization),
		list(v.Materials, showGrantMaterial),
		Time(v.CreatedAt), Time(v.UpdatedAt)}
}

func showGrantMaterial(m material.Shown) GrantMaterial {
	return GrantMaterial{showMaterial(m), m.ContactID}
}

func createGrant(c *Call, in person.GrantPatch) (Grant, error) {
	v, err := c.App.Grants.CreateGrant(c.Context(), c.Actor, in)
	c.location(err, "/grants/%d", v.ID)
	return showGrant(v), err
}

func listGrants(c *Call, _ None) ([]Grant, error) {
	part, err := c.App.Grants.Grants(c.Context(), c.Actor, c.list.page)
	return answerList(c, part, err, showGrant)
}

func getGrant(c *Call, _ None) (Grant, error) {
	v, err := c.App.Grants.Grant(c.Context(), c.Actor, c.id("id"))
	return showGrant(v), err
}

func updateGrant(c *Call, in person.GrantPatch) (Grant, error) {
	v, err := c.App.Grants.UpdateGrant(c.Context(), c.Actor, c.id("id"), in, ifMatch(c, showGrant))
	return showGrant(v), err
}

func listFundedMaterials(c *Call, _ None) ([]GrantMaterial, error) {
	part, err := c.App.Grants.FundedBy(c.Context(), c.Actor, c.id("id"), c.list.page)
	return answerList(c, part, err, showGrantMaterial)
}

// fundMaterial answers 201 with the material, or 200 if the grant named it before.
func fundMaterial(c *Call, in material.FundingBody) (GrantMaterial, error) {
	m, existed, err := c.App.Grants.Fund(c.Context(), c.Actor, c.id("id"), in)
	if existed {
		c.status = 200
	}
	return showGrantMaterial(m), err
}

func unfundMaterial(c *Call, _ None) (None, error) {
	return None{}, c.App.Grants.Unfund(c.Context(), c.Actor, c.id("id"), c.id("material"), ifNoTag(c))
}
