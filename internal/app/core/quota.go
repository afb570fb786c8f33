package core

import (
	"context"
	"io"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/files"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Quotas are the limits, in bytes, of the content that a user and a lab may store; 0 means no limit.
type Quotas struct{ User, Lab int64 }

// of returns the quota of an owner.
func (q Quotas) of(owner document.StorageOwner) int64 {
	if owner.Lab() {
		return q.Lab
	}
	return q.User
}

// Storage returns what an owner has stored and may store; nil if there are no quotas.
func (a *Core) Storage(ctx context.Context, owner document.StorageOwner) (*document.Storage, error) {
	return a.storage(ctx, a.DB.Read(), owner)
}

func (a *Core) storage(ctx context.Context, c store.Conn, owner document.StorageOwner) (*document.Storage, error) {
	quota := a.Quotas.of(owner)
	if quota == 0 || owner == "" {
		return nil, nil //nolint:nilnil // no quota
	}
	used, err := c.Storage.Use(ctx, owner)
	return &document.Storage{Owner: owner, Used: used[owner], Quota: quota}, err
}

// WithinQuota returns an error if what was just stored in a transaction exceeds an owner's quota. The row of the owner
// is locked by then, so that each of several concurrent uploads counts the ones before it.
func (a *Core) WithinQuota(ctx context.Context, tx store.Conn, owner document.StorageOwner, added int64) error {
	s, err := a.storage(ctx, tx, owner)
	if err != nil || s == nil || s.Used <= s.Quota {
		return err
	}
	s.Used -= added // what was used before
	return s.OverQuota()
}

// AttachmentWithinQuota is withinQuota for the content of an attachment that was just stored, or given to its owner.
func (a *Core) AttachmentWithinQuota(ctx context.Context, tx store.Conn, t document.Attachment) error {
	if t.Content == nil {
		return nil
	}
	return a.WithinQuota(ctx, tx, t.StorageOwner(), t.Content.Size)
}

// MoveAttachment saves an attachment that may have a new owner, whose quota must have room for it.
func (a *Core) MoveAttachment(ctx context.Context, tx store.Conn, old, t document.Attachment) error {
	t.UpdatedAt = tx.Now
	if err := tx.Attachments.Update(ctx, t); err != nil || t.StorageOwner() == old.StorageOwner() {
		return err
	}
	return a.AttachmentWithinQuota(ctx, tx, t)
}

// Put stores content for one of the owners, and reads at most as much as the one with the most free space may store.
// The form may name the owner only after the content, so withinQuota checks again at the end.
func (a *Core) Put(ctx context.Context, body io.Reader, owners ...document.StorageOwner) (document.Content, error) {
	limit, most := a.UploadLimit, document.Storage{}
	for i, owner := range owners {
		s, err := a.Storage(ctx, owner)
		if err != nil {
			return document.Content{}, err
		}
		if s == nil {
			return a.Files.Put(ctx, body, a.UploadLimit)
		}
		if i == 0 || s.Quota-s.Used > most.Quota-most.Used {
			most = *s
		}
	}
	room := most.Quota - most.Used
	if len(owners) == 0 || room >= limit {
		return a.Files.Put(ctx, body, limit)
	}
	if room <= 0 {
		return document.Content{}, most.OverQuota()
	}
	content, err := a.Files.Put(ctx, body, room)
	if exchange.CodeOf(err) == exchange.TooLarge {
		err = most.OverQuota()
	}
	return content, err
}

// OpenContent opens content for somebody who may read it, unless it is withheld from everybody.
func (a *Core) OpenContent(ctx context.Context, c document.Content) (files.File, error) {
	if err := c.Withheld(); err != nil {
		return nil, err
	}
	return a.Files.Open(ctx, c.Key)
}

// StorageOf returns all owners for whom who may store content.
func StorageOf(who exchange.Actor) []document.StorageOwner {
	owners := []document.StorageOwner{document.UserStorage(who.ID)}
	for _, lab := range who.Organizations {
		owners = append(owners, document.LabStorage(lab))
	}
	return owners
}

// maxFiles is how many of the largest files are listed.
const maxFiles = 20

// StorageView is what an owner has stored, with the files that use most of it.
type StorageView struct {
	Used    int64
	Quota   int64 // 0: no limit
	Deleted int64 // part of Used: deleted content that is still kept
	Sheets  int64 // part of Used: spreadsheets of materials, which are kept for a month
	Largest []document.StoredFile
}

// StorageOfUser reads what a user has stored.
func (a *Core) StorageOfUser(ctx context.Context, who exchange.Actor, user uuid.UUID) (StorageView, error) {
	c := a.DB.Read()
	if _, err := c.Users.Get(ctx, user); err != nil {
		return StorageView{}, err
	}
	if err := a.MayRead(ctx, who, exchange.UserReadPrivate, who.ToUser(user), Object("storage of", user)); err != nil {
		return StorageView{}, err
	}
	return a.storageView(ctx, c, document.UserStorage(user), 0, user)
}

// StorageOfLab reads what a lab has stored.
func (a *Core) StorageOfLab(ctx context.Context, who exchange.Actor, lab int64) (StorageView, error) {
	c := a.DB.Read()
	if _, err := c.Organizations.Get(ctx, lab); err != nil {
		return StorageView{}, err
	}
	if err := a.MayRead(ctx, who, exchange.OrganizationStorage, who.ToOrganization(lab),
		Object("storage of organization", lab)); err != nil {
		return StorageView{}, err
	}
	return a.storageView(ctx, c, document.LabStorage(lab), lab, uuid.Nil)
}

func (a *Core) storageView(ctx context.Context, c store.Conn, owner document.StorageOwner, lab int64,
	user uuid.UUID) (v StorageView, err error) {
	used, err := c.Storage.Use(ctx, owner)
	if err != nil {
		return v, err
	}
	v.Used, v.Quota = used[owner], a.Quotas.of(owner)
	if v.Deleted, v.Sheets, err = c.Storage.KeptBytes(ctx, lab, user); err != nil {
		return v, err
	}
	v.Largest, err = c.Storage.LargestFiles(ctx, lab, user, maxFiles)
	return v, err
}
