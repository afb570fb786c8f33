package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// materialWriter applies the rules for listing and changing materials, one or many, in one transaction. What several of
// them refer to is read once.
type materialWriter struct {
	a   *App
	c   store.Conn
	who exchange.Actor
	try bool // trial: nothing will be published

	takesBack bool // the change returns a material to a lab that had it before

	organizations memo[int64, lab.Organization]
	users         memo[uuid.UUID, person.User]
	people        memo[string, person.User] // by registry id
	shippings     memo[int64, lab.Shipping]
	attachments   memo[int64, struct{}]
}

func (a *App) newShelf(c store.Conn, who exchange.Actor) *materialWriter {
	return &materialWriter{a: a, c: c, who: who, organizations: memo[int64, lab.Organization]{},
		users: memo[uuid.UUID, person.User]{}, people: memo[string, person.User]{},
		shippings: memo[int64, lab.Shipping]{}, attachments: memo[int64, struct{}]{}}
}

// memo caches the results of reads, errors included.
type memo[K comparable, V any] map[K]func() (V, error)

func (m memo[K, V]) get(key K, read func() (V, error)) (V, error) {
	if known := m[key]; known != nil {
		return known()
	}
	v, err := read()
	m[key] = func() (V, error) { return v, err }
	return v, err
}

func (s *materialWriter) user(ctx context.Context, id uuid.UUID) (person.User, error) {
	return s.users.get(id, func() (person.User, error) { return s.c.Users.Get(ctx, id) })
}

// add checks that a new material may be listed, and completes it.
func (s *materialWriter) add(ctx context.Context, m *material.Material) (asAdmin bool, err error) {
	if asAdmin, err = s.a.canIn(ctx, s.c, s.who, exchange.MaterialCreate, m.OrganizationID); err != nil {
		return asAdmin, err
	}
	return asAdmin, s.check(ctx, material.Material{}, m)
}

// change applies a patch to a material whose row is locked. If changed is false, there is nothing to save.
func (s *materialWriter) change(ctx context.Context, old material.Material,
	p material.Patch, match IfMatch[material.Shown]) (m material.Material, changed, asAdmin bool,
	err error) {
	if asAdmin, err = s.a.can(s.who, exchange.MaterialUpdate, s.who.ToOrganization(old.OrganizationID)); err != nil {
		return m, false, asAdmin, err
	}
	if err := match.checkRead(func() (material.Shown, error) {
		return s.a.shownIn(ctx, s.c, s.who, old.ID)
	}); err != nil {
		return m, false, asAdmin, err
	}
	if err := s.keepPrivate(ctx, old, &p); err != nil {
		return m, false, asAdmin, err
	}
	if m, err = p.Patch(old); err != nil {
		return m, false, asAdmin, err
	}
	moved, archived := m.OrganizationID != old.OrganizationID, m.Archived != old.Archived
	if moved {
		there, err := s.a.canIn(ctx, s.c, s.who, exchange.MaterialUpdate, m.OrganizationID)
		if err != nil {
			return m, false, asAdmin, err
		}
		asAdmin = asAdmin || there
	}
	if archived {
		power, err := s.a.can(s.who, exchange.MaterialArchive, s.who.ToOrganization(old.OrganizationID))
		if err != nil {
			return m, false, asAdmin, err
		}
		asAdmin = asAdmin || power
	}
	if moved || m.Archived && archived { // since a request's documents are shared with its lab
		if err := idle(ctx, s.c, old.ID); err != nil {
			return m, false, asAdmin, err
		}
	}
	if same(m, old) {
		return m, false, asAdmin, nil
	}
	return m, true, asAdmin, s.check(ctx, old, &m)
}

// keepPrivate keeps the private fields in a change by somebody who may not see them, and therefore could not send them
// back. Such a caller may not set them either, nor get to see them by moving the material.
func (s *materialWriter) keepPrivate(ctx context.Context, old material.Material, p *material.Patch) error {
	moves := p.Organization.Set && int64(p.Organization.Value) != old.OrganizationID
	if !p.Metadata.Set && !moves {
		return nil
	}
	if sees, err := s.a.seesPrivate(ctx, s.c, s.who, old); err != nil || sees {
		return err
	}
	o, err := s.organization(ctx, old.OrganizationID)
	if err != nil {
		return err
	}
	if key := p.KeepPrivate(old, o.PublicKeys); key != "" {
		return exchange.Errorf(exchange.FieldForbidden, "Only members of organization %d may set %s: it is private.",
			o.ID, key).With("field", key)
	}
	if _, hidden := category.Public(old.Category, old.Metadata, o.PublicKeys); hidden && moves && !s.takesBack {
		return exchange.Errorf(exchange.FieldForbidden, "Only members of organization %d may move this material: it "+
			"has private fields.", o.ID).With("field", "organization_id")
	}
	return nil
}

func (s *materialWriter) organization(ctx context.Context, id int64) (lab.Organization, error) {
	return s.organizations.get(id, func() (lab.Organization, error) { return s.c.Organizations.Get(ctx, id) })
}

// check looks up what a new or changed material refers to and names every wrong reference. The contact defaults to the
// caller, or to the organization's owner for an anonymous caller.
func (s *materialWriter) check(ctx context.Context, old material.Material, m *material.Material) error {
	var f exchange.FieldErrors
	o, err := s.organization(ctx, m.OrganizationID)
	if err != nil {
		return refer(err, "organization_id", m.OrganizationID)
	}
	switch {
	case m.ContactID != uuid.Nil:
	case !s.who.Anonymous():
		m.ContactID = s.who.ID
	default:
		m.ContactID = o.Owner
	}
	if m.ContactID != old.ContactID {
		contact, err := s.user(ctx, m.ContactID)
		switch {
		case err == nil && contact.Closed:
			f.Add("contact_user_id", "the account of this user is closed")
		case err != nil:
			if err = refer(err, "contact_user_id", m.ContactID); exchange.CodeOf(err) != exchange.InvalidInput {
				return err
			}
			f.Add("contact_user_id", "there is no user with the id %s", m.ContactID)
		}
	}
	if id := m.ShippingID; id != nil &&
		(old.ShippingID == nil || *old.ShippingID != *id || old.OrganizationID != m.OrganizationID) {
		r, err := s.shippings.get(*id, func() (lab.Shipping, error) { return s.c.Shippings.Get(ctx, *id) })
		if err != nil && exchange.CodeOf(err) != exchange.NotFound {
			return err
		}
		if err != nil || r.OrganizationID != m.OrganizationID {
			f.Add("shipping_requirements_id", "organization %d has no shipping requirements with the id %d",
				m.OrganizationID, *id)
		}
	}
	if id := m.MTAAttachmentID; id != nil && (old.MTAAttachmentID == nil || *old.MTAAttachmentID != *id) {
		_, err := s.attachments.get(*id, func() (struct{}, error) {
			return struct{}{}, s.publish(ctx, "mta_attachment_id", *id, m.OrganizationID)
		})
		switch exchange.CodeOf(err) {
		case exchange.InvalidInput:
			f.Add("mta_attachment_id", "there is no attachment with the id %d, or it belongs to a request or to "+
				"another lab", *id)
		default:
			if err != nil {
				return err
			}
		}
	}
	return f.Err()
}

// publish lets a material of a lab show a document. That makes its content public and the document the lab's, so the
// caller needs the right to change the document. Documents of a request or of another lab are refused, unless they are
// public already.
func (s *materialWriter) publish(ctx context.Context, field string, attachment, lab int64) error {
	t, err := s.c.Attachments.ForUpdate(ctx, attachment)
	if err != nil {
		return refer(err, field, attachment)
	}
	ties, err := s.c.Attachments.Ties(ctx, t, s.who.ID)
	if err != nil {
		return err
	}
	if ties.Public {
		return nil // it is public already
	}
	own := t.OwnedByOrg != nil && *t.OwnedByOrg == lab
	ok, asAdmin := s.a.policy.Can(exchange.AttachmentUpdate, t.RelationsOf(s.who, false, false))
	switch {
	case !ok:
		return exchange.Errorf(exchange.FieldForbidden,
			"You may not use attachment %d for a material: it is not yours.", attachment).With("field", field)
	case ties.Requests:
		return fieldError(field, "attachment %d is a document of a request and stays private", attachment)
	case t.OwnedByOrg != nil && !own:
		return fieldError(field, "attachment %d belongs to another lab; upload the document for this one", attachment)
	case s.try:
		return nil
	case asAdmin:
		if err := s.c.Audit.Insert(ctx, actorID(s.who), exchange.AttachmentUpdate, object("attachment", attachment),
			true, nil); err != nil {
			return err
		}
	}
	if own && t.OfLab {
		return nil
	}
	filed := t
	filed.File(lab)
	return s.a.moveAttachment(ctx, s.c, t, filed)
}
