// Package evidence has the use cases of the record: the log of all events is signed, vouched for by others, proved,
// and checked.
package evidence

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/app/transfer"
	"aliquot/internal/record"
	"aliquot/internal/store"
)

// Evidence has the use cases of the record.
type Evidence struct {
	*core.Core
	requests transfer.Requests
}

// New returns the use cases on a core.
func New(c *core.Core) Evidence { return Evidence{c, transfer.New(c)} }

// ErrOtherKey is that the file of keys has none that signs the log.
var ErrOtherKey = errors.New("none of its keys signs the log of this database")

// OpenKeys reads the keys of the log, and makes the first one if the log has none, named by the address at which people
// reach the server and the year. The log notes those that are new to it, which are those of a rotation. ErrOtherKey or
// fs.ErrNotExist: the keys of this log are elsewhere.
func (a Evidence) OpenKeys(ctx context.Context, path, publicURL string) error {
	u, err := url.Parse(publicURL)
	if err != nil {
		return err
	}
	known, err := a.DB.Read().Log.Keys(ctx, true)
	if err != nil {
		return err
	}
	open := record.ReadKeys
	if len(known) == 0 {
		open = func(path string) (record.Keys, error) {
			return record.OpenKeys(path, fmt.Sprintf("%s%s/log/%d", u.Host, u.Path, a.DB.Read().Now.Year()))
		}
	}
	keys, err := open(path)
	if err != nil {
		return err
	}
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error { return adopt(ctx, tx, keys) })
}

// adopt notes keys of the file that are new to the log. ErrOtherKey: none of them signs it.
func adopt(ctx context.Context, tx store.Conn, keys record.Keys) error {
	if _, err := tx.Log.Lock(ctx); err != nil {
		return err
	}
	known, err := tx.Log.Keys(ctx, true)
	if err != nil {
		return err
	}
	if len(known) > 0 {
		if err := checkSigns(ctx, tx, keys); err != nil {
			return err
		}
	}
	for _, key := range slices.Backward(keys.Verifiers) {
		if slices.Contains(known, key) {
			continue
		}
		if err := tx.Log.AddKey(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// checkSigns returns ErrOtherKey if none of the keys signs the log.
func checkSigns(ctx context.Context, c store.Conn, keys record.Keys) error {
	signing, err := c.Log.Keys(ctx, false)
	if err == nil && !slices.ContainsFunc(keys.Verifiers, func(key string) bool {
		return slices.Contains(signing, key)
	}) {
		err = ErrOtherKey
	}
	return err
}

// RotateKey puts a new key before the present one; both sign until the older one is retired.
func (a Evidence) RotateKey(ctx context.Context, path string) (record.Keys, error) {
	return a.changeKeys(ctx, path, record.Keys.Rotate)
}

// RetireKey removes all keys but the newest from the file. What they signed still holds.
func (a Evidence) RetireKey(ctx context.Context, path string) (record.Keys, error) {
	return a.changeKeys(ctx, path, record.Keys.Retire)
}

// changeKeys replaces the file of keys, then notes the change in the log. If it is killed in between, it can be run
// again.
func (a Evidence) changeKeys(ctx context.Context, path string,
	change func(record.Keys) (record.Keys, error)) (record.Keys, error) {
	keys, err := record.ReadKeys(path)
	if err == nil {
		err = checkSigns(ctx, a.DB.Read(), keys)
	}
	if err == nil {
		keys, err = change(keys)
	}
	if err == nil {
		err = keys.Save(path)
	}
	if err != nil {
		return keys, err
	}
	return keys, a.replaceKeys(ctx, keys)
}

// ResetKey starts with another key, since the present one is lost: all earlier ones are retired. The name of the log
// stays. It is refused while the file has a key that signs.
func (a Evidence) ResetKey(ctx context.Context, path string) (record.Keys, error) {
	known, err := a.DB.Read().Log.Keys(ctx, true)
	if err != nil {
		return record.Keys{}, err
	}
	if len(known) == 0 {
		return record.Keys{}, errors.New("the log has no key yet; the first start makes one")
	}
	origin, _, _ := strings.Cut(known[0], "+")
	keys, err := record.OpenKeys(path, origin)
	if err != nil {
		return keys, err
	}
	if err := checkSigns(ctx, a.DB.Read(), keys); err == nil {
		return keys, errors.New("nothing is lost: the key in the file signs the log; \"aliquot record-key rotate\" " +
			"replaces it")
	} else if !errors.Is(err, ErrOtherKey) {
		return keys, err
	}
	if keys.Origin() != origin {
		return keys, fmt.Errorf("the key in the file is that of another log, %s; remove it first", keys.Origin())
	}
	return keys, a.replaceKeys(ctx, keys)
}

// replaceKeys notes keys as those that sign the log.
func (a Evidence) replaceKeys(ctx context.Context, keys record.Keys) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if _, err := tx.Log.Lock(ctx); err != nil {
			return err
		}
		signing, err := tx.Log.Keys(ctx, false)
		if err != nil {
			return err
		}
		for _, key := range slices.Backward(keys.Verifiers) {
			if err := tx.Log.AddKey(ctx, key); err != nil {
				return err
			}
		}
		for _, key := range signing {
			if slices.Contains(keys.Verifiers, key) {
				continue
			}
			if err := tx.Log.RetireKey(ctx, key); err != nil {
				return err
			}
		}
		return nil
	})
}
