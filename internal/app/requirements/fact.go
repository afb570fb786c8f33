// Package requirements holds the use cases of what transfers need: facts of materials.
package requirements

import (
	"context"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// Requirements are the use cases of what a transfer needs.
type Requirements struct{ *core.Core }

// New returns the use cases of c.
func New(c *core.Core) Requirements { return Requirements{c} }

// TransferFacts reads what is known about passing a material on.
func (a Requirements) TransferFacts(ctx context.Context, who exchange.Actor, id int64) (requirement.Facts, error) {
	c := a.DB.Read()
	m, err := a.Listed(ctx, c, who, id)
	if err != nil {
		return requirement.Facts{}, err
	}
	facts, err := core.FactsOf(ctx, c, m.Material)
	return facts[id], err
}

// MaterialToState reads a material of which who may state facts, with what is known of it.
func (a Requirements) MaterialToState(ctx context.Context, who exchange.Actor, id int64) (m material.Shown,
	facts requirement.Facts, err error) {
	c := a.DB.Read()
	if m, err = a.Listed(ctx, c, who, id); err != nil {
		return m, facts, err
	}
	if _, err := a.Can(who, exchange.MaterialState, who.ToOrganization(m.OrganizationID)); err != nil {
		return m, facts, err
	}
	all, err := core.FactsOf(ctx, c, m.Material)
	return m, all[id], err
}

// StateFacts changes what the lab of a material states about passing it on. What contradicts the category is refused.
func (a Requirements) StateFacts(ctx context.Context, who exchange.Actor, id int64, p requirement.Stating,
	match core.IfMatch[requirement.Facts]) (facts requirement.Facts, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		m, err := a.MaterialForUpdate(ctx, tx, who, id)
		if err != nil {
			return err
		}
		rel, object := who.ToOrganization(m.OrganizationID), core.Object("material", id)
		if err := a.May(ctx, tx, who, exchange.MaterialState, rel, object); err != nil {
			return err
		}
		all, err := tx.TransferFacts.OfMaterials(ctx, []int64{id})
		if err != nil {
			return err
		}
		old, follows := all[id], core.FollowingFacts(m)
		if err := match.Check(follows.With(old)); err != nil {
			return err
		}
		stated, err := p.Patch(old)
		if err != nil {
			return err
		}
		if stated, err = follows.Beyond(stated); err != nil {
			return err
		}
		if facts = follows.With(stated); core.Same(stated, old) {
			return nil
		}
		if err := tx.TransferFacts.Save(ctx, id, stated); err != nil {
			return err
		}
		if !core.Same(stated.Uses, old.Uses) { // the material is found by them
			if err := tx.Materials.Reindex(ctx, []int64{id}); err != nil {
				return err
			}
		}
		return a.RecordAction(ctx, tx, who, exchange.MaterialState, rel, object, nil)
	})
	return facts, err
}
