package labs

import (
	"context"
	"slices"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Lab is an organization as the head of its page shows it to a viewer.
type Lab struct {
	lab.Organization
	Head   person.User    // its owner
	At     exchange.Named // its institution today; the zero value: none that is confirmed
	Member bool           // the viewer is a member
	Owner  bool
	store.LabCounts
	Pace  request.Pace
	Asked *lab.ShownJoinRequest // the viewer's last join request; nil: none
	may   func(exchange.Action) bool
}

// May reports whether the viewer may do something to the lab.
func (l Lab) May(action exchange.Action) bool { return l.may(action) }

// Lab reads the head of an organization's page.
func (a Labs) Lab(ctx context.Context, who exchange.Actor, id int64) (l Lab, err error) {
	c := a.DB.Read()
	if l.Organization, err = c.Organizations.Get(ctx, id); err != nil {
		return l, err
	}
	rel := who.ToOrganization(id)
	l.Member, l.Owner = who.MemberOf(id), rel&exchange.OwnerOf != 0
	l.may = func(action exchange.Action) bool {
		ok, _ := a.Policy().Can(action, rel)
		return ok
	}
	if l.Head, err = c.Users.Get(ctx, l.Organization.Owner); err != nil {
		return l, err
	}
	if l.At, err = c.Institutions.OfLab(ctx, id, exchange.DayOf(c.Now)); err != nil {
		return l, err
	}
	if l.LabCounts, err = c.Organizations.Counts(ctx, id, who.ID); err != nil {
		return l, err
	}
	if !who.Anonymous() && !l.Member {
		if l.Asked, err = c.JoinRequests.Last(ctx, id, who.ID); err != nil {
			return l, err
		}
	}
	paces, err := a.PacesOf(ctx, c)
	l.Pace = paces[id]
	return l, err
}

// MayToLab reports whether who may do something to an organization; pages check this before they read a form. What an
// admin then does is audited when they do it.
func (a Labs) MayToLab(ctx context.Context, who exchange.Actor, action exchange.Action, id int64) error {
	_, err := a.DB.Read().Organizations.Get(ctx, id)
	if err == nil {
		_, err = a.Can(who, action, who.ToOrganization(id))
	}
	return err
}

// OwnLabs lists the labs of a user, and those that they have been invited to or asked to join.
type OwnLabs struct {
	Labs        []lab.Organization
	Invitations []lab.ShownInvitation
	Asked       []lab.ShownJoinRequest // not answered yet
}

// OwnLabs reads the labs of who.
func (a Labs) OwnLabs(ctx context.Context, who exchange.Actor) (v OwnLabs, err error) {
	if v.Invitations, err = a.OpenInvitations(ctx, who); err != nil {
		return v, err
	}
	c := a.DB.Read()
	if v.Labs, err = c.Organizations.OfUser(ctx, who.ID); err != nil {
		return v, err
	}
	asked, err := c.JoinRequests.OfUser(ctx, who.ID, lab.JoinFilter{Status: new(lab.JoinPending)},
		exchange.Page{Limit: lab.MaxJoins})
	v.Asked = asked.Items
	return v, err
}

// OpenInvitations lists the invitations to labs that who has not answered, at most 50.
func (a Labs) OpenInvitations(ctx context.Context, who exchange.Actor) ([]lab.ShownInvitation, error) {
	if err := a.MayRead(ctx, who, exchange.UserReadPrivate, who.ToUser(who.ID),
		core.Object("user", who.ID)); err != nil {
		return nil, err
	}
	c := a.DB.Read()
	u, err := c.Users.Get(ctx, who.ID)
	if err != nil {
		return nil, err
	}
	list, err := c.Invitations.For(ctx, u, exchange.Page{Limit: 50})
	return list.Items, err
}

// Leave removes who from an organization. Its owner has to transfer ownership first.
func (a Labs) Leave(ctx context.Context, who exchange.Actor, id int64) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		o, err := tx.Organizations.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.OrganizationLeave, who.ToOrganization(id),
			core.Object("organization", id)); err != nil {
			return err
		}
		if o.Owner == who.ID {
			return exchange.Errorf(exchange.Conflict, "You own this lab. Transfer ownership first.")
		}
		return a.DropMember(ctx, tx, who, exchange.OrganizationLeave, false, o, who.ID, o.Owner)
	})
}

// LabRequirements holds what a lab requires: shipping requirements and documents, with the materials that name them.
type LabRequirements struct {
	Shipping     exchange.ListPage[lab.Shipping]
	ShippingUses map[int64]store.MaterialUse
	Documents    exchange.ListPage[document.Attachment] // for viewers who may read them
	DocumentUses map[int64]store.MaterialUse
}

// LabRequirements reads what a lab requires.
func (a Labs) LabRequirements(ctx context.Context, who exchange.Actor, organization int64,
	p exchange.Page) (v LabRequirements, err error) {
	c := a.DB.Read()
	rel := who.ToOrganization(organization)
	if err := a.MayRead(ctx, who, exchange.ShippingRead, rel, core.Object("organization", organization)); err != nil {
		return v, err
	}
	if v.Shipping, err = c.Shippings.List(ctx, &organization, p); err != nil {
		return v, err
	}
	if ok, _ := a.Policy().Can(exchange.ShippingWrite, rel); !ok {
		return v, nil
	}
	if err := a.MayRead(ctx, who, exchange.AttachmentRead, rel,
		core.Object("documents of organization", organization)); err != nil {
		return v, err
	}
	if v.ShippingUses, err = c.Materials.UsesOfShipping(ctx, organization); err != nil {
		return v, err
	}
	if v.Documents, err = c.Attachments.OfOrganization(ctx, organization, p); err != nil {
		return v, err
	}
	v.DocumentUses, err = c.Materials.UsesOfMTAs(ctx, organization)
	return v, err
}

// ReplaceDocument replaces a lab's document by a new version in one transaction: the materials that name the old one as
// their MTA name the new one from then on. The old one is deleted unless a request uses it.
func (a Labs) ReplaceDocument(ctx context.Context, who exchange.Actor, id int64, p document.AttachmentPatch,
	content *document.Content) (made document.Attachment, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		old, err := documents.New(a.Core).AttachmentForUpdate(ctx, tx, who, exchange.AttachmentUpdate, id)
		if err != nil {
			return err
		}
		if old.OwnedByOrg == nil {
			return exchange.Errorf(exchange.NotFound, "This is not a document of a lab.")
		}
		p.OwnedByOrg = exchange.NullOf(exchange.Ref(*old.OwnedByOrg))
		if !p.Description.Set {
			p.Description = exchange.Some(old.Description)
		}
		if made, err = documents.NewAttachment(who, p, content); err != nil {
			return err
		}
		if err := documents.New(a.Core).AddAttachment(ctx, tx, who, &made); err != nil {
			return err
		}
		if err := a.replaceMTA(ctx, tx, who, old, made.ID); err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, exchange.AttachmentDelete, old.RelationsOf(who, false, false),
			core.Object("attachment", id)); err != nil {
			return err
		}
		if err := documents.DropAttachment(ctx, tx, who, old); err != nil &&
			exchange.CodeOf(err) != exchange.AttachmentInUse {
			return err
		}
		return nil
	})
	return made, err
}

// replaceMTA makes the materials that name a lab's document as their MTA name another one.
func (a Labs) replaceMTA(ctx context.Context, tx store.Conn, who exchange.Actor, document document.Attachment,
	by int64) error {
	old, err := tx.Materials.WithMTA(ctx, *document.OwnedByOrg, document.ID)
	if err != nil {
		return err
	}
	writer, list, asAdmin := catalog.New(a.Core).NewWriter(tx, who), make([]material.Material, len(old)),
		map[int64]bool{}
	for i, m := range old {
		// whether an MTA is needed stays unchanged
		p := material.Patch{MTAShown: exchange.NullOf(exchange.Ref(by)), NeedsMTA: exchange.Some(m.NeedsMTA)}
		if list[i], _, asAdmin[m.ID], err = writer.Change(ctx, m, p, nil); err != nil {
			return err
		}
	}
	if err := core.SaveMaterials(ctx, tx, old, list); err != nil {
		return err
	}
	return core.RecordMaterialVersions(ctx, tx, who, asAdmin)
}

// LabActivity lists the events of the requests for an organization's materials, with their actors.
func (a Labs) LabActivity(ctx context.Context, who exchange.Actor, organization int64,
	p exchange.Page) (exchange.ListPage[request.OrganizationEvent], map[uuid.UUID]person.User, error) {
	list, err := transfer.New(a.Core).OrganizationEvents(ctx, who, organization, request.EventFilter{}, p)
	if err != nil {
		return list, nil, err
	}
	var ids []uuid.UUID
	for _, e := range list.Items {
		if e.Actor != uuid.Nil && !slices.Contains(ids, e.Actor) {
			ids = append(ids, e.Actor)
		}
	}
	users, err := a.DB.Read().Users.ByIDs(ctx, ids)
	people := map[uuid.UUID]person.User{}
	for _, u := range users {
		people[u.ID] = u
	}
	return list, people, err
}
