package transfer

import (
	"context"
	"slices"

	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/files"
	"aliquot/internal/store"
)

// RequestFile is a document version of a request with its content.
type RequestFile struct {
	document.Document
	document.Attachment
	Version int // 1, 2, ... of its slot
	core    *core.Core
}

// Open opens the content; the caller closes it.
func (f RequestFile) Open(ctx context.Context) (files.File, error) {
	return f.core.OpenContent(ctx, *f.Content)
}

// RequestFiles returns those document versions of a request, old ones included, whose content who may read.
func (a Requests) RequestFiles(ctx context.Context, who exchange.Actor, id int64) ([]RequestFile, error) {
	q, err := a.Request(ctx, who, id)
	if err != nil {
		return nil, err
	}
	known, err := a.DB.Read().Attachments.OfRequest(ctx, id)
	if err != nil {
		return nil, err
	}
	rel := q.RelationsOf(who, q.Organization)
	party := rel&(exchange.RequesterOf|exchange.MemberOf) != 0
	versions := map[document.Slot]int{}
	list := []RequestFile{}
	for _, d := range q.Documents {
		versions[d.Slot]++
		t, there := known[d.AttachmentID]
		if !there || t.Content == nil || t.ContentDeleted {
			continue
		}
		if ok, _ := a.Policy().Can(exchange.AttachmentContent, t.RelationsOf(who, party, false)); ok {
			list = append(list, RequestFile{Document: d, Attachment: t, Version: versions[d.Slot], core: a.Core})
		}
	}
	return list, nil
}

// RequestFile returns one document of a request by the id of its attachment.
func (a Requests) RequestFile(ctx context.Context, who exchange.Actor, id, attachment int64) (RequestFile, error) {
	list, err := a.RequestFiles(ctx, who, id)
	if err != nil {
		return RequestFile{}, err
	}
	i := slices.IndexFunc(list, func(f RequestFile) bool { return f.AttachmentID == attachment })
	if i < 0 {
		return RequestFile{}, exchange.Errorf(exchange.NotFound, "This request has no such document.")
	}
	return list[i], nil
}

// HandIn submits a stored file for a slot of a request, all in one transaction. If the request refuses it, nothing is
// kept.
func (a Requests) HandIn(ctx context.Context, who exchange.Actor, id int64, slot document.Slot, filename string,
	content document.Content) (q request.Detail, err error) {
	t, err := documents.NewAttachment(who, document.AttachmentPatch{Filename: exchange.Some(filename)}, &content)
	if err == nil {
		q, err = a.Act(ctx, who, exchange.RequestUpdate, id, nil,
			func(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
				roles request.Roles) (request.Request, []request.Event, error) {
				if err := documents.New(a.Core).AddAttachment(ctx, tx, who, &t); err != nil {
					return q.Request, nil, err
				}
				ref := exchange.NullOf(exchange.Ref(t.ID))
				p := map[document.Slot]request.Patch{document.SignedMTA: {SignedMTA: ref},
					document.IRB:         {IRB: ref},
					document.ExecutedMTA: {ExecutedMTA: ref}}[slot]
				return a.Patch(ctx, tx, who, q, roles, p)
			})
	}
	if err != nil {
		documents.New(a.Core).Discard(ctx, content, err)
	}
	return q, err
}

// readable returns an error if the content of a document is withheld: whoever accepts it cannot have read it.
func readable(ctx context.Context, tx store.Conn, attachment *int64) error {
	if attachment == nil {
		return nil
	}
	t, err := tx.Attachments.Get(ctx, *attachment)
	if err != nil || t.Content == nil {
		return err
	}
	return t.Content.Withheld()
}
