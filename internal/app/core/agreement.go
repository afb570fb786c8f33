package core

import (
	"context"
	"encoding/json"
	"sync"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

var box = sync.OnceValues(func() (*instrument.Library, error) {
	list, err := instrument.Box()
	if err != nil {
		return nil, err
	}
	return instrument.NewLibrary(list)
})

// Library returns the instruments that agreements are made of.
func (a *Core) Library(context.Context, store.Conn) (*instrument.Library, error) { return box() }

// FactsOf returns, by material, what is known about passing it on.
func FactsOf(_ context.Context, _ store.Conn, materials ...material.Material) (map[int64]requirement.Facts, error) {
	facts := make(map[int64]requirement.Facts, len(materials))
	for _, m := range materials {
		metadata := map[string]json.RawMessage{}
		if len(m.Metadata) > 0 {
			if err := json.Unmarshal(m.Metadata, &metadata); err != nil {
				return nil, err
			}
		}
		facts[m.ID] = requirement.FromCategory(m.Category, metadata)
	}
	return facts, nil
}
