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

var box = sync.OnceValues(func() (*instrument.Library, error) {
	list, err := instrument.Box()
	if err != nil {
		return nil, err
	}
	return instrument.NewLibrary(list)
})

// Library returns the instruments that agreements are made of.
func (a *Core) Library(context.Context, store.Conn) (*instrument.Library, error) { return box() }

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
