package documents

import (
	"context"
	"slices"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// ViewAttachments returns attachments as who may see them.
func (a Documents) ViewAttachments(ctx context.Context, who exchange.Actor,
	list ...document.Attachment) ([]core.AttachmentView, error) {
	return a.AttachmentViews(ctx, a.DB.Read(), who, list...)
}

// AttachmentViews is ViewAttachments that reads with c.
func (a Documents) AttachmentViews(ctx context.Context, c store.Conn, who exchange.Actor,
	list ...document.Attachment) ([]core.AttachmentView, error) {
	views, ids := make([]core.AttachmentView, len(list)), []int64{}
	for i, t := range list {
		views[i].Attachment = t
		if t.SequenceMapFor != nil {
			ids = append(ids, *t.SequenceMapFor)
		}
	}
	if len(ids) == 0 {
		return views, nil
	}
	slices.Sort(ids)
	materials, err := c.Materials.ShownByIDs(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	for i, t := range list {
		at := slices.IndexFunc(materials,
			func(m material.Shown) bool { return t.SequenceMapFor != nil && m.ID == *t.SequenceMapFor })
		if at >= 0 && !a.Hides(who, materials[at].Material, c.Now) {
			views[i].MapOf = &materials[at]
		}
	}
	return views, nil
}

// shownAttachment passes an attachment to unchanged as who sees it.
func (a Documents) shownAttachment(ctx context.Context, c store.Conn, who exchange.Actor,
	t document.Attachment) func() (core.AttachmentView, error) {
	return func() (core.AttachmentView, error) {
		views, err := a.AttachmentViews(ctx, c, who, t)
		if err != nil {
			return core.AttachmentView{}, err
		}
		return views[0], nil
	}
}
