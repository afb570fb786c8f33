package documents

import (
	"context"
	"io"
	"slices"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/files"
	"aliquot/internal/store"
)

// Store stores content before there is a record of it. The caller passes it to CreateAttachment, or to Discard if that
// fails.
func (a Documents) Store(ctx context.Context, who exchange.Actor, body io.Reader) (document.Content, error) {
	if _, err := a.Can(who, exchange.AttachmentCreate, who.ToUser(who.ID)); err != nil {
		return document.Content{}, err
	}
	content, err := a.Put(ctx, body, core.StorageOf(who)...)
	return a.awaitScan(content), err
}

// Discard deletes content whose record was refused with err. If err leaves open whether the record was saved (a
// connection that broke at commit), the content stays: the sweep deletes it if no record names it.
func (a Documents) Discard(ctx context.Context, c document.Content, err error) {
	if exchange.CodeOf(err).ServerFault() {
		return
	}
	if err := a.Files.Delete(context.WithoutCancel(ctx), c.Key); err != nil {
		a.Log.WarnContext(ctx, "discard content", "error", err)
	}
}

// PutContent stores the content of an attachment that was created without, or a new version of it; the old version is
// kept, and the replacement is audited. A document of a request never changes: a new version of it is a new attachment.
func (a Documents) PutContent(ctx context.Context, who exchange.Actor, id int64, filename string,
	body io.Reader, match core.IfMatch[*document.Content]) (document.Attachment, error) {
	t, err := a.named(ctx, who, exchange.AttachmentReplace, id, filename)
	if err != nil {
		return t, err
	}
	if _, err := files.Sniff(nil, filename); err != nil { // some types show only in the name
		return t, err
	}
	content, err := a.Put(ctx, body, t.StorageOwner())
	if err != nil {
		return t, err
	}
	content = a.awaitScan(content)
	kept := false
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		kept = false
		if t, err = a.AttachmentForUpdate(ctx, tx, who, exchange.AttachmentReplace, id); err != nil {
			return err
		}
		ties, err := tx.Attachments.Ties(ctx, t, who.ID)
		if err != nil {
			return err
		}
		if err := match.Check(t.Content); err != nil {
			return err
		}
		switch {
		case ties.Requests && t.Content != nil:
			return exchange.Errorf(exchange.AttachmentInUse,
				"A request or a permit uses this document; upload the new version as a new attachment.")
		case ties.Elsewhere:
			return exchange.Errorf(exchange.AttachmentInUse,
				"A material of another lab uses this document; upload the new version as a new attachment.")
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
		if err := scanLater(ctx, tx, who, t); err != nil {
			return err
		}
		if ties.Requests {
			if err := core.CheckPaperLater(ctx, tx, who, id); err != nil {
				return err
			}
		}
		return a.AttachmentWithinQuota(ctx, tx, t)
	})
	if err != nil || !kept {
		a.Discard(ctx, content, err)
	}
	return t, err
}

// replaceContent keeps the present content of an attachment as a version and audits it.
func replaceContent(ctx context.Context, tx store.Conn, who exchange.Actor, t *document.Attachment,
	by document.Content) error {
	old := t.Present()
	if err := tx.Attachments.InsertVersion(ctx, old, who.ID); err != nil {
		return err
	}
	t.Version++
	return tx.Audit.Insert(ctx, &who.ID, exchange.AttachmentReplace, core.Object("attachment", t.ID), false,
		map[string]any{"version": t.Version, "sha256": by.SHA256, "before": old.SHA256})
}

// ContentVersion opens the present or a former version of an attachment's content. Former versions are for its owners,
// and for the parties of the requests that were made while they were current.
func (a Documents) ContentVersion(ctx context.Context, who exchange.Actor, id,
	version int64) (document.AttachmentVersion, files.File, error) {
	c := a.DB.Read()
	t, err := c.Attachments.Get(ctx, id)
	if err != nil {
		return document.AttachmentVersion{}, nil, err
	}
	var rel exchange.Relation
	if version == t.Version {
		rel, err = a.relations(ctx, c, who, exchange.AttachmentContent, t)
	} else {
		var agreed []int64
		agreed, err = c.Attachments.AgreedVersions(ctx, id, who.ID)
		rel = t.RelationsOf(who, slices.Contains(agreed, version), false)
	}
	if err != nil {
		return document.AttachmentVersion{}, nil, err
	}
	if err := a.MayRead(ctx, who, exchange.AttachmentContent, rel,
		core.Object("attachment", id)); err != nil {
		return document.AttachmentVersion{}, nil, err
	}
	v, err := present(t)
	if version != t.Version {
		v, err = c.Attachments.Version(ctx, id, version)
	}
	if err != nil {
		return v, nil, err
	}
	file, err := a.OpenContent(ctx, v.Content)
	return v, file, err
}

// present returns the current content of an attachment.
func present(t document.Attachment) (document.AttachmentVersion, error) {
	if t.Content == nil || t.ContentDeleted {
		return document.AttachmentVersion{}, exchange.Errorf(exchange.NotFound, "This attachment has no content (yet).")
	}
	return t.Present(), nil
}

// Content opens the content of an attachment that who may read.
func (a Documents) Content(ctx context.Context, who exchange.Actor, id int64, filename string) (document.Attachment,
	files.File, error) {
	t, file, _, err := a.ContentOrLink(ctx, who, id, filename, false)
	return t, file, err
}

// named is attachment for a URL that contains a file name, which must be the right one.
func (a Documents) named(ctx context.Context, who exchange.Actor, action exchange.Action, id int64,
	filename string) (document.Attachment, error) {
	t, err := a.attachment(ctx, who, action, id)
	if err == nil && t.Filename != filename {
		return t, exchange.Errorf(exchange.NotFound, "There is no such object.")
	}
	return t, err
}
