package app

import (
	"context"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/files"
)

// RequestFile is a document version of a request with its content.
type RequestFile struct {
	exchange.Document
	exchange.Attachment
	Version int // 1, 2, ... of its slot
	store   files.Store
}

// Open opens the content; the caller closes it.
func (f RequestFile) Open(ctx context.Context) (files.File, error) {
	return f.store.Open(ctx, f.Content.Key)
}

// RequestFiles are those documents of a request, with old versions, that have content which who may read.
func (a *App) RequestFiles(ctx context.Context, who exchange.Actor, id int64) ([]RequestFile, error) {
	q, err := a.Request(ctx, who, id)
	if err != nil {
		return nil, err
	}
	known, err := a.DB.Read().DocumentsOfRequest(ctx, id)
	if err != nil {
		return nil, err
	}
	rel := who.ToRequest(q.Request, q.Organization)
	party := rel&(exchange.RequesterOf|exchange.MemberOf) != 0
	versions := map[exchange.Slot]int{}
	list := []RequestFile{}
	for _, d := range q.Documents {
		versions[d.Slot]++
		t, there := known[d.AttachmentID]
		if !there || t.Content == nil || t.ContentDeleted {
			continue
		}
		if ok, _ := a.policy.Can(exchange.AttachmentContent, who.ToAttachment(t, party, false)); ok {
			list = append(list, RequestFile{Document: d, Attachment: t, Version: versions[d.Slot], store: a.Files})
		}
	}
	return list, nil
}

// RequestFile is one document of a request by the id of its attachment.
func (a *App) RequestFile(ctx context.Context, who exchange.Actor, id, attachment int64) (RequestFile, error) {
	list, err := a.RequestFiles(ctx, who, id)
	if err != nil {
		return RequestFile{}, err
	}
	i := slices.IndexFunc(list, func(f RequestFile) bool { return f.AttachmentID == attachment })
	if i < 0 {
		return RequestFile{}, exchange.Fail(exchange.NotFound, "This request has no such document.")
	}
	return list[i], nil
}

// HandIn takes in a file and puts it into a slot of a request. Where it is refused there, nothing of it is kept.
func (a *App) HandIn(ctx context.Context, who exchange.Actor, id int64, slot exchange.Slot, filename string, content exchange.Content) (exchange.Requested, error) {
	t, err := a.CreateAttachment(ctx, who, exchange.AttachmentPatch{Filename: exchange.Some(filename)}, &content)
	if err != nil {
		a.Discard(ctx, content, err)
		return exchange.Requested{}, err
	}
	ref := exchange.NullOf(exchange.Ref(t.ID))
	p := map[exchange.Slot]exchange.RequestPatch{exchange.SignedMTA: {SignedMTA: ref}, exchange.IRB: {IRB: ref}, exchange.ExecutedMTA: {ExecutedMTA: ref}}[slot]
	q, err := a.UpdateRequest(ctx, who, id, p)
	if err != nil {
		if left := a.DeleteAttachment(ctx, who, t.ID); left != nil {
			a.Log.WarnContext(ctx, "forget a document that was refused", "attachment", t.ID, "error", left)
		}
	}
	return q, err
}
