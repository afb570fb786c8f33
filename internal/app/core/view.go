package core

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// AttachmentView is an attachment with the material that it is a sequence map of, without its private fields; nil if
// there is none, or none that the viewer may see.
type AttachmentView struct {
	document.Attachment
	MapOf *material.Shown
}

// OrganizationView is an organization with its owner and members.
type OrganizationView struct {
	lab.Organization
	OwnerUser person.User
	Members   []person.User
}

// MemberIDs returns the ids of the members.
func (v OrganizationView) MemberIDs() []uuid.UUID {
	list := make([]uuid.UUID, len(v.Members))
	for i, m := range v.Members {
		list[i] = m.ID
	}
	return list
}

// ShowOrganizations adds owners and members to organizations, with one query for all.
func ShowOrganizations(ctx context.Context, c store.Conn, list []lab.Organization) ([]OrganizationView, error) {
	ids := make([]int64, len(list))
	for i, o := range list {
		ids[i] = o.ID
	}
	members, err := c.Organizations.Members(ctx, ids...)
	if err != nil {
		return nil, err
	}
	views := make([]OrganizationView, len(list))
	at := map[int64]*OrganizationView{}
	for i, o := range list {
		views[i] = OrganizationView{Organization: o, Members: []person.User{}}
		at[o.ID] = &views[i]
	}
	for _, m := range members {
		v := at[m.OrganizationID]
		v.Members = append(v.Members, m.User)
		if m.User.ID == v.Owner {
			v.OwnerUser = m.User
		}
	}
	return views, nil
}

// ShowOrganization returns an organization with its people.
func ShowOrganization(ctx context.Context, c store.Conn, o lab.Organization) (OrganizationView, error) {
	views, err := ShowOrganizations(ctx, c, []lab.Organization{o})
	if err != nil {
		return OrganizationView{}, err
	}
	return views[0], nil
}

// UserView is a user with what belongs to them; Private reports whether it includes what only they and admins may see.
type UserView struct {
	person.User
	Organizations []lab.Organization
	Private       bool
	Addresses     []person.Address
	Assignments   []request.Detail
	Requests      []request.Detail
	Grants        []person.Grant
	Attachments   []AttachmentView
	Invitations   []lab.ShownInvitation
}

// Everything is a page without a limit, for lists inside of an object.
var Everything exchange.Page
