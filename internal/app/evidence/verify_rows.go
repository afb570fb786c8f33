package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/store"
)

// verifyRequests checks the chain of format 1 of each request, and the account of its turns.
func verifyRequests(ctx context.Context, c store.Conn, r *Report) error {
	for after := int64(0); ; {
		heads, err := c.Events.Heads(ctx, after, core.Batch)
		if err != nil || len(heads) == 0 {
			return err
		}
		last := heads[len(heads)-1].Request
		accounts, err := c.Turns.Accounts(ctx, after, last)
		if err != nil {
			return err
		}
		left, err := c.Events.HashesLeft(ctx, after, last)
		if err != nil {
			return err
		}
		for _, head := range heads {
			after = head.Request
			if account := accounts[head.Request]; account == nil ||
				!account.Clock.Agrees(account.CreatedAt, account.Turns) ||
				account.Turns[len(account.Turns)-1].Side != account.Party {
				r.faultf("request %d: the account of its turns was altered", head.Request)
			}
			chain, err := c.Events.Chain(ctx, head.Request)
			if err != nil {
				return err
			}
			r.Requests++
			var seq int64
			var hash string
			for _, e := range chain {
				if !e.Follows(seq, hash, left[head.Request][e.Seq]) {
					r.faultf("request %d: event %d was altered, or one before it is missing", head.Request, e.Seq)
					break
				}
				seq, hash = e.Seq, e.Hash
			}
			if seq != head.Seq || hash != head.Hash {
				r.faultf("request %d: its events end at %d, not at %d as its record says", head.Request, seq, head.Seq)
			}
		}
	}
}

// verifyFiles checks the checksum of each stored file.
func (a Evidence) verifyFiles(ctx context.Context, r *Report) error {
	c := a.DB.Read()
	for after := int64(0); ; {
		list, err := c.Attachments.StoredContent(ctx, after, core.Batch)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, t := range list {
			after = t.ID
			if err := a.verifyFile(ctx, r, fmt.Sprintf("attachment %d", t.ID), *t.Content); err != nil {
				return err
			}
		}
	}
}

// verifyVersions checks the checksum of each earlier version of a file.
func (a Evidence) verifyVersions(ctx context.Context, r *Report) error {
	c := a.DB.Read()
	var last document.AttachmentVersion
	for {
		list, err := c.Attachments.StoredVersions(ctx, last.Attachment, last.Version, core.Batch)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, last = range list {
			if err := a.verifyFile(ctx, r, fmt.Sprintf("attachment %d, version %d", last.Attachment, last.Version),
				last.Content); err != nil {
				return err
			}
		}
	}
}

func (a Evidence) verifyFile(ctx context.Context, r *Report, name string, content document.Content) error {
	r.Files++
	n, sum, err := a.checksum(ctx, content.Key)
	switch {
	case exchange.CodeOf(err) == exchange.NotFound:
		r.faultf("%s: its content is missing", name)
	case err != nil:
		return err
	case n != content.Size || sum != content.SHA256:
		r.faultf("%s: its content was altered", name)
	}
	r.Bytes += n
	return nil
}

func (a Evidence) checksum(ctx context.Context, key string) (int64, string, error) {
	file, err := a.Files.Open(ctx, key)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, file)
	return n, hex.EncodeToString(h.Sum(nil)), err
}
