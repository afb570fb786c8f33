package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"aliquot/internal/atomicfile"
	"aliquot/internal/config"
	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
)

// startOver ends the error messages about a lost key.
const startOver = "; if no copy is left, \"aliquot secrets reset\" lists what is lost and starts over"

// unlock gives a migrated database the key of its secrets, which is created if nothing is sealed yet.
func unlock(ctx context.Context, db *store.DB, s config.Store) error {
	sealed, err := db.Sealed(ctx)
	if err != nil {
		return err
	}
	if err := finishRotation(ctx, db, s); err != nil {
		return err
	}
	text, from, err := s.Key()
	if errors.Is(err, fs.ErrNotExist) && !sealed {
		if err = atomicfile.Create(from, []byte(sqldb.NewKey()+"\n")); err == nil {
			text, from, err = s.Key()
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("secret-key: the secrets in this database were sealed with a key that is not in %s; copy "+
			"it from the data folder of the process that made it, or name its file"+startOver, from)
	}
	if err != nil {
		return fmt.Errorf("secret-key: %w", err)
	}
	key, err := parseKey(text, from)
	if err != nil {
		return err
	}
	if err := db.Unlock(ctx, key); errors.Is(err, sqldb.ErrOtherKey) {
		return fmt.Errorf("secret-key: %w than the one of %s; every process needs the same: copy it from the data "+
			"folder of the process that made it, or name its file"+startOver, err, from)
	} else if err != nil {
		return err
	}
	return nil
}

func parseKey(text, from string) (*sqldb.Key, error) {
	key, err := sqldb.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("secret-key: %s has no key: %w", from, err)
	}
	return key, nil
}
