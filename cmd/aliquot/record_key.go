package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"aliquot/internal/app"
	"aliquot/internal/app/evidence"
	"aliquot/internal/config"
	"aliquot/internal/record"
)

// openRecordKey opens the keys that sign the log, of which the first is created if the log has none yet.
func openRecordKey(ctx context.Context, a *app.App, path string) error {
	err := a.Evidence.OpenKeys(ctx, path, a.PublicURL)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, evidence.ErrOtherKey) {
		return fmt.Errorf("record-key: the key that signs the log of this database is not in %s; copy it from the "+
			"data folder of the process that made it, or name its file; if no copy is left, \"aliquot record-key "+
			"reset\" starts with another one", path)
	}
	return err
}

// recordKey is "aliquot record-key".
type recordKey struct {
	Show   showRecordKey   `cmd:"" help:"Print the public keys, for others to keep."`
	Rotate rotateRecordKey `cmd:"" help:"Add a new key; the present one signs too until it is retired."`
	Retire retireRecordKey `cmd:"" help:"Remove all keys but the newest."`
	Reset  resetRecordKey  `cmd:"" help:"Start with another key after the present one was lost."`
}

type showRecordKey struct{ config.Store }

// Run prints the public keys that sign the log.
func (s *showRecordKey) Run(e environment) error {
	return withRecordKey(e, s.Store, func(ctx context.Context, a *app.App, _ string) (record.Keys, error) {
		keys, err := a.DB.Read().Log.Keys(ctx, false)
		return record.Keys{Verifiers: keys}, err
	})
}

type rotateRecordKey struct{ config.Store }

// Run rotates the key.
func (r *rotateRecordKey) Run(e environment) error {
	return withRecordKey(e, r.Store, func(ctx context.Context, a *app.App, path string) (record.Keys, error) {
		return a.Evidence.RotateKey(ctx, path)
	})
}

type retireRecordKey struct{ config.Store }

// Run retires older keys.
func (r *retireRecordKey) Run(e environment) error {
	return withRecordKey(e, r.Store, func(ctx context.Context, a *app.App, path string) (record.Keys, error) {
		return a.Evidence.RetireKey(ctx, path)
	})
}

type resetRecordKey struct{ config.Store }

// Run starts with another key.
func (r *resetRecordKey) Run(e environment) error {
	return withRecordKey(e, r.Store, func(ctx context.Context, a *app.App, path string) (record.Keys, error) {
		return a.Evidence.ResetKey(ctx, path)
	})
}

// withRecordKey runs do with the file of the keys, and prints the public keys that sign after it.
func withRecordKey(e environment, s config.Store,
	do func(ctx context.Context, a *app.App, path string) (record.Keys, error)) error {
	path, err := s.RecordKeyPath()
	if err != nil {
		return err
	}
	return withDatabase(e, s, func(ctx context.Context, a *app.App) error {
		keys, err := do(ctx, a, path)
		for _, key := range keys.Verifiers {
			if err == nil {
				_, err = fmt.Fprintln(e.stdout, key)
			}
		}
		return err
	})
}
