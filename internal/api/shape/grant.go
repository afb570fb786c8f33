package shape

import (
	"aliquot/internal/app/core"
	"aliquot/internal/app/funding"
	"aliquot/internal/exchange/material"

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

// ShowGrant returns the JSON form of its argument.
func ShowGrant(v funding.GrantView) Grant {
	organization := func(o core.OrganizationView) GrantOrganization {
		return GrantOrganization{ShowOrganization(o), o.Organization.Owner}
	}
	return Grant{v.ID, v.Title, v.FunderID, ShowPerson(v.Owner), List(v.Organizations, organization),
		List(v.Materials, ShowGrantMaterial),
		Time(v.CreatedAt), Time(v.UpdatedAt)}
}

// ShowGrantMaterial returns the JSON form of its argument.
func ShowGrantMaterial(m material.Shown) GrantMaterial {
	return GrantMaterial{ShowMaterial(m), m.ContactID}
}
