package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/publish"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Material reads one material.
func (a *App) Material(ctx context.Context, id int64) (exchange.ShownMaterial, error) {
	return a.DB.Read().ShownMaterial(ctx, id)
}

// Listing reads one material as it is shown outside.
func (a *App) Listing(ctx context.Context, id int64) (publish.Listing, error) {
	read := a.DB.Read()
	m, err := read.ShownMaterial(ctx, id)
	if err != nil {
		return publish.Listing{}, err
	}
	o, err := read.Organization(ctx, m.OrganizationID)
	return publish.Listing{ShownMaterial: m, Organization: o, Site: a.PublicURL, Now: read.Now}, err
}

// Materials lists materials.
func (a *App) Materials(ctx context.Context, who exchange.Actor, p exchange.Page, f exchange.MaterialFilter) (exchange.Part[exchange.ShownMaterial], error) {
	return a.DB.Read().Materials(ctx, p, f, who.ID)
}

// CreateMaterial lists a material. existed: it was imported before and is given as it is
// (the duplicate rule of the specification; a unique index decides).
func (a *App) CreateMaterial(ctx context.Context, who exchange.Actor, p exchange.MaterialPatch) (m exchange.ShownMaterial, existed bool, err error) {
	made, err := p.Create()
	if err != nil {
		return m, false, err
	}
	err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		asAdmin, err := a.canIn(ctx, tx, who, exchange.MaterialCreate, made.OrganizationID)
		if err != nil {
			return err
		}
		if err := a.checkMaterial(ctx, tx, who, exchange.Material{}, &made); err != nil {
			return err
		}
		id, err := tx.InsertMaterial(ctx, made)
		if err != nil {
			return err
		}
		if m, err = tx.ShownMaterial(ctx, id); err != nil {
			return err
		}
		return keepMaterial(ctx, tx, who, exchange.MaterialCreate, asAdmin, m)
	})
	if exchange.CodeOf(err) == exchange.Conflict && made.ImportIdentifier != nil {
		m, err = a.DB.Read().MaterialByImport(ctx, made.ImportSource, *made.ImportIdentifier)
		return m, true, err
	}
	return m, false, err
}

// canIn is can for the organization that a body names: one that is not there is a mistake in the
// body, which no right would mend.
func (a *App) canIn(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action, organization int64) (asAdmin bool, err error) {
	asAdmin, err = a.can(who, action, who.ToOrganization(organization))
	if exchange.CodeOf(err) == exchange.Forbidden {
		if _, missing := tx.Organization(ctx, organization); exchange.CodeOf(missing) == exchange.NotFound {
			err = refer(missing, "organization_id", organization)
		}
	}
	return asAdmin, err
}

// checkMaterial looks up what a new or changed material refers to; every wrong reference is
// named. Its contact defaults to the caller, else to the organization's owner.
func (a *App) checkMaterial(ctx context.Context, tx store.Conn, who exchange.Actor, old exchange.Material, m *exchange.Material) error {
	var f exchange.Faults
	o, err := tx.Organization(ctx, m.OrganizationID)
	if err != nil {
		return refer(err, "organization_id", m.OrganizationID)
	}
	switch {
	case m.ContactID != uuid.Nil:
	case !who.Anonymous():
		m.ContactID = who.ID
	default:
		m.ContactID = o.Owner
	}
	if m.ContactID != old.ContactID {
		if _, err := tx.User(ctx, m.ContactID); err != nil {
			if err = refer(err, "contact_user_id", m.ContactID); exchange.CodeOf(err) != exchange.InvalidInput {
				return err
			}
			f.Add("contact_user_id", "there is no user with the id %s", m.ContactID)
		}
	}
	if id := m.ShippingID; id != nil && (old.ShippingID == nil || *old.ShippingID != *id || old.OrganizationID != m.OrganizationID) {
		s, err := tx.Shipping(ctx, *id)
		if err != nil && exchange.CodeOf(err) != exchange.NotFound {
			return err
		}
		if err != nil || s.OrganizationID != m.OrganizationID {
			f.Add("shipping_requirements_id", "organization %d has no shipping requirements with the id %d", m.OrganizationID, *id)
		}
	}
	if id := m.MTAAttachmentID; id != nil && (old.MTAAttachmentID == nil || *old.MTAAttachmentID != *id) {
		switch err := a.mayPublish(ctx, tx, who, "mta_attachment_id", *id); exchange.CodeOf(err) {
		case exchange.InvalidInput:
			f.Add("mta_attachment_id", "there is no attachment with the id %d, or it belongs to a request", *id)
		default:
			if err != nil {
				return err
			}
		}
	}
	return f.Err()
}

// mayPublish says whether who may let a material show a document, which opens its content to
// anyone: only whoever may change the document, and never one of a request.
func (a *App) mayPublish(ctx context.Context, tx store.Conn, who exchange.Actor, field string, attachment int64) error {
	t, err := tx.AttachmentForUpdate(ctx, attachment)
	if err != nil {
		return refer(err, field, attachment)
	}
	ties, err := tx.Ties(ctx, t, who.ID)
	if err != nil {
		return err
	}
	if ties.Public {
		return nil // it is open already
	}
	ok, asAdmin := a.policy.Can(exchange.AttachmentUpdate, who.ToAttachment(t, false, false))
	switch {
	case !ok:
		return exchange.Fail(exchange.FieldForbidden, "You may not let a material show attachment %d: it is not yours.", attachment).With("field", field)
	case ties.Requests:
		return fault(field, "attachment %d is a document of a request and stays private", attachment)
	case asAdmin:
		return tx.InsertAudit(ctx, &who.ID, exchange.AttachmentUpdate, object("attachment", attachment), true, nil)
	}
	return nil
}

// UpdateMaterial changes a material. Another organization must allow it too; to archive it, or to
// take that back, is a right of its own.
func (a *App) UpdateMaterial(ctx context.Context, who exchange.Actor, id int64, p exchange.MaterialPatch) (exchange.ShownMaterial, error) {
	var shown exchange.ShownMaterial
	err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		old, err := tx.MaterialForUpdate(ctx, id)
		if err != nil {
			return err
		}
		asAdmin, err := a.can(who, exchange.MaterialUpdate, who.ToOrganization(old.OrganizationID))
		if err != nil {
			return err
		}
		if err := unchanged(ctx, func() (exchange.ShownMaterial, error) { return tx.ShownMaterial(ctx, id) }); err != nil {
			return err
		}
		m, err := p.Patch(old)
		if err != nil {
			return err
		}
		moved, archived := m.OrganizationID != old.OrganizationID, m.Archived != old.Archived
		if moved {
			there, err := a.canIn(ctx, tx, who, exchange.MaterialUpdate, m.OrganizationID)
			if err != nil {
				return err
			}
			asAdmin = asAdmin || there
		}
		if archived {
			power, err := a.can(who, exchange.MaterialArchive, who.ToOrganization(old.OrganizationID))
			if err != nil {
				return err
			}
			asAdmin = asAdmin || power
		}
		if moved || m.Archived && archived { // the documents of a request are shared with the lab that was asked
			if err := idle(ctx, tx, id); err != nil {
				return err
			}
		}
		if same(m, old) {
			shown, err = tx.ShownMaterial(ctx, id)
			return err
		}
		if err := a.checkMaterial(ctx, tx, who, old, &m); err != nil {
			return err
		}
		save := func() error { return tx.UpdateMaterial(ctx, m) }
		if m.NeedsMTA != old.NeedsMTA || m.NeedsIRB != old.NeedsIRB || m.NeedsAbstract != old.NeedsAbstract || !same(m.ShippingID, old.ShippingID) {
			err = asking(ctx, tx, m.OrganizationID, &id, nil, save)
		} else {
			err = save()
		}
		if exchange.CodeOf(err) == exchange.Conflict {
			return exchange.Fail(exchange.Conflict, "Another material was imported under this identifier already.")
		} else if err != nil {
			return err
		}
		if shown, err = tx.ShownMaterial(ctx, id); err != nil {
			return err
		}
		return keepMaterial(ctx, tx, who, exchange.MaterialUpdate, asAdmin, shown)
	})
	return shown, err
}

// idle says that no request of a material is under way.
func idle(ctx context.Context, tx store.Conn, material int64) error {
	active, err := tx.ActiveRequests(ctx, material)
	if err == nil && active > 0 {
		err = exchange.Fail(exchange.Conflict, "%d requests of this material are under way; resolve them first.", active).With("active_requests", active)
	}
	return err
}

// ArchiveMaterial takes a material off the shelf; refused while a request is under way.
func (a *App) ArchiveMaterial(ctx context.Context, who exchange.Actor, id int64) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		m, err := tx.MaterialForUpdate(ctx, id)
		if err != nil {
			return err
		}
		asAdmin, err := a.can(who, exchange.MaterialArchive, who.ToOrganization(m.OrganizationID))
		if err != nil {
			return err
		}
		if err := unchanged(ctx, func() (exchange.ShownMaterial, error) { return tx.ShownMaterial(ctx, id) }); err != nil {
			return err
		}
		if m.Archived {
			return nil
		}
		if err := idle(ctx, tx, id); err != nil {
			return err
		}
		m.Archived = true
		if err := tx.UpdateMaterial(ctx, m); err != nil {
			return err
		}
		shown, err := tx.ShownMaterial(ctx, id)
		if err != nil {
			return err
		}
		return keepMaterial(ctx, tx, who, exchange.MaterialArchive, asAdmin, shown)
	})
}
