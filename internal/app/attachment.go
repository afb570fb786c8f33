package app

import (
	"context"
	"io"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/store"
)

// attachment reads one attachment for an action of who.
func (a *App) attachment(ctx context.Context, who exchange.Actor, action exchange.Action,
	id int64) (exchange.Attachment, error) {
	c := a.DB.Read()
	t, err := c.Attachments.Get(ctx, id)
	if err != nil {
		return t, err
	}
	ties, err := c.Attachments.Ties(ctx, t, who.ID)
	if err != nil {
		return t, err
	}
	return t, a.mayRead(ctx, who, action, who.ToAttachment(t, ties.Linked, ties.Public), object("attachment", id))
}

// Attachment reads the record of an attachment.
func (a *App) Attachment(ctx context.Context, who exchange.Actor, id int64) (exchange.Attachment, error) {
	return a.attachment(ctx, who, exchange.AttachmentRead, id)
}

// Attachments lists every attachment; for admins.
func (a *App) Attachments(ctx context.Context, who exchange.Actor,
	p exchange.Page) (exchange.ListPage[exchange.Attachment], error) {
	if err := a.mayRead(ctx, who, exchange.AttachmentList, who.ToUser(who.ID), "attachments"); err != nil {
		return exchange.ListPage[exchange.Attachment]{}, err
	}
	return a.DB.Read().Attachments.List(ctx, p)
}

// CreateAttachment creates the record of an attachment. If content is nil, it follows with PutContent.
func (a *App) CreateAttachment(ctx context.Context, who exchange.Actor, p exchange.AttachmentPatch,
	content *exchange.Content) (exchange.Attachment, error) {
	t, err := newAttachment(who, p, content)
	if err != nil {
		return t, err
	}
	err = a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		return a.addAttachment(ctx, tx, who, &t)
	})
	return t, err
}

// newAttachment returns the record of an attachment, not saved yet.
func newAttachment(who exchange.Actor, p exchange.AttachmentPatch, content *exchange.Content) (exchange.Attachment,
	error) {
	t, err := p.Create(who)
	if err == nil && content != nil {
		_, err = files.Sniff(nil, t.Filename) // some types show only in the name
	}
	t.Content = content
	return t, err
}

// addAttachment saves the record of a new attachment and sets its id.
func (a *App) addAttachment(ctx context.Context, tx store.Conn, who exchange.Actor, t *exchange.Attachment) error {
	if err := a.may(ctx, tx, who, exchange.AttachmentCreate, who.ToUser(who.ID), "attachment"); err != nil {
		return err
	}
	if err := a.checkAttachment(ctx, tx, who, exchange.Attachment{}, t); err != nil {
		return err
	}
	if who.Lab != 0 && (t.OwnedByOrg == nil || *t.OwnedByOrg != who.Lab) {
		return exchange.Errorf(exchange.OutOfScope, "This token files attachments of organization %d alone: set "+
			"owned_by_org to it.", who.Lab)
	}
	t.CreatedAt, t.UpdatedAt = tx.Now, tx.Now
	var err error
	if t.ID, err = tx.Attachments.Insert(ctx, *t); err != nil {
		return err
	}
	if err := a.recordAction(ctx, tx, who, exchange.AttachmentCreate, who.ToUser(who.ID), object("attachment", t.ID),
		nil); err != nil {
		return err
	}
	return a.attachmentWithinQuota(ctx, tx, *t)
}

// Store stores content before there is a record of it. The caller passes it to CreateAttachment, or to Discard if that
// fails.
func (a *App) Store(ctx context.Context, who exchange.Actor, body io.Reader) (exchange.Content, error) {
	if _, err := a.can(who, exchange.AttachmentCreate, who.ToUser(who.ID)); err != nil {
		return exchange.Content{}, err
	}
	return a.put(ctx, body, storageOf(who)...)
}

// Discard deletes content whose record was refused with err. If err leaves open whether the record was saved (a
// connection that broke at commit), the content stays: the sweep deletes it if no record names it.
func (a *App) Discard(ctx context.Context, c exchange.Content, err error) {
	if exchange.CodeOf(err).ServerFault() {
		return
	}
	if err := a.Files.Delete(context.WithoutCancel(ctx), c.Key); err != nil {
		a.Log.WarnContext(ctx, "discard content", "error", err)
	}
}

// checkAttachment looks up what a new or changed attachment refers to. It may be given to an organization of the
// caller, and be the sequence map of a material of such an organization, to which it then belongs. Nobody may file an
// attachment under another user.
func (a *App) checkAttachment(ctx context.Context, tx store.Conn, who exchange.Actor, old exchange.Attachment,
	t *exchange.Attachment) error {
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
				"You may file an attachment under your own name alone.").With("field", "owned_by_user")
		} else if err := tx.Audit.Insert(ctx, &who.ID, exchange.AttachmentUpdate, object("user", *id), true,
			nil); err != nil {
			return err
		}
	}
	if id := t.SequenceMapFor; id != nil && (old.SequenceMapFor == nil || *old.SequenceMapFor != *id) {
		m, err := tx.Materials.Get(ctx, *id)
		if exchange.CodeOf(err) == exchange.NotFound || err == nil && a.hides(who, m, tx.Now) {
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
		return tx.Audit.Insert(ctx, &who.ID, exchange.AttachmentUpdate, object("organization", organization), true, nil)
	}
	return exchange.Errorf(exchange.FieldForbidden, "You may set %s only to what belongs to an organization that you "+
		"are in.", field).With("field", field)
}

// UpdateAttachment changes the record of an attachment.
func (a *App) UpdateAttachment(ctx context.Context, who exchange.Actor, id int64,
	p exchange.AttachmentPatch, match IfMatch[AttachmentView]) (exchange.Attachment, error) {
	var t exchange.Attachment
	err := a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		old, err := a.attachmentForUpdate(ctx, tx, who, exchange.AttachmentUpdate, id)
		if err != nil {
			return err
		}
		if err := match.checkRead(a.shownAttachment(ctx, tx, who, old)); err != nil {
			return err
		}
		// Compare as the caller reads it: a hidden material is not shown to them.
		if p.SequenceMapFor.Set && p.SequenceMapFor.Value == nil && old.SequenceMapFor != nil {
			m, err := tx.Materials.Get(ctx, *old.SequenceMapFor)
			if err != nil {
				return err
			}
			if a.hides(who, m, tx.Now) {
				p.SequenceMapFor = exchange.Null[exchange.Ref]{}
			}
		}
		if t, err = p.Patch(old, who); err != nil || same(t, old) {
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
		if ties.MTA && !same(old.OwnedByOrg, t.OwnedByOrg) {
			return exchange.Errorf(exchange.AttachmentInUse, "A material shows this document as its MTA, so it stays "+
				"with its lab. Choose another MTA there first.")
		}
		if ties.Agreed && t.Filename != old.Filename {
			return exchange.Errorf(exchange.AttachmentInUse, "Requests were made under this MTA, so it keeps its name.")
		}
		owned := old.StorageOwner()
		if old.Description = t.Description; ties.Requests && !same(old, t) {
			return exchange.Errorf(exchange.AttachmentInUse, "A request stands on this document, so only its "+
				"description can change.")
		}
		t.UpdatedAt = tx.Now
		if err := tx.Attachments.Update(ctx, t); err != nil {
			return err
		}
		if err := a.recordAction(ctx, tx, who, exchange.AttachmentUpdate, who.ToAttachment(old, false, false),
			object("attachment", id), nil); err != nil || t.StorageOwner() == owned {
			return err
		}
		return a.attachmentWithinQuota(ctx, tx, t)
	})
	return t, err
}

func (a *App) attachmentForUpdate(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action,
	id int64) (exchange.Attachment, error) {
	t, err := tx.Attachments.ForUpdate(ctx, id)
	if err != nil {
		return t, err
	}
	return t, a.may(ctx, tx, who, action, who.ToAttachment(t, false, false), object("attachment", id))
}

// DeleteAttachment deletes an attachment. Its content is deleted after the grace period.
func (a *App) DeleteAttachment(ctx context.Context, who exchange.Actor, id int64,
	match IfMatch[AttachmentView]) error {
	return a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		t, err := a.attachmentForUpdate(ctx, tx, who, exchange.AttachmentDelete, id)
		if err != nil {
			return err
		}
		if err := match.checkRead(a.shownAttachment(ctx, tx, who, t)); err != nil {
			return err
		}
		if err := dropAttachment(ctx, tx, who, t); err != nil {
			return err
		}
		return a.recordAction(ctx, tx, who, exchange.AttachmentDelete, who.ToAttachment(t, false, false),
			object("attachment", id), nil)
	})
}

// dropAttachment deletes an attachment whose row is locked, unless something uses it.
func dropAttachment(ctx context.Context, tx store.Conn, who exchange.Actor, t exchange.Attachment) error {
	ties, err := tx.Attachments.Ties(ctx, t, who.ID)
	if err != nil {
		return err
	}
	if ties.Requests || ties.MTA || ties.Agreed {
		return exchange.Errorf(exchange.AttachmentInUse, "A request or a material stands on this document, so it "+
			"is kept.")
	}
	t.DeletedAt = &tx.Now
	return tx.Attachments.Update(ctx, t)
}

// PutContent stores the content of an attachment that was created without, or a new version of it; the old version is
// kept, and the replacement is audited. A document of a request never changes: a new version of it is a new attachment.
func (a *App) PutContent(ctx context.Context, who exchange.Actor, id int64, filename string,
	body io.Reader, match IfMatch[*exchange.Content]) (exchange.Attachment, error) {
	t, err := a.named(ctx, who, exchange.AttachmentReplace, id, filename)
	if err != nil {
		return t, err
	}
	if _, err := files.Sniff(nil, filename); err != nil { // some types show only in the name
		return t, err
	}
	content, err := a.put(ctx, body, t.StorageOwner())
	if err != nil {
		return t, err
	}
	kept := false
	err = a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		kept = false
		if t, err = a.attachmentForUpdate(ctx, tx, who, exchange.AttachmentReplace, id); err != nil {
			return err
		}
		ties, err := tx.Attachments.Ties(ctx, t, who.ID)
		if err != nil {
			return err
		}
		if err := match.check(t.Content); err != nil {
			return err
		}
		switch {
		case ties.Requests && t.Content != nil:
			return exchange.Errorf(exchange.AttachmentInUse, "A request stands on this document; upload the new "+
				"version as a new attachment.")
		case ties.Elsewhere:
			return exchange.Errorf(exchange.AttachmentInUse, "A material of another lab shows this document; upload "+
				"the new version as a new attachment.")
		case t.Content != nil && t.Content.SHA256 == content.SHA256:
			return nil // the same content again
		}
		kept = true
		if t.Content != nil {
			if err := replaceContent(ctx, tx, who, &t, content); err != nil {
				return err
			}
		}
		t.Content, t.ContentDeleted, t.UpdatedAt = &content, false, tx.Now
		if err := tx.Attachments.Update(ctx, t); err != nil {
			return err
		}
		return a.attachmentWithinQuota(ctx, tx, t)
	})
	if err != nil || !kept {
		a.Discard(ctx, content, err)
	}
	return t, err
}

// replaceContent keeps the present content of an attachment as a version and audits it.
func replaceContent(ctx context.Context, tx store.Conn, who exchange.Actor, t *exchange.Attachment,
	by exchange.Content) error {
	old := t.Present()
	if err := tx.Attachments.InsertVersion(ctx, old, who.ID); err != nil {
		return err
	}
	t.Version++
	return tx.Audit.Insert(ctx, &who.ID, exchange.AttachmentReplace, object("attachment", t.ID), false,
		map[string]any{"version": t.Version, "sha256": by.SHA256, "before": old.SHA256})
}

// ContentVersion opens the present or a former version of an attachment's content. Former versions are for its owners,
// and for the parties of the requests that were made while they were current.
func (a *App) ContentVersion(ctx context.Context, who exchange.Actor, id, version int64) (exchange.AttachmentVersion,
	files.File, error) {
	c := a.DB.Read()
	t, err := c.Attachments.Get(ctx, id)
	if err != nil {
		return exchange.AttachmentVersion{}, nil, err
	}
	ties, err := c.Attachments.Ties(ctx, t, who.ID)
	if err != nil {
		return exchange.AttachmentVersion{}, nil, err
	}
	if version != t.Version {
		agreed, err := c.Attachments.AgreedVersions(ctx, id, who.ID)
		if err != nil {
			return exchange.AttachmentVersion{}, nil, err
		}
		ties.Linked, ties.Public = slices.Contains(agreed, version), false
	}
	if err := a.mayRead(ctx, who, exchange.AttachmentContent, who.ToAttachment(t, ties.Linked, ties.Public),
		object("attachment", id)); err != nil {
		return exchange.AttachmentVersion{}, nil, err
	}
	v, err := present(t)
	if version != t.Version {
		v, err = c.Attachments.Version(ctx, id, version)
	}
	if err != nil {
		return v, nil, err
	}
	file, err := a.Files.Open(ctx, v.Key)
	return v, file, err
}

// present returns the current content of an attachment.
func present(t exchange.Attachment) (exchange.AttachmentVersion, error) {
	if t.Content == nil || t.ContentDeleted {
		return exchange.AttachmentVersion{}, exchange.Errorf(exchange.NotFound, "This attachment has no content (yet).")
	}
	return t.Present(), nil
}

// Content opens the content of an attachment that who may read.
func (a *App) Content(ctx context.Context, who exchange.Actor, id int64, filename string) (exchange.Attachment,
	files.File, error) {
	t, err := a.named(ctx, who, exchange.AttachmentContent, id, filename)
	if err != nil {
		return t, nil, err
	}
	v, err := present(t)
	if err != nil {
		return t, nil, err
	}
	file, err := a.Files.Open(ctx, v.Key)
	return t, file, err
}

// named is attachment for a URL that contains a file name, which must be the right one.
func (a *App) named(ctx context.Context, who exchange.Actor, action exchange.Action, id int64,
	filename string) (exchange.Attachment, error) {
	t, err := a.attachment(ctx, who, action, id)
	if err == nil && t.Filename != filename {
		return t, exchange.Errorf(exchange.NotFound, "There is no such object.")
	}
	return t, err
}
