package store

import (
	"context"

	"aliquot/internal/exchange"
)

// StorageUse reads how many bytes owners have stored; whoever has none is left out.
func (c Conn) StorageUse(ctx context.Context, owners ...exchange.StorageOwner) (map[exchange.StorageOwner]int64, error) {
	type use struct {
		owner exchange.StorageOwner
		bytes int64
	}
	places, args := in(nil, owners)
	list, err := all(ctx, c, func(r row, u *use) error { return r.Scan(&u.owner, &u.bytes) },
		"SELECT owner, bytes FROM storage_use WHERE owner IN ("+places+")", args...)
	used := map[exchange.StorageOwner]int64{}
	for _, u := range list {
		used[u.owner] = u.bytes
	}
	return used, err
}
