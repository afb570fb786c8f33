package app

import (
	"context"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// AttachmentView is an attachment with the material that it is a sequence map of, without its private fields; nil if
// there is none, or none that the viewer may see.
type AttachmentView struct {
	document.Attachment
	MapOf *material.Shown
}

// ViewAttachments returns attachments as who may see them.
func (a *App) ViewAttachments(ctx context.Context, who exchange.Actor, list ...document.Attachment) ([]AttachmentView,
	error) {
	return a.viewAttachments(ctx, a.DB.Read(), who, list...)
}

func (a *App) viewAttachments(ctx context.Context, c store.Conn, who exchange.Actor,
	list ...document.Attachment) ([]AttachmentView, error) {
	views, ids := make([]AttachmentView, len(list)), []int64{}
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
		if at >= 0 && !a.hides(who, materials[at].Material, c.Now) {
			views[i].MapOf = &materials[at]
		}
	}
	return views, nil
}

// shownAttachment passes an attachment to unchanged as who sees it.
func (a *App) shownAttachment(ctx context.Context, c store.Conn, who exchange.Actor,
	t document.Attachment) func() (AttachmentView, error) {
	return func() (AttachmentView, error) {
		views, err := a.viewAttachments(ctx, c, who, t)
		if err != nil {
			return AttachmentView{}, err
		}
		return views[0], nil
	}
}
