package core

import (
	"context"
	"encoding/json"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// library is the instruments that were read last.
type library struct {
	*instrument.Library
	installed int // how many of them were installed
}

// Library returns the instruments that agreements are made of: those that the program brings along, and those that the
// operator installed. They are read again when another one was installed; nobody waits for somebody else who reads
// them.
func (a *Core) Library(ctx context.Context, c store.Conn) (*instrument.Library, error) {
	n, err := c.Instruments.Count(ctx)
	if err != nil {
		return nil, err
	}
	if l := a.library.Load(); l != nil && l.installed == n {
		return l.Library, nil
	}
	installed, err := c.Instruments.All(ctx)
	if err != nil {
		return nil, err
	}
	l, err := instrument.WithBox(installed)
	if err == nil {
		a.library.Store(&library{l, n})
	}
	return l, err
}

// ProviderOf returns the institution of a lab today, which an agreement binds; 0: none that was confirmed.
func ProviderOf(ctx context.Context, c store.Conn, organization int64) (int64, error) {
	labs, err := c.Institutions.LabsOf(ctx, organization)
	return party.InstitutionOf(labs, organization, exchange.DayOf(c.Now)), err
}

// NoProvider is the error about a lab without an institution that agreements could bind.
func NoProvider(organization int64) error {
	return exchange.Errorf(exchange.Conflict, "The lab %d belongs to no confirmed institution today. Its owner states "+
		"the institution with POST /institutions/:id/labs, and an officer confirms it.", organization)
}

// MastersOf reads the master agreements of both parties of a transfer.
func MastersOf(ctx context.Context, c store.Conn, provider, recipient int64) ([]party.Master, error) {
	list, err := c.Institutions.Masters.Of(ctx, provider)
	if err != nil {
		return nil, err
	}
	more, err := c.Institutions.Masters.Of(ctx, recipient)
	return append(list, more...), err
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

// NotHuman reports whether a material is known not to be of human origin.
func NotHuman(ctx context.Context, c store.Conn, m material.Material) (bool, error) {
	facts, err := FactsOf(ctx, c, m)
	return facts[m.ID].Human == requirement.NotHuman, err
}

// FollowingFacts returns the facts that follow from the category of a material and those of its fields that everybody
// sees.
func FollowingFacts(m material.Material) requirement.Facts {
	metadata := map[string]json.RawMessage{}
	shown, _ := category.Public(m.Category, m.Metadata, nil)
	_ = json.Unmarshal(shown, &metadata) // it is an object
	return requirement.FromCategory(m.Category, metadata)
}
