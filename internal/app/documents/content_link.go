package documents

import (
	"context"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/files"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// linkTime is how long a link into the bucket works: long enough for a download to begin.
const linkTime = time.Minute

// ContentOrLink opens the content of an attachment that who may read. If link is set, and the content may leave by one,
// it returns a link to it in the bucket instead.
func (a Documents) ContentOrLink(ctx context.Context, who exchange.Actor, id int64, filename string, link bool) (
	t document.Attachment, file files.File, address string, err error) {
	t, err = a.named(ctx, who, exchange.AttachmentContent, id, filename)
	if err != nil {
		return t, nil, "", err
	}
	v, err := present(t)
	if err == nil && link {
		link, err = a.leavesByLink(ctx, a.DB.Read(), t)
	}
	switch {
	case err != nil:
	case link:
		address, err = a.Presigned.Presign(ctx, v.Content, v.Filename, linkTime)
	default:
		file, err = a.OpenContent(ctx, v.Content)
	}
	return t, file, address, err
}

// leavesByLink reports whether the content of an attachment may come from the bucket itself: only a sequence map, which
// is no document of a request or an agreement, of a material that is known not to be of human origin.
func (a Documents) leavesByLink(ctx context.Context, c store.Conn, t document.Attachment) (bool, error) {
	if a.Presigned == nil || t.SequenceMapFor == nil || t.Content.Withheld() != nil ||
		a.Scanner != nil && t.Content.Scan.State != document.Clean {
		return false, nil
	}
	ties, err := c.Attachments.Ties(ctx, t, uuid.Nil)
	if err != nil || ties.Requests || ties.MTA || ties.Agreed {
		return false, err
	}
	m, err := c.Materials.Shown(ctx, *t.SequenceMapFor)
	if err != nil || m.NeedsIRB {
		return false, err
	}
	return core.NotHuman(ctx, c, m.Material)
}
