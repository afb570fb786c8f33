package core

import (
	"context"
	"encoding/json"
	"sync"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// library keeps the instruments that were read last.
type library struct {
	mu        sync.Mutex
	installed int // how many of them were installed
	read      *instrument.Library
}

// Library returns the instruments that agreements are made of: those that the program brings along, and those that the
// operator installed. They are read again when another one was installed.
func (a *Core) Library(ctx context.Context, c store.Conn) (*instrument.Library, error) {
	n, err := c.Instruments.Count(ctx)
	if err != nil {
		return nil, err
	}
	a.library.mu.Lock()
	defer a.library.mu.Unlock()
	if a.library.read == nil || a.library.installed != n {
		l, err := LibraryWith(ctx, c)
		if err != nil {
			return nil, err
		}
		a.library.read, a.library.installed = l, n
	}
	return a.library.read, nil
}

// LibraryWith reads the instruments, and adds some that are not installed yet.
func LibraryWith(ctx context.Context, c store.Conn, more ...instrument.Instrument) (*instrument.Library, error) {
	box, err := instrument.Box()
	if err != nil {
		return nil, err
	}
	rows, err := c.Instruments.All(ctx)
	if err != nil {
		return nil, err
	}
	var installed []instrument.Instrument
	for _, r := range rows {
		installed = append(installed, r.Instrument)
	}
	return instrument.NewLibrary(instrument.With(box, append(installed, more...)))
}

// FactsOf returns, by material, what is known about passing it on: what follows from its category, with what its lab
// stated. It takes one statement.
func FactsOf(ctx context.Context, c store.Conn, materials ...material.Material) (map[int64]requirement.Facts, error) {
	ids := make([]int64, 0, len(materials))
	for _, m := range materials {
		ids = append(ids, m.ID)
	}
	stated, err := c.TransferFacts.OfMaterials(ctx, ids)
	facts := make(map[int64]requirement.Facts, len(materials))
	for _, m := range materials {
		facts[m.ID] = FollowingFacts(m).With(stated[m.ID])
	}
	return facts, err
}

// FollowingFacts returns the facts that follow from the category of a material and those of its fields that everybody
// sees.
func FollowingFacts(m material.Material) requirement.Facts {
	metadata := map[string]json.RawMessage{}
	shown, _ := category.Public(m.Category, m.Metadata, nil)
	_ = json.Unmarshal(shown, &metadata) // it is an object
	return requirement.FromCategory(m.Category, metadata)
}
