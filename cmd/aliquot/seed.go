package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"aliquot/internal/config"
	"aliquot/internal/exchange"
	"aliquot/internal/seed"
	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
)

// seeding is "aliquot seed".
type seeding struct {
	config.Store
	Materials int `required:"" placeholder:"N" help:"How many materials; there is a lab for every 200."`
	Requests  int `placeholder:"N" help:"How many requests, in every state."`
}

// Run fills a new database, and reports if the same was done before.
func (s *seeding) Run(e environment) error {
	size := seed.Size{Materials: s.Materials, Requests: s.Requests}
	if err := size.Check(); err != nil {
		return err
	}
	if _, err := s.Prepare(); err != nil {
		return err
	}
	debug.SetGCPercent(50) // as import does
	began, show := time.Now(), progressOn(e.stdout)
	err := store.Load(e.ctx, s.DatabasePath(), size.String(), func(ctx context.Context, l *store.Loader) error {
		return seed.Fill(ctx, l, size, show)
	})
	if errors.Is(err, sqldb.ErrTaken) {
		return s.there(e, size)
	}
	if err != nil {
		return err
	}
	show(exchange.Progress{Note: "indexes", Done: 1, Total: 1})
	_, _ = fmt.Fprintf(e.stdout, "%s in %s\n", size, time.Since(began).Round(time.Second/10))
	return nil
}

// there succeeds if the database in use is the requested one.
func (s *seeding) there(e environment, size seed.Size) error {
	db, err := store.Open(e.ctx, s.DatabasePath())
	if err != nil {
		return err
	}
	label, err := db.Read().Secrets.Loaded(e.ctx)
	if err := errors.Join(err, db.Close()); err != nil && exchange.CodeOf(err) != exchange.NotFound {
		return err
	}
	if label != size.String() {
		return fmt.Errorf("%w: name another --data folder or --database", sqldb.ErrTaken)
	}
	_, _ = fmt.Fprintf(e.stdout, "%s are there already\n", size)
	return nil
}
