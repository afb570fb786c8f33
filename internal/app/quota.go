package app

import (
	"context"
	"io"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// Quotas are how many bytes of content a user and a lab may have stored; 0: any number.
type Quotas struct{ User, Lab int64 }

// of is the quota of an owner.
func (q Quotas) of(owner exchange.StorageOwner) int64 {
	if len(owner) > 4 && owner[:4] == "lab " {
		return q.Lab
	}
	return q.User
}

// Storage is what an owner has stored and may store, nil where there are no quotas.
func (a *App) Storage(ctx context.Context, owner exchange.StorageOwner) (*exchange.Storage, error) {
	return a.storage(ctx, a.DB.Read(), owner)
}

func (a *App) storage(ctx context.Context, c store.Conn, owner exchange.StorageOwner) (*exchange.Storage, error) {
	quota := a.Quotas.of(owner)
	if quota == 0 || owner == "" {
		return nil, nil //nolint:nilnil // no quota
	}
	used, err := c.StorageUse(ctx, owner)
	return &exchange.Storage{Used: used[owner], Quota: quota}, err
}

// withinQuota refuses what was just stored in a transaction where its owner has more by it than they may. The row of
// the owner is locked by then, so that of uploads at once each counts those before it.
func (a *App) withinQuota(ctx context.Context, tx store.Conn, t exchange.Attachment) error {
	if t.Content == nil {
		return nil
	}
	s, err := a.storage(ctx, tx, t.StorageOwner())
	if err != nil || s == nil || s.Used <= s.Quota {
		return err
	}
	s.Used -= t.Content.Size // before it
	return s.OverQuota()
}

// put takes content in that will be one of the owners', as much of it as the one with most room has room for. Whose
// it is may be known only behind it, so that withinQuota tells in the end.
func (a *App) put(ctx context.Context, body io.Reader, owners ...exchange.StorageOwner) (exchange.Content, error) {
	limit, most := a.UploadLimit, exchange.Storage{}
	for i, owner := range owners {
		s, err := a.Storage(ctx, owner)
		if err != nil {
			return exchange.Content{}, err
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
		return exchange.Content{}, most.OverQuota()
	}
	content, err := a.Files.Put(ctx, body, room)
	if exchange.CodeOf(err) == exchange.TooLarge {
		err = most.OverQuota()
	}
	return content, err
}

// storageOf are all owners that who may store content for.
func storageOf(who exchange.Actor) []exchange.StorageOwner {
	owners := []exchange.StorageOwner{exchange.UserStorage(who.ID)}
	for _, lab := range who.Organizations {
		owners = append(owners, exchange.LabStorage(lab))
	}
	return owners
}
