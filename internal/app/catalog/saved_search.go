package catalog

import (
	"context"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// SavedSearches lists a user's saved searches.
func (a Materials) SavedSearches(ctx context.Context, who exchange.Actor, user uuid.UUID,
	p exchange.Page) (exchange.ListPage[material.SavedSearch], error) {
	if err := a.MayRead(ctx, who, exchange.SavedSearchRead, who.ToUser(user),
		core.Object("saved searches of", user)); err != nil {
		return exchange.ListPage[material.SavedSearch]{}, err
	}
	return a.DB.Read().SavedSearches.List(ctx, user, p)
}

// SavedSearch reads one saved search of a user.
func (a Materials) SavedSearch(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64) (material.SavedSearch,
	error) {
	if err := a.MayRead(ctx, who, exchange.SavedSearchRead, who.ToUser(user),
		core.Object("saved search", id)); err != nil {
		return material.SavedSearch{}, err
	}
	return a.DB.Read().SavedSearches.Get(ctx, user, id)
}

// CreateSavedSearch saves a search for a user. Materials that match already are not new to it.
func (a Materials) CreateSavedSearch(ctx context.Context, who exchange.Actor, user uuid.UUID,
	p material.SavedSearchPatch) (material.SavedSearch, error) {
	s, err := p.Create(user)
	if err != nil {
		return s, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.SavedSearchWrite, who.ToUser(user),
			core.Object("saved searches of", user)); err != nil {
			return err
		}
		u, err := tx.Users.Get(ctx, user)
		if err == nil {
			err = u.Present()
		}
		if err != nil {
			return err
		}
		if s.Since, err = begin(ctx, tx); err != nil { // one at a time, or two could exceed the limit
			return err
		}
		list, err := tx.SavedSearches.List(ctx, user, core.Everything)
		if err != nil {
			return err
		}
		if list.Total.N >= material.MaxSavedSearches {
			return exchange.Errorf(exchange.Conflict, "A person has at most %d saved searches; delete one first.",
				material.MaxSavedSearches)
		}
		s.CreatedAt, s.UpdatedAt = tx.Now, tx.Now
		s.ID, err = tx.SavedSearches.Insert(ctx, s)
		return err
	})
	return s, err
}

// begin returns the starting point for alerts about what is new from now on.
func begin(ctx context.Context, tx store.Conn) (b material.AlertStart, err error) {
	b.Day = tx.Now.Format(time.DateOnly)
	b.Epoch, err = tx.Alerts.BeginEpoch(ctx)
	return b, err
}

// UpdateSavedSearch changes a saved search. If its query changes or its alerts are enabled, it starts again: materials
// that match already are not new to it.
func (a Materials) UpdateSavedSearch(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64,
	p material.SavedSearchPatch, match core.IfMatch[material.SavedSearch]) (s material.SavedSearch, err error) {
	err = a.withSavedSearch(ctx, who, user, id, match,
		func(ctx context.Context, tx store.Conn, old material.SavedSearch) error {
			if s, err = p.Patch(old); err != nil || core.Same(s, old) {
				return err
			}
			s.UpdatedAt = tx.Now
			if s.Alerts != old.Alerts || !s.SameQuery(old) {
				if s.Since, err = begin(ctx, tx); err != nil {
					return err
				}
				if err := tx.SavedSearches.ForgetMatches(ctx, id); err != nil {
					return err
				}
			}
			return tx.SavedSearches.Update(ctx, s)
		})
	return s, err
}

// DeleteSavedSearch deletes a saved search.
func (a Materials) DeleteSavedSearch(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64,
	match core.IfMatch[material.SavedSearch]) error {
	return a.withSavedSearch(ctx, who, user, id, match,
		func(ctx context.Context, tx store.Conn, _ material.SavedSearch) error {
			return tx.SavedSearches.Delete(ctx, id)
		})
}

// withSavedSearch locks a saved search and calls do to change it, if who may.
func (a Materials) withSavedSearch(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64,
	match core.IfMatch[material.SavedSearch],
	do func(context.Context, store.Conn, material.SavedSearch) error) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.SavedSearchWrite, who.ToUser(user),
			core.Object("saved search", id)); err != nil {
			return err
		}
		old, err := tx.SavedSearches.ForUpdate(ctx, user, id)
		if err != nil {
			return err
		}
		if err := match.Check(old); err != nil {
			return err
		}
		return do(ctx, tx, old)
	})
}
