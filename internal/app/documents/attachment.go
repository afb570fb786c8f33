package documents

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/files"
	"aliquot/internal/store"
)

// attachment reads one attachment for an action of who.
func (a Documents) attachment(ctx context.Context, who exchange.Actor, action exchange.Action,
	id int64) (document.Attachment, error) {
	c := a.DB.Read()
	t, err := c.Attachments.Get(ctx, id)
	if err != nil {
		return t, err
	}
	rel, err := a.relations(ctx, c, who, action, t)
	if err != nil {
		return t, err
	}
	return t, a.MayRead(ctx, who, action, rel, core.Object("attachment", id))
}

// relations reads how who is related to an attachment, also by requests whose document it is and, if none of that
// allows an action, by permits.
func (a Documents) relations(ctx context.Context, c store.Conn, who exchange.Actor, action exchange.Action,
	t document.Attachment) (exchange.Relation, error) {
	ties, err := c.Attachments.Ties(ctx, t, who.ID)
	if err != nil {
		return 0, err
	}
	rel := t.RelationsOf(who, ties.Linked, ties.Public)
	if ok, _ := a.Policy().Can(action, rel); ok || !who.Is(who.ID) {
		return rel, nil
	}
	shown, err := a.ShownByPermit(ctx, c, who, t.ID)
	return t.RelationsOf(who, ties.Linked || shown, ties.Public), err
}

// Attachment reads the record of an attachment.
func (a Documents) Attachment(ctx context.Context, who exchange.Actor, id int64) (document.Attachment, error) {
	return a.attachment(ctx, who, exchange.AttachmentRead, id)
}

// Attachments lists every attachment; for admins.
func (a Documents) Attachments(ctx context.Context, who exchange.Actor,
	p exchange.Page) (exchange.ListPage[document.Attachment], error) {
	if err := a.MayRead(ctx, who, exchange.AttachmentList, who.ToUser(who.ID), "attachments"); err != nil {
		return exchange.ListPage[document.Attachment]{}, err
	}
	return a.DB.Read().Attachments.List(ctx, p)
}

// CreateAttachment creates the record of an attachment. If content is nil, it follows with PutContent.
func (a Documents) CreateAttachment(ctx context.Context, who exchange.Actor, p document.AttachmentPatch,
	content *document.Content) (document.Attachment, error) {
	t, err := NewAttachment(who, p, content)
	if err != nil {
		return t, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		return a.AddAttachment(ctx, tx, who, &t)
	})
	return t, err
}

// NewAttachment returns the record of an attachment, not saved yet.
func NewAttachment(who exchange.Actor, p document.AttachmentPatch, content *document.Content) (document.Attachment,
	error) {
	t, err := p.Create(who)
	if err == nil && content != nil {
		_, err = files.Sniff(nil, t.Filename) // some types show only in the name
	}
	t.Content = content
	return t, err
}

// AddAttachment saves the record of a new attachment and sets its id.
func (a Documents) AddAttachment(ctx context.Context, tx store.Conn, who exchange.Actor, t *document.Attachment) error {
	if err := a.May(ctx, tx, who, exchange.AttachmentCreate, who.ToUser(who.ID), "attachment"); err != nil {
		return err
	}
	if err := a.checkAttachment(ctx, tx, who, document.Attachment{}, t); err != nil {
		return err
	}
	if who.Lab != 0 && (t.OwnedByOrg == nil || *t.OwnedByOrg != who.Lab) {
		return exchange.Errorf(exchange.OutOfScope,
			"This token can add attachments only to organization %d: set owned_by_org to it.", who.Lab)
	}
	t.CreatedAt, t.UpdatedAt = tx.Now, tx.Now
	var err error
	if t.ID, err = tx.Attachments.Insert(ctx, *t); err != nil {
		return err
	}
	if err := a.RecordAction(ctx, tx, who, exchange.AttachmentCreate, who.ToUser(who.ID),
		core.Object("attachment", t.ID), nil); err != nil {
		return err
	}
	if err := scanLater(ctx, tx, who, *t); err != nil {
		return err
	}
	return a.AttachmentWithinQuota(ctx, tx, *t)
}

// checkAttachment looks up what a new or changed attachment refers to. It may be given to an organization of the
// caller, and be the sequence map of a material of such an organization, to which it then belongs. Nobody may file an
// attachment under another user.
func (a Documents) checkAttachment(ctx context.Context, tx store.Conn, who exchange.Actor, old document.Attachment,
	t *document.Attachment) error {
	var f exchange.FieldErrors
	if id := t.OwnedByOrg; id != nil && (old.OwnedByOrg == nil || *old.OwnedByOrg != *id) {
		if _, err := tx.Organizations.Get(ctx, *id); exchange.CodeOf(err) == exchange.NotFound {
			f.Add("owned_by_org", "there is no organization with the id %d", *id)
		} else if err != nil {
			return err
		} else if err := asMember(ctx, tx, who, *id, "owned_by_org"); err != nil {
			return err
		}
	}
	if id := t.OwnedByUser; id != nil && *id != who.ID && (old.OwnedByUser == nil || *old.OwnedByUser != *id) {
		if _, err := tx.Users.Get(ctx, *id); exchange.CodeOf(err) == exchange.NotFound {
			f.Add("owned_by_user", "there is no user with the id %s", *id)
		} else if err != nil {
			return err
		} else if !who.Admin {
			return exchange.Errorf(exchange.FieldForbidden,
				"You can set only yourself as the owner of an attachment.").With("field", "owned_by_user")
		} else if err := tx.Audit.Insert(ctx, &who.ID, exchange.AttachmentUpdate, core.Object("user", *id), true,
			nil); err != nil {
			return err
		}
	}
	if id := t.SequenceMapFor; id != nil && (old.SequenceMapFor == nil || *old.SequenceMapFor != *id) {
		m, err := tx.Materials.Get(ctx, *id)
		if exchange.CodeOf(err) == exchange.NotFound || err == nil && a.Hides(who, m, tx.Now) {
			f.Add("sequence_map_for", "there is no material with the id %d", *id)
		} else if err != nil {
			return err
		} else if err := asMember(ctx, tx, who, m.OrganizationID, "sequence_map_for"); err != nil {
			return err
		} else if t.OwnedByOrg == nil {
			t.File(m.OrganizationID)
		}
	}
	return f.Err()
}

// asMember checks that who may bind an attachment to an organization by a field: a member may, and so may an admin,
// which is audited.
func asMember(ctx context.Context, tx store.Conn, who exchange.Actor, organization int64, field string) error {
	switch {
	case who.MemberOf(organization):
		return nil
	case who.Admin:
		return tx.Audit.Insert(ctx, &who.ID, exchange.AttachmentUpdate, core.Object("organization", organization), true,
			nil)
	}
	return exchange.Errorf(exchange.FieldForbidden,
		"You may set %s only to an object of an organization that you belong to.", field).With("field", field)
}

// UpdateAttachment changes the record of an attachment.
func (a Documents) UpdateAttachment(ctx context.Context, who exchange.Actor, id int64,
	p document.AttachmentPatch, match core.IfMatch[core.AttachmentView]) (document.Attachment, error) {
	var t document.Attachment
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		old, err := a.AttachmentForUpdate(ctx, tx, who, exchange.AttachmentUpdate, id)
		if err != nil {
			return err
		}
		if err := match.CheckRead(a.shownAttachment(ctx, tx, who, old)); err != nil {
			return err
		}
		// Compare as the caller reads it: a hidden material is not shown to them.
		if p.SequenceMapFor.Set && p.SequenceMapFor.Value == nil && old.SequenceMapFor != nil {
			m, err := tx.Materials.Get(ctx, *old.SequenceMapFor)
			if err != nil {
				return err
			}
			if a.Hides(who, m, tx.Now) {
				p.SequenceMapFor = exchange.Null[exchange.Ref]{}
			}
		}
		if t, err = p.Patch(old, who); err != nil || core.Same(t, old) {
			return err
		}
		if t.Content != nil {
			if _, err := files.Sniff(nil, t.Filename); err != nil { // some types show only in the name
				return err
			}
		}
		if err := a.checkAttachment(ctx, tx, who, old, &t); err != nil {
			return err
		}
		ties, err := tx.Attachments.Ties(ctx, old, who.ID)
		if err != nil {
			return err
		}
		if ties.MTA && !core.Same(old.OwnedByOrg, t.OwnedByOrg) {
			return exchange.Errorf(exchange.AttachmentInUse, "This document is the MTA of a material, so it stays "+
				"with its lab. Choose another MTA for the material first.")
		}
		if ties.Agreed && t.Filename != old.Filename {
			return exchange.Errorf(exchange.AttachmentInUse,
				"Requests were made under this MTA, so it cannot be renamed.")
		}
		owned := old.StorageOwner()
		if old.Description = t.Description; ties.Requests && !core.Same(old, t) {
			return exchange.Errorf(exchange.AttachmentInUse,
				"A request or a permit uses this document, so only its description can be changed.")
		}
		t.UpdatedAt = tx.Now
		if err := tx.Attachments.Update(ctx, t); err != nil {
			return err
		}
		if err := a.RecordAction(ctx, tx, who, exchange.AttachmentUpdate, old.RelationsOf(who, false, false),
			core.Object("attachment", id), nil); err != nil || t.StorageOwner() == owned {
			return err
		}
		return a.AttachmentWithinQuota(ctx, tx, t)
	})
	return t, err
}

// AttachmentForUpdate locks and returns an attachment on which who may do action.
func (a Documents) AttachmentForUpdate(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action,
	id int64) (document.Attachment, error) {
	t, err := tx.Attachments.ForUpdate(ctx, id)
	if err != nil {
		return t, err
	}
	return t, a.May(ctx, tx, who, action, t.RelationsOf(who, false, false), core.Object("attachment", id))
}

// DeleteAttachment deletes an attachment. Its content is deleted after the grace period.
func (a Documents) DeleteAttachment(ctx context.Context, who exchange.Actor, id int64,
	match core.IfMatch[core.AttachmentView]) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		t, err := a.AttachmentForUpdate(ctx, tx, who, exchange.AttachmentDelete, id)
		if err != nil {
			return err
		}
		if err := match.CheckRead(a.shownAttachment(ctx, tx, who, t)); err != nil {
			return err
		}
		if err := DropAttachment(ctx, tx, who, t); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.AttachmentDelete, t.RelationsOf(who, false, false),
			core.Object("attachment", id), nil)
	})
}

// DropAttachment deletes an attachment whose row is locked, unless something uses it.
func DropAttachment(ctx context.Context, tx store.Conn, who exchange.Actor, t document.Attachment) error {
	ties, err := tx.Attachments.Ties(ctx, t, who.ID)
	if err != nil {
		return err
	}
	if ties.Requests || ties.MTA || ties.Agreed {
		return exchange.Errorf(exchange.AttachmentInUse,
			"A request, a permit or a material uses this document, so it cannot be deleted.")
	}
	t.DeletedAt = &tx.Now
	return tx.Attachments.Update(ctx, t)
}
