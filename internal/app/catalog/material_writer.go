package catalog

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// MaterialWriter applies the rules for listing and changing materials, one or many, in one transaction. What several of
// them refer to is read once.
type MaterialWriter struct {
	a    Materials
	Conn store.Conn
	who  exchange.Actor
	Try  bool // trial: nothing will be published

	takesBack bool // the change returns a material to a lab that had it before

	organizations memo[int64, lab.Organization]
	users         memo[uuid.UUID, person.User]
	People        memo[string, person.User] // by registry id
	shippings     memo[int64, lab.Shipping]
	attachments   memo[int64, struct{}]
}

// NewWriter returns a MaterialWriter that reads with c and checks the rights of who.
func (a Materials) NewWriter(c store.Conn, who exchange.Actor) *MaterialWriter {
	return &MaterialWriter{a: a, Conn: c, who: who, organizations: memo[int64, lab.Organization]{},
		users: memo[uuid.UUID, person.User]{}, People: memo[string, person.User]{},
		shippings: memo[int64, lab.Shipping]{}, attachments: memo[int64, struct{}]{}}
}

// memo caches the results of reads, errors included.
type memo[K comparable, V any] map[K]func() (V, error)

// Get returns the value of a key, and reads it if it is not in m.
func (m memo[K, V]) Get(key K, read func() (V, error)) (V, error) {
	if known := m[key]; known != nil {
		return known()
	}
	v, err := read()
	m[key] = func() (V, error) { return v, err }
	return v, err
}

// User returns a user, read once.
func (s *MaterialWriter) User(ctx context.Context, id uuid.UUID) (person.User, error) {
	return s.users.Get(id, func() (person.User, error) { return s.Conn.Users.Get(ctx, id) })
}

// Add checks that a new material may be listed, and completes it.
func (s *MaterialWriter) Add(ctx context.Context, m *material.Material) (asAdmin bool, err error) {
	if asAdmin, err = s.a.canIn(ctx, s.Conn, s.who, exchange.MaterialCreate, m.OrganizationID); err != nil {
		return asAdmin, err
	}
	return asAdmin, s.check(ctx, material.Material{}, m)
}

// Change applies a patch to a material whose row is locked. If changed is false, there is nothing to save.
func (s *MaterialWriter) Change(ctx context.Context, old material.Material,
	p material.Patch, match core.IfMatch[material.Shown]) (m material.Material, changed, asAdmin bool,
	err error) {
	if asAdmin, err = s.a.Can(s.who, exchange.MaterialUpdate, s.who.ToOrganization(old.OrganizationID)); err != nil {
		return m, false, asAdmin, err
	}
	if err := match.CheckRead(func() (material.Shown, error) {
		return s.a.ShownIn(ctx, s.Conn, s.who, old.ID)
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
		there, err := s.a.canIn(ctx, s.Conn, s.who, exchange.MaterialUpdate, m.OrganizationID)
		if err != nil {
			return m, false, asAdmin, err
		}
		asAdmin = asAdmin || there
	}
	if archived {
		power, err := s.a.Can(s.who, exchange.MaterialArchive, s.who.ToOrganization(old.OrganizationID))
		if err != nil {
			return m, false, asAdmin, err
		}
		asAdmin = asAdmin || power
	}
	if moved || m.Archived && archived { // since a request's documents are shared with its lab
		if err := idle(ctx, s.Conn, old.ID); err != nil {
			return m, false, asAdmin, err
		}
	}
	if core.Same(m, old) {
		return m, false, asAdmin, nil
	}
	return m, true, asAdmin, s.check(ctx, old, &m)
}

// keepPrivate keeps the private fields in a change by somebody who may not see them, and therefore could not send them
// back. Such a caller may not set them either, nor get to see them by moving the material.
func (s *MaterialWriter) keepPrivate(ctx context.Context, old material.Material, p *material.Patch) error {
	moves := p.Organization.Set && int64(p.Organization.Value) != old.OrganizationID
	if !p.Metadata.Set && !moves {
		return nil
	}
	if sees, err := s.a.SeesPrivate(ctx, s.Conn, s.who, old); err != nil || sees {
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

func (s *MaterialWriter) organization(ctx context.Context, id int64) (lab.Organization, error) {
	return s.organizations.Get(id, func() (lab.Organization, error) { return s.Conn.Organizations.Get(ctx, id) })
}

// check looks up what a new or changed material refers to and names every wrong reference. The contact defaults to the
// caller, or to the organization's owner for an anonymous caller.
func (s *MaterialWriter) check(ctx context.Context, old material.Material, m *material.Material) error {
	var f exchange.FieldErrors
	var o lab.Organization
	if m.OrganizationID != old.OrganizationID || m.ContactID == uuid.Nil {
		var err error
		if o, err = s.organization(ctx, m.OrganizationID); err != nil {
			return core.Refer(err, "organization_id", m.OrganizationID)
		}
	}
	switch {
	case m.ContactID != uuid.Nil:
	case !s.who.Anonymous():
		m.ContactID = s.who.ID
	default:
		m.ContactID = o.Owner
	}
	if m.ContactID != old.ContactID {
		contact, err := s.User(ctx, m.ContactID)
		switch {
		case err == nil && contact.Closed:
			f.Add("contact_user_id", "the account of this user is closed")
		case err != nil:
			if err = core.Refer(err, "contact_user_id", m.ContactID); exchange.CodeOf(err) != exchange.InvalidInput {
				return err
			}
			f.Add("contact_user_id", "there is no user with the id %s", m.ContactID)
		}
	}
	if id := m.ShippingID; id != nil &&
		(old.ShippingID == nil || *old.ShippingID != *id || old.OrganizationID != m.OrganizationID) {
		r, err := s.shippings.Get(*id, func() (lab.Shipping, error) { return s.Conn.Shippings.Get(ctx, *id) })
		if err != nil && exchange.CodeOf(err) != exchange.NotFound {
			return err
		}
		if err != nil || r.OrganizationID != m.OrganizationID {
			f.Add("shipping_requirements_id", "organization %d has no shipping requirements with the id %d",
				m.OrganizationID, *id)
		}
	}
	if id := m.MTAAttachmentID; id != nil && (old.MTAAttachmentID == nil || *old.MTAAttachmentID != *id) {
		_, err := s.attachments.Get(*id, func() (struct{}, error) {
			return struct{}{}, s.Publish(ctx, "mta_attachment_id", *id, m.OrganizationID)
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

// Publish lets a material of a lab show a document. That makes its content public and the document the lab's, so the
// caller needs the right to change the document. Documents of a request or of another lab are refused, unless they are
// public already.
func (s *MaterialWriter) Publish(ctx context.Context, field string, attachment, lab int64) error {
	t, err := s.Conn.Attachments.ForUpdate(ctx, attachment)
	if err != nil {
		return core.Refer(err, field, attachment)
	}
	ties, err := s.Conn.Attachments.Ties(ctx, t, s.who.ID)
	if err != nil {
		return err
	}
	if ties.Public {
		return nil // it is public already
	}
	own := t.OwnedByOrg != nil && *t.OwnedByOrg == lab
	ok, asAdmin := s.a.Policy().Can(exchange.AttachmentUpdate, t.RelationsOf(s.who, false, false))
	switch {
	case !ok:
		return exchange.Errorf(exchange.FieldForbidden,
			"You may not use attachment %d for a material: it is not yours.", attachment).With("field", field)
	case ties.Requests:
		return core.FieldError(field, "attachment %d is a document of a request or of a permit and stays private",
			attachment)
	case t.OwnedByOrg != nil && !own:
		return core.FieldError(field, "attachment %d belongs to another lab; upload the document for this one",
			attachment)
	case s.Try:
		return nil
	case asAdmin:
		if err := s.Conn.Audit.Insert(ctx, core.ActorID(s.who), exchange.AttachmentUpdate,
			core.Object("attachment", attachment), true, nil); err != nil {
			return err
		}
	}
	if own && t.OfLab {
		return nil
	}
	filed := t
	filed.File(lab)
	return s.a.MoveAttachment(ctx, s.Conn, t, filed)
}
